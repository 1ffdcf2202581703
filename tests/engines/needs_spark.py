"""Requirements of the Spark tests, and how they are skipped without them."""

from __future__ import annotations

import shutil

import pytest


def require_spark() -> None:
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java; make test installs it where it may")
