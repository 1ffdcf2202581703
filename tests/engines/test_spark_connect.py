"""The engine suite on Spark Connect, against the server that PyPI's pyspark starts."""

from __future__ import annotations

import pytest
from needs_spark import require_spark
from suites import run_suite


@pytest.mark.spark
@pytest.mark.slow
def test_the_engine_suite():
    """In another process: this one may have a classic session."""
    require_spark()
    for package in ("grpc_status", "zstandard"):
        pytest.importorskip(package, reason="Spark Connect needs pyspark[connect]")
    run_suite("connect", "test_engines.py", "connect_cases.py")
