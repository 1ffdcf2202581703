"""The values of a run that stay on the cluster: sums are here, columns come when they are asked for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

from goodgain.engines.spark.session import arrow_only
from goodgain.errors import InputError
from goodgain.ranking.scores import Coverage, aggregate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.engines.spark.worker import Report
    from goodgain.io.sources import Source
    from goodgain.measures.definition import Measure


class SparkValues:
    """What `RunScores` reads. Means need no query on the driver; `queries` and `column` fetch all."""

    __slots__ = (
        "_beside",
        "_fetched",
        "_frame",
        "_places",
        "_report",
        "_width",
        "has_bounds",
        "source",
    )

    def __init__(
        self,
        frame: Any,
        report: Report,
        places: Mapping[str, int | str],
        has_bounds: bool,
        source: Source,
        beside: Mapping[str, Mapping[str, float] | None],
    ) -> None:
        self._frame = frame
        self._report = report
        self._places = places
        self._width = len(report.sums)
        self._beside = beside
        self._fetched: Any = None
        self.has_bounds = has_bounds
        self.source: Source | None = source

    def tables(self) -> NoReturn:
        """They stay where they are: a page of a run on a cluster has no ranked lists."""
        raise InputError("the run is on a cluster")

    def queries(self) -> list[str]:
        """The queries in the order of the judgements."""
        return list(self._rows().column("query").to_pylist())

    def column(self, label: str, bound: str) -> list[float]:
        """The values of a measure, beside the queries."""
        place = self._places[label]
        if isinstance(place, str):
            given = self._beside.get(place) or {}
            return [given.get(query, math.nan) for query in self.queries()]
        values = self._rows().column(f"v{self._column(place, bound)}")
        return list(values.to_numpy().tolist())

    def total(self, measure: Measure, bound: str) -> float:
        """The mean over queries, or the sum of counts: from sums that each task made without rounding."""
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
        """For how many queries a measure has a value."""
        place = self._places[label]
        if isinstance(place, str):
            return sum(v == v for v in self.column(label, ""))
        return self._report.sums[place].count

    def size(self) -> int:
        """How many queries there are."""
        return self._report.totals["rows"]

    def coverage(self) -> Coverage:
        """How well judgements and run meet."""
        t = self._report.totals
        return Coverage(
            judged_queries=t["judged"],
            missing_queries=t["judged"] - t["in_run"],
            unjudged_queries=t["unjudged_queries"],
            documents=t["retrieved"],
            unjudged_documents=t["unjudged"],
            judged_at_10=t["top_judged"] / t["top"] if t["top"] else math.nan,
            bad_rows=self._report.bad[0],
            bad_example=self._report.bad[1],
        )

    def _column(self, place: int, bound: str) -> int:
        return self._width // 3 + 2 * place + (bound == "upper") if bound else place

    def _rows(self) -> Any:
        """All rows, fetched once, in the order of the judgements."""
        if self._fetched is None:
            with arrow_only():
                self._fetched = self._frame.toArrow().sort_by("place")
        return self._fetched
