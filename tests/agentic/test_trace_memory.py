"""The memory of conversations, as the system counts it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

# Not `ru_maxrss`, which begins with the peak of the parent.
PEAK = """
import re, sys
import goodgain
goodgain.good_gain(sys.argv[1])
print(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])
"""


def peak_of(path: Path) -> int:
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(path)], capture_output=True, text=True, check=True
    )
    return int(done.stdout) * 1024


def write_conversation(path: Path, results: int) -> Path:
    texts = " ".join(f"word{i * 7919 % 9973}" for i in range(60))
    listed = [
        {"id": f"r{i}", "url": f"https://example.org/{i}", "snippet": f"{i} {texts}", "gain": i % 5}
        for i in range(results)
    ]
    searches = [{"query": "q", "results": listed[at : at + 100]} for at in range(0, results, 100)]
    turn = {"iterations": [{"searches": searches}]}
    path.write_text(json.dumps({"conversation": "c", "turns": [turn]}) + "\n")
    return path


def test_a_huge_conversation_is_held_once_as_text_and_once_parsed(tmp_path: Path) -> None:
    few = write_conversation(tmp_path / "few.jsonl", 100)
    many = write_conversation(tmp_path / "many.jsonl", 40_000)
    assert (peak_of(many) - peak_of(few)) / many.stat().st_size < 4.5


def test_results_with_nothing_but_an_id(tmp_path: Path) -> None:
    """What identity, gains and evidence hold of each, beside its text."""
    few, many = tmp_path / "few.jsonl", tmp_path / "many.jsonl"
    for path, results in ((few, 100), (many, 400_000)):
        listed = ",".join(f'{{"id":"r{i}","gain":{i % 5}}}' for i in range(results))
        search = f'{{"query":"q","results":[{listed}]}}'
        turn = f'{{"iterations":[{{"searches":[{search}]}}]}}'
        path.write_text(f'{{"conversation":"c","turns":[{turn}]}}\n')
    size = (peak_of(many) - peak_of(few)) / 400_000
    assert size - many.stat().st_size / 400_000 < 140
