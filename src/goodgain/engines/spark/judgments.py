"""Judgments on a cluster: small sets go to every executor, large ones take part in the shuffle."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.data.qrels import Qrels
from goodgain.engines.spark.broadcasts import ShippedQrels
from goodgain.engines.spark.failures import cluster_errors, same_version
from goodgain.engines.spark.frames import (
    Frame,
    format_and_place,
    frame_of,
    from_rows,
    id_kinds,
    is_text,
    pieces_of,
    provenance,
)
from goodgain.engines.spark.session import arrow_only, is_frame
from goodgain.engines.spark.texts import fetched, text_array
from goodgain.engines.spark.worker import JUDGMENTS, STREAMED, streamed
from goodgain.errors import InputError, core_errors
from goodgain.io.rows import Rows, rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    queries: tuple[str, ...] | None = None  # those judged, if the judgments are small

    def pieces(self, runs: Sequence[int]) -> Any:
        """The pieces for each run: marks of the judged queries, or the judgments themselves."""
        if self.queries is not None:
            return _marks(self.frame.data.sparkSession, self.queries, runs)
        from pyspark.sql import functions as sql

        numbers = sql.explode(sql.array(*(sql.lit(run) for run in runs))).alias("run")
        return pieces_of(self.frame, is_run=False).select(
            numbers, "query", "kind", "place", "piece"
        )

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
    if isinstance(qrels, str) and is_text(qrels):
        frame = _fetched_frame(spark, qrels, columns, aspects, duplicates)
        return _small(frame)
    frame = frame_of(spark, qrels, "qrels", columns)
    judged = Judgments(frame, provenance(frame))
    if not judged.rows:
        raise InputError("the table contains no judgments", where=frame.name)
    return _small(frame) if judged.rows <= small else judged


def _is_remote(qrels: Any) -> bool:
    """Whether Spark reads the path (it has a scheme or a format prefix) rather than this process."""
    return isinstance(qrels, str) and ":" in qrels


def _fetched_frame(
    spark: Any, path: str, columns: Mapping[str, str] | None, aspects: bool, duplicates: str
) -> Frame:
    """Judgments in text that only Spark can reach, read on the driver by the rules of local files."""
    form, place = format_and_place(path)
    with tempfile.TemporaryDirectory(prefix="goodgain-qrels-") as folder:
        copy = fetched(spark, place, form, folder)
        try:
            frame = _local_frame(spark, Qrels(copy, columns=columns), aspects, duplicates)
        except InputError as error:
            where = error.where.replace(copy, path)
            raise type(error)(error.message, where=where, hint=error.hint) from None
    return replace(frame, name=path)


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
    with cluster_errors(frame.name):
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
    with arrow_only(), cluster_errors(frame.name):
        streams = frame.data.mapInArrow(same_version(streamed), STREAMED).collect()
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
    return Judgments(frame, provenance(frame), shipped, tuple(core.queries()))


def _marks(spark: Any, queries: Sequence[str], runs: Sequence[int]) -> Any:
    """A DataFrame that names the judged queries of each run, in their order."""
    import numpy as np
    import pyarrow as pa

    names, times = text_array(queries), len(runs)
    count = len(names) * times
    marks = pa.table(
        {
            "run": pa.array(np.repeat(np.array(runs, np.int32), len(names))),
            "query": pa.concat_arrays([names] * times),
            "kind": pa.repeat(pa.scalar(JUDGMENTS, pa.int8()), count),
            "place": pa.array(np.tile(np.arange(len(names)), times)),
            "piece": pa.repeat(pa.scalar(b"", pa.binary()), count),
        }
    )
    with arrow_only():
        return spark.createDataFrame(marks)
