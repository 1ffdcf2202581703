"""The confidence interval of a mean, by Student's t."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goodgain.stats.distributions import t_ppf

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def mean_interval(
    values: NDArray[np.float64], level: float = 0.95
) -> tuple[float, float, float, int]:
    """Mean, interval ends, and the number of defined values; no interval for fewer than two.

    Sums are exact, so the order of the values changes no bit.
    """
    import numpy as np

    defined = values[~np.isnan(values)]
    n = len(defined)
    if n == 0:
        return math.nan, math.nan, math.nan, 0
    mean = math.fsum(defined) / n
    if n == 1 or not math.isfinite(mean):
        return mean, math.nan, math.nan, n
    deviation = math.sqrt(math.fsum((defined - mean) ** 2) / (n - 1))
    half = t_ppf(0.5 + level / 2, n - 1) * deviation / math.sqrt(n)
    return mean, mean - half, mean + half, n


def share_interval(count: int, n: int, level: float = 0.95) -> tuple[float, float, float]:
    """A share and its interval, by Wilson's score: it stays within 0 and 1 and is never empty."""
    from statistics import NormalDist

    if n == 0:
        return math.nan, math.nan, math.nan
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share = count / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return share, max(0.0, middle - half), min(1.0, middle + half)
