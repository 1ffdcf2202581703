"""The values of one run: per query, and over queries."""

from __future__ import annotations

import math
from contextlib import suppress
from math import fsum

from goodgain.errors import MeasureError, UsageError
from goodgain.measures.grammar import parse
from goodgain.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, Protocol

    import numpy as np
    from numpy.typing import NDArray

    from goodgain._core import Scores
    from goodgain.data.run import Run
    from goodgain.io.sources import Source
    from goodgain.measures.definition import Measure
    from goodgain.ranking.evaluator import Evaluator

    Native = tuple[
        Scores, list[int], bool
    ]  # with columns, and whether queries without results are left out

    class Values(Protocol):
        """Where a run's values are: in the core, in a saved file, or on other machines."""

        @property
        def source(self) -> Source | None:
            """Where the run came from."""

        @property
        def has_bounds(self) -> bool:
            """Whether there are lower and upper values."""

        def queries(self) -> list[str]:
            """The queries behind the values."""

        def column(self, label: str, bound: str) -> list[float]:
            """The values of a measure, in the order of the queries."""

        def total(self, measure: Measure, bound: str) -> float:
            """The mean over queries, or the sum of counts."""

        def defined(self, label: str) -> int:
            """The number of queries for which a measure is defined."""

        def size(self) -> int:
            """The number of queries."""

        def coverage(self) -> Coverage:
            """How well judgments and run match."""

        def native(self, label: str, bounds: Sequence[str]) -> Native | None:
            """Where the core holds the values of a measure and its bounds, if it does."""

        def tables(self) -> tuple[Evaluator, Run]:
            """The evaluator of the judgments, and the run; InputError if they are gone."""


RANK_FACTS = ("shared_ranks", "rank_gaps", "ranks_from_zero")


@dataclass(frozen=True, slots=True)
class Coverage:
    """How well judgments and run match."""

    judged_queries: int
    missing_queries: int  # judged, but not in the run
    unjudged_queries: int  # in the run, but not judged
    documents: int  # retrieved for judged queries
    unjudged_documents: int
    judged_at_10: float  # the share of the first ten of each query that is judged
    bad_rows: int = 0  # skipped, under skip_bad
    bad_example: str = ""  # why one of them was skipped
    shared_ranks: int = 0  # queries in which documents share a rank, of runs without scores
    rank_gaps: int = 0  # queries in which ranks are left out
    ranks_from_zero: int = 0  # queries whose first rank is 0
    notes: tuple[
        str, ...
    ] = ()  # what else a reader should know, such as chunks that no document holds

    @property
    def leaves_queries(self) -> bool:
        """Whether both sides have queries that the other lacks."""
        return self.missing_queries > 0 and self.unjudged_queries > 0

    @property
    def is_suspicious(self) -> bool:
        """Whether ids may be written differently on the two sides, which `mismatch` looks into."""
        return self.documents > 0 and (self.leaves_queries or not self.judged_at_10 > 0.05)

    def to_dict(self) -> dict[str, Any]:
        """Field to value."""
        from dataclasses import asdict

        facts = asdict(self)
        return facts if self.notes else {k: v for k, v in facts.items() if k != "notes"}


class ValuesInMemory:
    """Values that are in memory: totals are computed from their columns."""

    __slots__ = ()

    def queries(self) -> list[str]:
        """The queries behind the values."""
        raise NotImplementedError

    def column(self, label: str, bound: str) -> list[float]:
        """The values of a measure, in the order of the queries."""
        raise NotImplementedError

    def native(self, label: str, bounds: Sequence[str]) -> Native | None:
        """Not in the core."""
        return None

    def total(self, measure: Measure, bound: str) -> float:
        """The mean over queries, or the sum of counts."""
        return aggregate(measure, self.column(measure.label, bound))

    def defined(self, label: str) -> int:
        """The number of queries for which a measure is defined."""
        return sum(v == v for v in self.column(label, ""))

    def size(self) -> int:
        """The number of queries."""
        return len(self.queries())


class CopiedValues(ValuesInMemory):
    """The values of a pickled run, which has left its tables behind."""

    __slots__ = ("_columns", "_coverage", "_queries", "has_bounds")
    source = None

    def __init__(self, values: Values, measures: Sequence[Measure]) -> None:
        self.has_bounds = values.has_bounds
        self._queries, self._coverage = values.queries(), values.coverage()
        bounds = ("", "lower", "upper") if values.has_bounds else ("",)
        self._columns = {(m.label, b): values.column(m.label, b) for m in measures for b in bounds}

    def queries(self) -> list[str]:
        """The queries behind the values."""
        return self._queries

    def column(self, label: str, bound: str) -> list[float]:
        """The values of a measure, in the order of the queries."""
        return self._columns[label, bound]

    def coverage(self) -> Coverage:
        """How well judgments and run match."""
        return self._coverage

    def tables(self) -> tuple[Evaluator, Run]:
        """There are none."""
        raise UsageError("the tables behind a pickled result are not in it", hint="evaluate again")


class RunScores:
    """The values of one run: a mapping from measures to means. `scores["nDCG@10"]` is a mean.

    >>> import goodgain as gg
    >>> run = {"q1": ["a"], "q2": ["x", "b"]}
    >>> scores, = gg.evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, run, "RR").runs
    >>> scores["RR"]
    0.75
    >>> scores.per_query["q2"]
    {'RR': 0.5}
    """

    __slots__ = ("_measures", "_name", "_values")

    def __init__(self, name: str, measures: tuple[Measure, ...], values: Values) -> None:
        self._name = name
        self._measures = measures
        self._values = values

    @property
    def name(self) -> str:
        """The name of the run."""
        return self._name

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in the order of the call."""
        return self._measures

    def __reduce__(self) -> tuple[Any, ...]:
        copied = CopiedValues(self._values, self._measures)
        return RunScores, (self._name, self._measures, copied)

    def renamed(self, name: str) -> RunScores:
        """The same values under another name."""
        return RunScores(name, self._measures, self._values)

    def only(self, measures: Sequence[Measure]) -> RunScores:
        """The values of some of the measures."""
        return RunScores(self._name, tuple(self.measure(m) for m in measures), self._values)

    @property
    def queries(self) -> list[str]:
        """The queries behind the values, in the order of the judgments."""
        return self._values.queries()

    @property
    def coverage(self) -> Coverage:
        """How well judgments and run match."""
        return self._values.coverage()

    @property
    def source(self) -> Source | None:
        """Where the run came from; None for a dictionary."""
        return self._values.source

    @property
    def has_bounds(self) -> bool:
        """Whether the policy computed lower and upper values."""
        return self._values.has_bounds

    def tables(self) -> tuple[Evaluator, Run]:
        """The evaluator of the judgments, and the run itself; InputError if they are gone."""
        return self._values.tables()

    def measure(self, name: str | Measure) -> Measure:
        """The measure as it was evaluated; a name may be spelled in any way that means the same."""
        label = name if isinstance(name, str) else name.label
        for measure in self._measures:
            if measure.label == label:
                return measure
        with suppress(MeasureError):
            meant = parse(label) if isinstance(name, str) else name
            for measure in self._measures:
                if measure.same_values(meant):
                    return measure
        raise KeyError(
            f"'{label}' was not evaluated; evaluated: {', '.join(m.label for m in self._measures)}"
        )

    def column(self, measure: str | Measure, bound: str = "") -> list[float]:
        """The values of a measure, in the order of `queries`; `bound` is "", "lower" or "upper"."""
        return self._values.column(self.measure(measure).label, bound)

    def native(self, measure: Measure, bounds: Sequence[str] = ()) -> Native | None:
        """Where the core holds the values of a measure and its bounds, if it does."""
        return self._values.native(measure.label, bounds)

    def values(self, measure: str | Measure) -> NDArray[np.float64]:
        """The values of a measure as an array, in the order of `queries`."""
        import numpy as np

        return np.asarray(self.column(measure))

    @property
    def per_query(self) -> dict[str, dict[str, float]]:
        """{query: {measure: value}}."""
        columns = {m.label: self.column(m) for m in self._measures}
        return {
            q: {label: c[i] for label, c in columns.items()} for i, q in enumerate(self.queries)
        }

    @property
    def means(self) -> dict[str, float]:
        """{measure: value over all queries}: a mean, or a sum for counts."""
        return {m.label: self._values.total(m, "") for m in self._measures}

    def interval(self, measure: str | Measure) -> tuple[float, float] | None:
        """Student's 95 % interval of a mean over queries; None for sums, percentiles and single queries."""
        from goodgain.stats.intervals import mean_interval

        mean, low, high, n = mean_interval(self.values(measure))
        value = self[measure]
        if n < 2 or low != low or not math.isclose(mean, value, rel_tol=1e-9, abs_tol=1e-12):
            return None
        return self.measure(measure).definition.range.within(low, high)

    def bounds(self, measure: str | Measure) -> tuple[float, float]:
        """The lower and upper mean, under a policy that computes bounds."""
        bounded = self.measure(measure)
        if not self._values.has_bounds:
            raise UsageError(
                f"the result has no bounds of {bounded}",
                hint="evaluate with ties=bounds or unjudged=bounds",
            )
        if self.unbounded(bounded):  # a mean over the other queries bounds nothing
            return math.nan, math.nan
        low, high = (self._values.total(bounded, bound) for bound in ("lower", "upper"))
        return low, high

    def unbounded(self, measure: Measure) -> list[str]:
        """The queries for which a measure has a value, but too many cases for bounds."""
        columns = (self.column(measure), self.column(measure, "lower"))
        return [
            q for q, v, low in zip(self.queries, *columns, strict=True) if v == v and low != low
        ]

    def __getitem__(self, name: str | Measure) -> float:
        for measure in self._measures:
            if measure.label == name:  # the usual and fastest case
                return self._values.total(measure, "")
        return self._values.total(self.measure(name), "")

    def __contains__(self, name: object) -> bool:
        try:
            self.measure(name)  # type: ignore[arg-type]
        except (KeyError, AttributeError):
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self._measures)

    def keys(self) -> tuple[str, ...]:
        """The labels of the measures."""
        return tuple(m.label for m in self._measures)

    def items(self) -> Iterator[tuple[str, float]]:
        """(measure, mean) pairs."""
        return iter(self.means.items())

    def count(self, measure: str | Measure) -> int:
        """The number of queries behind a mean: those for which the measure is defined."""
        return self._values.defined(self.measure(measure).label)

    @property
    def undefined(self) -> dict[str, list[str]]:
        """{measure: the queries for which it is undefined}; only measures with such queries."""
        return {
            m.label: [q for q, v in zip(self.queries, self.column(m), strict=True) if v != v]
            for m in self._measures
            if self.count(m) < self._values.size()
        }

    def __repr__(self) -> str:
        means = ", ".join(f"{m}={v:.4f}" for m, v in list(self.means.items())[:4])
        return f"RunScores('{self._name}', {self._values.size():,} queries, {means})"


def aggregate(measure: Measure, values: Sequence[float]) -> float:
    """Over queries, ignoring undefined values; the same for any order of the queries."""
    kind = measure.definition.aggregate
    if kind == "mean" and values:
        total = fsum(values)
        if total == total:
            return total / len(values)
    defined = [v for v in values if v == v]
    if kind == "sum":
        return fsum(defined)
    if not defined:
        return math.nan
    if kind == "geometric":
        return math.exp(fsum(math.log(max(v, 0.00001)) for v in defined) / len(defined))
    stat = measure.get("stat") if kind == "stat" else "mean"
    if stat != "mean":
        from goodgain.stats.quantiles import percentile

        return percentile(defined, int(str(stat).removeprefix("p")))
    return fsum(defined) / len(defined)
