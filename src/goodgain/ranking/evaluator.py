"""From judgements and runs to an Evaluation."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from goodgain._core import CoreError, Prepared
from goodgain.cores import available_cores
from goodgain.data.qrels import Qrels
from goodgain.data.run import Run
from goodgain.errors import UsageError, from_core
from goodgain.io.columns import columns_of
from goodgain.measures.grammar import Measure, parse_all
from goodgain.ranking.policy import CHOICES, Policy
from goodgain.ranking.presets import Convention, convention
from goodgain.ranking.result import Evaluation
from goodgain.ranking.scores import Coverage, RunScores, ValuesHere

if TYPE_CHECKING:
    from goodgain._core import Plan, Scores
    from goodgain.io.sources import Source

T = TypeVar("T")
Measures = str | Measure | Iterable[str | Measure]
DEFAULT_MEASURES = "nDCG@10 AP RR R@1000 P@10"


def evaluate(
    qrels: Any,
    runs: Any,
    measures: Measures = DEFAULT_MEASURES,
    *,
    policy: Policy | Mapping[str, str] | None = None,
    preset: str = "default",
    threads: int | None = None,
    columns: Mapping[str, str] | None = None,
    identity: Any = None,
    skip_bad: bool = False,
    **policies: str,
) -> Evaluation:
    """Measure one or several runs against judgements.

    `qrels` and each run are a path, a dictionary of dictionaries, rows, a data frame, or a table of
    this package. Several runs are a list, or a dictionary from their names. Policies (`ties`,
    `missing`, `unjudged`, `duplicates`, `scores`) are given by name. `identity` says which documents
    are one: a mapping or a function from ids to ids, a pattern such as "doc#chunk", or results with ids;
    the best of each identity stands for it in judgements and runs. `columns` names those of judgements
    and runs ({"query": "topic"}). With `skip_bad` rows of a run that cannot be used are left out and
    counted; of judgements a bad row is always an error.
    """
    qrels = Qrels.of(qrels, columns_of("qrels", columns))
    if columns:
        runs = several_runs(runs, columns_of("run", columns))
    if identity is not None:
        from goodgain.ranking.identity import with_identity

        qrels, runs = with_identity(qrels, several_runs(runs), identity)
    evaluator = Evaluator(
        qrels,
        measures,
        policy=policy,
        preset=preset,
        threads=threads,
        skip_bad=skip_bad,
        **policies,
    )
    return evaluator.evaluate(runs)


class Evaluator:
    """Judgements and measures prepared once, for any number of runs: for training loops."""

    __slots__ = ("measures", "missing", "places", "policy", "prepared", "preset", "qrels")

    def __init__(
        self,
        qrels: Any,
        measures: Measures = DEFAULT_MEASURES,
        *,
        policy: Policy | Mapping[str, str] | None = None,
        preset: str = "default",
        threads: int | None = None,
        skip_bad: bool = False,
        **policies: str,
    ) -> None:
        self.qrels = Qrels.of(qrels)
        self.preset = preset
        self.policy, found = recipe(measures, policy, preset, skip_bad, **policies)
        self.measures, plan, self.missing, self.places = (
            found.measures,
            found.plan,
            found.missing,
            found.places,
        )
        if threads is not None and threads < 1:
            raise UsageError(f"threads={threads} is not a whole number from 1 on")
        self.prepared = Prepared(self.qrels.core, plan, threads or available_cores())

    def evaluate(self, runs: Any) -> Evaluation:
        """The measures of one run or of several."""
        if type(runs) is dict and _is_plain_run(runs):  # the shortest way, for training loops
            try:
                scores = self.prepared.dict(runs, "run", True)
            except CoreError as error:
                raise from_core(error) from None
            found = {"run": RunScores("run", self.measures, _CoreValues(self, scores, runs))}
        else:
            found = {
                run.name: RunScores(
                    run.name, self.measures, _CoreValues(self, run.scores(self.prepared), run)
                )
                for run in several_runs(runs)
            }
        return Evaluation(found, self.measures, self.policy, self.qrels.source, None, self.preset)

    __call__ = evaluate


class _CoreValues(ValuesHere):
    """The values of a run as the core has them, with time and cost beside; taken over when asked for."""

    __slots__ = ("_evaluator", "_run", "_scores")

    def __init__(self, evaluator: Evaluator, scores: Scores, run: Run | dict[Any, Any]) -> None:
        self._evaluator = evaluator
        self._scores = scores
        self._run = run

    @property
    def source(self) -> Source | None:
        return self._run.source if isinstance(self._run, Run) else None

    def tables(self) -> tuple[Evaluator, Run]:
        run = Run.of(self._run)
        for source in (self._evaluator.qrels.source, run.source):
            source.require_unchanged()
        return self._evaluator, run

    @property
    def has_bounds(self) -> bool:
        return self._evaluator.policy.has_bounds

    def queries(self) -> list[str]:
        return self._kept(self._evaluator.qrels.queries)

    def column(self, label: str, bound: str) -> list[float]:
        place = self._evaluator.places[label]
        if isinstance(place, str):
            return self._beside(place)
        if bound:
            place = self._scores.width // 3 + 2 * place + (bound == "upper")
        values = self._scores.column(place)
        return values if self._evaluator.missing != "skip" else self._kept(values)

    def _beside(self, column: str) -> list[float]:
        given = getattr(self._run, column, None) or {}
        return [given.get(query, math.nan) for query in self.queries()]

    def _kept(self, values: list[T]) -> list[T]:
        """Without the queries that the run lacks, where the policy leaves them out."""
        if self._evaluator.missing != "skip":
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
            bad_rows=scores.bad[0],
            bad_example=scores.bad[1],
        )


def _asked(
    measures: tuple[Measure, ...],
    policy: Policy,
    preset: str,
    given: frozenset[str],
    skip_bad: bool,
) -> tuple[Asked, str]:
    """What the core is asked for, and what it does about queries that a run lacks."""
    if policy.unjudged == "bounds":
        _refuse_without_bounds(measures)
    conventions = [
        convention(m, policy, preset, given) for m in measures if m.definition.column is None
    ]
    missing = _missing(conventions, policy)
    options = [c.for_core() for c in conventions]
    choices = policy.change({"missing": missing}).for_core()
    return Asked(options, {**choices, "skip_bad": skip_bad}), missing


def _missing(conventions: list[Convention], policy: Policy) -> str:
    """Skipped only where all measures skip: those that do not need a value for every judged query."""
    found = {c.policy.missing for c in conventions} or {policy.missing}
    return "skip" if found == {"skip"} else "zero"


def _refuse_without_bounds(measures: tuple[Measure, ...]) -> None:
    from goodgain._core import kernels

    known = kernels()
    for m in measures:
        kernel = m.definition.kernel
        ideal = m.get("ideal") or "judged"
        if kernel is None or not known[kernel]["unjudged_bounds"] or ideal != "judged":
            raise UsageError(
                f"no exact bounds over unjudged documents are known for {m}",
                hint="leave it out, or use unjudged=remove",
            )


class Asked(NamedTuple):
    """Measures and policies in the core's words: plain data, that another machine makes its plan of."""

    measures: list[dict[str, Any]]
    policy: dict[str, Any]

    def plan(self, **options: Any) -> Plan:
        """What the core works by."""
        from goodgain._core import Plan

        return Plan(self.measures, {**self.policy, **options})


class Recipe(NamedTuple):
    """What an evaluator needs to know of its measures."""

    measures: tuple[Measure, ...]
    asked: Asked
    plan: Plan
    missing: str
    # Where a measure's values are: their place in the core, or the run's column of time or cost.
    places: dict[str, int | str]


def _made_recipe(
    measures: Measures, policy: Policy, preset: str, given: frozenset[str], skip_bad: bool
) -> Recipe:
    found = parse_all(measures)
    in_core = [m for m in found if m.definition.column is None]
    places: dict[str, int | str] = {m.label: m.definition.column or in_core.index(m) for m in found}
    asked, missing = _asked(found, policy, preset, given, skip_bad)
    return Recipe(found, asked, asked.plan(), missing, places)


_kept_recipe = lru_cache(maxsize=256)(_made_recipe)


def recipe(
    measures: Measures,
    policy: Policy | Mapping[str, str] | None,
    preset: str,
    skip_bad: bool,
    **policies: str,
) -> tuple[Policy, Recipe]:
    """The policies and the measures by them, checked."""
    chosen = Policy.of(policy, preset, **policies)
    # Choices that were made by name hold for every measure, whatever the preset says.
    given = CHOICES if isinstance(policy, Policy) else {**(policy or {}), **policies}
    return chosen, _recipe(measures, chosen, preset, frozenset(given), skip_bad)


def _recipe(
    measures: Measures, policy: Policy, preset: str, given: frozenset[str], skip_bad: bool
) -> Recipe:
    """Recipes of built-in measures are kept: a loop that evaluates anew each time parses once."""
    asked = measures if isinstance(measures, str | Measure) else tuple(measures)
    try:
        hash(asked)
    except TypeError:  # something that is no measure: the parser says so
        return _made_recipe(asked, policy, preset, given, skip_bad)
    found = _kept_recipe(asked, policy, preset, given, skip_bad)
    if any(m.definition.family == "registered" for m in found.measures):
        _kept_recipe.cache_clear()  # a name may be registered again
    return found


def several_runs(runs: Any, columns: Mapping[str, str] | None = None) -> list[Run]:
    """One run or several, as given; several with the same name are told apart by a number."""
    if isinstance(runs, Mapping) and _maps_names_to_runs(runs):
        return [Run.of(run, name, columns) for name, run in runs.items()]
    if isinstance(runs, list | tuple) and runs and not _is_row(runs[0]):
        return named_runs(runs, columns)
    return [Run.of(runs, columns=columns)]


def named_runs(runs: Iterable[Any], columns: Mapping[str, str] | None = None) -> list[Run]:
    """Several runs, each with a name of its own: files of the same name are numbered."""
    found = [Run.of(run, columns=columns) for run in runs]
    for run, name in zip(found, numbered([run.name for run in found]), strict=True):
        run.name = name
    return found


def numbered(names: list[str]) -> list[str]:
    """Names that come more than once, with a number each."""
    return [
        name if names.count(name) == 1 else f"{name}#{names[: i + 1].count(name)}"
        for i, name in enumerate(names)
    ]


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
