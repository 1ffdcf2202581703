"""Spark sessions: find or start one, and suppress an irrelevant warning."""

from __future__ import annotations

import os
import socket
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import uuid4

from goodgain.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Defaults for sessions started here, suited to Arrow batches.
SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    "spark.sql.files.maxPartitionBytes": "32m",
}
_MOST_PARTITIONS = 2**31 - 1
_PORT = 15002  # of a Spark Connect server
_PATIENCE = 10.0  # seconds until it must have taken a connection


@contextmanager
def arrow_only() -> Iterator[None]:
    """Suppress PySpark's warning about pandas 3; only Arrow is used here."""
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message="PySpark does not yet fully support pandas", category=FutureWarning
        )
        yield


def fresh_reader(spark: Any) -> Any:
    """A reader of files as they are now.

    Spark finds cached rows by the paths and options of a plan, so that a DataFrame that anybody cached would
    stand for files that were rewritten since. Formats ignore an option that they do not know.
    """
    return spark.read.option("goodgain.reading", uuid4().hex)


@contextmanager
def shuffle_partitions(spark: Any, count: int | None) -> Iterator[None]:
    """At most `count` partitions after a shuffle that is planned here; Spark merges small ones.

    A number in `repartition` itself would be exact, and every one of many small tasks would cost.
    """
    settings = {
        "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
        **({} if count is None else {"spark.sql.shuffle.partitions": str(count)}),
    }
    before = {name: spark.conf.get(name) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def require_partitions(count: Any) -> None:
    """Refuse what Spark would answer with a stack trace, or take for its own number."""
    if count is not None and (
        not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= _MOST_PARTITIONS
    ):
        raise UsageError(f"partitions must be a positive integer, got {count!r}")


def session_of(*values: Any) -> Any:
    """The session of the first DataFrame among values or in lists and dictionaries; else the active one."""
    for value in values:
        listed = (
            value.values()
            if isinstance(value, dict)
            else value
            if isinstance(value, list | tuple)
            else [value]
        )
        for item in listed:
            if is_frame(item):
                return item.sparkSession
    return start()


def start(master: str | None = None, settings: Mapping[str, str] | None = None) -> Any:
    """Return the active session, or start one on `master` (by default that of `spark-submit`).

    `sc://HOST:15002` connects to a Spark Connect server. Executors on this machine use this Python,
    those of a cluster PYSPARK_PYTHON. Settings of the cluster and of `spark-submit` take precedence over
    goodgain's own.
    """
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        raise MissingExtraError.for_package("pyspark", "spark", "the Spark engine") from None
    remote = (master or "").startswith("sc://")
    if (master or "local").startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    active = SparkSession.getActiveSession()
    builder = SparkSession.builder.appName("goodgain")
    if master:
        builder = builder.remote(master) if remote else builder.master(master)
    for key, value in (settings or {}).items():
        builder = builder.config(key, value)
    try:
        if remote:
            _require_server(str(master))
        # Of two servers the one that is asked for: getOrCreate would return a session of the other.
        session = builder.create() if remote else builder.getOrCreate()
    except Exception as error:  # pyspark and Java raise many types
        reason = str(error).strip().splitlines()
        raise UsageError(
            f"cannot start a Spark session on '{master or 'the default master'}': "
            f"{reason[0] if reason else type(error).__name__}",
            hint="Spark Connect needs a reachable server, and pip install 'pyspark[connect]'"
            if remote
            else "Spark needs Java 17 or later (JAVA_HOME) and a reachable master",
        ) from None
    if active is None and not remote and hasattr(session, "_jsparkSession"):
        conf = session.sparkContext.getConf()
        for key in (key for key in SETTINGS if not conf.contains(key)):
            session.conf.set(key, SETTINGS[key])
    return session


def _require_server(url: str) -> None:
    """Raise OSError if nobody listens; PySpark would go on trying for minutes."""
    address = urlsplit(url)
    with socket.create_connection((address.hostname or "", address.port or _PORT), _PATIENCE):
        pass


def is_frame(value: Any) -> bool:
    """Whether a value is a Spark DataFrame, classic or Connect, without importing pyspark."""
    kind = type(value)
    return kind.__module__.startswith("pyspark.sql.") and kind.__name__ == "DataFrame"
