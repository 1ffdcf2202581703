"""Sums without rounding: parts that were added up on many machines come to what `math.fsum` says of all."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SCALE = (
    1127  # every double is a whole multiple of 2 ** -_SCALE, also after its mantissa is made whole
)
_LOW = 27  # bits of a mantissa that are added apart, so that no sum of many leaves 64 bits


@dataclass(slots=True)
class ExactSum:
    """The sum of the numbers so far as a whole number, and how many they are."""

    total: int = 0  # in units of 2 ** -_SCALE
    count: int = 0
    infinite: float = 0.0  # the sum of those that are not finite

    def add(self, values: NDArray[np.float64]) -> None:
        """Add numbers; undefined ones are left out."""
        import numpy as np

        values = values[~np.isnan(values)]
        self.count += len(values)
        finite = np.isfinite(values)
        if not finite.all():
            self.infinite += math.fsum(values[~finite])
            values = values[finite]
        mantissas, exponents = np.frexp(values)
        whole = (mantissas * 2.0**53).astype(np.int64)
        high, low = whole >> _LOW, whole & ((1 << _LOW) - 1)
        for exponent in np.unique(exponents):
            of = exponents == exponent
            part = (int(high[of].sum()) << _LOW) + int(low[of].sum())
            self.total += part << (int(exponent) - 53 + _SCALE)

    def join(self, other: ExactSum) -> None:
        """Add what another has added."""
        self.total += other.total
        self.count += other.count
        self.infinite += other.infinite

    @property
    def value(self) -> float:
        """The sum, rounded once."""
        return self.infinite or self.total / (1 << _SCALE)

    def to_list(self) -> list[Any]:
        """As plain data."""
        return [f"{self.total:x}", self.count, self.infinite]

    @classmethod
    def from_list(cls, data: list[Any]) -> ExactSum:
        """The reverse of `to_list`."""
        return cls(int(data[0], 16), data[1], data[2])
