"""What the first rows of a run tell: whether its queries lie together, and how many are judged.

Of a run with few judged queries only their rows cross into Python; of the others the cluster counts queries
and rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from goodgain.engines.spark.failures import cluster_errors, same_version
from goodgain.engines.spark.frames import pieces_of
from goodgain.engines.spark.session import arrow_only
from goodgain.engines.spark.texts import text_array
from goodgain.engines.spark.worker import PACKED, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodgain.engines.spark.frames import Frame
    from goodgain.engines.spark.judgments import Judgments
    from goodgain.engines.spark.worker import Job

_LEAST = 32 << 20  # bytes of a run for which a sample pays
_SAMPLE = 20_000  # rows of it
_MOST = 0.5  # judged share of the sample above which all rows are passed on
_JOINED = ("string", "tinyint", "smallint", "int", "bigint")


@dataclass(frozen=True, slots=True)
class Sample:
    """The queries of the first rows of a large run that Spark reads."""

    queries: tuple[bytes | None, ...]

    @property
    def is_contiguous(self) -> bool:
        """Whether all rows of a query follow one another, as in a run that was written query by query."""
        return len(list(groupby(self.queries))) == len(set(self.queries))

    def few_judged(self, queries: Sequence[str]) -> bool:
        """Whether most rows belong to queries without judgments."""
        judged = {q.encode("utf-8", "surrogateescape") for q in queries}
        return sum(q in judged for q in self.queries) <= _MOST * len(self.queries)


def sample_of(frame: Frame) -> Sample | None:
    """The first rows of a run, if it is large."""
    types = dict(frame.data.dtypes)
    if frame.files or frame.lines or types[frame.columns["query"]] not in _JOINED:
        return None
    if hasattr(frame.data, "_jdf"):
        size = frame.data._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()
        if int(str(size)) < _LEAST:
            return None
    from pyspark.sql import functions as sql

    query = sql.col(f"`{frame.columns['query']}`").cast("string").cast("binary").alias("query")
    with arrow_only(), cluster_errors(frame.name):
        queries = frame.data.select(query).limit(_SAMPLE).toArrow().column("query").to_pylist()
    return Sample(tuple(queries)) if len(queries) == _SAMPLE else None


def only_judged(
    frame: Frame, judgments: Judgments, number: int, sample: Sample | None, here: Job | None
) -> tuple[Any, Any] | None:
    """The pieces of judged queries, and of others a count of rows; None if it does not pay.

    A bad row of an unjudged query is passed on as well, to be reported like any other.
    """
    queries = judgments.queries
    if queries is None or sample is None or not sample.few_judged(queries):
        return None
    if dict(frame.data.dtypes)[frame.columns["value"]] == "string":
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
    return pieces_of(replace(frame, data=rows), is_run=True, here=here, number=number), counts
