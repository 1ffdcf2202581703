"""When two systems are tied: shown to differ by less than a margin, which no evidence never shows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goodgain.comparison.pairing import Labels, Paired
    from goodgain.measures.definition import Measure
    from goodgain.stats.paired import Resampling

SHARE = 0.01  # of the range of a measure, or of the baseline's mean where the range has no end


def usual_margin(measure: Measure, baseline_mean: float) -> float | None:
    """What counts as tied unless a margin is stated: 1 % of the measure's range or of the baseline's mean."""
    limits = measure.definition.range
    span = limits.high - limits.low
    whole = span if math.isfinite(span) else abs(baseline_mean)
    return SHARE * whole if whole > 0 else None


def is_tied(cell: Paired, margin: float, level: float, resampling: Resampling) -> bool:
    """Two one-sided tests: neither better nor worse by the margin, whatever the missing labels are."""
    if cell.is_unbounded or abs(float(cell.improvements.mean())) >= margin:
        return False
    sides: tuple[tuple[int, Labels], ...] = ((1, "worst"), (-1, "best"))
    return all(
        cell.noninferior_p(margin, "t", resampling, toward=toward, labels=labels) < level
        for toward, labels in sides
    )
