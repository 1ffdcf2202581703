"""Why a system won: kinds of queries on which the difference is larger, and counts that went with it.

Every candidate is tested, all tests are corrected together, and what does not hold is not said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodgain.stats.corrections import correct
from goodgain.stats.paired import run_test
from goodgain.stats.two_samples import rank_sum_p, welch_p

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

FEWEST = 12  # queries
SMALLEST = 5  # queries on each side
MOST = 3  # reasons
_ALIKE = 0.6  # of the queries of two kinds; what is alike is said once


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """A kind of queries: which of them belong to it. What is not known of a query is in neither part.

    Of kinds of one `family`, such as the groups of one column, only the most telling becomes a reason: the
    others are its echo.
    """

    key: str
    family: str
    members: Flags
    others: Flags


@dataclass(frozen=True, slots=True, eq=False)
class Shift:
    """A count per query of both systems that may go with the difference, such as relevant documents."""

    key: str
    system: Floats
    baseline: Floats
    more_is_better: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """What holds: the mean difference within and outside, or of a count, with its corrected p."""

    key: str
    inside: float
    outside: float
    n: int
    rest: int
    p: float


def reasons(
    differences: Floats,
    kinds: Sequence[Kind],
    shifts: Sequence[Shift] = (),
    *,
    sign: int = 1,
    alpha: float = 0.05,
) -> list[Reason]:
    """At most three reasons, those with the largest effects first; empty if nothing holds.

    `differences` are system minus baseline by query, and `sign` is -1 if lower is better.
    """
    if len(differences) < FEWEST or not differences.any():
        return []
    kinds = [
        kind for kind in kinds if min(int(kind.members.sum()), int(kind.others.sum())) >= SMALLEST
    ]
    tested = [
        *(_kind_p(differences, kind) for kind in kinds),
        *(_shift_p(differences, shift, sign) for shift in shifts),
    ]
    corrected = correct(tested, "holm")
    candidates: list[tuple[float, Reason, Flags, str]] = []
    for kind, p in zip(kinds, corrected, strict=False):
        inside, outside = differences[kind.members], differences[kind.others]
        reason = Reason(
            key=kind.key, inside=float(inside.mean()), outside=float(outside.mean()),
            n=len(inside), rest=len(outside), p=p,
        )  # fmt: skip
        candidates.append((abs(reason.inside - reason.outside), reason, kind.members, kind.family))
    for shift, p in zip(shifts, corrected[len(kinds) :], strict=True):
        changed = shift.system != shift.baseline
        reason = Reason(
            key=shift.key, inside=float(shift.system.mean()), outside=float(shift.baseline.mean()),
            n=int(changed.sum()), rest=int((~changed).sum()), p=p,
        )  # fmt: skip
        candidates.append((abs(float(differences.mean())), reason, changed, shift.key))
    return _different(sorted((c for c in candidates if c[1].p < alpha), key=lambda c: -c[0]))


def _kind_p(differences: Floats, kind: Kind) -> float:
    """Means and ranks must both differ, so that a single query decides nothing."""
    inside, outside = differences[kind.members], differences[kind.others]
    return max(welch_p(inside, outside), rank_sum_p(inside, outside))


def _shift_p(differences: Floats, shift: Shift, sign: int) -> float:
    """The count differs between the systems, and the difference goes with it, in the same direction."""
    counts = shift.system - shift.baseline
    good = counts if shift.more_is_better else -counts
    if float(good.mean()) * sign * float(differences.mean()) <= 0:
        return 1.0
    p = run_test("t", counts).p
    better = good * (1 if good.mean() > 0 else -1) > 0
    if min(int(better.sum()), int((~better).sum())) >= SMALLEST:
        p = max(p, _kind_p(differences, Kind(shift.key, shift.key, better, ~better)))
    return p


def _different(candidates: list[tuple[float, Reason, Flags, str]]) -> list[Reason]:
    """The first few, of different families, of which no two are about nearly the same queries."""
    chosen: list[tuple[Reason, Flags, str]] = []
    for _, reason, members, family in candidates:
        if len(chosen) == MOST:
            break
        if all(family != known and not _alike(members, other) for _, other, known in chosen):
            chosen.append((reason, members, family))
    return [reason for reason, _, _ in chosen]


def _alike(a: Flags, b: Flags) -> bool:
    """Whether two kinds are nearly the same queries, or nearly the opposite ones."""
    for left, right in ((a, b), (a, ~b)):
        both, either = int((left & right).sum()), int((left | right).sum())
        if either and both / either > _ALIKE:
            return True
    return False
