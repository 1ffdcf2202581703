"""A number that tells whether rows which are computed a second time are the same, in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_ODD = 0x9E3779B97F4A7C15  # splitmix64
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
DIGEST = "digest"  # among the totals of a report
SIZE = 1 << 64


def digest(*columns: Any) -> int:
    """The sum over rows of a hash of their 64-bit values, modulo 2 ** 64."""
    import numpy as np

    rows = np.zeros(len(columns[0]), np.uint64)
    with np.errstate(over="ignore"):
        for column in columns:
            bits = np.ascontiguousarray(column).view(np.uint64)
            rows = _mixed((rows ^ bits) + np.uint64(_ODD))
        return int(rows.sum(dtype=np.uint64))


def same_digest(totals: Sequence[int], value: int) -> bool:
    """Whether the digests of the parts add up to that of the whole."""
    return sum(totals) % SIZE == value % SIZE


def _mixed(values: Any) -> Any:
    import numpy as np

    values = (values ^ (values >> np.uint64(30))) * np.uint64(_FIRST)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(_SECOND)
    return values ^ (values >> np.uint64(31))
