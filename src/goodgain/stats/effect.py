"""Effect sizes, their intervals, and the smallest difference a test can detect."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from goodgain.stats.distributions import noncentral_t_sf, noncentral_t_shift, solve, t_ppf
from goodgain.stats.paired import is_constant

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from goodgain.stats.designs import MeanError

    Floats = NDArray[np.float64]


def t_interval(differences: Floats, confidence: float = 0.95) -> tuple[float, float] | None:
    """The t interval of the mean; None for one query, a point if all differences are the same."""
    n = len(differences)
    if n < 2:
        return None
    mean = float(differences.mean())
    if is_constant(differences):
        return mean, mean
    reach = t_ppf((1 + confidence) / 2, n - 1) * float(differences.std(ddof=1)) / math.sqrt(n)
    return mean - reach, mean + reach


def effect_size(differences: Floats) -> float | None:
    """d_z: the mean difference over its standard deviation; None if that is 0 or unknown."""
    if len(differences) < 2:
        return None
    if not differences.any():
        return 0.0
    if is_constant(differences):
        return None
    return float(differences.mean() / differences.std(ddof=1))


def effect_interval(d_z: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """The interval of d_z, by inverting the noncentral t distribution."""
    root, tail = math.sqrt(n), (1 - confidence) / 2
    low, high = (noncentral_t_shift(d_z * root, n - 1, p) / root for p in (tail, 1 - tail))
    return low, high


def minimum_detectable(
    differences: Floats, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """The smallest true mean difference that a two-sided t-test detects with this power."""
    n = len(differences)
    if n < 2 or is_constant(differences):
        return None
    return detectable_shift(n, alpha, power) * float(differences.std(ddof=1)) / math.sqrt(n)


def shift_for_power(error: MeanError, alpha: float, power: float = 0.8) -> float:
    """How many standard errors away a mean is shown with this power by a test over queries and seeds."""
    return solve(
        lambda shift: power_of(error, shift, alpha) - power, 0.0, error.critical(alpha / 2) + 2
    )


def power_of(error: MeanError, shift: float, alpha: float) -> float:
    """The power of a two-sided test whose mean is `shift` standard errors away from 0."""
    critical, freedom = error.critical(alpha / 2), error.freedom
    return noncentral_t_sf(critical, freedom, shift) + noncentral_t_sf(critical, freedom, -shift)


@lru_cache(maxsize=256)
def detectable_shift(n: int, alpha: float, power: float) -> float:
    """The same in standard errors of the mean."""
    critical = t_ppf(1 - alpha / 2, n - 1)
    return solve(lambda shift: t_test_power(n, shift, alpha) - power, 0.0, critical + 2)


def t_test_power(n: int, shift: float, alpha: float) -> float:
    """The power of a two-sided t-test whose mean is `shift` standard errors away from 0."""
    df = n - 1
    critical = t_ppf(1 - alpha / 2, df)
    return noncentral_t_sf(critical, df, shift) + noncentral_t_sf(critical, df, -shift)


def queries_needed(
    differences: Floats, distance: float, alpha: float, power: float = 0.8
) -> int | None:
    """Roughly how many queries a one-sided test needs to show a mean `distance` away; None if none would."""
    from goodgain.stats.distributions import normal_ppf

    if distance <= 0 or len(differences) < 2 or is_constant(differences):
        return None
    effect = distance / float(differences.std(ddof=1))
    z = normal_ppf(1 - alpha) + normal_ppf(power)
    return math.ceil((z / effect) ** 2 + normal_ppf(1 - alpha) ** 2 / 2)


def sample_needed(
    error: MeanError,
    queries: int,
    seeds: tuple[int, int],
    distance: float,
    alpha: float,
    power: float = 0.8,
) -> tuple[int | None, int | None]:
    """Roughly how many queries, or else how many seeds, a one-sided test needs to show `distance`.

    None where more of one alone would not do, or the distance is on the wrong side.
    """
    from goodgain.stats.distributions import normal_ppf

    if distance <= 0 or not error.variance:
        return None, None
    allowed = (distance / (normal_ppf(1 - alpha) + normal_ppf(power))) ** 2
    by_freedom = sorted(error.terms, key=lambda term: term.freedom)
    seed, query = by_freedom[0].variance, math.fsum(t.variance for t in by_freedom[1:])
    count = max(seeds)
    more_queries = math.ceil(queries * query / (allowed - seed)) if allowed > seed else None
    more_seeds = math.ceil(count * seed / (allowed - query)) if allowed > query else None
    return more_queries, more_seeds if more_seeds and more_seeds > count else None
