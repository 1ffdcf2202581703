"""Processes that record into one file and are killed at random lose no search that was done."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = int(os.environ.get("GOODGAIN_KILLS", "20"))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_random_kills_of_recording_processes(tmp_path):
    script = Path(__file__).parent / "kill_records.py"
    command = [sys.executable, str(script), str(tmp_path / "t.jsonl"), str(KILLS), "7"]
    outcome = subprocess.run(
        command, capture_output=True, text=True, timeout=300 + 10 * KILLS, check=False
    )
    assert outcome.returncode == 0, outcome.stderr
    assert f"{KILLS} processes were killed" in outcome.stdout
    print(outcome.stdout)
