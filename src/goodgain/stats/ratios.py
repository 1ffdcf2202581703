"""The confidence interval of a ratio of sums, by the bootstrap over units."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goodgain.stats.paired import (
    Resampling,
    bca_percentiles,
    bootstrap_means,
    enough_to_resample,
    widened,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Interval = tuple[float, float]

NONE = (math.nan, math.nan)


def ratio_intervals(
    pairs: Sequence[tuple[Floats, Floats]], confidence: float, resampling: Resampling
) -> list[Interval]:
    """The BCa intervals of sum(a) / sum(b), all from the same draws of units.

    NaN where the bootstrap says nothing: too few units, an undefined ratio, or the same ratio in every
    unit, so that no draw can differ from another.
    """
    n = len(pairs[0][0]) if pairs else 0
    intervals = [NONE] * len(pairs)
    usable = [i for i, pair in enumerate(pairs) if _varies(*pair)]
    if not usable or not enough_to_resample(n, confidence):
        return intervals
    drawn = bootstrap_means([column for i in usable for column in pairs[i]], resampling)
    level = widened(confidence, n)
    for place, i in enumerate(usable):
        intervals[i] = _interval(*pairs[i], drawn[2 * place], drawn[2 * place + 1], level)
    return intervals


def _varies(a: Floats, b: Floats) -> bool:
    """Whether the ratio is defined and differs between units."""
    top, bottom = float(a.sum()), float(b.sum())
    if not (math.isfinite(top) and math.isfinite(bottom) and bottom > 0):
        return False
    rest = abs(a - top / bottom * b)
    return bool((rest > 1e-12 * abs(b).max()).any())


def _interval(a: Floats, b: Floats, tops: Floats, bottoms: Floats, level: float) -> Interval:
    defined = bottoms > 0
    others = b.sum() - b
    if 2 * defined.sum() < len(defined) or not (others > 0).any():
        return NONE
    ratios = tops[defined] / bottoms[defined]
    left_out = ((a.sum() - a)[others > 0]) / others[others > 0]
    return bca_percentiles(ratios, float(a.sum() / b.sum()), left_out, level)
