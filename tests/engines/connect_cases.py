"""What is special about Spark Connect; `test_spark_connect.py` runs it with the engine suite."""

from __future__ import annotations

import pytest
from hard_rows import collection, frames, same

import goodgain as gg
import goodgain.spark
from goodgain.cli import run
from goodgain.engines.spark.frames import frame_of
from goodgain.engines.spark.session import arrow_only, is_frame, start
from goodgain.errors import UsageError

JUDGED, RANKED = collection(40)
MEASURES = "nDCG@10 AP NumRet"


def test_the_session_is_that_of_the_frames(connect):
    qrels, ranked = frames(connect, JUDGED, RANKED)
    assert is_frame(qrels) and type(connect).__module__.startswith("pyspark.sql.connect")
    local = gg.evaluate(gg.Qrels(JUDGED), RANKED, MEASURES)
    for options in ({}, {"small_qrels": 0, "partitions": 3}, {"keep": True}):
        result = goodgain.spark.evaluate(qrels, ranked, MEASURES, **options)
        assert result.measurement.spark is ranked.sparkSession
        assert same(local, result.evaluation)
        result.release()
    rows = result.per_query.collect()
    assert [row["query"] for row in rows] == local.runs[0].queries


def test_files(connect, tmp_path):
    rows = [(f"q{i % 9}", f"d{i}", float(-i)) for i in range(90)]
    qrels = {f"q{i}": {f"d{i}": 1} for i in range(9)}
    (tmp_path / "run.csv").write_text(
        "query,doc,score\n" + "".join(f"{q},{d},{s}\n" for q, d, s in rows)
    )
    connect.createDataFrame(rows, "query string, doc string, score double").write.parquet(
        str(tmp_path / "run.parquet")
    )
    paths = [str(tmp_path / "run.csv"), str(tmp_path / "run.parquet")]
    assert frame_of(connect, paths[1], "run").files is not None  # read by the tasks themselves
    result = goodgain.spark.evaluate(qrels, paths, MEASURES, session=connect).evaluation
    expected = gg.evaluate(qrels, rows, MEASURES).means["run"]
    assert list(result.means.values()) == [expected, expected]


def test_columns_in_the_names_of_folders(connect, tmp_path):
    """Only Spark knows them."""
    rows = [(f"q{i % 9}", f"d{i}", float(-i)) for i in range(90)]
    path = str(tmp_path / "run.parquet")
    frame = connect.createDataFrame(rows, "query string, doc string, score double")
    frame.write.partitionBy("query").parquet(path)
    assert frame_of(connect, path, "run").files is None
    qrels = {f"q{i}": {f"d{i}": 1} for i in range(9)}
    result = goodgain.spark.evaluate(qrels, path, MEASURES, session=connect).evaluation
    assert result.means["run"] == gg.evaluate(qrels, rows, MEASURES).means["run"]


def test_errors_are_sentences(connect):
    gg.register("Fails", lambda gains: 1 / 0)
    with pytest.raises(gg.GoodgainError, match="the measure 'Fails' failed: ZeroDivisionError"):
        goodgain.spark.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "Fails", session=connect)

    def fails(batches):
        raise OSError("the disk is gone")
        yield

    with arrow_only():
        frame = connect.range(1).mapInArrow(fails, "query string, doc string, score double")
    with pytest.raises(gg.GoodgainError, match="the disk is gone") as caught:
        goodgain.spark.evaluate({"q": {"a": 1}}, frame, "AP")
    assert len(str(caught.value).splitlines()) == 1


def test_the_command_line(connect, tmp_path, capsys):
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq2 0 b 2\n")
    (tmp_path / "run.txt").write_text("q1 Q0 a 1 2.5 t\nq2 Q0 a 1 1.5 t\nq2 Q0 b 2 1 t\n")
    server = "sc://localhost:15002"  # where PySpark starts it
    arguments = ["evaluate", str(tmp_path / "qrels.txt"), str(tmp_path / "run.txt"), "-m", "RR AP"]
    assert run(arguments) == 0
    local = capsys.readouterr().out
    assert run([*arguments, "--engine", "spark", "--master", server]) == 0
    assert capsys.readouterr().out == local


def test_a_server_that_is_not_there():
    with pytest.raises(UsageError, match="cannot start a Spark session on 'sc://localhost:1'"):
        goodgain.spark.evaluate(
            {"q": {"a": 1}}, {"q": {"a": 1.0}}, "AP", session=start("sc://localhost:1")
        )
