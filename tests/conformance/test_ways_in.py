"""Every format, through every way in, with any number of threads, gives the same numbers to the last bit."""

from __future__ import annotations

import os
import random
import threading
from typing import TYPE_CHECKING, Any

import pytest
import ways_in
from ways_in import MEASURES, POLICIES, values

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BY_LABEL = ["DR@10", "Diversity@10", "alpha_nDCG@10", "StRecall@10"]


@pytest.fixture(scope="module")
def tables() -> dict[str, list[Any]]:
    return ways_in.tables()


@pytest.fixture(scope="module")
def expected(tables: dict[str, list[Any]]) -> list[list[Any]]:
    return [
        values(
            ways_in.nested(tables["qrels"], "qrels"),
            ways_in.nested(tables["run"], "run"),
            MEASURES, 1, **policy,
        )
        for policy in POLICIES
    ]  # fmt: skip


FILES = [
    (form, compression)
    for form in ways_in.FORMATS
    for compression in ways_in.COMPRESSIONS
    if not (form in ways_in.BINARY and compression)
]


@pytest.mark.parametrize(("form", "compression"), FILES)
def test_files(
    form: str, compression: str, tables: dict[str, list[Any]], expected: list[Any], tmp_path: Path
) -> None:
    run = ways_in.file(tmp_path, form, compression, tables["run"], "run")
    qrels = ways_in.file(tmp_path, form, compression, tables["qrels"], "qrels")
    for threads in (1, 2, 5):
        for policy, numbers in zip(POLICIES, expected, strict=True):
            assert values(qrels, run, MEASURES, threads, **policy) == numbers


@pytest.mark.parametrize("form", [f for f in ways_in.FORMATS if f not in (*ways_in.BINARY, "json")])
@pytest.mark.parametrize("way", ["stdin", "pipe"])
def test_streams(
    form: str, way: str, tables: dict[str, list[Any]], expected: list[Any], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    qrels = ways_in.nested(tables["qrels"], "qrels")
    data = ways_in.FORMATS[form][1](tables["run"], "run")
    for threads in (1, 3):
        if way == "stdin":
            run = ways_in.Stdin(data).put(monkeypatch)
            numbers = values(qrels, run, MEASURES, threads)
        else:
            path = tmp_path / f"pipe{threads}"
            os.mkfifo(path)
            writer = threading.Thread(target=path.write_bytes, args=(data,))
            writer.start()
            numbers = values(qrels, str(path), MEASURES, threads)
            writer.join()
        assert numbers == expected[0]


@pytest.mark.parametrize("kind", ways_in.OBJECTS)
def test_objects(kind: str, tables: dict[str, list[Any]], expected: list[Any]) -> None:
    run = ways_in.OBJECTS[kind](tables["run"], "run")
    qrels = ways_in.OBJECTS[kind](tables["qrels"], "qrels")
    for threads in (1, 2, 5):
        for policy, numbers in zip(POLICIES, expected, strict=True):
            assert values(qrels, run, MEASURES, threads, **policy) == numbers


def labelled_ways() -> Iterator[Any]:
    for form in ways_in.FORMATS:
        if form not in (*ways_in.FLAT, "trec"):
            yield pytest.param("file", form, id=form)
    for kind in ways_in.OBJECTS:
        if kind != "dict":
            yield pytest.param("object", kind, id=kind)


@pytest.mark.parametrize(("way", "name"), list(labelled_ways()))
def test_targets_and_aspects(
    way: str, name: str, tables: dict[str, list[Any]], tmp_path: Path
) -> None:
    """Judgments with targets and aspects, where the format has columns for them."""
    run = ways_in.nested(tables["run"], "run")
    qrels = (
        ways_in.file(tmp_path, name, "", tables["labelled"], "qrels")
        if way == "file"
        else ways_in.OBJECTS[name](tables["labelled"], "qrels")
    )
    assert values(qrels, run, BY_LABEL, 1) == values(tables["labelled"], run, BY_LABEL, 2)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_lines(
    seed: int, tables: dict[str, list[Any]], expected: list[Any], tmp_path: Path
) -> None:
    """Shuffled lines, so that queries are scattered over the file."""
    rows = list(tables["run"])
    random.Random(seed).shuffle(rows)
    qrels = ways_in.nested(tables["qrels"], "qrels")
    for form in ("trec", "csv, quoted", "jsonl", "parquet"):
        run = ways_in.file(tmp_path, form, "", rows, "run")
        for threads in (1, 4):
            assert values(qrels, run, MEASURES, threads) == expected[0]


def test_all_formats_are_here() -> None:
    """A format that goodgain reads by its suffix is in the suite."""
    from goodgain.io.naming import format_of

    known = {format_of(f"x{suffix}") for suffix, _ in ways_in.FORMATS.values()} - {None}
    assert known >= {"csv", "tsv", "jsonl", "json", "parquet", "arrow"}
