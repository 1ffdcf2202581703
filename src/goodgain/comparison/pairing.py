"""Scores of two systems brought together by query, and what could not be."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from goodgain.comparison.scores import is_lower_better, measure_of
from goodgain.errors import GoodgainError, InputError, UsageError
from goodgain.measures import Measure, parse_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.comparison.scores import ScoreSet

    Floats = NDArray[np.float64]

UNPAIRED = {
    "drop": "leave the query out of this pair",
    "zero": "count what is missing as 0 (never for time and cost)",
    "error": "refuse",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A measure to compare: the column it is read from, and how queries become one number."""

    label: str
    column: str
    measure: Measure | None
    lower_is_better: bool

    @property
    def kind(self) -> Literal["mean", "geometric", "percentile"]:
        """What is made of the values of all queries; counts too are compared by their mean."""
        aggregate = self.measure.definition.aggregate if self.measure else "mean"
        if aggregate == "stat" and self.measure and self.measure.get("stat") != "mean":
            return "percentile"
        return "geometric" if aggregate == "geometric" else "mean"

    @property
    def percent(self) -> int:
        """Which percentile."""
        return int(str(self.measure.get("stat") if self.measure else "p50").removeprefix("p"))


@dataclass(frozen=True, slots=True)
class Paired:
    """The values of a baseline and a system for the same queries."""

    baseline: str
    system: str
    asked: Asked
    units: tuple[str, ...]
    a: Floats
    b: Floats
    group: str | None = None

    def only(self, group: str, members: Mapping[str, str]) -> Paired | None:
        """The part of it in one group; None where there is none."""
        keep = [i for i, unit in enumerate(self.units) if members.get(unit, "") == group]
        if not keep:
            return None
        units = tuple(self.units[i] for i in keep)
        return Paired(
            self.baseline, self.system, self.asked, units, self.a[keep], self.b[keep], group
        )


def asked_measures(
    scores: ScoreSet, wanted: str | Measure | Iterable[str | Measure] | None, lower: Iterable[str]
) -> list[Asked]:
    """The measures to compare; all that there are unless some are named."""
    told = {*scores.lower, *lower}
    available = scores.measures
    unknown = set(lower) - {*available, *(str(w) for w in _listed(wanted, available))}
    if unknown:
        raise UsageError(
            f"there is no measure '{min(unknown)}' to be lower-is-better",
            hint=f"there is: {', '.join(available)}",
        )
    found = []
    for item in _listed(wanted, available):
        label = str(item)
        measure = item if isinstance(item, Measure) else measure_of(label)
        column = _column(label, measure, available)
        found.append(Asked(label, column, measure, is_lower_better(label, told) or column in told))
    return found


def _listed(
    wanted: str | Measure | Iterable[str | Measure] | None, available: list[str]
) -> list[str | Measure]:
    if wanted is None:
        return list(available)
    if isinstance(wanted, Measure):
        return [wanted]
    if not isinstance(wanted, str):
        return [one for item in wanted for one in _listed(item, available)]
    if wanted in available:
        return [wanted]
    try:
        return list(parse_all(wanted))
    except GoodgainError:
        return [part for part in re.split(r"[\s,]+(?![^()]*\))", wanted) if part]


def _column(label: str, measure: Measure | None, available: list[str]) -> str:
    if label in available:
        return label
    if measure is not None:
        others = [(name, measure_of(name)) for name in available]
        for name, other in others:
            if other and _same(measure, other):
                return name
        for name, other in others:  # p95 of the latencies is in the column of the latencies
            if other and measure.definition.aggregate == "stat" and other.name == measure.name:
                return name
    raise UsageError(
        f"there are no scores for the measure '{label}'", hint=f"there is: {', '.join(available)}"
    )


def _same(a: Measure, b: Measure) -> bool:
    params = {p.name for p in a.definition.params}
    return (a.name, a.cutoff) == (b.name, b.cutoff) and all(a.get(p) == b.get(p) for p in params)


class Pairing:
    """Pairs systems by query and keeps a list of what did not pair."""

    def __init__(self, scores: ScoreSet, unpaired: str) -> None:
        if unpaired not in UNPAIRED:
            raise UsageError(
                f"unpaired='{unpaired}' is no policy", hint=f"one of: {', '.join(UNPAIRED)}"
            )
        self._scores = scores
        self._unpaired = unpaired
        self._left_out: dict[tuple[str, ...], list[str]] = {}  # (what, why) -> measures

    def pair(
        self, baseline: str, system: str, asked: Asked, units: set[str] | None = None
    ) -> Paired:
        """The two systems' values for the queries that both have; `units` narrows them further."""
        import numpy as np

        left = self._scores.values(baseline, asked.column)
        right = self._scores.values(system, asked.column)
        kept, a, b, reasons = [], [], [], []
        for unit in {**left, **right}:
            if units is not None and unit not in units:
                continue
            x, y = left.get(unit, math.nan), right.get(unit, math.nan)
            if x != x or y != y:
                reasons.append((unit, _reason(unit, left, baseline), _reason(unit, right, system)))
                if self._unpaired != "zero" or asked.lower_is_better:
                    continue
                x, y = (0.0 if v != v else v for v in (x, y))
            kept.append(unit)
            a.append(x)
            b.append(y)
        if not kept:
            raise _nothing_shared(baseline, system, asked, list(left), list(right))
        if reasons:
            self._note(f"{system} against {baseline}", asked, reasons, len({**left, **right}))
        return Paired(baseline, system, asked, tuple(kept), np.array(a), np.array(b))

    def complete(self, systems: Iterable[str], asked: Asked) -> set[str]:
        """The queries that all systems have."""
        columns = {s: self._scores.values(s, asked.column) for s in systems}
        units = {unit: None for values in columns.values() for unit in values}
        lost = []
        for unit in units:
            reasons = [reason for s, v in columns.items() if (reason := _reason(unit, v, s))]
            if reasons:
                lost.append((unit, reasons[0], ""))
        shared = set(units) - {unit for unit, *_ in lost}
        if shared and lost:
            self._note("all systems", asked, lost, len(units), keep_zero=False)
        if not shared:
            raise InputError(
                f"no query has a value of {asked.label} for every system",
                hint="Tukey's test needs the same queries of all systems; leave a system out",
            )
        return shared

    def _note(
        self,
        who: str,
        asked: Asked,
        reasons: list[tuple[str, str, str]],
        total: int,
        keep_zero: bool = True,
    ) -> None:
        shown = [f"{u} ({'; '.join(filter(None, (x, y)))})" for u, x, y in reasons[:3]]
        more = f" and {len(reasons) - 3:,} more" if len(reasons) > 3 else ""
        listed = ", ".join(shown) + more
        if self._unpaired == "error":
            raise InputError(
                f"{len(reasons):,} of {total:,} queries cannot be paired for {asked.label}: {listed}",
                where=who,
                hint="unpaired='drop' leaves them out, unpaired='zero' counts them as 0",
            )
        zero = keep_zero and self._unpaired == "zero" and not asked.lower_is_better
        action = "count as 0" if zero else "are left out"
        what = (who, f"{len(reasons):,} of {total:,} queries {action}: {listed}")
        self._left_out.setdefault(what, []).append(asked.label)

    def notes(self) -> list[str]:
        """A sentence for everything that did not pair."""
        return [
            f"{who}, {', '.join(measures)}: {what}"
            for (who, what), measures in self._left_out.items()
        ]


def _reason(unit: str, values: Mapping[str, float], system: str) -> str:
    if unit not in values:
        return f"not in {system}"
    return f"undefined in {system}" if values[unit] != values[unit] else ""


def _nothing_shared(
    baseline: str, system: str, asked: Asked, left: list[str], right: list[str]
) -> InputError:
    def example(ids: list[str]) -> str:
        return f"'{ids[0]}'" if ids else "nothing"

    return InputError(
        f"'{system}' and '{baseline}' share no query with a value of {asked.label}",
        hint=f"the first query of '{baseline}' is {example(left)}, of '{system}' {example(right)}",
    )
