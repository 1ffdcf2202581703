"""From judgements and runs to an Evaluation."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from goodgain._core import CoreError, Prepared
from goodgain.errors import UsageError, from_core
from goodgain.evaluation.policy import Policy
from goodgain.evaluation.result import Evaluation
from goodgain.evaluation.scores import Coverage, RunScores
from goodgain.measures.grammar import Measure, parse_all
from goodgain.tables.qrels import Qrels
from goodgain.tables.run import Run

if TYPE_CHECKING:
    from goodgain._core import Plan, Scores
    from goodgain.read.source import Source

T = TypeVar("T")
Measures = str | Measure | Iterable[str | Measure]


def evaluate(
    qrels: Any,
    runs: Any,
    measures: Measures = "nDCG@10 AP RR R@1000 P@10",
    *,
    policy: Policy | Mapping[str, str] | None = None,
    preset: str = "default",
    threads: int | None = None,
    columns: Mapping[str, str] | None = None,
    identity: Any = None,
    **policies: str,
) -> Evaluation:
    """Measure one or several runs against judgements.

    `qrels` and each run are a path, a dictionary of dictionaries, rows, a data frame, or a table of
    this package. Several runs are a list, or a dictionary from their names. Policies (`ties`,
    `missing`, `unjudged`, `duplicates`, `scores`) are given by name. `identity` says which documents
    are one: a mapping or a function from ids to ids, a pattern such as "doc#chunk", or results with ids;
    the best of each identity stands for it in judgements and runs.
    """
    if identity is not None:
        from goodgain.evaluation.ranked_identity import with_identity

        qrels, runs = with_identity(Qrels.of(qrels, columns), _runs(runs), identity)
        columns = None
    evaluator = Evaluator(
        Qrels.of(qrels, columns),
        measures,
        policy=policy,
        preset=preset,
        threads=threads,
        **policies,
    )
    return evaluator.evaluate(runs)


class Evaluator:
    """Judgements and measures prepared once, for any number of runs: for training loops."""

    __slots__ = ("_prepared", "measures", "places", "policy", "qrels")

    def __init__(
        self,
        qrels: Any,
        measures: Measures = "nDCG@10 AP RR R@1000 P@10",
        *,
        policy: Policy | Mapping[str, str] | None = None,
        preset: str = "default",
        threads: int | None = None,
        **policies: str,
    ) -> None:
        self.qrels = Qrels.of(qrels)
        self.policy = Policy.of(policy, preset, **policies)
        if isinstance(measures, str):
            self.measures, plan = _text_plan(measures, self.policy)
        else:
            self.measures = parse_all(measures)
            plan = _plan(self.measures, self.policy)
        if threads is not None and threads < 1:
            raise UsageError(f"threads={threads} is not a whole number from 1 on")
        self._prepared = Prepared(self.qrels.core, plan, threads or _cores())
        in_core = [m for m in self.measures if m.definition.column is None]
        # Where a measure's values are: their place in the core, or the run's column of time or cost.
        self.places: dict[str, int | str] = {
            m.label: m.definition.column or in_core.index(m) for m in self.measures
        }

    def evaluate(self, runs: Any) -> Evaluation:
        """The measures of one run or of several."""
        if type(runs) is dict and _is_plain_run(runs):  # the shortest way, for training loops
            try:
                scores = self._prepared.dict(runs, "run")
            except CoreError as error:
                raise from_core(error) from None
            found = {"run": RunScores("run", self.measures, _CoreValues(self, scores, None))}
        else:
            found = {
                run.name: RunScores(
                    run.name, self.measures, _CoreValues(self, run.scores(self._prepared), run)
                )
                for run in _runs(runs)
            }
        return Evaluation(found, self.measures, self.policy, self.qrels.source)

    __call__ = evaluate


class _CoreValues:
    """The values of a run as the core has them, with time and cost beside; taken over when asked for."""

    __slots__ = ("_evaluator", "_run", "_scores")

    def __init__(self, evaluator: Evaluator, scores: Scores, run: Run | None) -> None:
        self._evaluator = evaluator
        self._scores = scores
        self._run = run

    @property
    def source(self) -> Source | None:
        return self._run.source if self._run else None

    def queries(self) -> list[str]:
        return self._kept(self._evaluator.qrels.queries)

    def column(self, label: str, bound: str) -> list[float]:
        place = self._evaluator.places[label]
        if isinstance(place, str):
            return self._beside(place)
        if bound:
            place = self._scores.width // 3 + 2 * place + (bound == "upper")
        return self._kept(self._scores.column(place))

    def _beside(self, column: str) -> list[float]:
        given = getattr(self._run, column, None) or {}
        return [given.get(query, math.nan) for query in self.queries()]

    def _kept(self, values: list[T]) -> list[T]:
        """Without the queries that the run lacks, where the policy leaves them out."""
        if self._evaluator.policy.missing != "skip":
            return values
        return [v for v, there in zip(values, self._scores.in_run(), strict=True) if there]

    def coverage(self) -> Coverage:
        scores, judged = self._scores, len(self._evaluator.qrels)
        in_run, documents, unjudged, top, top_judged = scores.totals()
        return Coverage(
            judged_queries=judged,
            missing_queries=judged - in_run,
            unjudged_queries=scores.unjudged_queries,
            documents=documents,
            unjudged_documents=unjudged,
            judged_at_10=top_judged / top if top else math.nan,
        )


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _plan(measures: tuple[Measure, ...], policy: Policy) -> Plan:
    from goodgain._core import Plan, kernels

    if policy.unjudged == "bounds":
        known = kernels()
        for m in measures:
            kernel = m.definition.kernel
            if (
                kernel is None
                or not known[kernel]["unjudged_bounds"]
                or m.get("ideal") == "retrieved"
            ):
                raise UsageError(
                    f"no exact bounds over unjudged documents are known for {m}",
                    hint="leave it out, or use unjudged=remove",
                )
    options = [m.options() for m in measures if m.definition.column is None]
    return Plan(options, policy.for_core())


@lru_cache(maxsize=256)
def _cached_plan(text: str, policy: Policy) -> tuple[tuple[Measure, ...], Plan]:
    measures = parse_all(text)
    return measures, _plan(measures, policy)


def _text_plan(text: str, policy: Policy) -> tuple[tuple[Measure, ...], Plan]:
    """Plans of built-in measures are kept: a loop that evaluates anew each time parses once."""
    found = _cached_plan(text, policy)
    if any(m.definition.family == "registered" for m in found[0]):
        _cached_plan.cache_clear()  # a name may be registered again
    return found


def _runs(runs: Any) -> list[Run]:
    """One run or several, as given; several with the same name are told apart by a number."""
    if isinstance(runs, Mapping) and _maps_names_to_runs(runs):
        return [Run.of(run, name) for name, run in runs.items()]
    if isinstance(runs, list | tuple) and runs and not _is_row(runs[0]):
        return named_runs(runs)
    return [Run.of(runs)]


def named_runs(runs: Iterable[Any], columns: Mapping[str, str] | None = None) -> list[Run]:
    """Several runs, each with a name of its own: files of the same name are numbered."""
    found = [Run.of(run, columns=columns) for run in runs]
    names = [run.name for run in found]
    for i, run in enumerate(found):
        if names.count(names[i]) > 1:
            run.name = f"{names[i]}#{names[: i + 1].count(names[i])}"
    return found


def _maps_names_to_runs(value: Mapping[Any, Any]) -> bool:
    """{name: run} rather than {query: {document: score}}."""
    for first in value.values():
        if isinstance(first, Mapping):
            return any(isinstance(inner, Mapping | list | tuple) for inner in first.values())
        if isinstance(first, list | tuple):
            return bool(first) and _is_row(first[0]) and len(first[0]) > 2
        return True
    return False


def _is_row(item: Any) -> bool:
    """A row of a run, (query, doc, score) or an object with such fields; not a run itself."""
    if isinstance(item, tuple | list):
        return True
    return isinstance(item, Mapping) and not any(isinstance(v, Mapping) for v in item.values())


def _is_plain_run(value: dict[Any, Any]) -> bool:
    """{query: {document: score}}, by a look at the first score."""
    for docs in value.values():
        if type(docs) is not dict:
            return False
        for score in docs.values():
            return type(score) is float
    return False
