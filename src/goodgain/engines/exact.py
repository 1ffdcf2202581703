"""Exact sums: subtotals from many machines add up to what `math.fsum` returns for all numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SCALE = (
    1127  # every double is an integer multiple of 2 ** -_SCALE, even after scaling its mantissa
)
_LOW = 27  # low bits of a mantissa, summed separately so that sums stay within 64 bits


@dataclass(slots=True)
class ExactSum:
    """The exact sum of the numbers so far, as an integer, and their count."""

    total: int = 0  # in units of 2 ** -_SCALE
    count: int = 0
    infinite: float = 0.0  # the sum of the non-finite numbers

    def add(self, values: NDArray[np.float64]) -> None:
        """Add numbers, ignoring NaN."""
        import numpy as np

        values = values[~np.isnan(values)]
        self.count += len(values)
        finite = np.isfinite(values)
        if not finite.all():
            self.infinite += math.fsum(values[~finite])
            values = values[finite]
        mantissas, exponents = np.frexp(values)
        integers = (mantissas * 2.0**53).astype(np.int64)
        high, low = integers >> _LOW, integers & ((1 << _LOW) - 1)
        for exponent in np.unique(exponents):
            same = exponents == exponent
            subtotal = (int(high[same].sum()) << _LOW) + int(low[same].sum())
            self.total += subtotal << (int(exponent) - 53 + _SCALE)

    def join(self, other: ExactSum) -> None:
        """Add the numbers of another sum."""
        self.total += other.total
        self.count += other.count
        self.infinite += other.infinite

    @property
    def value(self) -> float:
        """The sum, rounded once."""
        return self.infinite or self.total / (1 << _SCALE)

    def to_list(self) -> list[Any]:
        """Convert to plain data."""
        return [f"{self.total:x}", self.count, self.infinite]

    @classmethod
    def from_list(cls, data: list[Any]) -> ExactSum:
        """Inverse of `to_list`."""
        return cls(int(data[0], 16), data[1], data[2])
