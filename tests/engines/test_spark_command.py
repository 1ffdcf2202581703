"""`goodgain evaluate --engine spark` prints the same text as the local engine and checks its options."""

from __future__ import annotations

import pytest

from goodgain.cli import run

QRELS = "q1 0 a 1\nq1 0 b 2\nq2 0 a 1\nq3 0 c 1\n"
RUN = "q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 x 1 2 t\nq2 Q0 a 2 1 t\nq9 Q0 a 1 1 t\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "bm25.run").write_text(RUN)
    (tmp_path / "other.run").write_text(RUN.replace("q1 Q0 a 1 3", "q1 Q0 a 1 1"))
    return tmp_path


@pytest.mark.parametrize(
    "options", [[], ["--per-query", "--format", "csv"], ["--policy", "ties=bounds"]], ids=str
)
def test_the_same_text_as_the_local_engine(spark, folder, capsys, options):
    arguments = ["evaluate", "qrels.txt", "bm25.run", "other.run", "-m", "nDCG@10 AP RR", *options]
    assert run(arguments) == 0
    local = capsys.readouterr()
    assert run([*arguments, "--engine", "spark", "--partitions", "2"]) == 0
    assert capsys.readouterr() == local


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--master", "local[2]"], "--master requires --engine spark"),
        (["--partitions", "2"], "--partitions requires --engine spark"),
        (["--engine", "spark", "--threads", "2"], "--threads applies to --engine local only"),
        (
            ["--engine", "spark", "--conf", "spark.x"],
            "invalid --conf 'spark.x'\nhint: expected KEY=VALUE",
        ),
    ],
    ids=str,
)
def test_options_that_do_not_fit(folder, capsys, options, says):
    assert run(["evaluate", "qrels.txt", "bm25.run", *options]) == 2
    assert says in capsys.readouterr().err


def test_a_run_that_is_not_there(spark, folder, capsys):
    assert run(["evaluate", "--engine", "spark", "qrels.txt", "nothing.run"]) == 2
    error = capsys.readouterr().err
    assert run(["evaluate", "qrels.txt", "nothing.run"]) == 2
    assert error == capsys.readouterr().err  # the local engine says the same
    assert error.startswith("goodgain: file not found: 'nothing.run'")


def test_what_the_cluster_says_goes_before_our_settings(spark):
    """goodgain sets its defaults for a new session, but keeps explicit settings."""
    from goodgain.engines.spark.session import start

    assert spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch") == "50000"  # given
    assert spark.conf.get("spark.sql.files.maxPartitionBytes") in ("32m", "33554432b")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "64m")
    assert start() is spark
    assert spark.conf.get("spark.sql.files.maxPartitionBytes") in ("64m", "67108864b")


def test_output_to_a_url(spark, folder, capsys):
    """The cluster writes the values per query; the means are printed."""
    arguments = ["evaluate", "qrels.txt", "bm25.run", "-m", "RR", "--per-query"]
    url = f"file://{folder}/scores"
    assert run([*arguments, "--engine", "spark", "-o", url]) == 0
    assert "bm25" in capsys.readouterr().out
    rows = spark.read.parquet(url).orderBy("query").collect()
    assert [(row["run"], row["query"], row["RR"]) for row in rows] == [
        ("bm25", "q1", 1.0),
        ("bm25", "q2", 0.5),
        ("bm25", "q3", 0.0),
    ]
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == 0
    assert run([*arguments, "-o", url]) == 2
    assert "a URL needs --engine spark and --per-query" in capsys.readouterr().err
