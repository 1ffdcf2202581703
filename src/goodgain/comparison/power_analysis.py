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
from goodgain.stats.effect import detectable_shift, t_test_power

if TYPE_CHECKING:
    from goodgain.measures.definition import Measure

_MOST_QUERIES = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """A two-sided paired t-test: any of `queries`, `difference` and `power` follows from the others."""

    queries: int
    difference: float
    power: float
    sd: float  # standard deviation of the differences per query
    alpha: float
    tests: int  # the level is alpha / tests
    measure: str | None = None

    @property
    def sentence(self) -> str:
        """The analysis in words."""
        level = f"alpha {self.alpha:g}" + (f" over {self.tests} tests" if self.tests > 1 else "")
        name = f" of {self.measure}" if self.measure else ""
        return (
            f"With {self.queries:,} queries, a difference{name} of {self.difference:.4g} is detected "
            f"with {100 * self.power:.0f}% power ({level}, sd {self.sd:.4g})."
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
    difference: float | None = None,
    power: float | None = None,
    alpha: float = 0.05,
    tests: int = 1,
) -> Power:
    """How many queries a comparison needs, or what it can show.

    The spread of differences per query comes from `sources` (differences, or two systems in any form
    that `compare` takes, for the first of `measures`) or from `sd`. Give two of `queries`,
    `difference` and `power` (default: 0.8), and the third is computed; `queries` is by default the
    number of queries in the sources. `tests` is the number of hypotheses to correct for.
    """
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must be between 0 and 1, got {alpha}")
    if tests < 1:
        raise UsageError(f"tests must be a positive integer, got {tests}")
    measure = None
    if sources:
        values, measure = _differences(sources, measures)
        if sd is None:
            sd = _deviation(values)
        if queries is None and (difference is None or power is None):
            queries = len(values)
    if sd is None or not sd > 0 or math.isinf(sd):
        raise UsageError("the spread is needed", hint="power(differences), power(a, b) or sd=0.2")
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
    if queries is None:
        queries = _queries(sd, float(difference or 0), level, reached)
        reached = t_test_power(queries, float(difference or 0) * math.sqrt(queries) / sd, level)
    elif difference is None:
        difference = detectable_shift(queries, level, reached) * sd / math.sqrt(queries)
    else:
        reached = t_test_power(queries, difference * math.sqrt(queries) / sd, level)
    return Power(
        queries=queries,
        difference=float(difference or 0),
        power=reached,
        sd=sd,
        alpha=alpha,
        tests=tests,
        measure=measure,
    )


def _queries(sd: float, difference: float, alpha: float, power: float) -> int:
    """The smallest number of queries with this power."""
    low, high = 2, 4
    while t_test_power(high, difference * math.sqrt(high) / sd, alpha) < power:
        low, high = high, high * 2
        if high > _MOST_QUERIES:
            raise UsageError(
                f"more than {_MOST_QUERIES:,} queries would be needed",
                hint="a difference this small cannot be shown with this spread",
            )
    while high - low > 1:
        middle = (low + high) // 2
        enough = t_test_power(middle, difference * math.sqrt(middle) / sd, alpha) >= power
        low, high = (low, middle) if enough else (middle, high)
    return low if t_test_power(low, difference * math.sqrt(low) / sd, alpha) >= power else high


def _differences(sources: tuple[Any, ...], measures: Any) -> tuple[Sequence[float], str | None]:
    first = sources[0]
    if len(sources) == 1 and not isinstance(first, str) and isinstance(first, Iterable):
        listed = list(first)
        if listed and all(isinstance(v, int | float) for v in listed):
            if bad := next((v for v in listed if not abs(v) <= LARGEST), None):
                raise InputError(
                    f"a difference of {bad} is not a number to compare",
                    hint=f"differences must be finite, and up to {LARGEST:g} in size",
                )
            return [float(v) for v in listed], None
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
    cell = Pairing(scores, "drop", "fixed").pair(old, new, column)
    return (cell.b - cell.a).tolist(), column.label


def _deviation(values: Sequence[float]) -> float:
    if len(values) < 2:
        raise InputError("the spread needs at least two differences")
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))
    if deviation <= 1e-12 * max(map(abs, values)):  # equal up to rounding
        raise InputError("all differences are equal, so their spread is 0", hint="give sd=")
    return deviation
