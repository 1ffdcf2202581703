"""Variance between seeds of one system and between queries."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from goodgain.stats.distributions import t_sf
from goodgain.stats.paired import Outcome, at_least_smallest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SeedSpread:
    """Standard deviations of one system's scores: between queries, between seeds, and the rest."""

    system: str
    measure: str
    seeds: int
    queries: int
    mean: float
    lowest: float  # mean of the worst seed
    highest: float
    between_queries: float
    between_seeds: float
    rest: float

    def to_dict(self) -> dict[str, Any]:
        """Field to value."""
        return asdict(self)


def seed_spread(system: str, measure: str, scores: Floats) -> SeedSpread | None:
    """The components of variance of queries x seeds; None for fewer than two of either.

    Two-way random effects without repetition, by the mean squares; a negative estimate is 0.
    """
    n, s = scores.shape
    if n < 2 or s < 2:
        return None
    by_query, by_seed, mean = scores.mean(1), scores.mean(0), float(scores.mean())
    square_queries = s * float(((by_query - mean) ** 2).sum()) / (n - 1)
    square_seeds = n * float(((by_seed - mean) ** 2).sum()) / (s - 1)
    rest = scores - by_query[:, None] - by_seed[None, :] + mean
    square_rest = float((rest**2).sum()) / ((n - 1) * (s - 1))
    nothing = (
        1e-13 * float(abs(scores).max())
    ) ** 2  # what is left of equal seeds by rounding alone
    square_rest, square_seeds = (v if v > n * nothing else 0.0 for v in (square_rest, square_seeds))
    return SeedSpread(
        system, measure, s, n, mean, float(by_seed.min()), float(by_seed.max()),
        between_queries=math.sqrt(max(0.0, (square_queries - square_rest) / s)),
        between_seeds=math.sqrt(max(0.0, (square_seeds - square_rest) / n)),
        rest=math.sqrt(square_rest),
    )  # fmt: skip


def seeds_test(differences: Floats, *spreads: SeedSpread | None) -> Outcome | None:
    """A t-test that holds for new queries and new seeds: None if neither side has several seeds.

    The variance of the mean difference is that over queries plus each side's variance between seeds
    over its number of seeds; degrees of freedom by Satterthwaite.
    """
    spread_seeds = [spread for spread in spreads if spread is not None]
    n = len(differences)
    if not spread_seeds or n < 2:
        return None
    components = [(float(differences.var(ddof=1)) / n, n - 1)]
    components += [
        (spread.between_seeds**2 / spread.seeds, spread.seeds - 1) for spread in spread_seeds
    ]
    total = sum(variance for variance, _ in components)
    if total == 0:
        return None
    freedom = total**2 / sum(variance**2 / df for variance, df in components)
    t = float(differences.mean()) / math.sqrt(total)
    return Outcome(t, at_least_smallest(2 * t_sf(abs(t), freedom)))
