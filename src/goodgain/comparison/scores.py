"""Per-query scores of several systems, whatever they came from, ready to be paired."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from goodgain.errors import GoodgainError, InputError, UsageError
from goodgain.measures import Measure, parse
from goodgain.ranking import Evaluation, RunScores

Columns = dict[str, dict[str, float]]  # {measure: {unit: value}}, undefined as NaN


@runtime_checkable
class HasUnitScores(Protocol):
    """Any result that can be compared: values of each system by measure and unit.

    A unit is what is paired: a query, a conversation. A result may also have `lower_is_better`, the
    names of measures where less is more.
    """

    def per_unit_scores(self) -> Mapping[str, Mapping[str, Mapping[str, float]]]:
        """{system: {measure: {unit: value}}}."""


@dataclass
class ScoreSet:
    """Scores by system, seed, measure and unit; and the groups that units belong to."""

    systems: dict[str, list[Columns]] = field(default_factory=dict)  # one entry a seed
    groups: dict[str, dict[str, str]] = field(default_factory=dict)  # column -> unit -> group
    lower: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    inputs: list[dict[str, Any]] = field(default_factory=list)  # what a saved result says of them
    runs: dict[str, list[RunScores]] = field(default_factory=dict)  # where scores are of runs
    evaluations: list[Evaluation] = field(default_factory=list)

    def add(self, name: str, seeds: list[Columns], runs: list[RunScores] | None = None) -> str:
        """Add a system; a name that is taken is numbered, as runs of the same name are."""
        unique, number = name, 1
        while unique in self.systems:
            number += 1
            unique = f"{name}#{number}"
        self.systems[unique] = seeds
        if runs:
            self.runs[unique] = runs
        return unique

    @property
    def measures(self) -> list[str]:
        """The measures of all systems, in order of appearance."""
        found: dict[str, None] = {}
        for seeds in self.systems.values():
            for columns in seeds:
                found |= dict.fromkeys(columns)
        return list(found)

    def values(self, system: str, measure: str) -> dict[str, float]:
        """Unit to value, over seeds their mean; undefined where any seed is."""
        columns = [seed.get(measure, {}) for seed in self.systems[system]]
        if len(columns) == 1:
            return columns[0]
        units = {unit: None for column in columns for unit in column}
        return {
            unit: math.fsum(c.get(unit, math.nan) for c in columns) / len(columns)
            if all(unit in c for c in columns) else math.nan
            for unit in units
        }  # fmt: skip


def collect(
    source: Any, into: ScoreSet, columns: Mapping[str, str] | None = None, by: str | None = None
) -> list[str]:
    """Add all systems of anything comparable; returns their names.

    A list is one system: its items are seeds.
    """
    if isinstance(source, Evaluation):
        into.lower |= {m.label for m in source.measures if m.definition.lower_is_better}
        into.inputs.append({"kind": "evaluation", "policy": source.policy.to_dict()})
        into.evaluations.append(source)
        return [into.add(run.name, [_run_columns(run)], [run]) for run in source]
    if isinstance(source, RunScores):
        into.lower |= {m.label for m in source.measures if m.definition.lower_is_better}
        return [into.add(source.name, [_run_columns(source)], [source])]
    if isinstance(source, HasUnitScores):
        into.lower |= set(getattr(source, "lower_is_better", ()))
        return _from_mapping(source.per_unit_scores(), into)
    if isinstance(source, list | tuple) and source and not _is_row(source[0]):
        return _seeds(source, into, columns, by)
    if isinstance(source, Mapping) and not _is_column_table(source):
        return _from_mapping(source, into)
    if isinstance(source, str | os.PathLike | Mapping | Iterable) or hasattr(
        source, "__arrow_c_stream__"
    ):
        from goodgain.comparison.score_table import read_scores

        return read_scores(source, into, columns or {}, by)
    raise InputError(
        f"a {type(source).__name__} has no scores to compare",
        hint="an Evaluation, a result with per_unit_scores(), a table of scores, or a path to one",
    )


def _run_columns(run: RunScores) -> Columns:
    return {m.label: dict(zip(run.queries, run.column(m), strict=True)) for m in run.measures}


def _is_row(item: Any) -> bool:
    """A row with named fields rather than {system: {measure: {unit: value}}}."""
    return isinstance(item, Mapping) and not all(isinstance(v, Mapping) for v in item.values())


def _is_column_table(source: Mapping[Any, Any]) -> bool:
    """{column: list} rather than {system: {measure: {unit: value}}}."""
    return all(isinstance(v, list | tuple) for v in source.values())


def _from_mapping(
    scores: Mapping[str, Mapping[str, Mapping[str, float]]], into: ScoreSet
) -> list[str]:
    names = []
    for system, measures in scores.items():
        try:
            columns = {
                str(m): {str(u): math.nan if v is None else float(v) for u, v in values.items()}
                for m, values in measures.items()
            }
        except (AttributeError, TypeError, ValueError):
            raise InputError(
                f"the scores of '{system}' are not {{measure: {{query: number}}}}",
                hint="{system: {measure: {query: number}}}",
            ) from None
        names.append(into.add(str(system), [columns]))
    return names


def _seeds(
    sources: Iterable[Any], into: ScoreSet, columns: Mapping[str, str] | None, by: str | None
) -> list[str]:
    apart = ScoreSet()
    for source in sources:
        if len(collect(source, apart, columns, by)) != 1:
            raise UsageError(
                "a list stands for the seeds of one system, but one of its items has several systems",
                hint="give each seed as an evaluation of one run",
            )
    into.lower |= apart.lower
    into.groups |= apart.groups
    into.inputs += apart.inputs
    into.evaluations += apart.evaluations
    name = next(iter(apart.systems))
    seeds = [seed for seeds in apart.systems.values() for seed in seeds]
    return [into.add(name, seeds, [run for runs in apart.runs.values() for run in runs])]


def measure_of(name: str) -> Measure | None:
    """The measure that a column's name is, or None for a name of someone else's."""
    try:
        return parse(name)
    except GoodgainError:
        return None


_PRICES = ("latency", "cost", "duration", "seconds", "time", "tokens")


def is_price(name: str) -> bool:
    """Whether a measure is time or cost, by its entry in the table or by its name."""
    measure = measure_of(name)
    if measure is not None:
        return measure.definition.family == "time and cost"
    return name.casefold().replace("-", "_").split("_")[0] in _PRICES


def is_lower_better(name: str, told: Iterable[str]) -> bool:
    """Whether less is more: as told, as the table of measures has it, or since it is time or cost."""
    measure = measure_of(name)
    return name in told or is_price(name) or bool(measure and measure.definition.lower_is_better)
