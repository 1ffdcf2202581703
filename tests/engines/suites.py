"""The engine suite on another engine, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def run_suite(engine: str, *files: str, **environment: str) -> None:
    """Run test files with one engine; all of their tests must pass."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider",
         "-W", "ignore:PySpark does not yet fully support pandas:FutureWarning",
         "-W", "ignore:Failed to set spark:UserWarning", *(str(HERE / name) for name in files)],
        env={**os.environ, **environment, "GOODGAIN_ENGINES": engine},
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-5000:]
    outcomes = "".join(line.split()[0] for line in done.stdout.splitlines() if "%]" in line)
    assert len(outcomes) >= 15 and set(outcomes) == {"."}, done.stdout[-2000:]
