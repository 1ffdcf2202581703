"""The engine suite on Spark Connect, against the server that PyPI's pyspark starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from needs_spark import require_spark

HERE = Path(__file__).parent


@pytest.mark.spark
@pytest.mark.slow
def test_the_engine_suite():
    """In another process: this one may have a classic session."""
    require_spark()
    for package in ("grpc_status", "zstandard"):
        pytest.importorskip(package, reason="Spark Connect needs pyspark[connect]")
    files = [str(HERE / name) for name in ("test_engines.py", "connect_cases.py")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider",
         "-W", "ignore:PySpark does not yet fully support pandas:FutureWarning",
         "-W", "ignore:Failed to set spark:UserWarning", *files],
        env={**os.environ, "GOODGAIN_ENGINES": "connect"},
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-5000:]
    outcomes = "".join(line.split()[0] for line in done.stdout.splitlines() if "%]" in line)
    assert len(outcomes) > 20 and set(outcomes) == {"."}, done.stdout[-2000:]
