"""The values of a run on the cluster: sums are available at once, columns are fetched on demand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

from goodgain.engines.spark.texts import texts_of
from goodgain.errors import InputError
from goodgain.ranking.scores import RANK_FACTS, Coverage, aggregate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goodgain.engines.spark.worker import Report
    from goodgain.io.sources import Source
    from goodgain.measures.definition import Measure


class SparkValues:
    """Values for `RunScores`. Means need no data on the driver; `queries` and `column` fetch everything."""

    __slots__ = (
        "_fetch",
        "_fetched",
        "_places",
        "_report",
        "_run_columns",
        "_width",
        "has_bounds",
        "source",
    )

    def __init__(
        self,
        *,
        fetch: Callable[[], Any],
        report: Report,
        places: Mapping[str, int | str],
        has_bounds: bool,
        source: Source,
        run_columns: Mapping[str, Mapping[str, float] | None],
    ) -> None:
        self._fetch = fetch
        self._report = report
        self._places = places
        self._width = len(report.sums)
        self._run_columns = run_columns
        self._fetched: Any = None
        self.has_bounds = has_bounds
        self.source: Source | None = source

    def native(self, label: str, bounds: Sequence[str]) -> None:
        """Not in the core of this process."""

    def tables(self) -> NoReturn:
        """Not available: reports on runs on a cluster have no ranked lists."""
        raise InputError("ranked lists are not available for a run on a cluster")

    def queries(self) -> list[str]:
        """The queries in the order of the judgments."""
        return texts_of(self._rows().column("query"))

    def column(self, label: str, bound: str) -> list[float]:
        """The values of a measure, parallel to the queries."""
        place = self._places[label]
        if isinstance(place, str):
            by_query = self._run_columns.get(place) or {}
            return [by_query.get(query, math.nan) for query in self.queries()]
        values = self._rows().column(f"v{self._column(place, bound)}")
        return list(values.to_numpy().tolist())

    def total(self, measure: Measure, bound: str) -> float:
        """The mean over queries, or the sum of counts, from the exact sums of all tasks."""
        place = self._places[measure.label]
        if isinstance(place, str):
            return aggregate(measure, self.column(measure.label, bound))
        total = self._report.sums[self._column(place, bound)]
        if measure.definition.aggregate == "sum":
            return total.value
        if not total.count:
            return math.nan
        mean = total.value / total.count
        return math.exp(mean) if measure.definition.aggregate == "geometric" else mean

    def defined(self, label: str) -> int:
        """The number of queries for which a measure has a value."""
        place = self._places[label]
        if isinstance(place, str):
            return sum(v == v for v in self.column(label, ""))
        return self._report.sums[place].count

    def size(self) -> int:
        """The number of queries."""
        return self._report.totals["rows"]

    def coverage(self) -> Coverage:
        """How well judgments and run match."""
        totals: dict[str, Any] = dict(self._report.totals)
        return Coverage(
            judged_queries=totals["judged"],
            missing_queries=totals["judged"] - totals["in_run"],
            unjudged_queries=totals["unjudged_queries"],
            documents=totals["retrieved"],
            unjudged_documents=totals["unjudged"],
            judged_at_10=totals["top_judged"] / totals["top"] if totals["top"] else math.nan,
            bad_rows=self._report.bad[0],
            bad_example=self._report.bad[1],
            **{fact: totals[fact] for fact in RANK_FACTS},
        )

    def _column(self, place: int, bound: str) -> int:
        return self._width // 3 + 2 * place + (bound == "upper") if bound else place

    def _rows(self) -> Any:
        """All rows, fetched once, in the order of the judgments."""
        if self._fetched is None:
            self._fetched = self._fetch().sort_by("place")
        return self._fetched
