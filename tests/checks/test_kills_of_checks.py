"""A check that is killed at random leaves every file whole, and the next one goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = int(os.environ.get("GOODGAIN_KILLS", "8"))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_random_kills_of_a_check(tmp_path):
    script = Path(__file__).parent / "kill_checks.py"
    command = [sys.executable, str(script), str(tmp_path), str(KILLS), "7"]
    outcome = subprocess.run(
        command, capture_output=True, text=True, timeout=300 + 10 * KILLS, check=False
    )
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.startswith(f"{KILLS} of ")
    print(outcome.stdout)
