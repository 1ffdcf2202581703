"""The runs of a system over conversations, and figures over them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodgain.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]
    Numbers = NDArray[np.int64]

COUNTED = ("results", "unique", "labelled", "unread")  # per run: what was read of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A mean over conversations, with its interval, their number, and its bounds.

    Missing labels and unread searches leave bounds; an upper bound may be infinite.
    """

    value: float
    n: int
    low: float  # of the 95 % confidence interval
    high: float
    lower: float  # if nothing unlabelled or unread were good
    upper: float  # if all of it were as good as can be

    @property
    def exact(self) -> bool:
        """Whether missing labels and unread searches cannot change it."""
        return self.lower == self.upper or self.lower != self.lower

    @property
    def is_open(self) -> bool:
        """Whether bounds leave it open by more than rounding."""
        return not self.exact and not math.isclose(self.lower, self.upper, abs_tol=1e-12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """The runs of a system: one per conversation, or several where it is repeated."""

    conversations: tuple[str, ...]
    repeats: tuple[str, ...]
    lengths: Numbers  # iterations of each
    counted: Numbers  # a row per run, columns COUNTED

    @classmethod
    def of(
        cls,
        system: str,
        conversations: Sequence[str],
        repeats: Sequence[str],
        lengths: Numbers,
        counted: Numbers,
    ) -> Runs:
        """Runs without a name of their own are numbered in order."""
        names = number_repeats(system, conversations, repeats)
        return cls(
            conversations=tuple(conversations), repeats=names, lengths=lengths, counted=counted
        )


def number_repeats(
    system: str, conversations: Sequence[str], repeats: Sequence[str]
) -> tuple[str, ...]:
    """The repeats, those without a name numbered; a name that is used twice is an error."""
    taken: dict[str, set[str]] = {}
    for conversation, repeat in zip(conversations, repeats, strict=True):
        if not repeat:
            continue
        if repeat in taken.setdefault(conversation, set()):
            raise InputError(
                f"duplicate conversation '{conversation}', repeat '{repeat}' of system '{system}'",
                hint="give each run of a conversation its own 'repeat', or use --by file",
            )
        taken[conversation].add(repeat)
    numbers: dict[str, int] = {}
    names = []
    for conversation, repeat in zip(conversations, repeats, strict=True):
        if not repeat:
            number = numbers.get(conversation, 0) + 1
            while str(number) in taken.get(conversation, ()):
                number += 1
            numbers[conversation] = number
        names.append(repeat or str(number))
    return tuple(names)


def natural(name: str) -> tuple[int, int, str]:
    """The key by which names are in order as people count: 2 before 10."""
    return (0, int(name), name) if name.isdecimal() else (1, 0, name)


def mean_bounds(values: Matrix, lower: Matrix, upper: Matrix) -> tuple[float, float]:
    """The bounds of a mean.

    A conversation whose value is undefined may still have bounds: it could join the mean or not.
    """
    return _lowest_mean(lower, values), 0.0 - _lowest_mean(-upper, values)  # 0, not -0


def _lowest_mean(bounds: Matrix, values: Matrix) -> float:
    """The lowest mean of the bounds of all defined values, and of any others."""
    import numpy as np

    defined, known = values == values, bounds == bounds
    members = bounds[defined & known].tolist()
    optional = np.sort(bounds[~defined & known]).tolist()
    if not members:
        return float(optional[0]) if optional else math.nan
    total = math.fsum(members)
    for bound in optional:
        if bound >= total / len(members):
            break
        members.append(bound)
        total += bound
    return math.fsum(members) / len(members)


def row_ranges(begins: Numbers, sizes: Numbers) -> Numbers:
    """The row numbers of several ranges."""
    import numpy as np

    if not len(sizes):
        return np.zeros(0, dtype=np.int64)
    ends = np.cumsum(sizes)
    return np.arange(ends[-1]) - np.repeat(ends - sizes, sizes) + np.repeat(begins, sizes)
