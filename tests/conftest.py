"""What all tests share: profiles of Hypothesis, and data that others made."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")  # ranx would compile for minutes

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"

_CHECKS = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile(
    "quick", max_examples=40, derandomize=True, deadline=None, suppress_health_check=_CHECKS
)  # the same examples every time, so that a change is judged by what it changes; deep ones differ
settings.register_profile("deep", max_examples=1000, deadline=None, suppress_health_check=_CHECKS)
settings.load_profile(os.environ.get("GOODGAIN_HYPOTHESIS", "quick"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data beside the repository; nothing of it is copied into the project."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"no real data at {SHARED_DATA}")
    return SHARED_DATA
