"""How far a mean difference can be off when queries, and seeds with them, are a sample.

The variance of a mean over queries q and seeds s is

    var(query) / Q + var(seed) / S + var(residual) / (Q S),

and each term is estimated with its own degrees of freedom: Q - 1 for queries, S - 1 for seeds.
`MeanError` adds the terms up, tests and gives intervals. Its critical value is mostly Cochran and Cox's: the
mean of those of the terms weighted by their variances; from three levels on, 1/k of it is Satterthwaite's,
with k the fewest levels of a term. Satterthwaite's alone rejects up to 8 % instead of 5 % with three seeds.
docs/comparison.md has the error rates by simulation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodgain.stats.distributions import solve, t_ppf, t_sf

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.stats.paired import Alternative

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Term:
    """A share of the variance of a mean, and the degrees of freedom it is estimated with."""

    variance: float
    freedom: float


@dataclass(frozen=True, slots=True)
class MeanError:
    """The error of a mean: the sum of independent terms."""

    terms: tuple[Term, ...]

    @property
    def variance(self) -> float:
        """Of the mean."""
        return math.fsum(term.variance for term in self.terms)

    @property
    def freedom(self) -> float:
        """Satterthwaite's degrees of freedom."""
        squares = math.fsum((p.variance / self.variance) ** 2 / p.freedom for p in self.terms)
        return 1 / squares

    def critical(self, tail: float) -> float:
        """How many standard errors cut off `tail` on one side."""
        sizes = [p for p in self.terms if p.variance > 0]
        if len(sizes) == 1:
            return t_ppf(1 - tail, sizes[0].freedom)
        shares = [p.variance / self.variance for p in sizes]
        weighted = math.fsum(
            share * t_ppf(1 - tail, p.freedom) for share, p in zip(shares, sizes, strict=True)
        )
        levels = 1 + min(p.freedom for p in sizes)
        weight = min(max(levels - 2, 0), 1) / levels
        return (1 - weight) * weighted + weight * t_ppf(1 - tail, self.freedom)

    def p(self, mean: float, alternative: Alternative = "two-sided") -> float:
        """The p-value of a mean: the level at which `critical` is just reached."""
        t = self.statistic(mean)
        size = abs(t)
        terms = [p for p in self.terms if p.variance > 0]
        tail = t_sf(size, terms[0].freedom) if len(terms) == 1 else self._tail(size)
        if alternative == "two-sided":
            return min(1.0, 2 * tail)
        return tail if t >= 0 else 1 - tail

    def _tail(self, size: float) -> float:
        """The tail whose critical value is `size`, found by its logarithm: it may be tiny."""
        if size == 0:
            return 0.5
        least = math.log(1e-12)
        if self.critical(math.exp(least)) <= size:
            return math.exp(least)
        depth = solve(lambda x: self.critical(math.exp(-x)) - size, math.log(2.0), 3.0)
        return math.exp(-min(depth, -least))

    def statistic(self, mean: float) -> float:
        """The mean in standard errors."""
        return mean / math.sqrt(self.variance)

    def range_freedom(self) -> float:
        """The degrees of freedom of the t distribution with the same critical value at 5 %."""
        wanted = self.critical(0.025)
        return 1 / solve(lambda inverse: t_ppf(0.975, 1 / max(inverse, 1e-9)) - wanted, 0.0, 0.5)

    def reach(self, confidence: float) -> float:
        """Half the width of the interval."""
        return self.critical((1 - confidence) / 2) * math.sqrt(self.variance)


@dataclass(frozen=True, slots=True)
class Components:
    """Variances between queries, between seeds, and residual, and what each adds to that of the mean."""

    query: float
    seed: float
    residual: float
    by_query: Term  # the error of the mean if seeds were fixed
    by_seed: Term  # the error of the mean if queries were fixed
    rest: float  # what both contain


def components(values: Floats) -> Components:
    """The components of variance of queries x seeds, NaN where a query is missing from a seed.

    Effects are fitted by least squares, which for a full table is the analysis of variance. The mean is
    over queries of the mean over their seeds.
    """
    import numpy as np

    present = ~np.isnan(values)
    in_query, in_seed = present.sum(1), present.sum(0)
    n, q, s = int(present.sum()), len(in_query), len(in_seed)
    queries, seeds, rest = _fit(np.where(present, values, 0.0), present)
    floor = (1e-13 * float(np.nanmax(abs(values)))) ** 2  # what rounding leaves of equal values
    free = n - q - s + 1
    residual, query_square, seed_square = (
        v if v > floor else 0.0
        for v in (
            float((rest**2).sum()) / free if free > 0 else 0.0,
            float(queries.var(ddof=1)),
            float(seeds.var(ddof=1)),
        )
    )
    weights = present / (q * in_query[:, None])
    seed_weights = weights.sum(0)
    cells, seed_share = float((weights**2).sum()), float((seed_weights**2).sum())
    levels = seed_share**2 / float((seed_weights**4).sum())
    return Components(
        query=max(0.0, query_square - residual * float((1 / in_query).mean())),
        seed=max(0.0, seed_square - residual * float((1 / in_seed).mean())),
        residual=residual,
        by_query=Term(query_square / q, q - 1),
        by_seed=Term(seed_square * seed_share, max(levels - 1, 0.5)),
        rest=residual * cells,
    )


def _fit(values: Floats, present: Floats) -> tuple[Floats, Floats, Floats]:
    """Effects of queries and of seeds, and what they leave; by alternating means."""
    import numpy as np

    in_query, in_seed = present.sum(1), present.sum(0)
    queries, seeds = np.zeros(len(in_query)), np.zeros(len(in_seed))
    rest = values
    for _ in range(1 if present.all() else 500):
        by_query = rest.sum(1) / in_query
        rest = np.where(present, rest - by_query[:, None], 0.0)
        by_seed = rest.sum(0) / in_seed
        rest = np.where(present, rest - by_seed, 0.0)
        queries, seeds = queries + by_query, seeds + by_seed
        if abs(by_query).max() <= 1e-13 * (abs(queries).max() or 1):
            break
    return queries, seeds, rest


def error_of(by_query: Term, sides: Sequence[Components]) -> MeanError:
    """The error over queries and the seeds of one or two systems.

    `by_query` is the error of the mean over queries with the seeds as they are; it holds the residual of
    every side. The factor with the fewest levels counts in full and the other without the residual, never
    below 0: so it errs on the side where the estimate is poorest.
    """
    rest = math.fsum(side.rest for side in sides)
    seeds = _sum([side.by_seed for side in sides])
    if by_query.freedom >= seeds.freedom:
        return MeanError((seeds, Term(max(0.0, by_query.variance - rest), by_query.freedom)))
    return MeanError((by_query, Term(max(0.0, seeds.variance - rest), seeds.freedom)))


def _sum(terms: Sequence[Term]) -> Term:
    """Parts of one kind as one, with Satterthwaite's degrees of freedom."""
    total = MeanError(tuple(terms))
    return Term(total.variance, total.freedom if total.variance else terms[0].freedom)


@dataclass(frozen=True, slots=True)
class Planned:
    """Variances of a difference: the error of a mean for any number of queries and seeds follows."""

    query: float
    seed: float = 0.0
    residual: float = 0.0
    systems: int = 1  # with seeds of their own

    @classmethod
    def of(cls, sides: Sequence[Components], by_query: float, seeds: Sequence[int]) -> Planned:
        """From the seeds of one or two systems; `by_query` is the variance of the means of queries."""
        shared = math.fsum(side.residual / n for side, n in zip(sides, seeds, strict=True))
        return cls(
            query=max(0.0, by_query - shared),
            seed=math.fsum(side.seed for side in sides),
            residual=math.fsum(side.residual for side in sides),
            systems=len(sides),
        )

    def error(self, queries: int, seeds: int = 0) -> MeanError:
        """The error of the mean over so many queries, and seeds of each system."""
        by_query = Term(self.query / queries, queries - 1)
        if not seeds:
            return MeanError((by_query,))
        spread = self.seed / seeds + self.residual / (queries * seeds)
        return MeanError((Term(spread, self.systems * (seeds - 1)), by_query))


def is_crossed(values: Floats) -> bool:
    """Whether seeds share enough queries to tell the two apart."""
    import numpy as np

    present = ~np.isnan(values)
    queries, seeds = present.shape
    if present.all():
        return bool(min(queries, seeds) > 1)
    return bool(present.sum() - queries - seeds + 1 >= max(2, queries // 4))


def seed_error(differences: Floats) -> MeanError:
    """Of differences of queries x seeds that both systems share, or that only one of them has.

    Where seeds share too few queries, seeds are the units: queries are nested in them.
    """
    if not is_crossed(differences):
        return nested_error(differences)
    side = components(differences)
    return error_of(side.by_query, [side])


def apart_error(a: Floats, b: Floats) -> MeanError:
    """Two systems on the same queries with seeds of their own: queries x seeds for each."""
    import numpy as np

    means = np.nanmean(b, 1) - np.nanmean(a, 1)
    by_query = Term(float(means.var(ddof=1)) / len(means), len(means) - 1)
    return error_of(by_query, [components(a), components(b)])


def nested_error(differences: Floats) -> MeanError:
    """Each seed with queries of its own: seeds are clusters, and the only units."""
    import numpy as np

    present = ~np.isnan(differences)
    weights = present / (len(differences) * present.sum(1)[:, None])
    mean = float(np.nansum(weights * differences))
    pull = np.nansum(weights * (differences - mean), 0)
    share = weights.sum(0)
    seeds = len(share)
    levels = 1 / float((share**2).sum())
    variance = float((pull**2).sum()) * seeds / (seeds - 1)
    return MeanError((Term(variance, max(levels - 1, 0.5)),))
