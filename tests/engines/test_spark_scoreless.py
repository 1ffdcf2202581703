"""Runs without scores on Spark: the numbers and notes of the local engine."""

from __future__ import annotations

import json

import pytest

import goodgain as gg
import goodgain.spark

QRELS = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"x": 1}}
LISTS = {"q1": ["c", "a", "zz", "b"], "q2": ["y", "x"]}
ROWS = [(q, doc, rank) for q, docs in LISTS.items() for rank, doc in enumerate(docs)]
MEASURES = ["nDCG@3", "AP", "RR", "NumRet"]


def lines(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps({"query": q, "docs": d}) + "\n" for q, d in LISTS.items()))
    return str(path)


def parquet(tmp_path):
    import pandas as pd

    path = tmp_path / "run.parquet"
    pd.DataFrame(ROWS, columns=["query", "doc", "rank"]).to_parquet(path)
    return str(path)


@pytest.mark.parametrize("form", ["frame", "lists", "lines", "parquet"])
def test_spark_is_the_local_engine(spark, tmp_path, form):
    runs = {
        "frame": lambda: spark.createDataFrame(ROWS[::-1], "query string, doc string, rank int"),
        "lists": lambda: LISTS,
        "lines": lambda: lines(tmp_path),
        "parquet": lambda: parquet(tmp_path),
    }
    result = goodgain.spark.evaluate(QRELS, runs[form](), MEASURES, session=spark)
    expected = gg.evaluate(QRELS, LISTS, MEASURES)
    assert result.evaluation.runs[0].per_query == expected.runs[0].per_query
    notes = [note.partition(": ")[2] for note in result.evaluation.warnings()]
    from_zero = ["ranks start at 0 in 2 queries: 0 counts as the first"]
    assert notes == (from_zero if form in ("frame", "parquet") else [])
    result.release()


def test_shared_and_bad_ranks(spark):
    rows = [(q, doc, 1) for q, doc, _ in ROWS]
    frame = spark.createDataFrame(rows, "query string, doc string, rank int")
    result = goodgain.spark.evaluate(QRELS, frame, MEASURES, session=spark)
    assert result.evaluation.runs[0].coverage.shared_ranks == 2
    result.release()
    frame = spark.createDataFrame(
        [*rows[:-1], ("q2", "x", -1)], "query string, doc string, rank int"
    )
    with pytest.raises(gg.errors.InputError, match="rank -1 of document 'x'"):
        goodgain.spark.evaluate(QRELS, frame, MEASURES, session=spark)
