"""From judgements and runs to an Evaluation."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError
from goodgain.evaluation.policy import Policy
from goodgain.evaluation.result import Evaluation
from goodgain.evaluation.scores import Coverage, RunScores
from goodgain.measures.grammar import Measure, parse_all
from goodgain.tables.qrels import Qrels
from goodgain.tables.run import Run

if TYPE_CHECKING:
    from goodgain._core import Plan, Scores

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
        Qrels.of(qrels, columns), measures, policy=policy, preset=preset, threads=threads, **policies
    )
    return evaluator.evaluate(runs)


class Evaluator:
    """Judgements and measures prepared once, for any number of runs: for training loops."""

    __slots__ = ("_plan", "_threads", "measures", "policy", "qrels")

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
            self.measures, self._plan = _text_plan(measures, self.policy)
        else:
            self.measures = parse_all(measures)
            self._plan = _plan(self.measures, self.policy)
        if threads is not None and threads < 1:
            raise UsageError(f"threads={threads} is not a whole number from 1 on")
        self._threads = threads or _cores()

    def evaluate(self, runs: Any) -> Evaluation:
        """The measures of one run or of several."""
        given = _runs(runs)
        found = [self._measure(run) for run in given]
        inputs = [("qrels", self.qrels.source), *(("run", run.source) for run in given)]
        return Evaluation(found, self.measures, self.policy, inputs)

    __call__ = evaluate

    def _measure(self, run: Run) -> RunScores:
        scores = run.scores(self.qrels, self._plan, self._threads)
        extra = {
            m.label: getattr(run, m.definition.column)
            for m in self.measures
            if m.definition.column is not None
        }
        return RunScores(
            run.name,
            self.measures,
            lambda: _columns(self.qrels, self.measures, self.policy, scores, extra),
            lambda: _coverage(self.qrels, scores),
        )


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _plan(measures: tuple[Measure, ...], policy: Policy) -> Plan:
    from goodgain._core import Plan, kernels

    if policy.unjudged == "bounds":
        known = kernels()
        for m in measures:
            kernel = m.definition.kernel
            if kernel is None or not known[kernel]["unjudged_bounds"] or m.get("ideal") == "retrieved":
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


def _columns(
    qrels: Qrels,
    measures: tuple[Measure, ...],
    policy: Policy,
    scores: Scores,
    extra: Mapping[str, Mapping[str, float] | None],
) -> tuple[list[str], dict[str, list[float]]]:
    """Queries and their values as the core has them, with time and cost beside."""
    queries = qrels.queries
    in_core = [m for m in measures if m.definition.column is None]
    columns: dict[str, list[float]] = {}
    for i, m in enumerate(in_core):
        columns[m.label] = scores.column(i)
        if policy.has_bounds:
            columns[f"{m.label}:lower"] = scores.column(len(in_core) + 2 * i)
            columns[f"{m.label}:upper"] = scores.column(len(in_core) + 2 * i + 1)
    for label, values in extra.items():
        columns[label] = [(values or {}).get(q, math.nan) for q in queries]
        if policy.has_bounds:
            columns[f"{label}:lower"] = columns[f"{label}:upper"] = columns[label]
    if policy.missing == "skip":
        kept = scores.in_run()
        queries = [q for q, k in zip(queries, kept, strict=True) if k]
        columns = {
            key: [v for v, k in zip(values, kept, strict=True) if k] for key, values in columns.items()
        }
    return queries, columns


def _coverage(qrels: Qrels, scores: Scores) -> Coverage:
    in_run, documents, unjudged, top, top_judged = scores.totals()
    return Coverage(
        judged_queries=len(qrels),
        missing_queries=len(qrels) - in_run,
        unjudged_queries=scores.unjudged_queries,
        documents=documents,
        unjudged_documents=unjudged,
        judged_at_10=top_judged / top if top else math.nan,
    )
