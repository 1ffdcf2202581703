"""Tukey's honestly significant differences between systems on the same queries.

The error is that of a two-way table without repetition, systems by queries: the effect of each query is
taken out before systems are compared (Sakai 2018; Carterette 2012).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goodgain.stats.distributions import studentised_range_ppf, studentised_range_sf
from goodgain.stats.paired import Outcome, at_least_smallest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from goodgain.stats.designs import MeanError

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Tukey:
    """The spread that all systems share, and the tests that stand on it."""

    systems: int
    queries: int
    error: float  # the mean square of what systems and queries leave unexplained
    freedom: float  # of the error
    smallest: float | None = None  # p of constant differences, if not that of as many queries

    @classmethod
    def of(cls, scores: Floats) -> Tukey:
        """From scores of queries x systems, all of them defined."""
        n, k = scores.shape
        rest = (
            scores - scores.mean(1, keepdims=True) - scores.mean(0, keepdims=True) + scores.mean()
        )
        freedom = (n - 1) * (k - 1)
        size = float(abs(scores).max()) if scores.size else 0.0
        error = float((rest**2).sum() / freedom) if freedom else 0.0
        return cls(k, n, error if error > (1e-13 * size) ** 2 else 0.0, freedom)

    def with_error(self, error: MeanError, smallest: float) -> Tukey:
        """The same systems, two of which differ by a mean with an error of its own (Games and Howell)."""
        square = error.variance * self.queries / 2  # a difference has twice the variance of a mean
        freedom = error.range_freedom() if square else 1.0
        return replace(self, error=square, freedom=freedom, smallest=smallest)

    def test(self, difference: float) -> Outcome:
        """Two systems whose means are this far apart; p already covers all pairs of systems."""
        if difference == 0:
            return Outcome(0.0, 1.0)
        if self.freedom == 0:
            return Outcome(None, 1.0, "one query")
        if (
            self.error == 0
        ):  # constant differences: the smallest p that n pairs can give, for all pairs
            pairs = self.systems * (self.systems - 1) / 2
            smallest = self.smallest or 2.0 ** (1 - min(self.queries, 1000))
            p = min(1.0, pairs * smallest)
            return Outcome(None, at_least_smallest(p), "constant difference")
        q = abs(difference) / math.sqrt(self.error / self.queries)
        return Outcome(q, at_least_smallest(studentised_range_sf(q, self.systems, self.freedom)))

    def reach(self, confidence: float) -> float | None:
        """Half the width of the simultaneous intervals of all differences."""
        if self.freedom == 0:
            return None
        if self.error == 0:
            return 0.0
        q = studentised_range_ppf(confidence, self.systems, self.freedom)
        return q * math.sqrt(self.error / self.queries)
