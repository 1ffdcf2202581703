"""Power analysis of paired comparisons: how many queries, which difference, which power."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from goodgain.comparison.pairing import LARGEST, Pairing, choose_columns
from goodgain.comparison.scores import ScoreSet, collect
from goodgain.comparison.sugar import evaluated_sources
from goodgain.errors import InputError, UsageError, suggest_keywords
from goodgain.stats.designs import Planned
from goodgain.stats.effect import power_of, shift_for_power

if TYPE_CHECKING:
    from goodgain.comparison.replicates import Replicates
    from goodgain.measures.definition import Measure

_MOST_QUERIES = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """A two-sided test: any of `queries`, `difference` and `power` follows from the others.

    With `seeds`, the test is over queries and so many seeds of each system that depends on one.

    >>> import goodgain as gg
    >>> power = gg.power(sd=0.2, difference=0.05)
    >>> power.queries
    128
    >>> print(power)
    With 128 queries, a difference of 0.05 is detected with 80% power (alpha 0.05, sd 0.2).
    """

    queries: int
    difference: float
    power: float
    sd: float  # standard deviation of the differences per query
    alpha: float
    tests: int  # the level is alpha / tests
    measure: str | None = None
    seeds: int = 0
    seed_sd: float = 0.0  # standard deviation of the difference between seeds

    @property
    def sentence(self) -> str:
        """The analysis in words."""
        level = f"alpha {self.alpha:g}" + (f" over {self.tests} tests" if self.tests > 1 else "")
        name = f" of {self.measure}" if self.measure else ""
        seeds = f" and {self.seeds} seeds" if self.seeds else ""
        spread = f", {self.seed_sd:.4g} between seeds" if self.seeds else ""
        return (
            f"With {self.queries:,} queries{seeds}, a difference{name} of {self.difference:.4g} is detected "
            f"with {100 * self.power:.0f}% power ({level}, sd {self.sd:.4g}{spread})."
        )

    def to_dict(self) -> dict[str, Any]:
        """Field to value."""
        return asdict(self) | {"sentence": self.sentence}

    def __str__(self) -> str:
        return self.sentence


@suggest_keywords
def power(
    *sources: Any,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    sd: float | None = None,
    queries: int | None = None,
    seeds: int | None = None,
    difference: float | None = None,
    power: float | None = None,
    alpha: float = 0.05,
    tests: int = 1,
) -> Power:
    """How many queries a comparison needs, or what it can show.

    The spread of differences per query comes from `sources` (differences, or two systems in any form
    that `compare` takes, for the first of `measures`) or from `sd`. Give two of `queries`,
    `difference` and `power` (default: 0.8), and the third is computed; `queries` is by default the
    number of queries in the sources. Where scores depend on seeds, the analysis is for new seeds too,
    with as many as there are, or `seeds`. `tests` is the number of hypotheses to correct for.

    >>> import goodgain as gg
    >>> gg.power(sd=0.2, difference=0.02).queries
    787
    >>> round(gg.power(sd=0.2, queries=100).difference, 4)
    0.0566
    >>> round(gg.power([0.1, -0.2, 0.3, 0.0, 0.15], difference=0.05).power, 4)
    0.0759
    """
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must be between 0 and 1, got {alpha}")
    if tests < 1:
        raise UsageError(f"tests must be a positive integer, got {tests}")
    measure, plan = None, None
    if sources:
        source = _source(sources, measures)
        measure = source.measure
        if sd is None:
            plan, sd = source.plan(), source.deviation()
        if plan is not None and plan.seed_levels:
            seeds = plan.seed_levels if seeds is None else seeds
            if seeds < 2:
                raise UsageError(f"seeds must be at least 2, got {seeds}")
        if queries is None and (difference is None or power is None):
            queries = source.queries
    if sd is None or not sd > 0 or math.isinf(sd):
        raise UsageError("the spread is needed", hint="power(differences), power(a, b) or sd=0.2")
    if plan is None or not plan.seed_levels:
        if seeds is not None:
            raise UsageError("seeds= needs the scores of two systems with several seeds")
        plan = _Plan(Planned(sd * sd), 0)
    if queries is not None and difference is not None and power is not None:
        raise UsageError("nothing to compute", hint="leave out queries, difference or power")
    if queries is None and difference is None:
        raise UsageError("queries or difference is needed", hint="power(sd=0.2, difference=0.02)")
    level = alpha / tests
    if queries is not None and queries < 2:
        raise UsageError(f"queries must be at least 2, got {queries}")
    if difference is not None and not difference > 0:
        raise UsageError(f"difference must be positive, got {difference}")
    reached = 0.8 if power is None else power
    if not level < reached < 1:
        raise UsageError(f"power must be between alpha and 1, got {reached}")
    count = seeds or 0
    if queries is None:
        queries = _queries(plan.variances, count, float(difference or 0), level, reached)
    error = plan.variances.error(queries, count)
    if difference is None:
        difference = shift_for_power(error, level, reached) * math.sqrt(error.variance)
    else:
        reached = power_of(error, difference / math.sqrt(error.variance), level)
    return Power(
        queries=queries,
        difference=float(difference),
        power=reached,
        sd=sd,
        alpha=alpha,
        tests=tests,
        measure=measure,
        seeds=count,
        seed_sd=math.sqrt(plan.variances.seed) if count else 0.0,
    )


def _queries(plan: Planned, seeds: int, difference: float, alpha: float, power: float) -> int:
    """The smallest number of queries with this power."""

    def enough(queries: int) -> bool:
        error = plan.error(queries, seeds)
        return power_of(error, difference / math.sqrt(error.variance), alpha) >= power

    if seeds and not enough(_MOST_QUERIES):
        more = next(
            (n for n in range(seeds + 1, 1001) if _is_reachable(plan, n, difference, alpha, power)),
            0,
        )
        raise UsageError(
            f"no number of queries shows a difference of {difference:g} with {seeds} seeds",
            hint=f"with {more} seeds, enough queries would"
            if more
            else "not even 1,000 seeds suffice",
        )
    low, high = 2, 4
    while not enough(high):
        low, high = high, high * 2
        if high > _MOST_QUERIES:
            raise UsageError(
                f"more than {_MOST_QUERIES:,} queries would be needed",
                hint="a difference this small cannot be shown with this spread",
            )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return low if enough(low) else high


def _is_reachable(plan: Planned, seeds: int, difference: float, alpha: float, power: float) -> bool:
    """Whether any number of queries shows the difference with so many seeds."""
    error = plan.error(_MOST_QUERIES, seeds)
    return power_of(error, difference / math.sqrt(error.variance), alpha) >= power


@dataclass(frozen=True, slots=True)
class _Plan:
    """Variances, and how many seeds they were estimated from; 0 if scores do not depend on seeds."""

    variances: Planned
    seed_levels: int


@dataclass(frozen=True, slots=True)
class _Source:
    """The differences of two systems, with their seeds if they have any."""

    differences: Sequence[float]
    measure: str | None = None
    replicates: Replicates | None = None

    @property
    def queries(self) -> int:
        """How many."""
        return len(self.differences)

    def deviation(self) -> float:
        """The standard deviation of the differences."""
        return _deviation(self.differences)

    def plan(self) -> _Plan | None:
        """The variances over queries and seeds; None if there are no seeds."""
        own = self.replicates
        if own is None:
            return None
        if reason := own.refusal():
            raise InputError(
                f"the spread over {own.factor}s is not known with {reason}",
                hint=f"give scores of at least two {own.factor}s, or leave out the column",
            )
        return _Plan(own.planned(), max(own.counts))


def _source(sources: tuple[Any, ...], measures: Any) -> _Source:
    first = sources[0]
    if len(sources) == 1 and not isinstance(first, str) and isinstance(first, Iterable):
        listed = list(first)
        if listed and all(isinstance(v, int | float) for v in listed):
            if bad := next((v for v in listed if not abs(v) <= LARGEST), None):
                raise InputError(
                    f"a difference of {bad} is not a number to compare",
                    hint=f"differences must be finite, and up to {LARGEST:g} in size",
                )
            return _Source([float(v) for v in listed])
    sources, measures = evaluated_sources(sources, measures, "nDCG@10")
    scores = ScoreSet()
    for source in sources:
        collect(source, scores)
    if len(scores.systems) < 2:
        raise UsageError(
            "power takes differences, or two systems", hint="power(baseline, candidate)"
        )
    old, new = list(scores.systems)[:2]
    column = choose_columns(scores, measures)[0]
    cell = Pairing(scores, "drop").pair(old, new, column)
    return _Source((cell.b - cell.a).tolist(), column.label, cell.replicates)


def _deviation(values: Sequence[float]) -> float:
    if len(values) < 2:
        raise InputError("the spread needs at least two differences")
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))
    if deviation <= 1e-12 * max(map(abs, values)):  # equal up to rounding
        raise InputError("all differences are equal, so their spread is 0", hint="give sd=")
    return deviation
