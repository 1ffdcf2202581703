"""Variance between seeds of one system and between queries."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from goodgain.stats.designs import components, is_crossed

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
    """The components of variance of queries x seeds, NaN where a seed lacks a query.

    None for fewer than two of either, or if seeds share too few queries to tell the two apart.
    """
    import numpy as np

    n, s = scores.shape
    if n < 2 or s < 2 or not is_crossed(scores):
        return None
    variance = components(scores)
    by_seed = np.nanmean(scores, 0)
    return SeedSpread(
        system, measure, s, n, float(np.nanmean(scores, 1).mean()), float(by_seed.min()),
        float(by_seed.max()),
        between_queries=math.sqrt(variance.query),
        between_seeds=math.sqrt(variance.seed),
        rest=math.sqrt(variance.residual),
    )  # fmt: skip
