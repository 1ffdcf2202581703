"""Every format and every kind of object gives the same numbers on every engine, to the last bit."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "conformance"))
import ways_in
from ways_in import MEASURES, POLICIES

FILES = [(form, "") for form in ways_in.FORMATS]
FILES += [("trec", ".gz"), ("csv", ".zst"), ("jsonl", ".bz2")]
TABLES = ways_in.tables()


@pytest.fixture(scope="module")
def expected() -> list[list[Any]]:
    qrels, run = (ways_in.nested(TABLES[kind], kind) for kind in ("qrels", "run"))
    return [ways_in.values(qrels, run, MEASURES, 1, **policy) for policy in POLICIES]


def compare(engine: Any, qrels: Any, run: Any, expected: list[list[Any]], number: int) -> None:
    """One policy each, so that all of them are used: a Spark job takes a second."""
    policy = number % len(POLICIES)
    result = engine.evaluate(qrels, run, MEASURES, **POLICIES[policy])
    assert ways_in.bits(result, MEASURES) == expected[policy]


@pytest.mark.parametrize(("form", "compression"), FILES)
def test_files_on_every_engine(
    engine: Any, form: str, compression: str, expected: list[list[Any]], tmp_path: Path
) -> None:
    run = ways_in.file(tmp_path, form, compression, TABLES["run"], "run")
    qrels = ways_in.file(tmp_path, form, compression, TABLES["qrels"], "qrels")
    compare(engine, qrels, run, expected, FILES.index((form, compression)))


@pytest.mark.parametrize("kind", ways_in.OBJECTS)
def test_objects_on_every_engine(engine: Any, kind: str, expected: list[list[Any]]) -> None:
    run = ways_in.OBJECTS[kind](TABLES["run"], "run")
    qrels = ways_in.OBJECTS[kind](TABLES["qrels"], "qrels")
    compare(engine, qrels, run, expected, list(ways_in.OBJECTS).index(kind))
