"""Spark sessions: found or started, and the one warning of theirs that says nothing here."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from goodgain.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# What suits rows that go to Python in Arrow batches, in a session that is started here.
SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    "spark.sql.files.maxPartitionBytes": "32m",
}


@contextmanager
def arrow_only() -> Iterator[None]:
    """The package warns of pandas 3 wherever Arrow is used; no pandas object is made here."""
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message="PySpark does not yet fully support pandas", category=FutureWarning
        )
        yield


def kept(spark: Any, frame: Any) -> Any:
    """A frame whose rows stay on the cluster once made; Spark may join small partitions of it."""
    name = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"  # read when it is persisted
    before = spark.conf.get(name)
    spark.conf.set(name, "true")
    try:
        return frame.persist()
    finally:
        spark.conf.set(name, before)


def start(master: str | None = None, settings: Mapping[str, str] | None = None) -> Any:
    """The session that is there, or a new one on `master`; under `spark-submit` on what that says.

    Executors on this machine use this Python; those of a cluster what PYSPARK_PYTHON says. Settings
    of the cluster and of `spark-submit` go before those that are made here.
    """
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        raise MissingExtraError.for_package("pyspark", "spark", "the Spark engine") from None
    if (master or "local").startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    active = SparkSession.getActiveSession()
    builder = SparkSession.builder.appName("goodgain")
    if master:
        builder = builder.master(master)
    for key, value in (settings or {}).items():
        builder = builder.config(key, value)
    try:
        session = builder.getOrCreate()
    except Exception as error:  # pyspark and Java raise many kinds
        reason = str(error).strip().splitlines()
        raise UsageError(
            f"no Spark session could be started on '{master or 'the default master'}': "
            f"{reason[0] if reason else type(error).__name__}",
            hint="Spark needs Java 17 or later (JAVA_HOME) and a master that can be reached",
        ) from None
    if active is None:
        said = session.sparkContext.getConf()
        for key in (key for key in SETTINGS if not said.contains(key)):
            session.conf.set(key, SETTINGS[key])
    return session


def is_frame(value: Any) -> bool:
    """Whether something is a Spark DataFrame, classic or Connect; pyspark is not imported for it."""
    kind = type(value)
    return kind.__module__.startswith("pyspark.sql.") and kind.__name__ == "DataFrame"
