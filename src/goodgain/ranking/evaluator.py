"""From judgments and runs to an Evaluation."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import lru_cache

from goodgain._core import CoreError, Prepared
from goodgain.cores import memory_limit, thread_count
from goodgain.data.qrels import Qrels
from goodgain.data.run import Run
from goodgain.errors import (
    DisjointError,
    InputError,
    UsageError,
    core_errors,
    from_core,
    nested_too_deeply,
)
from goodgain.io.columns import columns_of, looks_like_header
from goodgain.io.limits import counted_rows, current_limits
from goodgain.io.naming import is_place, unique_names
from goodgain.io.result_lists import is_query_row
from goodgain.io.sources import collected
from goodgain.io.span_tables import is_span_table
from goodgain.measures.definition import Measure
from goodgain.measures.grammar import parse_all
from goodgain.ranking.core_values import CoreValues
from goodgain.ranking.policy import CHOICES, Policy
from goodgain.ranking.presets import Convention, convention
from goodgain.ranking.result import Conditions, Evaluation
from goodgain.ranking.scores import RunScores
from goodgain.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar, Unpack

    from goodgain._core import Plan, Scores
    from goodgain.errors import GoodgainError
    from goodgain.names import PolicyChoices, Preset

    T = TypeVar("T")

Measures = str | Measure | Iterable[str | Measure]
DEFAULT_MEASURES = "nDCG@10 AP RR R@1000 P@10"


def evaluate(
    qrels: Any,
    runs: Any,
    measures: Measures = DEFAULT_MEASURES,
    *,
    policy: Policy | Mapping[str, str] | None = None,
    preset: Preset = "default",
    threads: int | None = None,
    memory: int | str | None = None,
    columns: Mapping[str, str] | None = None,
    identity: Any = None,
    skip_bad: bool = False,
    documents: Any = None,
    cover: float = 0.5,
    tokenizer: Any = None,
    **policies: Unpack[PolicyChoices],
) -> Evaluation:
    """Measure one or several runs against judgments.

    `qrels` and each run are a path, a dictionary of dictionaries, rows, a data frame, or a table of
    this package. Several runs are a list, or a dictionary from names to runs. Policies (`ties`,
    `missing`, `unjudged`, `duplicates`, `scores`) are passed by name. `identity` merges documents: a
    mapping or a function from ids to ids, a pattern such as "doc#chunk", or results with ids; the best
    document of each identity represents it in judgments and runs. `columns` names the columns of
    judgments and runs ({"query": "topic"}). With `skip_bad`, unusable rows of a run are skipped and
    counted; a bad row of the judgments is always an error.

    `memory` ("2GB") bounds what the rows of a run take in memory, 1 GB by default; what does not fit goes to
    the temporary folder. Numbers do not depend on it. The judgments are always in memory.

    Judgments with columns start and end, or quote, are spans of text, and runs are chunks with start and
    end, or text, or ids `doc#start-end`: a span is met once chunks `cover` this share of it. `documents`
    locate texts; a `tokenizer` counts tokens instead of characters in the measures of spans.

    A cut-off may be a budget of tokens (`nDCG@2000tokens`): results are taken while they fit. Their lengths
    come from a column tokens or text of the run, or from `documents` and `tokenizer` (by default "words").

    >>> import goodgain as gg
    >>> qrels = {"q1": {"d1": 3, "d2": 0, "d3": 1}, "q2": {"d4": 2}}
    >>> run = {"q1": {"d1": 9.2, "d3": 8.1, "d2": 3.3}, "q2": {"d5": 4.0, "d4": 1.5}}
    >>> result = gg.evaluate(qrels, run, "nDCG@10 AP RR")
    >>> print(result)
    run  nDCG@10      AP      RR  queries
    run   0.8155  0.7500  0.7500        2
    >>> result["AP"]
    0.75
    >>> result.per_query["run"]["q2"]["RR"]
    0.5
    """
    if not isinstance(measures, str | Measure):
        measures = tuple(_listed(measures))
    qrels, runs = collected(qrels, "qrels"), collected(runs, "run")
    if is_span_table(qrels):
        from goodgain.ranking.spans import evaluate_spans

        if identity is not None:
            raise UsageError("identity does not apply to judgments of spans", hint="leave it out")
        return evaluate_spans(
            qrels, runs, measures, documents=documents, cover=cover, tokenizer=tokenizer,
            columns=columns, skip_bad=skip_bad, policy=policy, preset=preset, threads=threads, memory=memory,
            **policies,
        )  # fmt: skip
    _refuse_swapped(qrels, runs)
    if has_budget(measures):
        from functools import partial

        from goodgain.ranking.budgets import evaluate_budgets

        named = several_runs(runs, columns_of("run", columns), skip_bad=skip_bad)
        options: dict[str, Any] = {
            **policies,
            "policy": policy,
            "preset": preset,
            "threads": threads,
            "memory": memory,
        }
        score = partial(evaluate, columns=columns, identity=identity, skip_bad=skip_bad, **options)
        return evaluate_budgets(
            qrels, named, parse_all(measures, preset), score, tables=_tables_by_name(runs, named),
            documents=documents, tokenizer=tokenizer, policy=Policy.of(policy, preset, **policies),
        )  # fmt: skip
    qrels = Qrels.of(qrels, columns_of("qrels", columns), threads)
    if columns:
        runs = several_runs(runs, columns_of("run", columns), skip_bad=skip_bad)
    if identity is not None:
        from goodgain.ranking.identity import with_identity

        chosen, prepared = recipe(measures, policy, preset, skip_bad, **policies)
        core = qrels.for_measures(
            aspects=by_aspect(prepared.measures), duplicates=chosen.duplicates
        )
        qrels, runs = with_identity(qrels, core, several_runs(runs, skip_bad=skip_bad), identity)
    evaluator = Evaluator(
        qrels,
        measures,
        policy=policy,
        preset=preset,
        threads=threads,
        memory=memory,
        skip_bad=skip_bad,
        **policies,
    )
    return evaluator.evaluate(runs)


def has_budget(measures: Any) -> bool:
    """Whether a measure has a budget of tokens; cheap, since every evaluation asks."""
    if isinstance(measures, str):
        return "token" in measures
    listed = (measures,) if isinstance(measures, Measure) else measures
    return any("token" in m if isinstance(m, str) else getattr(m, "budget", None) for m in listed)


def _tables_by_name(runs: Any, named: list[Run]) -> dict[str, Any]:
    """The runs as they were passed, which may have a column of tokens or texts."""
    if isinstance(runs, Mapping) and _maps_names_to_runs(runs):
        passed = list(runs.values())
    elif isinstance(runs, list | tuple) and runs and not _is_row(runs[0]):
        passed = list(runs)
    else:
        passed = [runs]
    if len(passed) != len(named):
        return {}
    tables = {}
    for run, table in zip(named, passed, strict=True):
        tables[run.name] = _passed_to(table) if isinstance(table, Run) else table
    return tables


def _passed_to(run: Run) -> Any:
    source = run.source
    return source.name if source.stat else source.value if source.kind == "arrow" else None


def _refuse_swapped(qrels: Any, runs: Any) -> None:
    """Notice `evaluate(run, qrels)`: by type, or by a look at the values of the first query."""
    if isinstance(qrels, Run) or isinstance(runs, Qrels):
        raise UsageError("the arguments are swapped", hint="evaluate(qrels, runs)")
    gains, scores = _first_values(qrels), _first_values(runs)
    if not gains or not scores:
        return
    if any(g != int(g) for g in gains) and all(type(s) is int and -10 <= s <= 10 for s in scores):
        raise UsageError(
            f"the arguments look swapped: judgments such as {gains[0]!r}, scores such as {scores[0]!r}",
            hint="evaluate(qrels, runs); if they are not: evaluate(gg.Qrels(...), gg.Run(...))",
        )


def _first_values(table: Any) -> list[Any]:
    """The numbers of the first query of {query: {document: number}}, from a dictionary or a JSON file."""
    if isinstance(table, str | os.PathLike) and os.fspath(table).endswith(".json"):
        from goodgain.io.files import read_json

        try:
            table = read_json(os.fspath(table))
        except InputError:
            return []
    if type(table) is not dict:
        return []
    for documents in table.values():
        if type(documents) is not dict:
            return []
        return [v for v in documents.values() if type(v) in (int, float) and v - v == 0]
    return []


class Evaluator:
    """Judgments and measures prepared once for any number of runs, as in training loops.

    >>> import goodgain as gg
    >>> evaluator = gg.Evaluator({"q1": {"a": 1, "b": 2}}, "nDCG@10 RR")
    >>> for epoch, order in enumerate((["x", "b"], ["b", "a"])):
    ...     print(epoch, evaluator.evaluate({"q1": order})["RR"])
    ...
    0 0.5
    1 1.0
    """

    __slots__ = (
        "_measure_plain",
        "conditions",
        "core",
        "mean_places",
        "measures",
        "missing",
        "places",
        "policy",
        "prepared",
        "preset",
        "qrels",
        "resources",
        "skip_bad",
        "skips",
        "threads",
    )

    def __init__(
        self,
        qrels: Any,
        measures: Measures = DEFAULT_MEASURES,
        *,
        policy: Policy | Mapping[str, str] | None = None,
        preset: Preset = "default",
        threads: int | None = None,
        memory: int | str | None = None,
        skip_bad: bool = False,
        **policies: Unpack[PolicyChoices],
    ) -> None:
        self.qrels = Qrels.of(qrels, threads=threads)
        self.preset = preset
        self.resources, self.skip_bad = {"threads": threads, "memory": memory}, skip_bad
        self.policy, prepared_recipe = recipe(measures, policy, preset, skip_bad, **policies)
        self.measures, plan, self.missing, self.places = (
            prepared_recipe.measures,
            prepared_recipe.plan,
            prepared_recipe.missing,
            prepared_recipe.places,
        )
        self.core = self.qrels.for_measures(
            aspects=by_aspect(self.measures), duplicates=self.policy.duplicates
        )
        self.threads = thread_count(threads)
        self.prepared = Prepared(self.core, plan, self.threads, memory_limit(memory))
        self._measure_plain = self.prepared.plain_dict
        self.conditions = Conditions(self.measures, self.policy, self.qrels.source, preset=preset)
        self.skips = self.missing == "skip"
        self.mean_places = {
            m.label: place
            for m in self.measures
            if m.definition.aggregate == "mean"
            and type(place := self.places[m.label]) is int
            and m.label != "run"  # in brackets, the name of a run comes first
        }

    def evaluate(self, runs: Any) -> Evaluation:
        """The measures of one run or of several."""
        if current_limits() is None:  # the fast path of training loops
            try:
                scores = None if runs is None else self._measure_plain(runs)
            except CoreError as error:
                raise self._explained(from_core(error), runs) from None
            except RecursionError:
                raise nested_too_deeply() from None
            if scores is not None:
                return Evaluation.of_call(self.conditions, self, scores, runs)
        listed = several_runs(runs, skip_bad=self.skip_bad)
        scored = {
            run.name: RunScores(run.name, self.measures, CoreValues(self, of_run, run))
            for run, of_run in zip(listed, self._scores(listed), strict=True)
        }
        return Evaluation(scored, self.measures, self.policy, self.qrels.source, None, self.preset)

    def _scores(self, runs: list[Run]) -> Iterable[Scores]:
        """The core's scores of runs; small files are spread over threads, larger ones use all of them."""
        if self.threads == 1 or len(runs) < 2 or not all(map(_is_small_file, runs)):
            return map(self._scores_of, runs)
        from contextvars import copy_context

        from goodgain.threads import thread_pool

        contexts = [copy_context() for _ in runs]  # limits hold in them as they do here
        with thread_pool(min(self.threads, len(runs))) as pool:
            return list(pool.map(lambda c, run: c.run(self._scores_of, run), contexts, runs))

    def _scores_of(self, run: Run) -> Scores:
        try:
            return run.scores(self.prepared)
        except DisjointError as error:
            raise self._explained(error, run) from None

    def _explained(self, error: GoodgainError, run: Any) -> GoodgainError:
        """The same error; if queries would match were they written alike, that is its hint."""
        if not isinstance(error, DisjointError):
            return error
        from goodgain.ranking.mismatch import disjoint_hint

        hint = disjoint_hint(self.qrels, run, self.prepared.memory)
        return DisjointError(error.message, where=error.where, hint=hint or error.hint)

    __call__ = evaluate

    def __getstate__(self) -> dict[str, Any]:
        """What it was prepared from; the copy counts the cores of its own machine."""
        names = ("qrels", "measures", "policy", "preset", "skip_bad")
        return {name: getattr(self, name) for name in names} | self.resources

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


_SMALL_FILE = 4 << 20


def _is_small_file(run: Run) -> bool:
    source = run.source
    return (
        source.kind == "file"
        and run.only is None
        and source.stat is not None
        and source.stat[0] < _SMALL_FILE
    )


def by_aspect(measures: Iterable[Measure]) -> bool:
    """Whether a measure counts aspects, so that judgments may differ by aspect."""
    return any(m.definition.by_aspect for m in measures)


def _core_request(
    measures: tuple[Measure, ...],
    policy: Policy,
    preset: str,
    explicit: frozenset[str],
    skip_bad: bool,
) -> tuple[CoreRequest, str]:
    """The request to the core, and how it treats queries that a run lacks."""
    for m in measures:
        if m.definition.column == "spans":
            raise UsageError(
                f"{m} needs judgments of spans",
                hint="judgments with columns start and end, or quote",
            )
    if policy.unjudged == "bounds":
        _refuse_without_bounds(measures)
    conventions = [
        convention(m, policy, preset, explicit) for m in measures if m.definition.column is None
    ]
    missing = _missing(conventions, policy)
    options = [c.for_core() for c in conventions]
    choices = policy.change({"missing": missing}).for_core()
    return CoreRequest(options, {**choices, "skip_bad": skip_bad}), missing


def _missing(conventions: list[Convention], policy: Policy) -> str:
    """Skip only if all measures do; the others need a value for every judged query."""
    policies = {c.policy.missing for c in conventions} or {policy.missing}
    return "skip" if policies == {"skip"} else "zero"


def bounded_measures(measures: Iterable[Measure]) -> tuple[Measure, ...]:
    """Those whose exact bounds over unjudged documents are known."""
    from goodgain._core import kernels

    facts = kernels()
    return tuple(
        m
        for m in measures
        if (kernel := m.definition.kernel) is not None
        and m.definition.column is None
        and facts[kernel]["unjudged_bounds"]
        and (m.get("ideal") or "judged") == "judged"
    )


def _refuse_without_bounds(measures: tuple[Measure, ...]) -> None:
    bounded = bounded_measures(measures)
    for m in measures:
        if m not in bounded:
            raise UsageError(
                f"exact bounds over unjudged documents are not available for {m}",
                hint="leave it out, or use unjudged=remove",
            )


@dataclass(frozen=True, slots=True)
class CoreRequest:
    """Measures and policies as options of the core: plain data that can be sent to other machines."""

    measures: list[dict[str, Any]]
    policy: dict[str, Any]

    def by_rank(self) -> CoreRequest:
        """The same for a run whose values are ranks."""
        return CoreRequest(self.measures, {**self.policy, "by_rank": True})

    def plan(self, **options: Any) -> Plan:
        """The plan for the core."""
        from goodgain._core import Plan

        with core_errors():
            return Plan(self.measures, {**self.policy, **options})


@dataclass(frozen=True, slots=True)
class Recipe:
    """Measures, the request to the core, and where each value comes from."""

    measures: tuple[Measure, ...]
    request: CoreRequest
    plan: Plan
    missing: str
    # Each measure's place in the core, or the run's column of time or cost.
    places: dict[str, int | str]


def _build_recipe(
    measures: Measures, policy: Policy, preset: str, explicit: frozenset[str], skip_bad: bool
) -> Recipe:
    parsed = parse_all(measures, preset)
    in_core = [m for m in parsed if m.definition.column is None]
    places: dict[str, int | str] = {
        m.label: m.definition.column or in_core.index(m) for m in parsed
    }
    request, missing = _core_request(parsed, policy, preset, explicit, skip_bad)
    return Recipe(parsed, request, request.plan(), missing, places)


_cached_recipe = lru_cache(maxsize=256)(_build_recipe)


def recipe(
    measures: Measures,
    policy: Policy | Mapping[str, str] | None,
    preset: str,
    skip_bad: bool,
    **policies: Any,
) -> tuple[Policy, Recipe]:
    """The validated policies and measures."""
    chosen = Policy.of(policy, preset, **policies)
    # Explicit choices hold for every measure, whatever the preset says.
    explicit = CHOICES if isinstance(policy, Policy) else {**(policy or {}), **policies}
    return chosen, _recipe(measures, chosen, preset, frozenset(explicit), skip_bad)


def _recipe(
    measures: Measures, policy: Policy, preset: str, explicit: frozenset[str], skip_bad: bool
) -> Recipe:
    """Recipes of built-in measures are cached, so that a loop parses once."""
    key = measures if isinstance(measures, str | Measure) else tuple(_listed(measures))
    try:
        hash(key)
    except TypeError:  # not a measure: the parser raises the error
        return _build_recipe(key, policy, preset, explicit, skip_bad)
    prepared = _cached_recipe(key, policy, preset, explicit, skip_bad)
    if any(m.namespace == "custom" for m in prepared.measures):
        _cached_recipe.cache_clear()  # a name may be registered anew
    return prepared


def _listed(measures: Iterable[str | Measure]) -> Iterable[str | Measure]:
    if isinstance(measures, Iterable):
        return measures
    raise UsageError(
        f"measures must be text or a list, got {measures!r:.80}", hint='for example "nDCG@10 AP RR"'
    )


def several_runs(
    runs: Any, columns: Mapping[str, str] | None = None, *, skip_bad: bool = False
) -> list[Run]:
    """One run or several, each with a name of its own; what the caller passed is never changed."""
    is_other = hasattr(runs, "__arrow_c_stream__") or hasattr(runs, "readline")
    if hasattr(runs, "__next__") and not is_other:  # of runs or of rows
        runs = list(counted_rows(runs, "run"))
    if isinstance(runs, Mapping) and _maps_names_to_runs(runs):
        names: dict[str, Any] = {}
        for name in runs:
            if names.setdefault(str(name), name) is not name:
                raise InputError(
                    f"two runs are called '{name}'",
                    hint=f"{names[str(name)]!r} and {name!r} are the same name: rename one",
                )
        return [
            part
            for name, run in runs.items()
            for part in Run.of(run, str(name), columns).split(skip_bad=skip_bad)
        ]
    if isinstance(runs, list | tuple) and runs and not _is_row(runs[0]):
        return named_runs(runs, columns, skip_bad=skip_bad)
    return named_runs([runs], columns, skip_bad=skip_bad)


def named_runs(
    runs: Iterable[Any], columns: Mapping[str, str] | None = None, *, skip_bad: bool = False
) -> list[Run]:
    """Several runs with unique names: equal names are numbered.

    A path may lead to several of them, and so may a table with a column that names them.
    """
    tables = [
        part
        for run in runs
        for each in _paths(run)
        for part in Run.of(each, columns=columns).split(skip_bad=skip_bad)
    ]
    names = unique_names(run.name for run in tables)
    return [run.renamed(name) for run, name in zip(tables, names, strict=True)]


def _paths(run: Any) -> list[Any]:
    """The run itself, or the paths of all runs of a folder, a glob or a URL."""
    if not isinstance(run, str | os.PathLike) or not is_place(os.fspath(run)):
        return [run]
    from goodgain.io.locations import runs_of

    return list(runs_of(os.fspath(run)))


def _maps_names_to_runs(value: Mapping[Any, Any]) -> bool:
    """{name: run} rather than {query: {document: score}}."""
    for first in value.values():
        if isinstance(first, Mapping | list | tuple) and not first:
            continue  # an empty run, or a query without documents: the next one tells
        if isinstance(first, Mapping):
            return any(isinstance(inner, Mapping | list | tuple) for inner in first.values())
        if isinstance(first, list | tuple):
            return bool(first) and _is_row_of_run(first[0])
        return True
    return False


def _is_row_of_run(item: Any) -> bool:
    """A row with a query of its own, rather than a result of one: (query, doc, score) or such fields."""
    if isinstance(item, Mapping):
        names = [str(name) for name in item]
        return looks_like_header(names, "run") or is_query_row(item)
    return _is_row(item) and len(item) > 2


def _is_row(item: Any) -> bool:
    """A row of a run, (query, doc, score) or an object with such fields, rather than a run."""
    if isinstance(item, tuple | list):
        return not item or not isinstance(item[0], tuple | list | Mapping)
    return isinstance(item, Mapping) and not all(
        isinstance(v, Mapping | list | tuple) for v in item.values()
    )
