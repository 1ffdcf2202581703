"""The values of one run: per query, and over queries."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.measures.grammar import Measure


@dataclass(frozen=True, slots=True)
class Coverage:
    """How well judgements and run meet."""

    judged_queries: int
    missing_queries: int  # judged, but not in the run
    unjudged_queries: int  # in the run, but not judged
    documents: int  # retrieved for judged queries
    unjudged_documents: int
    judged_at_10: float  # share of the first ten of each query that is judged

    def to_dict(self) -> dict[str, Any]:
        """Field to value."""
        return asdict(self)


class RunScores:
    """One run's values. `scores["nDCG@10"]` is the mean."""

    __slots__ = ("_columns", "_load", "_means", "_queries", "coverage_of", "measures", "name")

    def __init__(
        self,
        name: str,
        measures: tuple[Measure, ...],
        load: Callable[[], tuple[list[str], dict[str, list[float]]]],
        coverage: Callable[[], Coverage],
    ) -> None:
        self.name = name
        self.measures = measures
        self._load = load  # values are taken over from the core only when they are asked for
        self.coverage_of = coverage
        self._queries: list[str] | None = None
        self._columns: dict[str, list[float]] | None = None
        self._means: dict[str, float] | None = None

    def _data(self) -> tuple[list[str], dict[str, list[float]]]:
        if self._queries is None or self._columns is None:
            self._queries, self._columns = self._load()
        return self._queries, self._columns

    @property
    def queries(self) -> list[str]:
        """The queries behind the values, in the order of the judgements."""
        return self._data()[0]

    @property
    def coverage(self) -> Coverage:
        """How well judgements and run meet."""
        return self.coverage_of()

    def column(self, measure: str | Measure, bound: str = "") -> list[float]:
        """The values of a measure, beside `queries`; `bound` is "", "lower" or "upper"."""
        key = f"{measure}:{bound}" if bound else str(measure)
        try:
            return self._data()[1][key]
        except KeyError:
            names = ", ".join(m.label for m in self.measures)
            raise KeyError(f"'{key}' was not evaluated; there is: {names}") from None

    def values(self, measure: str | Measure) -> NDArray[np.float64]:
        """The values of a measure as an array, beside `queries`."""
        import numpy as np

        return np.asarray(self.column(measure))

    @property
    def per_query(self) -> dict[str, dict[str, float]]:
        """{query: {measure: value}}."""
        queries, _ = self._data()
        columns = {m.label: self.column(m) for m in self.measures}
        return {q: {label: c[i] for label, c in columns.items()} for i, q in enumerate(queries)}

    @property
    def means(self) -> dict[str, float]:
        """{measure: value over all queries}: a mean, or a sum for counts."""
        if self._means is None:
            self._means = {m.label: aggregate(m, self.column(m)) for m in self.measures}
        return dict(self._means)

    def bounds(self, measure: str | Measure) -> tuple[float, float] | None:
        """The lower and upper mean, where the policy asked for bounds."""
        found = next(m for m in self.measures if m.label == str(measure))
        if f"{found.label}:lower" not in self._data()[1]:
            return None
        low, high = (aggregate(found, self.column(found, b)) for b in ("lower", "upper"))
        return low, high

    def __getitem__(self, measure: str | Measure) -> float:
        means = self.means
        if str(measure) not in means:
            self.column(measure)
        return means[str(measure)]

    def count(self, measure: str | Measure) -> int:
        """How many queries are behind a mean: those where the measure is defined."""
        return sum(v == v for v in self.column(measure))

    @property
    def undefined(self) -> dict[str, list[str]]:
        """{measure: the queries where it has no value}; only measures that have such queries."""
        queries = self.queries
        found = {
            m.label: [q for q, v in zip(queries, self.column(m), strict=True) if v != v]
            for m in self.measures
        }
        return {label: missing for label, missing in found.items() if missing}

    def __repr__(self) -> str:
        shown = ", ".join(f"{m}={v:.4f}" for m, v in list(self.means.items())[:4])
        return f"RunScores('{self.name}', {len(self.queries):,} queries, {shown})"


def aggregate(measure: Measure, values: Sequence[float]) -> float:
    """Over queries, leaving out undefined ones; the same for any order of the queries."""
    defined = [v for v in values if v == v]
    kind = measure.definition.aggregate
    if kind == "sum":
        return math.fsum(defined)
    if not defined:
        return math.nan
    if kind == "geometric":
        return math.exp(math.fsum(math.log(max(v, 0.00001)) for v in defined) / len(defined))
    stat = measure.get("stat") if kind == "stat" else "mean"
    if stat != "mean":
        return percentile(defined, int(str(stat).removeprefix("p")))
    return math.fsum(defined) / len(defined)


def percentile(values: Sequence[float], percent: int) -> float:
    """Linear between the two nearest values."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * percent / 100
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
