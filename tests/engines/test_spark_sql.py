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


def test_collations_and_what_is_not_exact(spark):
    """Ids are compared by their bytes; text is not parsed, and powers with fractions are refused."""
    view(spark, [("q", "A", 2.0), ("q", "b", 0.5)], "gain", "qrels")
    spark.sql(
        "CREATE OR REPLACE TEMP VIEW run AS SELECT 'q' AS query, 'a' COLLATE UTF8_LCASE AS doc, 2D AS score "
        "UNION ALL SELECT 'q', 'A' COLLATE UTF8_LCASE, 1D"
    )
    row = spark.sql(compile_sql("nDCG RR NumRet", "spark", per_query=True)).collect()[0]
    assert row["RR"] == 0.5 and row["NumRet"] == 2
    with pytest.raises(Exception, match="gain=exp is exact for gains that are whole numbers only"):
        spark.sql(compile_sql("nDCG(gain=exp)@5", "spark")).collect()
    spark.sql("CREATE OR REPLACE TEMP VIEW run AS SELECT 'q' AS query, 'A' AS doc, '1d' AS score")
    with pytest.raises(Exception, match="column score must hold numbers"):
        spark.sql(compile_sql("RR", "spark")).collect()
