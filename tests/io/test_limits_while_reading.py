"""Limits end the reading early: nothing is stored, decoded or decompressed far beyond them."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

import goodgain as gg
from goodgain.io.limits import LimitError, check_nesting, counted_lines
from goodgain.io.tables import load_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

QRELS = {"q1": {"d1": 1}}
ROWS = [("q1", f"d{i}", float(i)) for i in range(10)]


def _csv(rows: list[tuple[str, str, float]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["query", "doc", "score"])
    writer.writerows(rows)
    return out.getvalue()


def _json_rows(rows: list[tuple[str, str, float]]) -> list[dict[str, Any]]:
    return [{"query": q, "doc": d, "score": s} for q, d, s in rows]


TEXTS: dict[str, Callable[[], str]] = {
    "run.txt": lambda: "".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in ROWS),
    "no-end.txt": lambda: "".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in ROWS).rstrip("\n"),
    "blank.txt": lambda: "\n" + "".join(f"{q} Q0 {d} 1 {s} t\n\n \n" for q, d, s in ROWS),
    "windows.txt": lambda: "".join(f"{q} Q0 {d} 1 {s} t\r\n\r\n" for q, d, s in ROWS),
    "run.csv": lambda: _csv(ROWS),
    "quoted.csv": lambda: _csv([(q, f'{d}\n"\n', s) for q, d, s in ROWS]),
    "run.jsonl": lambda: "".join(json.dumps(row) + "\n" for row in _json_rows(ROWS)),
    "run.json": lambda: json.dumps({"q1": {d: s for _, d, s in ROWS}}, indent=1),
    "rows.json": lambda: json.dumps(_json_rows(ROWS), indent=1),
    "lists.jsonl": lambda: json.dumps({"query": "q1", "results": [d for _, d, _ in ROWS]}) + "\n",
}


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("name", TEXTS)
def test_rows_of_every_form_are_counted_alike(tmp_path: Path, name: str, suffix: str) -> None:
    path = tmp_path / (name + suffix)
    data = TEXTS[name]().encode()
    path.write_bytes(gzip.compress(data) if suffix else data)
    with gg.Limits(rows=10):
        gg.evaluate(QRELS, path, "RR")
        gg.Run(path).to_dict()
    for read in (lambda: gg.evaluate(QRELS, path, "RR"), lambda: gg.Run(path).to_dict()):
        with gg.Limits(rows=9), pytest.raises(LimitError, match="more than 9 rows"):
            read()


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_rows_of_judgments(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"qrels.txt{suffix}"
    data = "".join(f"{q} 0 {d} 1\n" for q, d, _ in ROWS).encode()
    path.write_bytes(gzip.compress(data) if suffix else data)
    with gg.Limits(rows=10):
        assert gg.Qrels(path).judgments == 10
    with gg.Limits(rows=9), pytest.raises(LimitError, match="more than 9 rows"):
        gg.Qrels(path)


def test_endless_rows_end() -> None:
    rows = (("q1", f"d{i}", 1.0) for i in itertools.count())
    with gg.Limits(rows=1000), pytest.raises(LimitError, match="more than 1,000 rows"):
        gg.evaluate(QRELS, rows, "RR")
    objects = ({"query": "q1", "doc": f"d{i}", "gain": 1} for i in itertools.count())
    with gg.Limits(rows=1000), pytest.raises(LimitError, match="more than 1,000 rows"):
        gg.Qrels(objects)
    with gg.Limits(rows=1000), pytest.raises(LimitError, match="more than 1,000 rows"):
        load_table({"system": "a", "query": str(i), "AP": 0.5} for i in itertools.count())


@pytest.mark.parametrize("limit", [{"rows": 1000}, {"bytes": 10_000}])
def test_endless_arrow_streams_end(limit: dict[str, int]) -> None:
    import pyarrow as pa

    schema = pa.schema([("query", pa.string()), ("doc", pa.string()), ("score", pa.float64())])
    batches = 0

    def endless() -> Iterator[Any]:
        nonlocal batches
        for batches in itertools.count():
            docs = [f"d{batches}-{i}" for i in range(100)]
            yield pa.record_batch([["q1"] * 100, docs, [1.0] * 100], schema=schema)

    reader = pa.RecordBatchReader.from_batches(schema, endless())
    with gg.Limits(**limit), pytest.raises(LimitError, match="more than"):
        gg.evaluate(QRELS, reader, "RR")
    assert batches < 20


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_rows_of_columnar_files(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"run.{form}"
    gg.convert(ROWS, path, kind="run")
    with gg.Limits(rows=10, bytes="1MB"):
        gg.evaluate(QRELS, path, "RR")
    for limits in (gg.Limits(rows=9), gg.Limits(bytes=50)):
        with limits, pytest.raises(LimitError, match=r"more than (9 rows|50 bytes)"):
            gg.evaluate(QRELS, path, "RR")


def test_a_small_parquet_file_of_huge_columns(tmp_path: Path) -> None:
    """A text of 100 kB, 20,000 times: 2 GB from a file of a few kB."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    docs = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, pa.int32()), ["x" * 100_000])
    table = pa.table({"query": ["q1"] * 20_000, "doc": docs, "score": [1.0] * 20_000})
    pq.write_table(table, tmp_path / "bomb.parquet", store_schema=False)
    assert (tmp_path / "bomb.parquet").stat().st_size < 300_000
    code = f"gg.evaluate({QRELS!r}, {str(tmp_path / 'bomb.parquet')!r}, 'RR')"
    message, memory = peak_of(f"with gg.Limits(bytes='10MB'): {code}")
    assert "more than 10,000,000 bytes" in message
    assert memory < 300


@pytest.fixture(scope="module")
def bomb(tmp_path_factory: pytest.TempPathFactory) -> str:
    """500 MB in half of one."""
    path = tmp_path_factory.mktemp("bomb") / "run.txt.gz"
    block = "".join(f"q1 Q0 d{i} 1 2.5 t\n" for i in range(50_000)).encode()
    member = gzip.compress(block, 9)
    path.write_bytes(member * (500_000_000 // len(block)))
    return str(path)


def peak_of(code: str) -> tuple[str, float]:
    """What a program says, and the megabytes of memory that it needed at most beyond its imports."""
    program = (
        "import resource\nimport goodgain as gg, pyarrow, pyarrow.parquet\n"
        "gg.evaluate({'q': {'d': 1}}, {'q': {'d': 1.0}}, 'RR')\n"
        "def used(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
        f"before = used()\ntry:\n    {code}\nexcept gg.GoodgainError as error:\n    print(error.message)\n"
        "print(used() - before)"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    message, memory = said.stdout.split("\n")[-3:-1]
    return message, float(memory)


@pytest.mark.parametrize("limit", ["bytes='2MB'", "rows=1000"])
@pytest.mark.parametrize("kind", ["run", "qrels"])
def test_a_bomb_ends_early_with_little_memory(bomb: str, limit: str, kind: str) -> None:
    tables = f"{QRELS!r}, {bomb!r}" if kind == "run" else f"{bomb!r}, {{'q1': {{'d1': 1.0}}}}"
    message, memory = peak_of(f"with gg.Limits({limit}, seconds=60): gg.evaluate({tables}, 'RR')")
    assert "more than" in message
    assert memory < 60


def test_bombs_in_archives(tmp_path: Path) -> None:
    """A log of inspect_ai and an export of doccano are archives: what they hold is counted, too."""
    sample = {"id": 1, "epoch": 1, "messages": [{"role": "user", "content": "x" * 1_000_000}]}
    for name, member in (("log.eval", "samples/1_epoch_1.json"), ("export.zip", "ann.jsonl")):
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
            if name == "log.eval":
                archive.writestr("header.json", json.dumps({"eval": {}}))
            archive.writestr(member, json.dumps(sample))
        assert (tmp_path / name).stat().st_size < 5000
    with gg.Limits(bytes=100_000), pytest.raises(LimitError, match="more than 100,000 bytes"):
        list(gg.read_traces(tmp_path / "log.eval"))
    from goodgain.labels import Store
    from goodgain.labels.imports import import_labels

    with (
        Store(tmp_path / "labels.db") as store,
        gg.Limits(bytes=100_000),
        pytest.raises(LimitError, match="more than 100,000 bytes"),
    ):
        import_labels(store, tmp_path / "export.zip", form="doccano", annotator="ann")


# --- nesting ---

DEEP = "[" * 30 + "]" * 30
LINE = {"conversation": "c", "turns": [{"user": "u", "iterations": []}]}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.jsonl", '{"query": "q1", "doc": "d1", "score": 1, "more": DEEP}\n'),
        ("run.jsonl.gz", '{"query": "q1", "doc": "d1", "score": 1, "more": DEEP}\n'),
        ("lists.jsonl", '{"query": "q1", "results": [{"id": "d1", "more": DEEP}]}\n'),
        ("run.json", '{"q1": {"d1": DEEP}}'),
        ("pretty.json", '{"q1":\n {"d1":\n PRETTY}}'),
    ],
)
def test_nesting_of_tables(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    text = text.replace("DEEP", DEEP).replace("PRETTY", DEEP.replace("[", "[\n"))
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    with gg.Limits(nesting=20), pytest.raises(LimitError, match="more than 20 levels"):
        gg.evaluate(QRELS, path, "RR")


@pytest.mark.parametrize("layout", ["line", "document", "chat", "archive"])
def test_nesting_of_traces(tmp_path: Path, layout: str) -> None:
    path = tmp_path / "t.jsonl"
    deep = json.loads(DEEP)
    if layout == "line":
        path.write_text((json.dumps(LINE) + "\n") * 3 + json.dumps({**LINE, "more": deep}) + "\n")
    elif layout == "document":
        path.write_text(json.dumps([LINE, {**LINE, "more": deep}], indent=1))
    elif layout == "chat":
        path.write_text(
            json.dumps({"messages": [{"role": "user", "content": "u", "more": deep}]}) + "\n"
        )
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("samples/1.json", json.dumps({"id": 1, "messages": [], "more": deep}))
    with gg.Limits(nesting=20), pytest.raises(LimitError, match="more than 20 levels"):
        gg.good_gain(path)


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("[]", 1), ('{"a": [1, {"b": 2}]}', 3), ('["[[[[", "\\"[[[", "\\\\"]', 1), ("[1]\n[[2]]\n[3]\n", 2),
        ("[\n[\n[\n]]]", 3), ('{"a": 1\n{"a": 1\n{"a": 1\n', 3), ('{"a": 1}\n{"b\n{"c\n{"d": [\n', 2),
    ],
)  # fmt: skip
def test_depth(text: str, depth: int) -> None:
    with gg.Limits(nesting=depth):
        check_nesting(text.encode(), "text")
    if depth > 1:
        with gg.Limits(nesting=depth - 1), pytest.raises(LimitError):
            check_nesting(text.encode(), "text")


def test_text_that_is_no_json_may_have_brackets(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("q1 Q0 [[[[[[ 1 2.5 t\n")
    with gg.Limits(nesting=2):
        gg.evaluate(QRELS, path, "RR")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
@pytest.mark.parametrize("quotes", [False, True])
def test_blocks_may_end_anywhere(size: int, quotes: bool) -> None:
    """However a text is cut, the rows are those of Python's own reader."""
    text = b'a,"b\nc"\n\n  \r\nd,e\r\n\n"f\n\n","g""\n"\nh,i'
    if quotes:
        lines = list(csv.reader(io.StringIO(text.decode(), newline="")))
        rows = sum(any(field.strip() for field in line) for line in lines)
    else:
        rows = sum(bool(line.strip()) for line in text.split(b"\n"))
    blocks = [text[i : i + size] for i in range(0, len(text), size)]
    with gg.Limits(rows=rows):
        assert b"".join(counted_lines(iter(blocks), "text", quotes=quotes)) == text
    with gg.Limits(rows=rows - 1), pytest.raises(LimitError):
        list(counted_lines(iter(blocks), "text", quotes=quotes))
