"""What fails on a cluster is one sentence with a hint, not hundreds of lines of Java."""

from __future__ import annotations

import sys

import pytest

import goodgain.spark
from goodgain.engines.spark import failures
from goodgain.engines.spark.session import arrow_only
from goodgain.errors import GoodgainError, UsageError

TRACEBACK = """Job aborted due to stage failure: Task 0 in stage 1.0 failed 4 times, most recent failure:
org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "/opt/spark/python/lib/pyspark.zip/pyspark/worker.py", line 1100, in main
    func, profiler, deserializer, serializer = read_command(pickleSer, infile)
{error}

	at org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala)
	at org.apache.spark.api.python.PythonArrowOutput$$anon$1.read(PythonArrowOutput.scala:118)
"""


@pytest.mark.parametrize(
    ("error", "says"),
    [
        ("ModuleNotFoundError: No module named 'goodgain'", "the executors have no package 'goodgain'"),
        ("ModuleNotFoundError: No module named 'goodgain.sql'", "the executors have no package 'goodgain'"),
        ("ModuleNotFoundError: No module named 'pyarrow'", "the executors have no package 'pyarrow'"),
        (
            "RuntimeError: goodgain 0.1.0 on an executor, 0.2.0 on the driver",
            "the executors have goodgain 0.1.0, the driver has 0.2.0",
        ),
        (
            "AttributeError: Can't get attribute 'PackTask' on <module 'goodgain.engines.spark.worker'>",
            "the executors have another version of goodgain than the driver: ",
        ),
        (
            "pyspark.errors.exceptions.base.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in "
            "worker has different version: 3.11 than that in driver: 3.13, PySpark cannot run with both.",
            "the executors have Python 3.11, the driver has 3.13",
        ),
    ],
)  # fmt: skip
def test_installations(error, says):
    made = failures.sentence(TRACEBACK.format(error=error))
    assert isinstance(made, UsageError)
    assert str(made).startswith(says)
    assert len(str(made).splitlines()) == 2  # with a hint


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (TRACEBACK.format(error="ValueError: no"), "Spark cannot finish the job: ValueError: no"),
        (
            "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:///x/1.parquet.  "
            "SQLSTATE: KD001\n\tat org.apache.spark.sql.errors",
            "Spark cannot finish the job: Encountered error while reading file file:///x/1.parquet.",
        ),
        (
            "Job aborted\n\tat x\nCaused by: java.io.IOException: No space left on device\n\tat y",
            "Spark cannot finish the job: No space left on device",
        ),
    ],
)
def test_other_failures(text, says):
    assert str(failures.sentence(text)) == says


def test_executors_with_another_version(spark, monkeypatch):
    """The driver's version goes along, and every task compares it with its own."""
    monkeypatch.setattr(failures, "__version__", "99.0")
    with pytest.raises(UsageError, match=r"the executors have goodgain \S+, the driver has 99\.0"):
        goodgain.spark.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "AP", session=spark)


def test_executors_without_goodgain(spark, tmp_path):
    """A Python that cannot find the package, as on a machine where it was never installed."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] == 'goodgain':\n"
        "            raise ModuleNotFoundError(\"No module named 'goodgain'\", name=name)\n"
        "sys.meta_path.insert(0, Absent())\n"
    )
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\nPYTHONPATH="{tmp_path}:$PYTHONPATH" exec "{sys.executable}" "$@"\n'
    )
    python.chmod(0o755)
    context = spark.sparkContext
    before, context.pythonExec = context.pythonExec, str(python)
    try:
        with pytest.raises(UsageError, match="the executors have no package 'goodgain'"):
            goodgain.spark.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "AP", session=spark)
    finally:
        context.pythonExec = before


def test_a_job_that_fails(spark):
    def fails(batches):
        raise OSError("the disk is gone")
        yield

    with arrow_only():
        rows = spark.range(1).mapInArrow(fails, "query string, doc string, score double")
    with pytest.raises(GoodgainError, match="the disk is gone") as caught:
        goodgain.spark.evaluate({"q": {"a": 1}}, rows, "AP", session=spark)
    assert len(str(caught.value).splitlines()) == 1
