"""Both engines, and one Spark session per process, because starting it is slow."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
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


@pytest.fixture(params=["local", "spark"])
def engine(request: pytest.FixtureRequest) -> Any:
    if request.param == "local":
        return LocalEngine(2)
    return SparkEngine(request.getfixturevalue("spark"))
