"""Whether the means of two unpaired samples differ."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goodgain.stats.distributions import normal_sf, t_sf
from goodgain.stats.paired import is_constant, midranks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def welch_p(a: Floats, b: Floats) -> float:
    """Two-sided p of Welch's t-test; 1 if there are fewer than two values in a sample.

    Samples that do not vary have the smallest p that any division of so many values can give.
    """
    if min(len(a), len(b)) < 2:
        return 1.0
    if is_constant(a) and is_constant(b):
        apart = abs(float(a[0]) - float(b[0])) > 1e-12 * max(abs(float(a[0])), abs(float(b[0])))
        return min(1.0, 2 / math.comb(len(a) + len(b), len(a))) if apart else 1.0
    errors = [float(x.var(ddof=1)) / len(x) for x in (a, b)]
    error = sum(errors)
    freedom = error**2 / sum(e**2 / (len(x) - 1) for e, x in zip(errors, (a, b), strict=True))
    t = (float(a.mean()) - float(b.mean())) / math.sqrt(error)
    return min(1.0, 2 * t_sf(abs(t), freedom))


def rank_sum_p(a: Floats, b: Floats) -> float:
    """Two-sided p of the Mann-Whitney test, by the normal approximation with ties and continuity."""
    import numpy as np

    n, m = len(a), len(b)
    ranks, tie_sizes = midranks(np.concatenate([a, b]))
    total = n + m
    spread = total + 1 - sum(t**3 - t for t in tie_sizes) / (total * (total - 1))
    if spread <= 0:
        return 1.0
    distance = abs(float(ranks[:n].sum()) - n * (total + 1) / 2) - 0.5
    z = max(0.0, distance) / math.sqrt(n * m * spread / 12)
    return min(1.0, 2 * normal_sf(z))
