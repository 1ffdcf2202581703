"""Tukey's honestly significant differences between systems on the same queries.

The error is that of a two-way table without repetition, systems by queries: the effect of each query is
taken out before systems are compared (Sakai 2018; Carterette 2012).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodgain.stats.distributions import studentised_range_ppf, studentised_range_sf
from goodgain.stats.paired import Outcome, at_least_smallest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Tukey:
    """The spread that all systems share, and the tests that stand on it."""

    systems: int
    queries: int
    error: float  # the mean square of what systems and queries leave unexplained

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
        return cls(k, n, error if error > (1e-13 * size) ** 2 else 0.0)

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the error."""
        return (self.queries - 1) * (self.systems - 1)

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
            p = min(1.0, pairs * 2.0 / 2.0 ** min(self.queries, 1000))
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
