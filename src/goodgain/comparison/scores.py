"""Scores per query or conversation of several systems, from any source, ready to be paired."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from goodgain.comparison.comparison import Comparison
from goodgain.errors import InputError, UsageError
from goodgain.io.naming import unique_names
from goodgain.measures.custom import column_measure
from goodgain.measures.definition import Measure
from goodgain.ranking import Evaluation, RunScores
from goodgain.results.judges import judges_of

if TYPE_CHECKING:
    from goodgain.measures.definition import Direction

NamedColumns = Mapping[str, str | Sequence[str]]  # role to column, or to several of a query
Columns = dict[str, dict[str, float]]  # {label of a measure: {unit: value}}, undefined as NaN
Bounds = dict[str, dict[str, tuple[float, float]]]  # {label: {unit: (lower, upper)}}


@runtime_checkable
class HasUnitScores(Protocol):
    """Any result that can be compared: the values of each system by measure and unit.

    A unit is what is paired: a query, a conversation. Measures are `Measure` objects, or names. A
    result may also have `lower_is_better` (names of measures), `default_measures` (what is compared
    unless measures are named), `per_unit_bounds()` and `label_coverage()`. Several runs over the same
    units are seeds: `per_repeat_scores()` and `per_repeat_bounds()` list the values of each.
    """

    def per_unit_scores(self) -> Mapping[str, Mapping[Any, Mapping[str, float]]]:
        """{system: {measure: {unit: value}}}."""


@dataclass
class ScoreSet:
    """Scores by system, seed, measure and unit, with the measures themselves."""

    systems: dict[str, list[Columns]] = field(default_factory=dict)  # one entry per seed
    # The names of a system's seeds, for systems that depend on one; equal names are shared seeds.
    seed_labels: dict[str, list[str]] = field(default_factory=dict)
    factor: str = "seed"  # or what else repeats the scores of a query: repeat, annotator
    names: list[str] = field(default_factory=list)  # of the systems, before equal ones are numbered
    measures: dict[str, Measure] = field(default_factory=dict)  # by label, in order of appearance
    bounds: dict[str, list[Bounds]] = field(default_factory=dict)  # where labels or judgments miss
    label_coverage: dict[str, float] = field(default_factory=dict)  # share labelled, where known
    default_measures: list[str] = field(default_factory=list)
    groups: dict[str, dict[str, str]] = field(default_factory=dict)  # column -> unit -> group
    notes: list[str] = field(default_factory=list)
    inputs: list[dict[str, Any]] = field(
        default_factory=list
    )  # what a saved result records of them
    runs: dict[str, list[RunScores]] = field(default_factory=dict)
    evaluations: list[Evaluation] = field(default_factory=list)

    def add(
        self,
        name: str,
        seeds: list[Columns],
        *,
        seed_labels: list[str] | None = None,
        runs: list[RunScores] | None = None,
        bounds: list[Bounds] | None = None,
        coverage: float | None = None,
    ) -> int:
        """Add a system and return its index; equal names are numbered, as those of runs are."""
        self.names.append(name)
        *others, unique = unique_names(self.names)
        renames = dict(zip(self.systems, others, strict=True))
        tables: list[dict[str, Any]] = [
            self.systems, self.seed_labels, self.runs, self.bounds, self.label_coverage,
        ]  # fmt: skip
        for table in tables:
            renamed = {renames[system]: value for system, value in table.items()}
            table.clear()
            table.update(renamed)
        self.systems[unique] = seeds
        if seed_labels:
            self.seed_labels[unique] = seed_labels
        if runs:
            self.runs[unique] = runs
        if bounds:
            self.bounds[unique] = bounds
        if coverage is not None:
            self.label_coverage[unique] = coverage
        return len(self.names) - 1

    def add_measures(self, measures: Iterable[Measure]) -> None:
        """Add measures; one label cannot stand for two of them."""
        for measure in measures:
            known = self.measures.setdefault(measure.label, measure)
            if known != measure:
                raise UsageError(
                    f"'{measure.label}' is {_article(known.namespace)} measure in one source and "
                    f"{_article(measure.namespace)} measure in another",
                    hint="compare results of one kind at a time",
                )

    def state_directions(self, lower: Iterable[str], higher: Iterable[str]) -> None:
        """What the user says about the direction of measures; it wins over everything else."""
        stated: dict[str, Direction] = dict.fromkeys(map(str, lower), "lower")
        for name in map(str, higher):
            if stated.setdefault(name, "higher") == "lower":
                raise UsageError(f"'{name}' cannot be both lower-is-better and higher-is-better")
        for name, direction in stated.items():
            labels = [
                label
                for label, measure in self.measures.items()
                if name == label or name in other_spellings(measure)
            ]
            if not labels:
                raise UsageError(
                    f"no measure '{name}' to be {direction}-is-better",
                    hint=f"available: {', '.join(self.measures)}",
                )
            for label in labels:
                self.measures[label] = self.measures[label].with_direction(direction)

    def values(self, system: str, label: str) -> dict[str, float]:
        """Unit to value; over seeds the mean of those in which it is defined."""
        columns = [seed.get(label, {}) for seed in self.systems[system]]
        if len(columns) == 1:
            return columns[0]
        values: dict[str, list[float]] = {}
        for column in columns:
            for unit, value in column.items():
                own = values.setdefault(unit, [])
                if value == value:
                    own.append(value)
        return {unit: _mean(own) for unit, own in values.items()}

    def limits(self, system: str, label: str) -> dict[str, tuple[float, float]]:
        """Unit to (lower, upper) over what missing labels could be; the value itself where none miss."""
        sides: list[dict[str, list[float]]] = [{}, {}]
        for seed, column in enumerate(self.systems[system]):
            for unit, value in column.get(label, {}).items():
                for side, limit in zip(
                    sides, self.seed_limits(system, seed, label, unit, value), strict=True
                ):
                    side.setdefault(unit, []).append(limit)
        return {u: (_mean(sides[0][u]), _mean(sides[1][u])) for u in sides[0]}

    def seed_limits(
        self, system: str, seed: int, label: str, unit: str, value: float
    ) -> tuple[float, float]:
        """The limits of one value of one seed."""
        seeds = self.bounds.get(system, [])
        if seed >= len(seeds):
            return value, value
        return seeds[seed].get(label, {}).get(unit, (value, value))

    def is_labelled(self, system: str) -> bool:
        """False only where it is known that nothing of the system is judged or labelled."""
        coverage = self.label_coverage.get(system)
        return coverage is None or coverage > 0


def _mean(values: list[float]) -> float:
    """The mean of those that are defined; infinite where a sum is too large for a number."""
    defined = [v for v in values if v == v]
    try:
        return math.fsum(defined) / len(defined) if defined else math.nan
    except (OverflowError, ValueError):
        return math.inf


def _article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def other_spellings(measure: Measure) -> tuple[str, ...]:
    """How a measure may be named besides its label: `SRR@i` for SRR, `wer` for a column `wer ↓`."""
    bare = measure.label.rstrip(" ↓↑")
    if measure.namespace == "agentic":
        return bare, measure.name, measure.name.removesuffix("@i")
    return (bare,)


def collect(
    source: Any, scores: ScoreSet, columns: NamedColumns | None = None, by: str | None = None
) -> list[int]:
    """Add all systems of anything comparable; returns their indexes.

    A list is one system: its items are seeds.
    """
    if isinstance(source, Evaluation):
        scores.inputs.append(
            {"kind": "evaluation", "policy": source.policy.to_dict(), **_judge(source)}
        )
        scores.evaluations.append(source)
        return [_add_run(run, scores) for run in source.runs]
    if isinstance(source, RunScores):
        return [_add_run(source, scores)]
    if isinstance(source, HasUnitScores):
        return _add_result(source, scores)
    if isinstance(source, Comparison):
        raise InputError(
            "a comparison has no scores per query",
            hint="compare the evaluations or Good Gain results that it was made from",
        )
    if isinstance(source, list | tuple) and source and not _is_row(source[0]):
        return _add_seeds(source, scores, columns, by)
    if isinstance(source, Mapping) and not _is_column_table(source):
        return _add_mapping(source, scores)
    if isinstance(source, str | os.PathLike | Mapping | Iterable) or hasattr(
        source, "__arrow_c_stream__"
    ):
        return _add_table(source, scores, columns or {}, by)
    raise InputError(
        f"a {type(source).__name__} has no scores to compare",
        hint="an Evaluation, a result with per_unit_scores(), a table of scores, or a path to one",
    )


def _judge(result: Any) -> dict[str, Any]:
    """The judge behind a result's judgments, if a model gave them."""
    judges = judges_of(result.inputs()) if hasattr(result, "inputs") else []
    return {"judge": judges[0]} if judges else {}


def _add_run(run: RunScores, scores: ScoreSet) -> int:
    scores.add_measures(run.measures)
    columns = {m.label: dict(zip(run.queries, run.column(m), strict=True)) for m in run.measures}
    bounds: list[Bounds] | None = None
    if run.has_bounds:
        bounds = [
            {
                m.label: dict(
                    zip(
                        run.queries,
                        zip(run.column(m, "lower"), run.column(m, "upper"), strict=True),
                        strict=True,
                    )
                )
                for m in run.measures
                if m.definition.column is None
            }
        ]
    c = run.coverage
    coverage = 1 - c.unjudged_documents / c.documents if c.documents else None
    return scores.add(run.name, [columns], runs=[run], bounds=bounds, coverage=coverage)


def _add_result(result: HasUnitScores, scores: ScoreSet) -> list[int]:
    """A result of this or another package: measures by object, or by name."""
    if judge := _judge(result):
        scores.inputs.append({"kind": "result", **judge})
    lower = set(getattr(result, "lower_is_better", ()))
    bounds = result.per_unit_bounds() if hasattr(result, "per_unit_bounds") else {}
    coverage = result.label_coverage() if hasattr(result, "label_coverage") else {}
    repeats = result.per_repeat_scores() if hasattr(result, "per_repeat_scores") else {}
    repeat_bounds = result.per_repeat_bounds() if hasattr(result, "per_repeat_bounds") else {}
    indexes = []
    for system, columns in result.per_unit_scores().items():
        measures = [
            m if isinstance(m, Measure) else column_measure(str(m), "lower" if m in lower else None)
            for m in columns
        ]
        scores.add_measures(measures)
        seeds = repeats.get(system, [columns])
        own = f"{len(scores.names) + 1}."  # no other system shares its repeats
        labels = [f"{own}{i + 1}" for i in range(len(seeds))] if system in repeats else None
        scores.factor = "repeat" if labels else scores.factor
        listed = repeat_bounds.get(system, [bounds[system]] if system in bounds else [])
        limits = [{str(m): dict(units) for m, units in one.items()} for one in listed]
        indexes.append(
            scores.add(
                str(system),
                [_numbers(str(system), seed) for seed in seeds],
                seed_labels=labels,
                bounds=limits or None,
                coverage=coverage.get(system),
            )
        )
    defaults = getattr(result, "default_measures", ())
    scores.default_measures += [m for m in defaults if m not in scores.default_measures]
    return indexes


def _add_mapping(
    source: Mapping[str, Mapping[str, Mapping[str, float]]], scores: ScoreSet
) -> list[int]:
    indexes = []
    for system, columns in source.items():
        numbers = _numbers(str(system), columns)
        scores.add_measures(
            m if isinstance(m, Measure) else column_measure(str(m)) for m in columns
        )
        indexes.append(scores.add(str(system), [numbers]))
    return indexes


def _numbers(system: str, columns: Mapping[Any, Mapping[str, float]]) -> Columns:
    try:
        return {
            str(m): {str(u): math.nan if v is None else float(v) for u, v in values.items()}
            for m, values in columns.items()
        }
    except (AttributeError, TypeError, ValueError):
        raise InputError(
            f"the scores of '{system}' are not {{measure: {{query: number}}}}",
            hint="{system: {measure: {query: number}}}",
        ) from None


def _add_table(source: Any, scores: ScoreSet, columns: NamedColumns, by: str | None) -> list[int]:
    from goodgain.comparison.score_table import read_scores
    from goodgain.results.loading import load_saved

    if isinstance(source, str | os.PathLike) and (saved := load_saved(source)) is not None:
        return collect(saved, scores, columns, by)
    return read_scores(source, scores, columns, by)


def _is_row(item: Any) -> bool:
    """A row with named fields rather than {system: {measure: {unit: value}}}."""
    return isinstance(item, Mapping) and not all(isinstance(v, Mapping) for v in item.values())


def _is_column_table(source: Mapping[Any, Any]) -> bool:
    """{column: list} rather than {system: {measure: {unit: value}}}."""
    return all(isinstance(v, list | tuple) for v in source.values())


def _add_seeds(
    sources: Iterable[Any], scores: ScoreSet, columns: NamedColumns | None, by: str | None
) -> list[int]:
    apart = ScoreSet()
    for source in sources:
        if len(collect(source, apart, columns, by)) != 1:
            raise UsageError(
                "a list holds the seeds of one system, but one of its items has several systems",
                hint="give each seed as an evaluation of one run",
            )
    scores.add_measures(apart.measures.values())
    scores.groups |= apart.groups
    scores.notes += apart.notes
    scores.inputs += apart.inputs
    scores.evaluations += apart.evaluations
    scores.default_measures += [
        m for m in apart.default_measures if m not in scores.default_measures
    ]
    name = apart.names[0]
    coverage = list(apart.label_coverage.values())
    columns_by_seed = [seed for seeds in apart.systems.values() for seed in seeds]
    own = f"{len(scores.names) + 1}."  # seeds of a list have no names: no other system shares them
    return [
        scores.add(
            name,
            columns_by_seed,
            seed_labels=[f"{own}{i + 1}" for i in range(len(columns_by_seed))],
            runs=[run for runs in apart.runs.values() for run in runs],
            bounds=[seed for seeds in apart.bounds.values() for seed in seeds],
            coverage=min(coverage) if coverage else None,
        )
    ]
