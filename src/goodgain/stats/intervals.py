"""Intervals around a mean: Student's t, without a package for statistics."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def mean_interval(
    values: NDArray[np.float64], level: float = 0.95
) -> tuple[float, float, float, int]:
    """Mean, lower and upper end, and the number of defined values; no interval for fewer than two."""
    import numpy as np

    defined = values[~np.isnan(values)]
    n = len(defined)
    if n == 0:
        return math.nan, math.nan, math.nan, 0
    mean = float(defined.mean())
    if n == 1:
        return mean, math.nan, math.nan, 1
    half = t_quantile(0.5 + level / 2, n - 1) * float(defined.std(ddof=1)) / math.sqrt(n)
    return mean, mean - half, mean + half, n


@lru_cache(maxsize=4096)
def t_quantile(probability: float, freedom: int) -> float:
    """The t below which a share of the distribution lies, by bisection; probability above one half."""
    low, high = 0.0, 1e4
    for _ in range(200):
        middle = (low + high) / 2
        if _t_cdf(middle, freedom) < probability:
            low = middle
        else:
            high = middle
        if high - low < 1e-12 * max(1, high):
            break
    return (low + high) / 2


def _t_cdf(t: float, freedom: int) -> float:
    x = freedom / (freedom + t * t)
    return 1 - 0.5 * _incomplete_beta(freedom / 2, 0.5, x)


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (Lentz)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    total = d
    for m in range(1, 300):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _away_from_zero(1 + step * d)
            c = _away_from_zero(1 + step / c)
            total *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return front * total / a


def _away_from_zero(value: float) -> float:
    return value if abs(value) > 1e-300 else 1e-300
