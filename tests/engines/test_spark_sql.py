"""SQL for Spark gives the core's values, to the last bit."""

from __future__ import annotations

import math

import pytest
from sql_values import EXACT, collection, same_bits, values

import goodgain as gg
from goodgain.sql import compile_sql


def view(spark, rows, value, name):
    frame = spark.createDataFrame(rows, f"query string, doc string, {value} double")
    frame.createOrReplaceTempView(name)


def test_spark(spark):
    """The same bits on Spark: its sums are folded in the order of the ranks, like the core's."""
    removed = {"unjudged": "remove", "missing": "skip"}
    for seed, policies in ((3, {"scores": "single"}), (4, removed)):
        judged, ranked = collection(seed)
        view(spark, judged, "gain", "qrels")
        view(spark, ranked, "score", "run")
        local = gg.evaluate(gg.Qrels(judged), ranked, EXACT, **policies)
        rows = spark.sql(compile_sql(EXACT, "spark", per_query=True, **policies))
        same_bits(local, values(rows.columns, [tuple(row) for row in rows.collect()]))
    view(spark, [("q1", "a", math.nan)], "score", "run")
    with pytest.raises(Exception, match="a row of a run without an id or a finite score"):
        spark.sql(compile_sql("AP", "spark")).collect()
