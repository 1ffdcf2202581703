"""The engines, and one Spark session per process, because starting it is slow.

GOODGAIN_ENGINES names those of the engine suite: `test_spark_connect.py` runs it on Spark Connect, and
`test_spark_cluster.py` on a cluster whose executors are killed, each in a process of its own because a
process has sessions of one kind only.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from executors import Killer
from needs_spark import require_spark

from goodgain.engines import LocalEngine, SparkEngine
from goodgain.engines.spark.session import start

sys.path.insert(0, str(Path(__file__).parent.parent / "labels"))  # its server

SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.enabled": "false",
}


@pytest.fixture(scope="session")
def spark() -> Any:
    require_spark()
    session = start("local[2]", SETTINGS)
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def connect() -> Any:
    """A session on the Connect server that PySpark starts."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.remote("local[2]")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def cluster() -> Any:
    """A session on the standalone cluster that GOODGAIN_MASTER names; some tests lose an executor."""
    many = {"spark.executor.memory": "512m", "spark.task.maxFailures": "20"}
    session = start(os.environ["GOODGAIN_MASTER"], {**SETTINGS, **many})
    session.sparkContext.setLogLevel("OFF")
    killer = Killer(session)
    yield session, killer
    session.stop()
    assert len(killer.killed) >= 2, "hardly any executor was killed"


@pytest.fixture(params=os.environ.get("GOODGAIN_ENGINES", "local spark").split())
def engine(request: pytest.FixtureRequest) -> Any:
    if request.param == "local":
        return LocalEngine(2)
    if request.param == "cluster":
        session, killer = request.getfixturevalue("cluster")
        killer.strike()
        return SparkEngine(session)
    return SparkEngine(request.getfixturevalue(request.param))
