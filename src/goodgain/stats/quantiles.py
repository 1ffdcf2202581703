"""Percentiles of a sample, by one rule everywhere."""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def percentile(values: Sequence[float], percent: float) -> float:
    """The percentile, interpolated linearly between the two nearest values."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * percent / 100
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def percentile_interval(
    values: Sequence[float], percent: float, level: float = 0.95
) -> tuple[float, float]:
    """The exact interval of a percentile, by order statistics.

    The number of values below the percentile is binomial, whatever the distribution of the values is. An end
    that too few values leave open is infinite.
    """
    ordered, n, p = sorted(values), len(values), percent / 100
    tail = (1 - level) / 2
    low, high = -math.inf, math.inf
    below = 0.0  # the probability of at most i values below the percentile
    for i, value in enumerate(ordered):
        chance = math.exp(
            math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1)
            + i * math.log(p) + (n - i) * math.log1p(-p)
        )  # fmt: skip
        below += chance
        if below <= tail:
            low = value
        if 1 - below <= tail and high == math.inf:
            high = value
    return low, high
