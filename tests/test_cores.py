"""One core count for everything that runs in parallel."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import goodgain as gg
from goodgain.cores import available_cores, parse_size, thread_count
from goodgain.errors import UsageError


def test_threads():
    assert thread_count(None) == available_cores() >= 1
    assert thread_count(3) == 3
    with pytest.raises(UsageError, match="threads must be a positive integer, got 0"):
        thread_count(0)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this system")
def test_affinity_is_honoured():
    code = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); "
        "from goodgain.cores import available_cores; print(available_cores())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


def test_every_function_refuses_no_threads():
    qrels, run = {"q": {"a": 1}, "r": {"b": 1}}, {"q": {"a": 1.0}, "r": {"b": 1.0}}
    scores = gg.evaluate(qrels, {"x": run, "y": run}, "AP")
    trace = {"conversation": "c", "turns": []}
    for call in (
        lambda: gg.evaluate(qrels, run, "AP", threads=0),
        lambda: gg.fuse([run, run], threads=0),
        lambda: gg.compare(scores, threads=0),
        lambda: gg.gate(scores, baseline="x", candidate="y", margin=0.1, threads=0),
        lambda: gg.good_gain([trace], threads=0),
    ):
        with pytest.raises(UsageError, match="threads must be a positive integer, got 0"):
            call()


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (5, 5), ("2GB", 2e9), ("2 gb", 2e9), ("1.5k", 1500), ("2GiB", 2**31), ("1e6", 1e6),
        ("10_000", 10_000), ("", None), ("0", None), ("-1", None), ("GB", None), ("2XB", None),
        ("nan", None), ("1e99", None),
    ],
)  # fmt: skip
def test_sizes(text, size):
    assert parse_size(text) == size
