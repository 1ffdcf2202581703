"""A grid that is killed at random and run again has the numbers of one that was not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = int(os.environ.get("GOODGAIN_KILLS", "6"))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_random_kills_over_the_whole_run(tmp_path):
    script = Path(__file__).parent / "kill_grid.py"
    command = [sys.executable, str(script), str(tmp_path), str(KILLS), "7"]
    outcome = (
        subprocess.run(  # the limit is for hangs: two experiments a kill, on a machine however busy
            command, capture_output=True, text=True, timeout=300 + 60 * KILLS, check=False
        )
    )
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.startswith(f"{KILLS} of ")
    print(outcome.stdout)
