"""Every format, through every way in, with any number of threads, gives the same numbers to the last bit."""

from __future__ import annotations

import os
import random
import threading
from typing import TYPE_CHECKING, Any

import pytest
import ways_in

import goodgain as gg

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MEASURES = ["nDCG@10", "nDCG", "AP", "RR", "P@5", "R@20", "ERR@10", "RBP", "Bpref", "infAP"]
BY_LABEL = ["DR@10", "Diversity@10", "alpha_nDCG@10", "StRecall@10"]
POLICIES: list[dict[str, str]] = [{}, {"ties": "average"}, {"ties": "bounds"}]
AWKWARD = [
    "doc-é",
    "doc#1",
    "0007",
    "7",
    "DOC",
    "doc",
    "ｄｏｃ",
    "d" * 80,
    "x'y",
    "1e5",
    "nan",
    "-0",
]


@pytest.fixture(scope="module")
def tables() -> dict[str, list[Any]]:
    """Random tables with ties, unjudged documents and queries, awkward ids and numbers."""
    rng = random.Random(7)
    docs = [*AWKWARD, *(f"d{i}" for i in range(40))]
    queries = [f"q{i}" for i in range(12)]
    run, qrels = [], []
    for query in [*queries, "unjudged"]:
        for doc in rng.sample(docs, rng.randint(1, 30)):
            score = rng.choice([rng.random(), 0.1, 0.1, 1e-300, -2.5, 12345678.125, 3.0])
            run.append((query, doc, score))
    for query in [*queries, "missing"]:
        for doc in rng.sample(docs, rng.randint(1, 25)):
            gain = rng.choice([0, 1, 2, 3, 0, 1])
            qrels.append((query, doc, gain))
    labelled = [(*row, rng.choice(["t1", "t2", None]), rng.choice("12")) for row in qrels]
    return {"run": run, "qrels": qrels, "labelled": labelled}


def values(qrels: Any, run: Any, measures: list[str], threads: int, **policies: str) -> list[Any]:
    """All values as bits, by query."""
    result = gg.evaluate(qrels, run, measures, threads=threads, **policies)
    scores = result.runs[0]
    bounds = ("", "lower", "upper") if scores.has_bounds else ("",)
    queries = scores.queries
    table = {
        (query, m, b): value.hex()
        for m in measures
        for b in bounds
        for query, value in zip(queries, scores.column(m, b), strict=True)
    }
    means = [result[m].hex() for m in measures]
    coverage = scores.coverage
    return [sorted(table.items()), means, coverage.documents, coverage.unjudged_queries]


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
