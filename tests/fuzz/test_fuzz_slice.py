"""A short slice of fuzzing in every test run: corpora and changes of them; `make fuzz` does the rest."""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import targets

CORPUS = Path(__file__).parent / "corpus"
SECONDS = 0.6  # of changed files, for each target


def seeds(name: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]


@pytest.mark.parametrize("name", targets.TARGETS)
def test_any_bytes_are_read_or_refused(name: str) -> None:
    run = targets.TARGETS[name]
    rng = random.Random(name)
    files = seeds(name)
    for data in files:
        run(data)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        data = targets.mutated(rng.choice(files), rng)
        try:
            run(data)
        except Exception as error:
            error.add_note(f"input: {data!r}")
            raise


def test_every_target_has_a_corpus() -> None:
    assert {path.name for path in CORPUS.iterdir()} == set(targets.TARGETS)


def test_changed_json_is_json_as_a_rule() -> None:
    import json

    rng = random.Random(1)
    valid = 0
    for _ in range(100):
        try:
            json.loads(targets.mutated(b'\0{"a": [1, {"b": "c"}]}', rng)[1:])
            valid += 1
        except ValueError:
            pass
    assert valid > 60
