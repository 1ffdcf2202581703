"""Judgments on a cluster: small sets go to every executor, large ones take part in the shuffle."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.data.qrels import Qrels
from goodgain.engines.spark.broadcasts import ShippedQrels
from goodgain.engines.spark.frames import (
    Frame,
    frame_of,
    from_rows,
    id_kinds,
    is_trec,
    pieces_of,
    provenance,
)
from goodgain.engines.spark.session import arrow_only, is_frame
from goodgain.engines.spark.worker import JUDGMENTS, STREAMED, streamed
from goodgain.errors import InputError, core_errors
from goodgain.io.rows import Rows, rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.io.sources import Source

SMALL = 100_000  # judgments sent to every executor; more would overload the driver
_FOOTERS = 100  # files whose footers the driver reads to count rows
_SHIPPED = (
    2_000_000  # judgments sent to every executor if queries can be measured where they are read
)


class Facts(NamedTuple):
    """Facts about all judgments, which executors need when each query brings its own."""

    rows: int
    max_gain: float
    has_targets: bool
    has_aspects: bool
    query: str  # an example, for messages

    @property
    def for_tasks(self) -> tuple[float, bool, bool]:
        """The value of `Job.facts`."""
        return self.max_gain, self.has_targets, self.has_aspects


@dataclass(frozen=True)
class Judgments:
    """Judgments as the driver knows them, and their pieces for the shuffle."""

    frame: Frame
    source: Source
    small: ShippedQrels | None = None
    marks: Any = None  # a DataFrame of the judged queries, if the judgments are small

    @property
    def pieces(self) -> Any:
        """The pieces for the shuffle: marks of the judged queries, or the judgments themselves."""
        return self.marks if self.small else pieces_of(self.frame, is_run=False)

    @cached_property
    def rows(self) -> int:
        """The number of judgments, from file footers where there are few."""
        files = self.frame.files
        count = files.count() if files and len(files.paths) <= _FOOTERS else None
        return self.facts.rows if count is None else count

    @cached_property
    def facts(self) -> Facts:
        """Facts about all judgments, computed on demand."""
        return _facts(self.frame)

    @cached_property
    def shipped(self) -> ShippedQrels | None:
        """All judgments, for every task, unless there are too many; the driver does not open them."""
        if self.small or self.rows > _SHIPPED:
            return self.small
        return _shipped(self.frame)

    @property
    def example(self) -> str:
        """An example of a query, for messages."""
        return self.small.open().queries()[0] if self.small else self.facts.query

    def read_by_spark(self) -> Judgments:
        """The same, with files opened by Spark instead of the tasks."""
        frame = self.frame.read_by_spark()
        return replace(
            _small(frame) if self.small else Judgments(frame, self.source), source=self.source
        )


def judgments_of(
    spark: Any,
    qrels: Any,
    columns: Mapping[str, str] | None,
    small: int,
    *,
    aspects: bool = False,
    duplicates: str = "error",
) -> Judgments:
    """Inspect judgments in any form: up to `small` of them are read on the driver.

    `aspects` says whether a measure counts them, `duplicates` is the policy: see `Qrels.for_measures`.
    """
    if not is_frame(qrels) and not _is_remote(qrels):
        table = Qrels.of(qrels, columns)
        frame = _local_frame(spark, table, aspects, duplicates)
        return replace(_small(frame), source=table.source)
    frame = frame_of(spark, qrels, "qrels", columns)
    if _may_be_iterations(qrels, columns) and not (aspects and _look_like_subtopics(frame)):
        frame = replace(frame, columns={r: c for r, c in frame.columns.items() if r != "aspect"})
    judged = Judgments(frame, provenance(frame))
    if not judged.rows:
        raise InputError("the table contains no judgments", where=frame.name)
    return _small(frame) if judged.rows <= small else judged


def _is_remote(qrels: Any) -> bool:
    """Whether Spark reads the path (it has a scheme or a format prefix) rather than this process."""
    return isinstance(qrels, str) and ":" in qrels


def _may_be_iterations(qrels: Any, columns: Mapping[str, str] | None) -> bool:
    """Whether the aspects are the second column of a TREC file, and nobody asked for them."""
    return isinstance(qrels, str) and is_trec(qrels) and "aspect" not in (columns or {})


def _look_like_subtopics(frame: Frame) -> bool:
    """Whole numbers or names; 0.5 or -1 is the round in which something was judged."""
    from pyspark.sql import functions as sql

    number = sql.col(f"`{frame.columns['aspect']}`").cast("double")
    return bool(frame.data.filter((number < 0) | (number != sql.floor(number))).isEmpty())


def _local_frame(spark: Any, table: Qrels, aspects: bool, duplicates: str) -> Frame:
    source = table.source
    if source.kind == "arrow" and source.stat is None:
        return frame_of(spark, source.value, "qrels", source.columns, table.name)
    core = table.for_measures(aspects=aspects, duplicates=duplicates)
    if core is table.table:
        rows = rows_of(source, "qrels")
    else:  # documents judged in several iterations, one judgment of each
        rows = Rows.of({query: core.judgments_of(query) or {} for query in core.queries()})
    if not core.has_aspects:
        rows = rows.without_aspects()
    data = from_rows(spark, rows, "qrels")
    return frame_of(spark, data, "qrels", name=table.name, kinds=id_kinds(source))


def _facts(frame: Frame) -> Facts:
    from pyspark.sql import functions as sql

    columns = {role: sql.col(f"`{name}`") for role, name in frame.columns.items()}
    null = sql.lit(None).cast("string")
    target, aspect = columns.get("target", null), columns.get("aspect", null)
    aggregates = frame.data.agg(
        sql.count(sql.lit(1)).alias("rows"),
        sql.max(columns["value"]).alias("max_gain"),
        sql.max(target.isNotNull() & (target.cast("string") != "")).alias("targets"),
        sql.min(aspect).alias("first_aspect"),
        sql.max(aspect).alias("last_aspect"),
        sql.min(columns["query"]).alias("query"),
    )
    row = aggregates.collect()[0]
    return Facts(
        row["rows"],
        max(0.0, float(row["max_gain"])) if row["max_gain"] is not None else 0.0,
        bool(row["targets"]),
        row["first_aspect"] != row["last_aspect"],
        str(row["query"]),
    )


def _shipped(frame: Frame) -> ShippedQrels:
    """All rows in the order of the table, in a form for every task."""
    if frame.files:
        return ShippedQrels.of_files(frame.files, frame.columns, frame.name)
    with arrow_only():
        streams = frame.data.mapInArrow(streamed, STREAMED).collect()
    return ShippedQrels.of((bytes(row.stream) for row in streams), frame.columns, frame.name)


def _small(frame: Frame) -> Judgments:
    """All judgments on the driver, where the core validates them."""
    import pyarrow as pa

    shipped = _shipped(frame)
    try:
        with core_errors():
            core = shipped.open()
    except (OSError, pa.ArrowException):
        if not frame.files:
            raise
        return _small(frame.read_by_spark())
    queries = core.queries()
    marks = pa.table(
        {
            "query": pa.array(queries, pa.string()),
            "kind": pa.repeat(pa.scalar(JUDGMENTS, pa.int8()), len(queries)),
            "place": pa.array(range(len(queries)), pa.int64()),
            "piece": pa.repeat(pa.scalar(b"", pa.binary()), len(queries)),
        }
    )
    with arrow_only():
        pieces = frame.data.sparkSession.createDataFrame(marks)
    return Judgments(frame, provenance(frame), shipped, pieces)
