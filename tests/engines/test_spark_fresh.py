"""What was written last is what is measured, and nothing stays on the cluster unless that was asked for."""

from __future__ import annotations

import os

import pytest
from hard_rows import collection, frames, same

import goodgain as gg
import goodgain.spark
from goodgain.engines.spark import jobs
from goodgain.errors import InputError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
orc = pytest.importorskip("pyarrow.orc")

QRELS = {"q1": {"a": 1}, "q2": {"b": 1}}
OLD = [("q1", "a", 2.0), ("q1", "b", 1.0), ("q2", "a", 2.0), ("q2", "b", 1.0)]
NEW = [("q1", "b", 2.0), ("q1", "a", 1.0), ("q2", "b", 2.0), ("q2", "a", 1.0), ("q2", "c", 0.5)]


def cached(spark):
    return spark.sparkContext._jsc.getPersistentRDDs().size()


def write(path, rows):
    """In the format of the suffix, with a time that no clock rounds away."""
    table = pa.table(
        {"query": [r[0] for r in rows], "doc": [r[1] for r in rows], "score": [r[2] for r in rows]}
    )
    if path.suffix == ".parquet":
        pq.write_table(table, path, compression="none")
    elif path.suffix == ".orc":
        orc.write_table(table, path)
    elif path.suffix == ".csv":
        path.write_text("query,doc,score\n" + "".join(f"{q},{d},{s}\n" for q, d, s in rows))
    elif path.suffix == ".jsonl":
        path.write_text(
            "".join(f'{{"query": "{q}", "doc": "{d}", "score": {s}}}\n' for q, d, s in rows)
        )
    else:
        path.write_text("".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in rows))


@pytest.mark.parametrize("keep", [False, True], ids=["released", "kept"])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".txt", ".parquet"])
def test_a_rewritten_file_gives_new_numbers(spark, tmp_path, suffix, keep):
    path = tmp_path / f"run{suffix}"
    results = []
    for rows in (OLD, NEW):
        write(path, rows)
        result = goodgain.spark.evaluate(QRELS, str(path), "RR NumRet", keep=keep, session=spark)
        assert same(gg.evaluate(QRELS, rows, "RR NumRet"), result.evaluation)
        results.append(result)
    assert [row["RR"] for row in results[0].per_query.collect()] == [1.0, 0.5]  # those of its means
    for result in results:
        result.release()
    assert cached(spark) == 0


def test_a_frame_whose_file_was_rewritten(spark, tmp_path):
    """The same DataFrame: Spark lists its files once, so a longer file would be read in part."""
    for suffix, read in (
        (".parquet", spark.read.parquet),
        (".csv", lambda p: spark.read.csv(p, header=True, inferSchema=True)),
    ):
        path = tmp_path / f"run{suffix}"
        write(path, OLD)
        frame = read(str(path)).where("score > 0.1")
        for rows in (OLD, NEW * 1):
            write(path, rows)
            result = goodgain.spark.evaluate(QRELS, frame, "RR NumRet", session=spark)
            assert same(gg.evaluate(QRELS, rows, "RR NumRet"), result.evaluation), suffix
    assert cached(spark) == 0


@pytest.mark.parametrize("suffix", [".txt", ".orc", ".parquet"])
def test_rows_that_somebody_cached_do_not_stand_for_a_path(spark, tmp_path, suffix):
    """Spark takes cached rows for those of any plan that reads the same paths."""
    path = tmp_path / f"run{suffix}"
    read = {
        ".txt": lambda: spark.read.text(f"file://{path}", lineSep="\n"),
        ".orc": lambda: spark.read.orc(f"file://{path}"),
        ".parquet": lambda: spark.read.parquet(f"file://{path}"),
    }[suffix]
    for rows in (OLD, NEW):
        write(path, rows)
        if rows is OLD:
            cache = read().cache()
            cache.count()
        result = goodgain.spark.evaluate(QRELS, str(path), "RR NumRet", session=spark)
        assert same(gg.evaluate(QRELS, rows, "RR NumRet"), result.evaluation)
    assert cache.count() == len(OLD)  # theirs is still what it was
    cache.unpersist()


def test_rewritten_judgments(spark, tmp_path):
    path = tmp_path / "qrels.parquet"
    for gains in ({"a": 1, "b": 0}, {"a": 0, "b": 1}):
        pq.write_table(
            pa.table({"query": ["q1"] * 2, "doc": list(gains), "gain": list(gains.values())}), path
        )
        os.utime(path, ns=(10**18 + gains["a"], 10**18 + gains["a"]))  # the size is the same
        for small in (0, 10**6):
            result = goodgain.spark.evaluate(
                f"parquet:{path}",
                {"q1": {"a": 2.0, "b": 1.0}},
                "RR",
                small_qrels=small,
                session=spark,
            )
            assert result.evaluation["RR"] == (1.0 if gains["a"] else 0.5)


def test_rewritten_traces(spark, tmp_path):
    path = tmp_path / "traces.jsonl"
    for gain in (3, 4):
        path.write_text(
            '{"conversation": "c", "turns": [{"user": "?", "iterations": [{"searches": [{"query": "a", '
            f'"results": [{{"id": "1", "gain": {gain}}}]}}]}}]}}]}}\n'
        )
        for traces in (f"file://{path}", spark.read.text(str(path))):
            result = goodgain.spark.good_gain(traces, session=spark)
            assert result.good_gain.figure("CG").value == gain
            assert result.per_iteration.collect()[0]["CG"] == gain
    assert cached(spark) == 0


def test_values_that_are_not_fetched_are_checked(spark, tmp_path, monkeypatch):
    """Computed again when they are used: other numbers than those of the means are an error."""
    monkeypatch.setattr(jobs, "FETCHED", 0)
    path = tmp_path / "run.csv"
    write(path, OLD)
    result = goodgain.spark.evaluate(QRELS, str(path), "RR", session=spark)
    assert cached(spark) == 0
    assert result.evaluation.runs[0].column("RR") == [1.0, 0.5]
    result = goodgain.spark.evaluate(QRELS, str(path), "RR", session=spark)
    write(path, NEW)
    with pytest.raises(InputError, match="the inputs have changed since they were evaluated"):
        result.evaluation.runs[0].column("RR")
    kept = goodgain.spark.evaluate(QRELS, str(path), "RR", keep=True, session=spark)
    assert cached(spark) == 1
    write(path, OLD)
    assert kept.evaluation.runs[0].column("RR") == [0.5, 1.0]
    kept.release()
    assert cached(spark) == 0


def test_errors_leave_nothing_behind(spark, tmp_path):
    (tmp_path / "run.csv").write_text("query,doc,score\nq1,a,x\n")
    with pytest.raises(InputError, match="1 bad row, for example: the score 'x' is not a number"):
        goodgain.spark.evaluate(QRELS, str(tmp_path / "run.csv"), "RR", keep=True, session=spark)
    assert cached(spark) == 0


def test_several_runs_are_one_job(spark):
    judged, ranked = collection(40)
    qrels, run = frames(spark, judged, ranked)
    others = {
        "a": run,
        "b": run.where("score > 0"),
        "c": run.selectExpr("query", "doc", "-score score"),
    }
    tracker = spark.sparkContext.statusTracker()
    spark.sparkContext.setJobGroup("several", "runs")
    result = goodgain.spark.evaluate(qrels, others, "nDCG@10 AP", session=spark)
    count = len(tracker.getJobIdsForGroup("several"))
    spark.sparkContext.setJobGroup("one", "run")
    goodgain.spark.evaluate(qrels, run, "nDCG@10 AP", session=spark)
    assert count < 2 * len(tracker.getJobIdsForGroup("one"))  # stages of a plan count as jobs here
    spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)
    local = {
        "a": ranked,
        "b": [row for row in ranked if row[2] > 0],
        "c": [(q, d, -s) for q, d, s in ranked],
    }
    assert same(gg.evaluate(gg.Qrels(judged), local, "nDCG@10 AP"), result.evaluation)
    rows = [(row["run"], row["query"]) for row in result.per_query.collect()]
    assert rows == [(r.name, q) for r in result.evaluation.runs for q in r.queries]  # in this order


def test_the_table_goes_to_the_lake_from_the_cluster(spark, tmp_path):
    result = goodgain.spark.evaluate(QRELS, OLD, "RR", session=spark)
    result.write(str(tmp_path / "out"))
    rows = pq.read_table(tmp_path / "out").sort_by("query").to_pylist()
    assert [(row["query"], row["RR"]) for row in rows] == [("q1", 1.0), ("q2", 0.5)]
    with pytest.raises(InputError, match="already exists"):
        result.write(str(tmp_path / "out"))
