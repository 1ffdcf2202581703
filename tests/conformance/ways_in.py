"""Every way to give goodgain a table: formats of files, compressions, pipes, and objects in memory.

A table is a list of rows: (query, document, number) for runs, and with a target and an aspect for judgments.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import sys
from typing import TYPE_CHECKING, Any

import goodgain as gg

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Row = tuple[Any, ...]

NAMES = {"run": ("query", "doc", "score"), "qrels": ("query", "doc", "gain", "target", "aspect")}
MEASURES = ["nDCG@10", "nDCG", "AP", "RR", "P@5", "R@20", "ERR@10", "RBP", "Bpref", "infAP"]
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


# --- the tables, and what is compared ---


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
    return bits(gg.evaluate(qrels, run, measures, threads=threads, **policies), measures)


def bits(result: gg.Evaluation, measures: list[str]) -> list[Any]:
    """All values of an evaluation as bits, by query, its means and its coverage."""
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


# --- formats of files ---


def trec(rows: list[Row], kind: str) -> bytes:
    """TREC's columns; the aspect is the second column of judgments."""
    if kind == "run":
        lines = (f"{q} Q0 {d} {i} {v!r} system" for i, (q, d, v) in enumerate(rows, 1))
    else:
        lines = (f"{row[0]} {row[4] if len(row) > 4 else 0} {row[1]} {row[2]!r}" for row in rows)
    return "".join(f"{line}\n" for line in lines).encode()


def delimited(
    mark: str, end: str = "\n", quoted: bool = False
) -> Callable[[list[Row], str], bytes]:
    """A header and values between marks."""

    def write(rows: list[Row], kind: str) -> bytes:
        width = max(map(len, rows))
        table = [NAMES[kind][:width], *rows]

        def cell(value: Any) -> str:
            text = "" if value is None else value if isinstance(value, str) else repr(value)
            return '"' + text.replace('"', '""') + '"' if quoted else text

        return "".join(mark.join(map(cell, row)) + end for row in table).encode()

    return write


def json_lines(rows: list[Row], kind: str) -> bytes:
    """One object a line."""
    return "".join(
        json.dumps({k: v for k, v in zip(NAMES[kind], row, strict=False) if v is not None}) + "\n"
        for row in rows
    ).encode()


def json_table(rows: list[Row], kind: str) -> bytes:
    """{query: {document: number}}."""
    return json.dumps(nested(rows, kind)).encode()


def arrow_file(rows: list[Row], kind: str) -> bytes:
    """Arrow's format of files."""
    import pyarrow as pa

    sink = io.BytesIO()
    table = arrow(rows, kind)
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)
    return sink.getvalue()


def parquet_file(rows: list[Row], kind: str) -> bytes:
    """Parquet, in several row groups."""
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(arrow(rows, kind), sink, row_group_size=11)
    return sink.getvalue()


FORMATS: dict[str, tuple[str, Callable[[list[Row], str], bytes]]] = {
    "trec": (".txt", trec),
    "csv": (".csv", delimited(",")),
    "csv, Windows": (".csv", delimited(",", "\r\n")),
    "csv, quoted": (".csv", delimited(",", quoted=True)),
    "tsv": (".tsv", delimited("\t")),
    "jsonl": (".jsonl", json_lines),
    "json": (".json", json_table),
    "arrow": (".arrow", arrow_file),
    "parquet": (".parquet", parquet_file),
}
FLAT = ("json",)  # these have no column for targets and aspects
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: _zstd(data),
}
BINARY = ("arrow", "parquet")


def _zstd(data: bytes) -> bytes:
    import zstandard

    return zstandard.compress(data)


def file(folder: Path, form: str, compression: str, rows: list[Row], kind: str) -> str:
    """The table as a file; returns its path."""
    suffix, write = FORMATS[form]
    path = folder / f"{kind}-{form.replace(', ', '-')}{suffix}{compression}"
    path.write_bytes(COMPRESSIONS[compression](write(rows, kind)))
    return str(path)


class Stdin:
    """Standard input with these bytes."""

    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)

    def put(self, monkeypatch: Any) -> str:
        """Replace standard input; returns its path."""
        monkeypatch.setattr(sys, "stdin", self)
        return "-"


# --- objects in memory ---


def nested(rows: list[Row], _: str) -> dict[str, dict[str, float]]:
    table: dict[str, dict[str, float]] = {}
    for query, doc, number, *_rest in rows:
        table.setdefault(query, {})[doc] = number
    return table


def _columns(rows: list[Row], kind: str) -> dict[str, list[Any]]:
    width = max(map(len, rows))
    padded = [(*row, *(None,) * (width - len(row))) for row in rows]
    return {name: [row[i] for row in padded] for i, name in enumerate(NAMES[kind][:width])}


def arrow(rows: list[Row], kind: str) -> Any:
    import pyarrow as pa

    return pa.table(_columns(rows, kind))


def dictionary_encoded(rows: list[Row], kind: str) -> Any:
    table = arrow(rows, kind)
    for i, name in enumerate(table.column_names):
        table = table.set_column(i, name, table.column(name).dictionary_encode())
    return table


def sliced(rows: list[Row], kind: str) -> Any:
    """A view into a larger table, so that offsets are not zero."""
    return arrow([*rows[:3], *rows, *rows[:2]], kind).slice(3, len(rows))


def pandas(rows: list[Row], kind: str) -> Any:
    import pandas as pd

    return pd.DataFrame(_columns(rows, kind))


def polars(rows: list[Row], kind: str) -> Any:
    import polars as pl

    return pl.DataFrame(_columns(rows, kind), strict=False)


OBJECTS: dict[str, Callable[[list[Row], str], Any]] = {
    "dict": nested,
    "rows": lambda rows, _: list(rows),
    "named rows": lambda rows, kind: [dict(zip(NAMES[kind], row, strict=False)) for row in rows],
    "pandas": pandas,
    "polars": polars,
    "arrow table": arrow,
    "arrow, sliced": sliced,
    "arrow, dictionaries": dictionary_encoded,
}
