"""Percentiles of a sample, by one rule everywhere."""

from __future__ import annotations

import math
from functools import cache

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
    """An interval for the percentile of the population, from order statistics (no assumption of shape).

    How many of n values lie below the percentile is binomial, so that two of the sorted values enclose it
    with at least this probability. Too few values leave an end open: -inf or inf.
    """
    ordered = sorted(values)
    low, high = _order_statistics(len(ordered), percent, level)
    return (
        ordered[low - 1] if low > 0 else -math.inf,
        ordered[high - 1] if high <= len(ordered) else math.inf,
    )


def values_needed(percent: float, level: float = 0.95) -> int:
    """How many values an interval of the percentile needs to have both ends."""
    tail = min(percent, 100 - percent) / 100
    return math.ceil(math.log((1 - level) / 2) / math.log1p(-tail))


@cache
def _order_statistics(n: int, percent: float, level: float) -> tuple[int, int]:
    """The ranks (from 1) of the two values; 0 and n + 1 where there is none."""
    p, tail = percent / 100, (1 - level) / 2
    spread = 10 * math.sqrt(n * p * (1 - p)) + 10  # beyond it nothing is left to count
    first, last = max(0, math.floor(n * p - spread)), min(n, math.ceil(n * p + spread))
    below, low, high = 0.0, 0, n + 1  # `below` is the probability of fewer than k values
    for k in range(first, last + 1):
        if below <= tail:
            low = k
        below += math.exp(_log_binomial(k, n, p))
        if below >= 1 - tail:
            high = k + 1
            break
    return low, high


def _log_binomial(k: int, n: int, p: float) -> float:
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return ways + k * math.log(p) + (n - k) * math.log1p(-p)
