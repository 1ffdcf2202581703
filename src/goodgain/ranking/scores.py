"""The values of one run: per query, and over queries."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import asdict, dataclass
from math import fsum
from typing import TYPE_CHECKING, Any, Protocol

from goodgain.errors import MeasureError, UsageError
from goodgain.measures.grammar import parse
from goodgain.stats.quantiles import percentile

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.data.run import Run
    from goodgain.io.sources import Source
    from goodgain.measures.grammar import Measure
    from goodgain.ranking.evaluator import Evaluator


@dataclass(frozen=True, slots=True)
class Coverage:
    """How well judgements and run meet."""

    judged_queries: int
    missing_queries: int  # judged, but not in the run
    unjudged_queries: int  # in the run, but not judged
    documents: int  # retrieved for judged queries
    unjudged_documents: int
    judged_at_10: float  # share of the first ten of each query that is judged
    bad_rows: int = 0  # left out, where that was asked for
    bad_example: str = ""  # why one of them was

    def to_dict(self) -> dict[str, Any]:
        """Field to value."""
        return asdict(self)


class Values(Protocol):
    """Where a run's values are: in the core, in a saved file, or spread over other machines."""

    @property
    def source(self) -> Source | None:
        """Where the run came from."""

    @property
    def has_bounds(self) -> bool:
        """Whether the policy asked for bounds."""

    def queries(self) -> list[str]:
        """The queries behind the values."""

    def column(self, label: str, bound: str) -> list[float]:
        """The values of a measure, beside the queries."""

    def total(self, measure: Measure, bound: str) -> float:
        """The mean over queries, or the sum of counts."""

    def defined(self, label: str) -> int:
        """For how many queries a measure has a value."""

    def size(self) -> int:
        """How many queries there are."""

    def coverage(self) -> Coverage:
        """How well judgements and run meet."""

    def tables(self) -> tuple[Evaluator, Run]:
        """The judgements, ready to measure, and the run; InputError where they are gone."""


class ValuesHere:
    """Values that are in memory: what is said over all queries is computed from their columns."""

    __slots__ = ()

    def queries(self) -> list[str]:
        """The queries behind the values."""
        raise NotImplementedError

    def column(self, label: str, bound: str) -> list[float]:
        """The values of a measure, beside the queries."""
        raise NotImplementedError

    def total(self, measure: Measure, bound: str) -> float:
        """The mean over queries, or the sum of counts."""
        return aggregate(measure, self.column(measure.label, bound))

    def defined(self, label: str) -> int:
        """For how many queries a measure has a value."""
        return sum(v == v for v in self.column(label, ""))

    def size(self) -> int:
        """How many queries there are."""
        return len(self.queries())


class RunScores:
    """One run's values. `scores["nDCG@10"]` is the mean."""

    __slots__ = ("_values", "measures", "name")

    def __init__(self, name: str, measures: tuple[Measure, ...], values: Values) -> None:
        self.name = name
        self.measures = measures
        self._values = values

    @property
    def queries(self) -> list[str]:
        """The queries behind the values, in the order of the judgements."""
        return self._values.queries()

    @property
    def coverage(self) -> Coverage:
        """How well judgements and run meet."""
        return self._values.coverage()

    @property
    def source(self) -> Source | None:
        """Where the run came from; a dictionary has no more to tell."""
        return self._values.source

    def tables(self) -> tuple[Evaluator, Run]:
        """The judgements, ready to measure, and the run itself; InputError where they are gone."""
        return self._values.tables()

    def measure(self, wanted: str | Measure) -> Measure:
        """The measure as it was evaluated; a text may be written in any way that means the same."""
        label = wanted if isinstance(wanted, str) else wanted.label
        for known in self.measures:
            if known.label == label:
                return known
        with suppress(MeasureError):
            same = parse(label)
            for known in self.measures:
                if (known.definition, known.params, known.cutoff) == (
                    same.definition, same.params, same.cutoff
                ):  # fmt: skip
                    return known
        names = ", ".join(m.label for m in self.measures)
        raise KeyError(f"'{label}' was not evaluated; there is: {names}")

    def column(self, measure: str | Measure, bound: str = "") -> list[float]:
        """The values of a measure, beside `queries`; `bound` is "", "lower" or "upper"."""
        return self._values.column(self.measure(measure).label, bound)

    def values(self, measure: str | Measure) -> NDArray[np.float64]:
        """The values of a measure as an array, beside `queries`."""
        import numpy as np

        return np.asarray(self.column(measure))

    @property
    def per_query(self) -> dict[str, dict[str, float]]:
        """{query: {measure: value}}."""
        columns = {m.label: self.column(m) for m in self.measures}
        return {
            q: {label: c[i] for label, c in columns.items()} for i, q in enumerate(self.queries)
        }

    @property
    def means(self) -> dict[str, float]:
        """{measure: value over all queries}: a mean, or a sum for counts."""
        return {m.label: self._values.total(m, "") for m in self.measures}

    def bounds(self, measure: str | Measure) -> tuple[float, float]:
        """The lower and upper mean, under a policy that asks for bounds."""
        found = self.measure(measure)
        if not self._values.has_bounds:
            raise UsageError(
                f"the result has no bounds of {found}",
                hint="evaluate with ties=bounds or unjudged=bounds",
            )
        low, high = (self._values.total(found, bound) for bound in ("lower", "upper"))
        return low, high

    def __getitem__(self, measure: str | Measure) -> float:
        for found in self.measures:
            if found.label == measure:  # the usual way to ask, and the shortest
                break
        else:
            found = self.measure(measure)
        return self._values.total(found, "")

    def count(self, measure: str | Measure) -> int:
        """How many queries are behind a mean: those where the measure is defined."""
        return self._values.defined(self.measure(measure).label)

    @property
    def undefined(self) -> dict[str, list[str]]:
        """{measure: the queries where it has no value}; only measures that have such queries."""
        return {
            m.label: [q for q, v in zip(self.queries, self.column(m), strict=True) if v != v]
            for m in self.measures
            if self.count(m) < self._values.size()
        }

    def __repr__(self) -> str:
        shown = ", ".join(f"{m}={v:.4f}" for m, v in list(self.means.items())[:4])
        return f"RunScores('{self.name}', {self._values.size():,} queries, {shown})"


def aggregate(measure: Measure, values: Sequence[float]) -> float:
    """Over queries, leaving out undefined ones; the same for any order of the queries."""
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
        return percentile(defined, int(str(stat).removeprefix("p")))
    return fsum(defined) / len(defined)
