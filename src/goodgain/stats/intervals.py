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
    """Mean, interval ends, and the number of defined values; no interval for fewer than two."""
    import numpy as np

    defined = values[~np.isnan(values)]
    n = len(defined)
    if n == 0:
        return math.nan, math.nan, math.nan, 0
    mean = float(defined.mean())
    if n == 1:
        return mean, math.nan, math.nan, 1
    half = t_ppf(0.5 + level / 2, n - 1) * float(defined.std(ddof=1)) / math.sqrt(n)
    return mean, mean - half, mean + half, n
