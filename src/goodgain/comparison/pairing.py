"""Scores of two systems paired by query, and what could not be paired."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from goodgain.comparison.scores import other_spellings
from goodgain.errors import InputError, MeasureError, UsageError
from goodgain.measures.definition import Measure
from goodgain.measures.grammar import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.comparison.scores import ScoreSet

    Floats = NDArray[np.float64]

UNPAIRED = {
    "drop": "leave the query out of this pair",
    "zero": "count missing values as 0 (never for measures where lower is better)",
    "error": "refuse",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A measure to compare, and the label of the scores that hold its values."""

    measure: Measure
    key: str

    @property
    def label(self) -> str:
        """How the measure is printed."""
        return self.measure.label

    @property
    def kind(self) -> Literal["mean", "geometric", "percentile"]:
        """How the values of all queries become one number; counts too are compared by their mean."""
        aggregate = self.measure.definition.aggregate
        if aggregate == "stat" and self.measure.get("stat") not in ("mean", None):
            return "percentile"
        return "geometric" if aggregate == "geometric" else "mean"

    @property
    def percent(self) -> int:
        """Which percentile."""
        return int(str(self.measure.get("stat") or "p50").removeprefix("p"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """The values of a baseline and a system for the same queries."""

    baseline: str
    system: str
    column: Column
    units: tuple[str, ...]
    a: Floats
    b: Floats
    a_limits: tuple[Floats, Floats] | None = None  # lower and upper, where something is unknown
    b_limits: tuple[Floats, Floats] | None = None
    group: str | None = None

    @property
    def measure(self) -> Measure:
        """The measure that is compared."""
        return self.column.measure

    @property
    def improvements(self) -> Floats:
        """System minus baseline per query, positive where the system is better."""
        return self.measure.sign * (self.b - self.a)

    @property
    def worst_improvements(self) -> Floats:
        """The same if everything without a label spoke against the system."""
        return self._extreme(worst=True)

    @property
    def best_improvements(self) -> Floats:
        """The same if everything without a label spoke for the system."""
        return self._extreme(worst=False)

    def _extreme(self, worst: bool) -> Floats:
        a_low, a_high = self.a_limits or (self.a, self.a)
        b_low, b_high = self.b_limits or (self.b, self.b)
        low_difference, high_difference = b_low - a_high, b_high - a_low
        if self.measure.lower_is_better:
            return -high_difference if worst else -low_difference
        return low_difference if worst else high_difference

    @property
    def is_bounded(self) -> bool:
        """Whether missing labels leave any of the values open."""
        return any(
            limits is not None and bool((limits[0] != limits[1]).any())
            for limits in (self.a_limits, self.b_limits)
        )

    @property
    def is_unbounded(self) -> bool:
        """Whether unread searches leave any of the values without a bound."""
        import numpy as np

        return any(
            limits is not None and not np.isfinite(limits).all()
            for limits in (self.a_limits, self.b_limits)
        )

    def only(self, group: str, members: Mapping[str, str]) -> Paired | None:
        """The queries of one group; None if there are none."""
        rows = [i for i, unit in enumerate(self.units) if members.get(unit, "") == group]
        if not rows:
            return None

        def pick(limits: tuple[Floats, Floats] | None) -> tuple[Floats, Floats] | None:
            return None if limits is None else (limits[0][rows], limits[1][rows])

        return Paired(
            baseline=self.baseline,
            system=self.system,
            column=self.column,
            units=tuple(self.units[i] for i in rows),
            a=self.a[rows],
            b=self.b[rows],
            a_limits=pick(self.a_limits),
            b_limits=pick(self.b_limits),
            group=group,
        )


def open_reason(is_unbounded: bool) -> str:
    """What leaves a verdict open: only unread searches leave values without a bound."""
    return "unread searches and missing labels" if is_unbounded else "missing labels"


def choose_columns(
    scores: ScoreSet, measures: str | Measure | Iterable[str | Measure] | None
) -> list[Column]:
    """The measures to compare.

    Named ones must exist. Without names: the sources' defaults or all measures, without those that
    some system has no value of, or whose labels are all missing; a note says which.
    """
    if measures is not None:
        columns = [_find_column(item, scores) for item in _listed(measures, scores)]
        return list({column.label: column for column in columns}.values())
    labels = [m for m in scores.default_measures if m in scores.measures] or list(scores.measures)
    columns, undefined, unlabelled = [], [], []
    for label in labels:
        measure = scores.measures[label]
        if missing_labels(measure, scores, scores.systems):
            unlabelled.append(label)
        elif any(not any(v == v for v in scores.values(s, label).values()) for s in scores.systems):
            undefined.append(label)
        else:
            columns.append(Column(measure, label))
    if unlabelled:
        scores.notes.append(f"not compared, since nothing is labelled: {', '.join(unlabelled)}")
    if undefined:
        scores.notes.append(
            f"not compared, since some system has no values: {', '.join(undefined)}"
        )
    if not columns:
        raise InputError(
            "no measure has values for every system",
            hint=f"measures: {', '.join([*unlabelled, *undefined]) or 'none'}",
        )
    return columns


def missing_labels(measure: Measure, scores: ScoreSet, systems: Iterable[str]) -> list[str]:
    """The systems of which nothing is labelled, if the measure means nothing without labels."""
    if not measure.definition.needs_labels:
        return []
    return [s for s in systems if not scores.is_labelled(s)]


def _listed(
    measures: str | Measure | Iterable[str | Measure], scores: ScoreSet
) -> Sequence[str | Measure]:
    if isinstance(measures, Measure):
        return [measures]
    if not isinstance(measures, str):
        return [one for item in measures for one in _listed(item, scores)]
    if measures in scores.measures:
        return [measures]
    return [part for part in re.split(r"[\s,]+(?![^()]*\))", measures) if part]


def _find_column(item: str | Measure, scores: ScoreSet) -> Column:
    """The scores of a measure, named by its label or in another way that means the same."""
    label = str(item)
    if label in scores.measures:
        return Column(scores.measures[label], label)
    for key, measure in scores.measures.items():
        if label in other_spellings(measure):
            return Column(measure, key)
    wanted = item if isinstance(item, Measure) else _parsed(label)
    if wanted is not None:
        for key, measure in scores.measures.items():
            if measure.same_values(wanted):
                return Column(measure.with_label(label), key)
        for key, measure in scores.measures.items():  # p95 of the latencies: the latencies' column
            if wanted.definition.aggregate == "stat" and measure.name == wanted.name:
                stated = measure.stated
                return Column(wanted.with_direction(stated) if stated else wanted, key)
    raise UsageError(
        f"no scores for the measure '{label}'", hint=f"available: {', '.join(scores.measures)}"
    )


def _parsed(label: str) -> Measure | None:
    try:
        return parse(label)
    except MeasureError:
        return None


def direction_notes(measures: Iterable[Measure]) -> list[str]:
    """A sentence about measures whose direction nobody stated."""
    assumed = [measure.label for measure in measures if measure.direction_assumed]
    if not assumed:
        return []
    return [
        f"higher is assumed to be better for {', '.join(assumed)}; state it with lower_is_better or "
        "higher_is_better (--lower-is-better, --higher-is-better)"
    ]


class Pairing:
    """Pairs systems by query and records what did not pair."""

    def __init__(self, scores: ScoreSet, unpaired: str) -> None:
        if unpaired not in UNPAIRED:
            raise UsageError(
                f"invalid unpaired='{unpaired}'", hint=f"one of: {', '.join(UNPAIRED)}"
            )
        self._scores = scores
        self._unpaired = unpaired
        self._dropped: dict[tuple[str, ...], list[str]] = {}  # (systems, reason) -> measures

    def pair(
        self, baseline: str, system: str, column: Column, units: set[str] | None = None
    ) -> Paired:
        """The values of two systems for the queries that both have; `units` narrows them further."""
        import numpy as np

        left = self._scores.values(baseline, column.key)
        right = self._scores.values(system, column.key)
        shared, a, b, reasons = [], [], [], []
        for unit in {**left, **right}:
            if units is not None and unit not in units:
                continue
            x, y = left.get(unit, math.nan), right.get(unit, math.nan)
            if x != x or y != y:
                reasons.append((unit, _reason(unit, left, baseline), _reason(unit, right, system)))
                if not self._counts_as_zero(column.measure):
                    continue
                x, y = (0.0 if v != v else v for v in (x, y))
            shared.append(unit)
            a.append(x)
            b.append(y)
        if not shared:
            raise _nothing_shared(baseline, system, column, list(left), list(right))
        if reasons:
            self._note(f"{system} against {baseline}", column, reasons, len({**left, **right}))
        values = np.array(a), np.array(b)
        return Paired(
            baseline=baseline,
            system=system,
            column=column,
            units=tuple(shared),
            a=values[0],
            b=values[1],
            a_limits=self._limits(baseline, column, shared, values[0]),
            b_limits=self._limits(system, column, shared, values[1]),
        )

    def _limits(
        self, system: str, column: Column, units: Sequence[str], values: Floats
    ) -> tuple[Floats, Floats] | None:
        import numpy as np

        if system not in self._scores.bounds:
            return None
        known = self._scores.limits(system, column.key)
        pairs = [known.get(unit, (math.nan, math.nan)) for unit in units]
        low, high = (np.array(side) for side in zip(*pairs, strict=True))
        return np.where(np.isnan(low), values, low), np.where(np.isnan(high), values, high)

    def _counts_as_zero(self, measure: Measure) -> bool:
        return self._unpaired == "zero" and not measure.lower_is_better

    def complete(self, systems: Iterable[str], column: Column) -> set[str]:
        """The queries that all systems have."""
        columns = {s: self._scores.values(s, column.key) for s in systems}
        units = {unit: None for values in columns.values() for unit in values}
        lost = []
        for unit in units:
            reasons = [reason for s, v in columns.items() if (reason := _reason(unit, v, s))]
            if reasons:
                lost.append((unit, reasons[0], ""))
        shared = set(units) - {unit for unit, *_ in lost}
        if shared and lost:
            self._note("all systems", column, lost, len(units), may_be_zero=False)
        if not shared:
            raise InputError(
                f"no query has a value of {column.label} for every system",
                hint="Tukey's test needs the same queries of all systems; leave a system out",
            )
        return shared

    def _note(
        self,
        systems: str,
        column: Column,
        reasons: list[tuple[str, str, str]],
        total: int,
        may_be_zero: bool = True,
    ) -> None:
        examples = [f"{u} ({'; '.join(filter(None, (x, y)))})" for u, x, y in reasons[:3]]
        more = f" and {len(reasons) - 3:,} more" if len(reasons) > 3 else ""
        listed = ", ".join(examples) + more
        if self._unpaired == "error":
            raise InputError(
                f"{len(reasons):,} of {total:,} queries cannot be paired for {column.label}: {listed}",
                where=systems,
                hint="unpaired='drop' leaves them out, unpaired='zero' counts them as 0",
            )
        zero = may_be_zero and self._counts_as_zero(column.measure)
        action = "count as 0" if zero else "are left out"
        reason = (systems, f"{len(reasons):,} of {total:,} queries {action}: {listed}")
        self._dropped.setdefault(reason, []).append(column.label)

    def notes(self) -> list[str]:
        """A sentence for everything that did not pair."""
        return [
            f"{systems}, {', '.join(measures)}: {reason}"
            for (systems, reason), measures in self._dropped.items()
        ]


def _reason(unit: str, values: Mapping[str, float], system: str) -> str:
    if unit not in values:
        return f"not in {system}"
    return f"undefined in {system}" if values[unit] != values[unit] else ""


def _nothing_shared(
    baseline: str, system: str, column: Column, left: list[str], right: list[str]
) -> InputError:
    def example(ids: list[str]) -> str:
        return f"'{ids[0]}'" if ids else "nothing"

    return InputError(
        f"'{system}' and '{baseline}' share no query with a value of {column.label}",
        hint=f"the first query of '{baseline}' is {example(left)}, of '{system}' {example(right)}",
    )
