"""Judgements on a cluster: small ones go to every executor, large ones meet their queries in the shuffle."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goodgain.engines.spark.frames import Frame, frame_of, from_rows, provenance
from goodgain.engines.spark.session import arrow_only, is_frame
from goodgain.engines.spark.shipped import ShippedQrels
from goodgain.engines.spark.worker import JUDGEMENTS, PACKED, packed
from goodgain.errors import InputError, core_errors
from goodgain.tables.qrels import Qrels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.read.source import Source

SMALL = 100_000  # judgements that every executor gets; more would fill the driver and wait for it


@dataclass(frozen=True, slots=True)
class Judgements:
    """What is known of the judgements on the driver, and their pieces for the shuffle."""

    frame: Frame
    source: Source
    pieces: Any  # a DataFrame: marks of the judged queries, or the judgements themselves
    small: ShippedQrels | None
    max_gain: float
    has_targets: bool
    has_aspects: bool
    example: str  # a query, for messages


def judgements_of(
    spark: Any, qrels: Any, columns: Mapping[str, str] | None, small: int
) -> Judgements:
    """Look at judgements once: how many, and what holds for all of them together."""
    if not is_frame(qrels) and not _is_remote(qrels):
        table = Qrels.of(qrels, columns)
        return replace(_small(spark, _local_frame(spark, table)), source=table.source)
    frame = frame_of(spark, qrels, "qrels", columns)
    facts = _facts(frame)
    if not facts["rows"]:
        raise InputError("the table holds no judgements", where=frame.name)
    if facts["rows"] <= small:
        return _small(spark, frame)
    columns = frame.columns
    name = frame.name
    with arrow_only():
        pieces = frame.data.mapInArrow(lambda rows: packed(rows, columns, False, name), PACKED)
    return Judgements(
        frame,
        provenance(frame),
        pieces,
        None,
        max(0.0, float(facts["max_gain"])) if facts["max_gain"] is not None else 0.0,
        bool(facts["targets"]),
        facts["first_aspect"] != facts["last_aspect"],
        str(facts["query"]),
    )


def _is_remote(qrels: Any) -> bool:
    """A path with a scheme or a format in front is Spark's to read; files of this machine are read here."""
    return isinstance(qrels, str) and ":" in qrels


def _local_frame(spark: Any, table: Qrels) -> Frame:
    from goodgain.read.rows import rows_of

    return frame_of(
        spark, from_rows(spark, rows_of(table.source, "qrels"), "qrels"), "qrels", name=table.name
    )


def _facts(frame: Frame) -> dict[str, Any]:
    from pyspark.sql import functions as sql

    columns = {role: sql.col(f"`{name}`") for role, name in frame.columns.items()}
    nothing = sql.lit(None).cast("string")
    target, aspect = columns.get("target", nothing), columns.get("aspect", nothing)
    found = frame.data.agg(
        sql.count(sql.lit(1)).alias("rows"),
        sql.max(columns["value"]).alias("max_gain"),
        sql.max(target.isNotNull() & (target.cast("string") != "")).alias("targets"),
        sql.min(aspect).alias("first_aspect"),
        sql.max(aspect).alias("last_aspect"),
        sql.min(columns["query"]).alias("query"),
    )
    return dict(found.collect()[0].asDict())


def _small(spark: Any, frame: Frame) -> Judgements:
    """All of them on the driver, in the order of the table, and checked there as any judgements are."""
    import pyarrow as pa

    from goodgain._core import ArrowTable

    with arrow_only():
        table = frame.data.toArrow()
    with core_errors():
        core = ArrowTable.of(table, frame.name).qrels(frame.columns)
    queries = core.queries()
    marks = pa.table(
        {
            "query": pa.array(queries, pa.string()),
            "kind": pa.repeat(pa.scalar(JUDGEMENTS, pa.int8()), len(queries)),
            "place": pa.array(range(len(queries)), pa.int64()),
            "piece": pa.repeat(pa.scalar(b"", pa.binary()), len(queries)),
        }
    )
    with arrow_only():
        pieces = spark.createDataFrame(marks)
    return Judgements(
        frame,
        provenance(frame),
        pieces,
        ShippedQrels.of(table, frame.columns, frame.name),
        core.max_gain,
        core.has_targets,
        core.has_aspects,
        queries[0],
    )
