"""Spark is bit-identical to the local engine: every measure, every policy, any distribution of rows."""

from __future__ import annotations

import math
import sys

import pytest
from hard_rows import collection, frames, same
from specs import ALL, label

import goodgain as gg
import goodgain.spark
from goodgain.engines.spark import jobs
from goodgain.engines.spark.frames import frame_of, pieces_of
from goodgain.engines.spark.jobs import Measurement
from goodgain.engines.spark.judgments import judgments_of
from goodgain.errors import InputError
from goodgain.ranking.evaluator import recipe

MEASURES = [label(spec) for spec in ALL]
BOUNDED = ["nDCG@10", "AP", "RR", "P@3", "GMAP", "NumRet"]
JUDGED, RANKED = collection(120)


@pytest.fixture(scope="module")
def tables(spark):
    return frames(spark, JUDGED, RANKED)


@pytest.mark.parametrize("small_qrels", [10**6, 0], ids=["broadcast", "shuffled"])
@pytest.mark.parametrize(
    "policies",
    [
        {},
        {"missing": "skip"},
        {"ties": "input"},
        {"ties": "average"},
        {"unjudged": "remove"},
        {"scores": "single", "same_id": "drop"},
        {"preset": "trec_eval"},
        {"preset": "ir_measures"},
    ],
    ids=str,
)
def test_every_measure(spark, tables, policies, small_qrels):
    qrels, run = tables
    measures = (
        MEASURES if "preset" not in policies else ["nDCG@10", "AP", "RR@10", "ERR", "NumQ", "Bpref"]
    )
    result = goodgain.spark.evaluate(
        qrels, run, measures, small_qrels=small_qrels, session=spark, **policies
    )
    assert same(gg.evaluate(gg.Qrels(JUDGED), RANKED, measures, **policies), result.evaluation)
    result.release()


@pytest.mark.parametrize("small_qrels", [10**6, 0], ids=["broadcast", "shuffled"])
@pytest.mark.parametrize("policies", [{"ties": "bounds"}, {"unjudged": "bounds"}], ids=str)
def test_bounds(spark, tables, policies, small_qrels):
    result = goodgain.spark.evaluate(
        *tables, BOUNDED, small_qrels=small_qrels, session=spark, **policies
    )
    assert same(gg.evaluate(gg.Qrels(JUDGED), RANKED, BOUNDED, **policies), result.evaluation)
    columns = ["run", "query", "nDCG@10", "nDCG@10:lower", "nDCG@10:upper"]
    assert result.per_query.columns[:5] == columns
    result.release()


@pytest.mark.parametrize("policy", ["first", "best"])
def test_repeated_documents_keep_their_order(spark, policy):
    """The first row in the table counts as the first, even if a query spans several partitions."""
    rows = [*RANKED, *((q, d, s + 0.25) for q, d, s in RANKED[::3])]
    qrels, run = frames(spark, JUDGED, rows)
    options = {"duplicates": policy, "ties": "input"}
    result = goodgain.spark.evaluate(qrels, run, "AP nDCG@5 NumRet", session=spark, **options)
    assert same(
        gg.evaluate(gg.Qrels(JUDGED), rows, "AP nDCG@5 NumRet", **options), result.evaluation
    )


@pytest.mark.parametrize("partitions", [1, 7, 64])
def test_any_number_of_partitions(spark, tables, partitions):
    qrels, run = tables
    scattered = run.repartition(5, "score")  # rows of a query everywhere, in another order
    result = goodgain.spark.evaluate(
        qrels, scattered, "nDCG@10 AP ERR", partitions=partitions, session=spark
    )
    assert same(gg.evaluate(gg.Qrels(JUDGED), RANKED, "nDCG@10 AP ERR"), result.evaluation)


def test_rows_per_query_stay_on_the_cluster(spark, tables):
    result = goodgain.spark.evaluate(*tables, "AP RR", session=spark)
    rows = {row["query"]: (row["AP"], row["RR"]) for row in result.per_query.collect()}
    scores = result.evaluation.runs[0]
    assert set(rows) == set(scores.queries)
    assert rows == {q: tuple(v.values()) for q, v in scores.per_query.items()}
    assert {row["run"] for row in result.per_query.select("run").distinct().collect()} == {"run"}


def test_means_fetch_no_query(spark, tables, monkeypatch):
    monkeypatch.setattr(jobs, "FETCHED", 0)
    result = goodgain.spark.evaluate(*tables, "AP GMAP NumRet", session=spark)
    scores = result.evaluation.runs[0]
    assert (
        math.isfinite(result.evaluation["AP"]) and scores.count("AP") and scores.coverage.documents
    )
    assert str(result.evaluation) and repr(scores)
    assert scores._values._fetched is None and not result.measured.tables
    local = gg.evaluate(gg.Qrels(JUDGED), RANKED, "AP GMAP NumRet")
    assert same(local, result.evaluation)  # computed again, and found to be the same


def test_one_shuffle_and_no_other(spark, tables):
    qrels, run = (
        frame_of(spark, t, kind) for t, kind in zip(tables, ("qrels", "run"), strict=True)
    )
    _, planned = recipe("AP", None, "default", False)
    for small in (0, 10**6):
        judged = judgments_of(spark, qrels.data, None, small)
        pieces = pieces_of(run, is_run=True).union(judged.pieces([0]))
        measurement = Measurement(spark, planned, 3, False)
        rows = measurement.joined(pieces, {0: measurement.job(run, judged, judged.small)})
        plan = rows._jdf.queryExecution().executedPlan().toString()
        assert plan.count("Exchange ") == 1, plan
        assert plan.count("hashpartitioning(run") == 1


def test_numbers_as_ids(spark):
    judged = [(1, 10, 2), (1, 11, 1), (2, 10, 1)]
    ranked = [(1, 11, 0.5), (1, 10, 0.25), (2, 12, 1.0)]
    qrels = spark.createDataFrame(judged, "query_id int, doc_id bigint, relevance int")
    typed = qrels.toArrow()
    qrels = qrels.withColumn("relevance", qrels["relevance"].cast("decimal(4,1)"))
    run = spark.createDataFrame(ranked, "qid bigint, docno int, score float")
    result = goodgain.spark.evaluate(qrels, run, "nDCG AP", session=spark).evaluation
    assert same(gg.evaluate(gg.Qrels(judged), ranked, "nDCG AP"), result)
    texts = spark.createDataFrame([("1", "11", 0.5)], "query string, doc string, score double")
    with pytest.raises(InputError, match="integers in the judgments but text in the run"):
        goodgain.spark.evaluate(qrels, texts, "AP", session=spark)
    gains = {1: {10: 2, 11: 1}, 2: {10: 1}}
    numbers = spark.createDataFrame(ranked, "query bigint, doc int, score double")
    for table in (gains, gg.Qrels(judged), typed):
        assert same(gg.evaluate(gg.Qrels(judged), ranked, "nDCG AP"),
                    goodgain.spark.evaluate(table, numbers, "nDCG AP", session=spark).evaluation)  # fmt: skip
    pairs = {"1": [("11", 0.5), ("10", 0.25)], "2": [("12", 1.0)]}
    texts_alone = {str(q): {str(d): g for d, g in docs.items()} for q, docs in gains.items()}
    assert same(gg.evaluate(texts_alone, pairs, "nDCG AP"),
                goodgain.spark.evaluate(texts_alone, pairs, "nDCG AP", session=spark).evaluation)  # fmt: skip
    with pytest.raises(InputError, match="text in the judgments but integers in the run"):
        goodgain.spark.evaluate({"1": {"10": 1}}, numbers, "AP", session=spark)
    with pytest.raises(InputError, match="integers in the judgments but text in the run"):
        goodgain.spark.evaluate(qrels, {"1": {"10": 1.0}}, "AP", session=spark)


def test_ids_of_a_text_file_are_neither_text_nor_numbers(spark, tmp_path):
    path = tmp_path / "judged.qrels"
    path.write_text("1 0 10 2\n1 0 11 1\n")
    run = spark.createDataFrame([(1, 11, 0.5), (1, 10, 0.25)], "query int, doc int, score double")
    for source in (str(path), f"trec:{path}"):
        result = goodgain.spark.evaluate(source, run, "AP", session=spark).evaluation
        assert result["AP"] == 1.0


def test_bad_rows_of_all_partitions_are_counted(spark):
    judged, ranked = collection(30)
    rows = [*ranked, *((f"q{i % 30}", None if i % 2 else "d1", math.nan) for i in range(40))]
    qrels, run = frames(spark, judged, rows)
    with pytest.raises(
        InputError, match=r"40 bad rows, for example: .*query 'q\d+', document"
    ) as caught:
        goodgain.spark.evaluate(qrels, run.repartition(6), "AP", session=spark)
    assert "--skip-bad" in str(caught.value)
    result = goodgain.spark.evaluate(qrels, run.repartition(6), "AP", skip_bad=True, session=spark)
    assert result.evaluation.runs[0].coverage.bad_rows == 40
    assert result.evaluation.means == gg.evaluate(gg.Qrels(judged), ranked, "AP").means


def test_judgements_are_never_skipped(spark):
    judged = [("q1", "a", 1.0), ("q1", "b", math.nan)]
    qrels = spark.createDataFrame(judged, "query string, doc string, gain double")
    run = spark.createDataFrame([("q1", "a", 1.0)], "query string, doc string, score double")
    for small in (0, 10**6):
        with pytest.raises(InputError, match="gain is missing or not a finite number"):
            goodgain.spark.evaluate(
                qrels, run, "AP", small_qrels=small, skip_bad=True, session=spark
            )
    twice = spark.createDataFrame(judged[:1] * 2, "query string, doc string, gain double")
    for small in (0, 10**6):
        with pytest.raises(InputError, match="duplicate judgment of document 'a' for query 'q1'"):
            goodgain.spark.evaluate(twice, run, "AP", small_qrels=small, session=spark)


def test_a_measure_of_ones_own(spark, tables):
    import numpy as np

    gg.register("Brightest", lambda gains: float(np.nanmax(gains[:3], initial=0)))
    result = goodgain.spark.evaluate(*tables, "Brightest AP", session=spark).evaluation
    assert same(gg.evaluate(gg.Qrels(JUDGED), RANKED, "Brightest AP"), result)


def test_parquet_and_tables(spark, tables, tmp_path):
    qrels, run = tables
    qrels.write.parquet(str(tmp_path / "qrels.parquet"))
    run.write.orc(str(tmp_path / "system"))
    run.createOrReplaceTempView("ranked")
    wanted = gg.evaluate(gg.Qrels(JUDGED), RANKED, "AP").means["run"]
    result = goodgain.spark.evaluate(
        f"parquet:{tmp_path}/qrels.parquet", [f"orc:{tmp_path}/system", "table:ranked"], "AP", session=spark
    ).evaluation  # fmt: skip
    assert result.means == {"system": wanted, "table:ranked": wanted}
    with pytest.raises(InputError, match=r"file not found: .*nothing\.parquet"):
        goodgain.spark.evaluate({"q": {"a": 1}}, f"{tmp_path}/nothing.parquet", "AP", session=spark)


def test_one_giant_query_among_many_small_ones(spark):
    """A query of 400,000 rows is measured in one task without affecting others."""
    from pyspark.sql import functions as sql

    many, giant = 20_000, 400_000
    small = spark.range(many * 3).selectExpr(
        f"concat('q', id % {many}) query",
        "concat('d', id) doc",
        "cast(hash(id) % 1000 as double) score",
    )
    large = spark.range(giant).selectExpr(
        "'giant' query", "concat('d', id) doc", "cast(hash(id) as double) score"
    )
    run = small.union(large)
    qrels = run.where("doc like '%7'").select("query", "doc", sql.lit(1).alias("gain"))
    result = goodgain.spark.evaluate(qrels, run, "AP nDCG@10 NumRet", small_qrels=0, session=spark)
    local = gg.evaluate(gg.Qrels(qrels.toArrow()), run.toArrow(), "AP nDCG@10 NumRet")
    assert result.evaluation.means == local.means
    values = result.per_query.where("query = 'giant'").collect()
    assert [row["NumRet"] for row in values] == [giant]


def test_a_missing_package_says_its_install_command(monkeypatch):
    from goodgain.engines.spark.session import start

    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(gg.GoodgainError, match="pyspark") as caught:
        start("local[1]")
    assert "pip install 'goodgain[spark]'" in str(caught.value)
