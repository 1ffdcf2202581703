"""Pairs two systems query by query and seed by seed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goodgain.comparison.replicates import Replicates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from goodgain.comparison.pairing import Column
    from goodgain.comparison.scores import ScoreSet

    Floats = NDArray[np.float64]


def seeds_shared(scores: ScoreSet, baseline: str, system: str) -> bool:
    """Whether both systems were run with the same seeds."""
    labels = scores.seed_labels
    return set(labels.get(baseline, "a")) == set(labels.get(system, "b"))


def lone_systems(scores: ScoreSet, baseline: str, system: str) -> tuple[str, ...]:
    """Systems that depend on a seed and were run with one, unless the other was run with several.

    Next to a system with several seeds, one with a single seed is taken for a fixed run.
    """
    labels = scores.seed_labels
    if max(len(labels.get(name, [])) for name in (baseline, system)) > 1:
        return ()
    return tuple(name for name in (baseline, system) if name in labels)


class SeedPairing:
    """The scores of a baseline and a system as queries x seeds, and which of them have no partner."""

    def __init__(
        self,
        scores: ScoreSet,
        baseline: str,
        system: str,
        column: Column,
        units: set[str] | None = None,
    ) -> None:
        import numpy as np

        self._scores, self._names, self._key = scores, (baseline, system), column.key
        self._shared = seeds_shared(scores, baseline, system)
        self._order = self._seed_order()
        self._columns = [
            [scores.systems[name][i].get(column.key, {}) for i in order]
            for name, order in zip(self._names, self._order, strict=True)
        ]
        listed = {u: None for side in self._columns for seed in side for u in seed}
        self._units = [u for u in listed if units is None or u in units]
        self._values: list[Floats] = [
            np.array([[seed.get(u, math.nan) for seed in side] for u in self._units]).reshape(
                len(self._units), len(side)
            )
            for side in self._columns
        ]
        self.total = len(self._units)
        self.reasons: list[tuple[str, str, str]] = []
        self._match()

    def _seed_order(self) -> list[list[int]]:
        """The places of the seeds of each system, shared ones in the order of the baseline."""
        sizes = [len(self._scores.systems[name]) for name in self._names]
        if not self._shared:
            return [list(range(size)) for size in sizes]
        first, second = (self._scores.seed_labels[name] for name in self._names)
        return [list(range(sizes[0])), [second.index(label) for label in first]]

    def _match(self) -> None:
        """Keep the cells that have a partner; a query without any is unpaired."""
        import numpy as np

        a, b = self._values
        if self._shared:
            alone = np.isnan(a) | np.isnan(b)
            self._a, self._b = np.where(alone, np.nan, a), np.where(alone, np.nan, b)
        else:
            self._a, self._b = a, b
        known = ~np.isnan(self._a).all(1) & ~np.isnan(self._b).all(1)
        self._rows: list[int] = np.flatnonzero(known).tolist()
        self.paired_units = [self._units[i] for i in self._rows]
        self.reasons = []
        for i in np.flatnonzero(~known).tolist():
            first, second = self._reason(i, 0), self._reason(i, 1)
            both = "" if first or second else f"in no {self._scores.factor} of both"
            self.reasons.append((self._units[i], first or both, second))

    def fill_with_zero(self) -> None:
        """Count what one system lacks of what the other has as 0."""
        import numpy as np

        a, b = self._values
        no_a, no_b = np.isnan(a), np.isnan(b)
        if self._shared:
            a, b = np.where(no_a & ~no_b, 0.0, a), np.where(no_b & ~no_a, 0.0, b)
        else:
            a = np.where(no_a.all(1, keepdims=True), 0.0, a)
            b = np.where(no_b.all(1, keepdims=True), 0.0, b)
        before = self.reasons
        self._values = [a, b]
        self._match()
        self.reasons = before or self.reasons

    def _reason(self, row: int, side: int) -> str:
        unit, name = self._units[row], self._names[side]
        if not any(unit in seed for seed in self._columns[side]):
            return f"not in {name}"
        if all(math.isnan(seed.get(unit, math.nan)) for seed in self._columns[side]):
            return f"undefined in {name}"
        return ""

    def partial_note(self) -> str:
        """A note on queries that only some seeds have, unless that is the design."""
        import numpy as np

        if self.replicates()[0].is_nested:
            return ""
        factor = self._scores.factor
        partial = []
        for i in self._rows:
            lacking = []
            for side, name in enumerate(self._names):
                labels = self._scores.seed_labels.get(name, [""])
                for place, seed in zip(self._order[side], self._columns[side], strict=True):
                    unit = self._units[i]
                    if unit not in seed:
                        lacking.append(f"{factor} {labels[place]} of {name} lacks it")
                    elif np.isnan(seed[unit]):
                        lacking.append(f"undefined in {factor} {labels[place]} of {name}")
            if lacking:
                partial.append(f"{self._units[i]} ({lacking[0]})")
        if not partial:
            return ""
        more = f" and {len(partial) - 3:,} more" if len(partial) > 3 else ""
        return (
            f"{len(partial):,} of {self.total:,} queries count with the {factor}s that have them: "
            f"{', '.join(partial[:3])}{more}"
        )

    def ids(self) -> tuple[list[str], list[str]]:
        """The queries of each system."""
        first, second = ([u for seed in side for u in seed] for side in self._columns)
        return first, second

    def replicates(self) -> tuple[Replicates, tuple[Replicates, Replicates] | None]:
        """The matched scores, and the same for the least and greatest difference that labels allow."""
        a, b = self._paired(self._a), self._paired(self._b)
        known = self._replicates(a, b)
        if not any(name in self._scores.bounds for name in self._names):
            return known, None
        (a_low, a_high), (b_low, b_high) = self._limits(0, a), self._limits(1, b)
        return known, (self._replicates(a_high, b_low), self._replicates(a_low, b_high))

    def _replicates(self, a: Floats, b: Floats) -> Replicates:
        return Replicates(
            a=a,
            b=b,
            shared=self._shared,
            factor=self._scores.factor,
            lone=lone_systems(self._scores, *self._names),
        )

    def _paired(self, values: Floats) -> Floats:
        """The paired queries, and the seeds that have any."""
        import numpy as np

        rows = values[self._rows]
        return rows[:, ~np.isnan(rows).all(0)]

    def _limits(self, side: int, values: Floats) -> tuple[Floats, Floats]:
        import numpy as np

        name = self._names[side]
        low, high = self._values[side].copy(), self._values[side].copy()
        for column, place in enumerate(self._order[side]):
            for row, unit in enumerate(self._units):
                value = float(low[row, column])
                if value == value:
                    limits = self._scores.seed_limits(name, place, self._key, unit, value)
                    low[row, column], high[row, column] = (
                        value if limit != limit else limit for limit in limits
                    )
        gone = np.isnan((self._a, self._b)[side])
        low[gone] = high[gone] = np.nan
        low, high = self._paired(low), self._paired(high)
        return low.reshape(values.shape), high.reshape(values.shape)
