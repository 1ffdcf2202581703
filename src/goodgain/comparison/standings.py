"""Standings: all pairs of systems tested by one measure, ranks, and groups that no test tells apart."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from goodgain.stats.corrections import correct
from goodgain.stats.paired import run_test

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodgain.comparison.comparison import Pair, Settings
    from goodgain.comparison.pairing import Column, Floats, Labels, Pairing
    from goodgain.comparison.scores import ScoreSet

Duel = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standings:
    """Systems by one measure, best first, with the difference and corrected p of every pair.

    `p[i][j]` and `differences[i][j]` (of the first minus the second) are of systems i and j in this order;
    p is None where missing labels leave the pair open, or there was nothing to pair.
    """

    measure: str
    systems: tuple[str, ...]
    means: tuple[float, ...]
    differences: tuple[tuple[float, ...], ...]
    p: tuple[tuple[float | None, ...], ...]
    lower_is_better: bool
    alpha: float
    tests: int  # t-tests that were corrected together, besides those with the baselines

    def differ(self, i: int, j: int) -> bool:
        """Whether the test of two systems is significant."""
        p = self.p[i][j]
        return i != j and p is not None and p < self.alpha

    def ranks(self) -> dict[str, tuple[int, int]]:
        """The best and the worst rank of each system that its significant differences leave."""
        count, ranks = len(self.systems), {}
        for i, system in enumerate(self.systems):
            others = [j for j in range(count) if self.differ(i, j)]
            above = sum(self.improvement(i, j) < 0 for j in others)
            ranks[system] = (1 + above, count - (len(others) - above))
        return ranks

    def improvement(self, i: int, j: int) -> float:
        """The difference of two systems, positive if the first is better."""
        return (-1 if self.lower_is_better else 1) * self.differences[i][j]

    def groups(self) -> list[tuple[int, int]]:
        """Tie groups: the longest runs of neighbours of which no two are told apart, as first and last."""
        groups: list[tuple[int, int]] = []
        for first in range(len(self.systems)):
            last = first
            while last + 1 < len(self.systems) and not any(
                self.differ(i, last + 1) for i in range(first, last + 1)
            ):
                last += 1
            if last > first and (not groups or last > groups[-1][1]):
                groups.append((first, last))
        return groups

    def to_dict(self) -> dict[str, Any]:
        """Field to value."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Standings:
        """The reverse of `to_dict`."""
        from goodgain.results.shapes import STANDINGS, DamagedError, require_shape

        require_shape(data, STANDINGS, "standings")
        size = len(data["systems"])
        for name in ("means", "differences", "p"):
            if len(data[name]) != size or (
                name != "means" and any(len(row) != size for row in data[name])
            ):
                raise DamagedError(f"standings.{name}")
        values = dict(data)
        for name in ("systems", "means"):
            values[name] = tuple(values[name])
        for name in ("differences", "p"):
            values[name] = tuple(map(tuple, values[name]))
        return cls(**values)


def rank_text(rank: tuple[int, int]) -> str:
    """A rank, or the ranks that are open."""
    low, high = rank
    return str(low) if low == high else f"{low}-{high}"


def stand(
    *,
    scores: ScoreSet,
    column: Column,
    means: Mapping[str, Mapping[str, float]],
    pairing: Pairing,
    settings: Settings,
    pairs: Sequence[Pair] = (),
) -> Standings | None:
    """The standings by one measure; None if it is no mean, or fewer than two systems have values.

    Pairs that were compared keep their p. The others are tested by the paired t-test, over seeds too where
    they vary, and corrected among themselves.
    """
    measure = column.measure
    own = {s: v for s, values in means.items() if (v := values[column.label]) == v}
    if column.kind != "mean" or len(own) < 2:
        return None
    order = sorted(own, key=lambda s: -measure.sign * own[s])
    compared = {(p.system, p.baseline): p for p in pairs if p.measure == measure}
    known: dict[Duel, tuple[float, float | None]] = {}
    for (system, baseline), pair in compared.items():
        p = pair.p_corrected if pair.settled else None
        known[system, baseline] = pair.difference, p
        known[baseline, system] = -pair.difference, p
    rest = [
        (a, b) for i, a in enumerate(order) for b in order[i + 1 :] if (a, b) not in known
    ]  # fmt: skip
    for (a, b), (difference, p) in _tested(rest, scores, column, pairing, settings).items():
        known[a, b] = difference, p
        known[b, a] = -difference, p
    table = [[known.get((a, b), (0.0, 1.0)) for b in order] for a in order]
    return Standings(
        measure=column.label,
        systems=tuple(order),
        means=tuple(own[s] for s in order),
        differences=tuple(tuple(difference for difference, _ in row) for row in table),
        p=tuple(tuple(p for _, p in row) for row in table),
        lower_is_better=measure.lower_is_better,
        alpha=settings.alpha,
        tests=len(rest),
    )


def _tested(
    duels: Sequence[Duel], scores: ScoreSet, column: Column, pairing: Pairing, settings: Settings
) -> dict[Duel, tuple[float, float | None]]:
    """The differences and corrected p of pairs."""
    is_plain = not (scores.seed_labels or scores.bounds) and settings.unpaired == "drop"
    test = _by_column if is_plain else _by_pairing
    outcomes = {duel: test(duel, scores, column, pairing) for duel in duels}
    tested = [duel for duel, (_, p, _) in outcomes.items() if p is not None]
    corrected = dict(
        zip(
            tested, correct([outcomes[d][1] or 0.0 for d in tested], settings.correction),
            strict=True,
        )
    )  # fmt: skip
    results: dict[Duel, tuple[float, float | None]] = {}
    for duel, (difference, _, extremes) in outcomes.items():
        p = corrected.get(duel)
        # The correction of the others is not known at the extremes: Bonferroni's is safe.
        signs = {_sign(difference, p, settings.alpha)} | {
            _sign(d, min(1.0, q * len(tested)), settings.alpha) for d, q in extremes
        }
        results[duel] = difference, p if len(signs) == 1 else None
    return results


def _sign(difference: float, p: float | None, alpha: float) -> int:
    return 0 if p is None or p >= alpha else (difference > 0) - (difference < 0)


Measured = tuple[float, float | None, list[tuple[float, float]]]


def _by_column(duel: Duel, scores: ScoreSet, column: Column, _: Pairing) -> Measured:
    """One value per query on each side."""
    import numpy as np

    first, second = (scores.values(system, column.key) for system in duel)
    shared = [first[u] - second[u] for u in first if u in second]
    differences = np.array([d for d in shared if d == d], dtype=np.float64)
    if not len(differences):
        return math.nan, None, []
    return float(differences.mean()), run_test("t", differences).p, []


def _by_pairing(duel: Duel, scores: ScoreSet, column: Column, pairing: Pairing) -> Measured:
    """Over seeds, and at the extremes of what missing labels could be."""
    from goodgain.errors import InputError
    from goodgain.stats.paired import Resampling

    system, baseline = duel
    try:
        cell = pairing.pair(baseline, system, column)
    except InputError:
        return math.nan, None, []
    resampling, sign = Resampling(), column.measure.sign
    if cell.is_unbounded:
        return float((cell.b - cell.a).mean()), None, []
    sides: list[tuple[Labels, Floats]] = [
        ("worst", cell.worst_improvements),
        ("best", cell.best_improvements),
    ]
    extremes = [
        (sign * float(values.mean()), cell.test("t", resampling, labels=labels).p)
        for labels, values in sides
        if cell.is_bounded
    ]
    p = cell.test("t", resampling, toward=sign).p
    return float((cell.b - cell.a).mean()), p, extremes
