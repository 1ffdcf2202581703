"""Only rows of judged queries cross into Python, and coverage stays exact."""

from __future__ import annotations

import math
import random

import pytest
from hard_rows import same

import goodgain as gg
import goodgain.spark
from goodgain.engines.spark import judged
from goodgain.errors import InputError


@pytest.fixture
def sampled(monkeypatch):
    """As if every run were large; counts how often the join is taken."""
    taken = []
    monkeypatch.setattr(judged, "_LEAST", 0)
    monkeypatch.setattr(judged, "_SAMPLE", 100)
    pieces = judged.pieces_of

    def noted(*arguments, **options):
        taken.append(True)
        return pieces(*arguments, **options)

    monkeypatch.setattr(judged, "pieces_of", noted)
    return taken


def rows(kind, share, seed=3):
    rng = random.Random(seed)
    ids = [kind(i) for i in range(300)]
    ranked = [(rng.choice(ids), kind(rng.randrange(10**6)), rng.random()) for _ in range(4000)]
    ranked = list({(q, d): (q, d, s) for q, d, s in ranked}.values())
    chosen = set(ids[: int(len(ids) * share)])
    qrels = [
        (q, d, 1 + d_at % 3)
        for d_at, (q, d, _) in enumerate(ranked)
        if q in chosen and d_at % 4 == 0
    ]
    return qrels, ranked


@pytest.mark.parametrize(("kind", "type_"), [(str, "string"), (int, "bigint"), (int, "int")])
def test_values_and_coverage(spark, sampled, kind, type_):
    qrels, ranked = rows(kind, 0.03)
    frame = spark.createDataFrame(ranked, f"query {type_}, doc {type_}, score double").repartition(
        3
    )
    result = goodgain.spark.evaluate(gg.Qrels(qrels), frame, "nDCG@10 AP NumRet", session=spark)
    assert sampled
    assert same(gg.evaluate(gg.Qrels(qrels), ranked, "nDCG@10 AP NumRet"), result.evaluation)
    assert result.evaluation.runs[0].coverage.unjudged_queries > 250


def test_bad_rows_of_unjudged_queries(spark, sampled):
    qrels, ranked = rows(str, 0.03)
    bad = [("299", None, 1.0), (None, "x", 1.0), ("299", "y", math.nan), ("0", "z", math.inf)]
    frame = spark.createDataFrame([*ranked, *bad], "query string, doc string, score double")
    result = goodgain.spark.evaluate(gg.Qrels(qrels), frame, "AP", skip_bad=True, session=spark)
    assert sampled
    assert result.evaluation.runs[0].coverage.bad_rows == 4
    assert result.evaluation.means == gg.evaluate(gg.Qrels(qrels), ranked, "AP").means
    with pytest.raises(InputError, match="4 bad rows"):
        goodgain.spark.evaluate(gg.Qrels(qrels), frame, "AP", session=spark)


def test_not_where_most_queries_are_judged(spark, sampled):
    qrels, ranked = rows(str, 0.9)
    frame = spark.createDataFrame(ranked, "query string, doc string, score double")
    result = goodgain.spark.evaluate(gg.Qrels(qrels), frame, "AP", session=spark)
    assert not sampled
    assert same(gg.evaluate(gg.Qrels(qrels), ranked, "AP"), result.evaluation)


def test_no_query_in_common(spark, sampled):
    _, ranked = rows(str, 0.1)
    frame = spark.createDataFrame(ranked, "query string, doc string, score double")
    with pytest.raises(InputError, match="no query of the run is judged: the run has query"):
        goodgain.spark.evaluate({"other": {"a": 1}}, frame, "AP", session=spark)


@pytest.mark.parametrize("share", [1.0, 0.03])
@pytest.mark.parametrize("partitions", [1, 7])
def test_rows_of_contiguous_queries_are_measured_where_they_are(
    spark, sampled, monkeypatch, share, partitions
):
    """Also rows that Spark reads: their values are passed on instead of the rows."""
    from goodgain.engines.spark import jobs

    attempts = []
    slower = jobs.Attempt.slower
    monkeypatch.setattr(
        jobs.Attempt, "slower", lambda self, why: attempts.append(why) or slower(self, why)
    )
    qrels, ranked = rows(str, share)
    ranked.sort(key=lambda row: row[0])
    frame = spark.createDataFrame(ranked, "query string, doc string, score double")
    frame = frame.coalesce(1) if partitions == 1 else frame.repartitionByRange(partitions, "query")
    frame = frame.sortWithinPartitions("query", "doc")
    here = []
    for module in (jobs, judged):
        pieces = module.pieces_of
        monkeypatch.setattr(
            module,
            "pieces_of",
            lambda *a, pieces=pieces, **o: here.append(o.get("here")) or pieces(*a, **o),
        )
    result = goodgain.spark.evaluate(gg.Qrels(qrels), frame, "nDCG@10 AP NumRet", session=spark)
    assert any(here) and not attempts
    assert same(gg.evaluate(gg.Qrels(qrels), ranked, "nDCG@10 AP NumRet"), result.evaluation)


def test_a_sample_that_misleads(spark, sampled):
    """The first rows lie together, later ones do not: the run is read again and shuffled."""
    qrels, ranked = rows(str, 1.0)
    ordered = sorted(ranked[:2000]) + ranked[2000:]
    frame = spark.createDataFrame(ordered, "query string, doc string, score double").coalesce(1)
    result = goodgain.spark.evaluate(gg.Qrels(qrels), frame, "nDCG@10 AP NumRet", session=spark)
    assert same(gg.evaluate(gg.Qrels(qrels), ordered, "nDCG@10 AP NumRet"), result.evaluation)
