"""Only the rows of judged queries cross into Python; of the others the cluster counts queries and rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.engines.spark.failures import cluster_errors, same_version
from goodgain.engines.spark.frames import pieces_of
from goodgain.engines.spark.session import arrow_only
from goodgain.engines.spark.texts import text_array
from goodgain.engines.spark.worker import PACKED, counted

if TYPE_CHECKING:
    from goodgain.engines.spark.frames import Frame
    from goodgain.engines.spark.judgments import Judgments

_LEAST = 32 << 20  # bytes of a run for which a second reading pays
_SAMPLE = 20_000  # rows that show the share of judged queries
_MOST = 0.5  # judged share of the sample above which all rows are passed on
_JOINED = ("string", "tinyint", "smallint", "int", "bigint")


def only_judged(frame: Frame, judgments: Judgments, number: int) -> tuple[Any, Any] | None:
    """The pieces of judged queries, and of others a count of rows; None if it does not pay.

    A bad row of an unjudged query is passed on as well, to be reported like any other.
    """
    queries = judgments.queries
    if queries is None or frame.files or frame.lines or not _pays(frame, queries):
        return None
    from dataclasses import replace

    import pyarrow as pa
    from pyspark.sql import functions as sql

    query, doc, value = (sql.col(f"`{frame.columns[role]}`") for role in ("query", "doc", "value"))
    with arrow_only():
        spark = frame.data.sparkSession
        marks = spark.createDataFrame(pa.table({"judged query": text_array(queries)}))
    joined = frame.data.join(
        sql.broadcast(marks), query.cast("string") == sql.col("judged query"), "left"
    )
    number_of = value.cast("double")
    is_bad = (
        query.isNull() | doc.isNull() | value.isNull() | sql.isnan(number_of)
        | (sql.abs(number_of) == float("inf"))
    )  # fmt: skip
    passed = sql.col("judged query").isNotNull() | is_bad
    rows = joined.where(passed).select(*frame.data.columns)
    others = joined.where(~passed).groupBy(query.cast("string").alias("query")).count()
    with arrow_only():
        counts = others.mapInArrow(same_version(lambda b: counted(b, number)), PACKED)
    return pieces_of(replace(frame, data=rows), is_run=True, number=number), counts


def _pays(frame: Frame, queries: tuple[str, ...]) -> bool:
    """Whether the run is large, and few of its queries are judged, by its first rows."""
    types = dict(frame.data.dtypes)
    if types[frame.columns["query"]] not in _JOINED or types[frame.columns["value"]] == "string":
        return False
    if hasattr(frame.data, "_jdf"):
        size = frame.data._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()
        if int(str(size)) < _LEAST:
            return False
    from pyspark.sql import functions as sql

    query = sql.col(f"`{frame.columns['query']}`").cast("string").cast("binary").alias("query")
    with arrow_only(), cluster_errors(frame.name):
        sample = frame.data.select(query).limit(_SAMPLE).toArrow().column("query").to_pylist()
    judged = {q.encode("utf-8", "surrogateescape") for q in queries}
    return len(sample) == _SAMPLE and sum(q in judged for q in sample) <= _MOST * len(sample)
