"""Seeds, repeats or annotators behind the scores of a pair, and tests that hold for new ones of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goodgain.errors import UsageError
from goodgain.stats import designs
from goodgain.stats.paired import TESTS, Outcome, Resampling, at_least_smallest, run_test

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.stats.designs import MeanError, Planned
    from goodgain.stats.paired import Alternative

    Floats = NDArray[np.float64]

SEEDS = {
    "random": "a sample: the result holds for new queries and new seeds",
    "fixed": "only these: scores are averaged over seeds and tested over queries",
}
COVERS_SEEDS = ("t", "tukey")  # tests that hold for new seeds, crossed with queries


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicates:
    """Scores of queries x seeds of a baseline and a system; NaN where a query is missing from a seed.

    A system that does not depend on seeds has one column. `shared` seeds are paired. `lone` names
    systems that do depend on a seed but were run with one only, which says nothing about others.
    """

    a: Floats
    b: Floats
    shared: bool
    factor: str = "seed"
    lone: tuple[str, ...] = ()

    @property
    def counts(self) -> tuple[int, int]:
        """How many seeds the baseline and the system have."""
        return self.a.shape[1], self.b.shape[1]

    @property
    def is_paired(self) -> bool:
        """Whether there is a difference for each seed."""
        return self.shared or min(self.counts) == 1

    @property
    def differences(self) -> Floats:
        """System minus baseline, queries x seeds; only if paired."""
        return self.b - self.a

    @property
    def is_nested(self) -> bool:
        """Whether each seed has queries of its own."""
        return self.is_paired and not designs.is_crossed(self.differences)

    @property
    def means(self) -> tuple[Floats, Floats]:
        """The scores of each query, averaged over seeds."""
        import numpy as np

        with np.errstate(invalid="ignore", over="ignore"):  # infinite scores are refused later
            return np.nanmean(self.a, 1), np.nanmean(self.b, 1)

    def rows(self, places: Sequence[int]) -> Replicates:
        """Some of the queries, and the seeds that have any of them."""
        import numpy as np

        a, b = self.a[places], self.b[places]
        if self.is_paired:
            some = ~np.isnan(b - a).all(0)
            a = a[:, some] if a.shape[1] > 1 else a
            b = b[:, some] if b.shape[1] > 1 else b
        return replace(self, a=a, b=b)

    def mapped(self, a: Callable[[Floats], Floats], b: Callable[[Floats], Floats]) -> Replicates:
        """The same with other values."""
        return replace(self, a=a(self.a), b=b(self.b))

    def error(self) -> MeanError:
        """The error of the mean difference over queries and seeds."""
        if self.is_paired:
            return designs.seed_error(self.differences)
        return designs.apart_error(self.a, self.b)

    def planned(self) -> Planned:
        """The variances behind the error, for other numbers of queries and seeds.

        Queries that are nested in seeds have one variance only, that of the means of seeds.
        """
        if self.is_nested:
            return designs.Planned(0.0, self.error().variance * max(self.counts))
        sides = [self.differences] if self.is_paired else [self.a, self.b]
        before, after = self.means
        return designs.Planned.of(
            [designs.components(side) for side in sides],
            float((after - before).var(ddof=1)),
            [side.shape[1] for side in sides],
        )

    def refusal(self) -> str:
        """Why nothing can be tested over seeds; empty if it can."""
        if self.lone:
            return f"one {self.factor}"
        if max(self.counts) < 2:
            return f"one {self.factor}"
        if len(self.a) < 2:
            return "one query"
        if not self.is_paired and not all(map(designs.is_crossed, (self.a, self.b))):
            return f"the {self.factor}s share too few queries"
        return ""

    def smallest_p(self) -> float:
        """What sign flips of as many queries, or seeds if scores depend on them, can give at best."""
        import numpy as np

        varies = any(
            bool((np.nanmax(side, 1) > np.nanmin(side, 1)).any()) for side in (self.a, self.b)
        )
        units = len(self.a)
        if varies or self.is_nested:
            units = min(units, max(self.counts))
        return 2.0 ** (1 - min(units, 1000))

    def test(
        self,
        name: str = "t",
        alternative: Alternative = "two-sided",
        sign: int = 1,
        shift: float = 0.0,
        resampling: Resampling | None = None,
    ) -> Outcome:
        """The test of `sign` x difference + `shift`; p is 1 where seeds cannot be tested."""
        reason = self.refusal()
        if reason:
            return Outcome(None, 1.0, reason)
        before, after = self.means
        mean = sign * float((after - before).mean()) + shift
        if self.is_nested and name not in COVERS_SEEDS:
            return run_test(name, sign * self.by_seed() + shift, alternative, resampling)
        error = self.error()
        if error.variance == 0:
            return self._constant(mean, alternative)
        return Outcome(error.statistic(mean), at_least_smallest(error.p(mean, alternative)))

    def _constant(self, mean: float, alternative: Alternative) -> Outcome:
        if mean == 0:
            return Outcome(0.0, 1.0, "no difference")
        p = self.smallest_p()
        if alternative == "greater":
            p = p / 2 if mean > 0 else 1.0
        return Outcome(None, at_least_smallest(p), "constant difference")

    def by_seed(self) -> Floats:
        """The mean difference of each seed."""
        import numpy as np

        means: Floats = np.nanmean(self.differences, 0)
        return means

    def interval(self, confidence: float) -> tuple[float, float] | None:
        """Of the mean difference; None where seeds cannot be tested."""
        if self.refusal():
            return None
        before, after = self.means
        mean = float((after - before).mean())
        error = self.error()
        reach = error.reach(confidence) if error.variance else 0.0
        return mean - reach, mean + reach


def require_test(name: str, cells: Sequence[tuple[str, Replicates | None]]) -> None:
    """Refuse a test that covers queries only where seeds vary too."""
    if name in COVERS_SEEDS:
        return
    for system, replicates in cells:
        if replicates is None or replicates.refusal() or replicates.is_nested:
            continue
        factor, count = replicates.factor, max(replicates.counts)
        raise UsageError(
            f"the {TESTS[name]} covers queries only, and '{system}' has {count} {factor}s",
            hint=f"test 't' covers queries and {factor}s; seeds='fixed' (--seeds fixed) tests these "
            f"{factor}s only",
        )
