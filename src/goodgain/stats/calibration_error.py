"""How far stated confidence is from accuracy, over bins of equal numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Bin:
    """Neighbours in the order of confidence."""

    n: int
    confidence: float  # mean
    accuracy: float


def calibration_bins(pairs: Sequence[tuple[float, float]], size: int = 100) -> list[Bin]:
    """Bins of (confidence, correctness) in the order of confidence; the last takes the rest.

    Pairs of equal confidence stay in their order.
    """
    ordered = sorted(pairs, key=lambda pair: pair[0])
    count = max(1, len(ordered) // size)
    bins = []
    for i in range(count if ordered else 0):
        members = ordered[i * size : (i + 1) * size if i + 1 < count else len(ordered)]
        n = len(members)
        bins.append(
            Bin(n, math.fsum(c for c, _ in members) / n, math.fsum(a for _, a in members) / n)
        )
    return bins


def calibration_error(bins: Sequence[Bin]) -> float:
    """The root mean square difference of confidence and accuracy, bins weighted by their numbers."""
    total = sum(b.n for b in bins)
    if not total:
        return math.nan
    return math.sqrt(math.fsum(b.n * (b.confidence - b.accuracy) ** 2 for b in bins) / total)
