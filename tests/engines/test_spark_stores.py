"""Parquet in object stores that tasks read themselves.

Hadoop's file system for S3 is not on PyPI, so Spark lists local files here; the tasks open the copies of them
in a store, as they do where Spark itself lists the store.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from s3_store import put, s3_server, upload

import goodgain as gg
import goodgain.spark
from goodgain.engines.spark import files
from goodgain.engines.spark.frames import frame_of

QRELS = {f"q{i}": {f"d{i}": 1, f"d{i + 1}": 2} for i in range(40)}
MEASURES = "nDCG@10 AP NumRet"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with s3_server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def run(spark, tmp_path, store, monkeypatch):
    """A table of two files, and the same in the store, which tasks are told to open."""
    address, _ = store
    chance = random.Random(1)
    rows = [(q, f"d{d}", chance.random()) for q in QRELS for d in chance.sample(range(50), 20)]
    path = tmp_path / "run.parquet"
    frame = spark.createDataFrame(rows, "query string, doc string, score double")
    frame.coalesce(2).write.parquet(str(path))
    keys = [f"{tmp_path.name}/run.parquet"]
    upload(address, path, keys[0])
    local = files._path

    def in_store(uri, session):
        assert local(uri, session) is not None
        return f"s3a://lake/{keys[-1]}/{uri.rpartition('/')[2]}"

    monkeypatch.setattr(files, "_path", in_store)
    names = [name for name in os.environ if name.startswith("AWS_")]
    spark.sparkContext.environment.update({name: os.environ[name] for name in names})
    yield str(path), rows, address, keys
    for name in names:
        del spark.sparkContext.environment[name]


def measured(spark, path):
    return goodgain.spark.evaluate(QRELS, {"run": path}, MEASURES, session=spark).evaluation


def test_tasks_read_the_store(spark, run, store):
    path, rows, *_ = run
    frame = frame_of(spark, path, "run")
    assert frame.files is not None
    assert all(name.startswith("s3a://lake/") for name in frame.files.paths)
    assert frame.files.count() == len(rows)
    before = store[1].read_text()
    assert measured(spark, path).means == gg.evaluate(QRELS, rows, MEASURES).means
    requests = store[1].read_text().removeprefix(before)
    for file in Path(path).glob("part-*.parquet"):
        assert f"/{file.name} HTTP" in "".join(r for r in requests.splitlines() if '"GET' in r)


def test_what_tasks_cannot_open_spark_reads(spark, run):
    """Executors without keys for the store: the longer way, with the same numbers."""
    path, rows, *_ = run
    spark.sparkContext.environment["AWS_ENDPOINT_URL"] = "http://127.0.0.1:9"
    assert frame_of(spark, path, "run").files is not None
    assert measured(spark, path).means == gg.evaluate(QRELS, rows, MEASURES).means


def test_another_store_is_not_read(spark, run):
    """The copies must have the sizes of what Spark lists."""
    path, rows, address, keys = run
    keys.append("other")
    for number, file in enumerate(Path(path).glob("part-*")):
        put(address, f"other/{file.name}", file.read_bytes() + b" " * number)
    assert frame_of(spark, path, "run").files is None
    assert measured(spark, path).means == gg.evaluate(QRELS, rows, MEASURES).means


@pytest.mark.parametrize(
    ("uri", "settings", "path"),
    [
        ("file:///a%20b/c.parquet", {}, "/a b/c.parquet"),
        ("s3a://lake/a%20b.parquet", {}, "s3a://lake/a b.parquet"),
        ("s3a://lake/a.parquet", {"": "https://s3.eu-west-1.amazonaws.com", ".region": "eu-west-1"},
         "s3a://lake/a.parquet?region=eu-west-1"),
        ("s3a://lake/a.parquet", {"": "http://127.0.0.1:9000"},
         "s3a://lake/a.parquet?endpoint_override=127.0.0.1%3A9000&scheme=http"),
        ("gs://lake/a.parquet", {}, "gs://lake/a.parquet"),
        ("abfss://box@account.dfs.core.windows.net/a.parquet", {},
         "abfss://box@account.dfs.core.windows.net/a.parquet"),
        ("hdfs://name:8020/a.parquet", {}, "hdfs://name:8020/a.parquet"),
        ("ftp://host/a.parquet", {}, None),
    ],
)  # fmt: skip
def test_paths_as_pyarrow_opens_them(uri, settings, path):
    class Session:
        class _jsc:  # noqa: N801
            @staticmethod
            def hadoopConfiguration():  # noqa: N802
                return {f"fs.s3a.endpoint{part}": value for part, value in settings.items()}

    assert files._path(uri, Session) == path
