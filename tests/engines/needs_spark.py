"""What tests of Spark need, and how they do without."""

from __future__ import annotations

import shutil

import pytest


def require_spark() -> None:
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java; make test installs it where it may")
