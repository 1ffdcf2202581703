"""Parquet files that the core reads itself mean the same as through pyarrow, to the last bit."""

from __future__ import annotations

import random
import subprocess
import sys
from contextlib import suppress

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import goodgain as gg
from goodgain.errors import GoodgainError
from goodgain.io import arrow_files, parquet
from goodgain.io.files import open_arrow
from goodgain.io.parquet import ParquetFiles

MEASURES = "nDCG@10 AP RR Judged@5 NumRet"
QUERIES, DEPTH = 40, 60
QRELS = {f"q{q}": {f"doc-{d}": (q * d) % 4 for d in range(0, 90, 3)} for q in range(0, QUERIES, 2)}


def rows(seed: int = 0) -> tuple[list[str], list[str], list[float]]:
    """Queries with ties, long and empty ids, and documents of any language."""
    chance = random.Random(seed)
    query, doc, score = [], [], []
    for q in range(QUERIES):
        for d in chance.sample(range(200), DEPTH):
            query.append(f"q{q}")
            doc.append(f"doc-{d}" if d % 7 else f"dokument-ü-{d}" * (1 + d % 5))
            score.append(round(chance.random(), 2))
    return query, doc, score


def table(seed: int = 0, text=None, number=None) -> pa.Table:
    query, doc, score = rows(seed)
    text = text or pa.string()
    return pa.table(
        {
            "query": pa.array(query).cast(text),
            "doc": pa.array(doc).cast(text),
            "score": pa.array(score, pa.float64()).cast(number or pa.float64()),
            "note": pa.array(["unused"] * len(query)),
        }
    )


@pytest.fixture
def without_core(monkeypatch):
    """A function that evaluates with pyarrow alone."""

    def evaluate(*arguments, **options):
        with monkeypatch.context() as patch:
            patch.setattr(parquet, "_core_table", lambda files: None)
            return gg.evaluate(*arguments, **options)

    return evaluate


@pytest.fixture
def core_only(monkeypatch):
    """Leaving a file to pyarrow is an error."""

    def refuse(*_):
        raise AssertionError("left to pyarrow")

    monkeypatch.setattr(arrow_files.ArrowFiles, "__init__", refuse)


WRITERS = {
    "usual": {},
    "no dictionary": {"use_dictionary": False},
    "some dictionaries": {"use_dictionary": ["query", "score"]},
    "uncompressed": {"compression": "none"},
    "small pages": {"data_page_size": 300, "write_batch_size": 10},
    "small dictionaries": {"dictionary_pagesize_limit": 200, "data_page_size": 500, "write_batch_size": 7},
    "second version": {"data_page_version": "2.0"},
    "second version, small pages": {"data_page_version": "2.0", "data_page_size": 300, "write_batch_size": 9},
    "second version, uncompressed": {"data_page_version": "2.0", "compression": "none"},
    "small groups": {"row_group_size": 37},
    "no statistics": {"write_statistics": False},
    "page checksums": {"write_page_checksum": True, "write_page_index": True},
    "no schema of Arrow": {"store_schema": False},
}  # fmt: skip
TYPES = {
    "text": pa.string(),
    "large text": pa.large_string(),
    "views": pa.string_view(),
    "bytes": pa.binary(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("is_shuffled", [False, True])
def test_what_pyarrow_writes(tmp_path, without_core, monkeypatch, writer, is_shuffled):
    path, data = tmp_path / "run.parquet", table()
    if is_shuffled:
        order = list(range(len(data)))
        random.Random(1).shuffle(order)
        data = data.take(order)
    pq.write_table(data, path, **WRITERS[writer])
    expected = without_core(QRELS, path, MEASURES)
    monkeypatch.setattr(arrow_files.ArrowFiles, "__init__", None)  # cannot be made
    for threads in (1, 3):
        got = gg.evaluate(QRELS, path, MEASURES, threads=threads)
        assert got.to_dict()["runs"] == expected.to_dict()["runs"]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("number", [pa.float64(), pa.float32()])
def test_types(tmp_path, without_core, core_only_after, kind, number):
    path = tmp_path / "run.parquet"
    pq.write_table(table(2, TYPES[kind], number), path)
    expected = without_core(QRELS, path, MEASURES)
    core_only_after()
    assert gg.evaluate(QRELS, path, MEASURES).to_dict()["runs"] == expected.to_dict()["runs"]


@pytest.fixture
def core_only_after(monkeypatch):
    """From its call on, leaving a file to pyarrow is an error."""
    return lambda: monkeypatch.setattr(arrow_files.ArrowFiles, "__init__", None)


@pytest.mark.parametrize("type_", [pa.int64(), pa.int32(), pa.int8()])
@pytest.mark.parametrize("stores_schema", [True, False])
def test_integers(tmp_path, without_core, core_only_after, type_, stores_schema):
    chance = random.Random(3)
    data = pa.table(
        {
            "query": pa.array([q for q in range(30) for _ in range(40)], type_),
            "doc": pa.array([d for _ in range(30) for d in chance.sample(range(-50, 99), 40)], type_),
            "score": pa.array([chance.randrange(-9, 9) for _ in range(1200)], type_),
        }
    )  # fmt: skip
    path = tmp_path / "run.parquet"
    pq.write_table(data, path, store_schema=stores_schema)
    qrels = {q: {d: d % 3 for d in range(-40, 40)} for q in range(0, 30, 2)}
    expected = without_core(qrels, path, MEASURES)
    core_only_after()
    assert gg.evaluate(qrels, path, MEASURES).to_dict()["runs"] == expected.to_dict()["runs"]


def test_a_duration_is_no_score(tmp_path):
    """Parquet stores it as an integer; only the schema of Arrow tells."""
    data = table()
    seconds = pa.array(range(len(data)), pa.duration("s"))
    path = tmp_path / "run.parquet"
    pq.write_table(data.set_column(2, "score", seconds), path)
    with pytest.raises(GoodgainError, match="must hold numbers"):
        gg.evaluate(QRELS, path, MEASURES)


@pytest.mark.parametrize("compression", ["snappy", "uncompressed"])
def test_other_writers(tmp_path, without_core, core_only_after, compression):
    duck, polar = tmp_path / "duck.parquet", tmp_path / "polar.parquet"
    data = table(4)
    duckdb.register("data", data)
    duckdb.sql(
        f"COPY data TO '{duck}' (FORMAT parquet, COMPRESSION {compression}, ROW_GROUP_SIZE 2048)"
    )
    pl.from_arrow(data).write_parquet(polar, compression=compression, row_group_size=500)
    expected = [without_core(QRELS, path, MEASURES).to_dict()["runs"] for path in (duck, polar)]
    core_only_after()
    got = [gg.evaluate(QRELS, path, MEASURES).to_dict()["runs"] for path in (duck, polar)]
    assert got == expected


@pytest.mark.parametrize("column", ["query", "doc", "score"])
@pytest.mark.parametrize(
    "writer", ["usual", "small pages", "no dictionary", "second version, small pages"]
)
def test_missing_values(tmp_path, without_core, column, writer):
    data = table(5)
    place = data.column_names.index(column)
    values = data.column(column).to_pylist()
    for i in (0, 59, 60, 777, len(values) - 1):
        values[i] = None
    if column == "score":
        values[5], values[6] = float("nan"), float("inf")
    path = tmp_path / "run.parquet"
    pq.write_table(data.set_column(place, column, pa.array(values)), path, **WRITERS[writer])
    expected = without_core(QRELS, path, MEASURES, skip_bad=True)
    got = gg.evaluate(QRELS, path, MEASURES, skip_bad=True)
    assert got.to_dict()["runs"] == expected.to_dict()["runs"]
    with pytest.raises(GoodgainError) as by_core:
        gg.evaluate(QRELS, path, MEASURES)
    with pytest.raises(GoodgainError) as by_pyarrow:
        without_core(QRELS, path, MEASURES)
    assert str(by_core.value) == str(by_pyarrow.value)


def test_several_runs_in_one_table(tmp_path, without_core):
    data = pa.concat_tables(
        [
            table(seed).append_column("system", pa.array([f"s{seed}"] * (QUERIES * DEPTH)))
            for seed in (6, 7)
        ]
    )
    path = tmp_path / "runs.parquet"
    pq.write_table(data, path, data_page_size=500, write_batch_size=11)
    expected = without_core(QRELS, path, MEASURES)
    got = gg.evaluate(QRELS, path, MEASURES)
    assert list(got) == ["s6", "s7"]
    assert got.to_dict()["runs"] == expected.to_dict()["runs"]


def test_parts_of_a_folder(tmp_path, without_core, core_only_after):
    folder = tmp_path / "run"
    folder.mkdir()
    data = table(8)
    for part in range(3):
        pq.write_table(
            data.slice(part * 800, 800), folder / f"part-{part}.parquet", row_group_size=300
        )
    (folder / "_SUCCESS").touch()
    expected = without_core(QRELS, folder, MEASURES)
    core_only_after()
    assert gg.evaluate(QRELS, folder, MEASURES).to_dict()["runs"] == expected.to_dict()["runs"]


def test_judgments(tmp_path, core_only):
    path = tmp_path / "qrels.parquet"
    flat = [(q, d, g, f"t{g}") for q, docs in QRELS.items() for d, g in docs.items()]
    query, doc, gain, target = zip(*flat, strict=True)
    pq.write_table(
        pa.table(
            {"query": query, "doc": doc, "gain": pa.array(gain, pa.float64()), "target": target}
        ),
        path,
    )
    qrels = gg.Qrels(path)
    assert qrels.to_dict() == {
        q: {d: float(g) for d, g in docs.items()} for q, docs in QRELS.items()
    }


def test_queries_without_judgments_are_passed_over(tmp_path, without_core, core_only_after):
    """Their documents are not decoded, but all rows and queries are counted."""
    path = tmp_path / "run.parquet"
    pq.write_table(table(9), path, data_page_size=300, write_batch_size=10, row_group_size=600)
    for wanted in ("q0", "q20", "q38"):
        qrels = {wanted: QRELS[wanted]}
        expected = without_core(qrels, path, MEASURES)
        got = gg.evaluate(qrels, path, MEASURES)
        assert got.to_dict()["runs"] == expected.to_dict()["runs"]


def test_damaged_files(tmp_path, without_core):
    """Whatever is damaged: the same numbers as through pyarrow, or an error; never the end of the process."""
    path, chance = tmp_path / "run.parquet", random.Random(10)
    pq.write_table(table(10), path, data_page_size=2000, write_batch_size=100)
    whole = path.read_bytes()
    refused = 0
    for number in range(300):
        damaged = bytearray(whole)
        if number % 4 == 0:
            damaged = damaged[: chance.randrange(len(whole))]
        else:
            near = len(whole) if number % 4 == 1 else 1 << 30
            for _ in range(chance.choice([1, 1, 5])):
                low = max(0, len(whole) - 1500) if near == len(whole) else 0
                damaged[chance.randrange(low, len(whole))] = chance.randrange(256)
        path.write_bytes(damaged)
        try:
            got = gg.evaluate(QRELS, path, MEASURES, duplicates="best").to_dict()["runs"]
        except GoodgainError:
            refused += 1
            continue
        try:
            expected = without_core(QRELS, path, MEASURES, duplicates="best").to_dict()["runs"]
        except GoodgainError:
            continue
        assert got == expected
    assert refused > 50


DAMAGE = """
import random, struct, sys
import goodgain as gg
from goodgain.errors import GoodgainError
path, seed = sys.argv[1], int(sys.argv[2])
whole, chance = open(path, "rb").read(), random.Random(seed)
footer = struct.unpack("<I", whole[-8:-4])[0]
for _ in range(60):
    damaged = bytearray(whole)
    for _ in range(chance.choice([1, 1, 3])):
        damaged[len(whole) - 8 - chance.randrange(footer)] = chance.randrange(256)
    open(path + ".damaged.parquet", "wb").write(damaged)
    for read in (lambda p: gg.evaluate({"q1": {"d1": 1}}, p, "AP"),
                 lambda p: gg.Qrels(p, columns={"gain": "score"})):
        try:
            read(path + ".damaged.parquet")
        except GoodgainError:
            pass
"""


@pytest.mark.parametrize("seed", [6, 7])
def test_damaged_metadata_do_not_end_the_process(tmp_path, seed):
    """pyarrow ends it where it is asked for the metadata of a damaged column."""
    rows = range(500)
    data = {"query": [f"q{i % 40}" for i in rows], "doc": [f"d{i}" for i in rows], "score": rows}
    path = str(tmp_path / "run.parquet")
    pq.write_table(pa.table(data), path, compression="gzip", use_dictionary=False)
    command = [sys.executable, "-c", DAMAGE, path, str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-1000:]


def test_a_negative_number_of_rows(tmp_path):
    path = tmp_path / "run.parquet"
    pq.write_table(table(1), path, compression="gzip")
    content = path.read_bytes()
    rows = len(table(1))
    assert content.count(varint(rows)) > 1
    for place in range(len(content)):
        if content.startswith(varint(rows), place):
            path.write_bytes(content[:place] + varint(-rows) + content[place + len(varint(rows)) :])
            with suppress(GoodgainError):
                gg.evaluate(QRELS, path, "RR")


def varint(number):
    """As Thrift writes it."""
    zigzag = (number << 1) ^ (number >> 63)
    written = b""
    while zigzag > 127:
        written += bytes([zigzag & 127 | 128])
        zigzag >>= 7
    return written + bytes([zigzag])


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
def test_texts_of_other_encodings(tmp_path, encoding):
    """Queries that are repeated take few bytes, as with a dictionary, but pyarrow makes none of them."""
    path, data = tmp_path / "run.parquet", table(13).sort_by("query")
    encodings = {"query": encoding, "doc": encoding}
    pq.write_table(data, path, use_dictionary=False, column_encoding=encodings)
    assert gg.evaluate(QRELS, path, MEASURES)["AP"] == gg.evaluate(QRELS, data, MEASURES)["AP"]


@pytest.mark.parametrize("column", ["query", "doc", "score"])
@pytest.mark.parametrize("has_plain_footer", [True, False])
def test_encrypted_columns(tmp_path, column, has_plain_footer):
    """In a process of its own, which pyarrow would end."""
    import base64

    import pyarrow.parquet.encryption as keys

    class Keys(keys.KmsClient):
        def wrap_key(self, key, name):
            return base64.b64encode(key)

    path = str(tmp_path / "run.parquet")
    config = keys.EncryptionConfiguration(
        footer_key="f", column_keys={"k": [column]}, plaintext_footer=has_plain_footer
    )
    factory = keys.CryptoFactory(lambda _: Keys())
    properties = factory.file_encryption_properties(keys.KmsConnectionConfig(), config)
    data = table(1)
    with pq.ParquetWriter(path, data.schema, encryption_properties=properties) as writer:
        writer.write_table(data)
    code = "import sys; from goodgain.cli import run; sys.exit(run(sys.argv[1:]))"
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\n")
    command = [sys.executable, "-c", code, "evaluate", str(tmp_path / "qrels.txt"), path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode == 2 and "encrypt" in done.stderr) or "decrypt" in done.stderr


def test_no_pyarrow_is_needed(tmp_path):
    path = tmp_path / "run.parquet"
    pq.write_table(table(11), path)
    code = (
        "import sys, goodgain as gg\n"
        f"print(gg.evaluate({{'q0': {{'doc-3': 1}}}}, {str(path)!r}, 'RR')['RR'], 'pyarrow' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[1] == "False"


def test_what_the_core_cannot_read_is_left_to_pyarrow(tmp_path):
    lists = pa.table({"query": ["q0"], "docs": [["doc-3", "doc-6"]]})
    pq.write_table(lists, tmp_path / "lists.parquet")
    pq.write_table(table(12), tmp_path / "brotli.parquet", compression="brotli")
    pq.write_table(table(12), tmp_path / "plain.parquet")
    for name, is_core in (("lists", False), ("plain", True)):
        assert isinstance(open_arrow(str(tmp_path / f"{name}.parquet")), ParquetFiles) == is_core
    as_plain = gg.evaluate(QRELS, tmp_path / "plain.parquet", MEASURES)
    as_brotli = gg.evaluate(QRELS, tmp_path / "brotli.parquet", MEASURES)
    assert dict(as_plain) == dict(as_brotli)


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_file_is_opened_when_it_is_read(tmp_path, is_replaced):
    path, other = tmp_path / "run.parquet", tmp_path / "other.parquet"
    pq.write_table(table(13), path)
    run = gg.Run(path)
    before = gg.evaluate(QRELS, run, MEASURES)
    pq.write_table(table(14), other if is_replaced else path)
    if is_replaced:
        other.replace(path)
    after = gg.evaluate(QRELS, run, MEASURES)
    assert dict(after) == dict(gg.evaluate(QRELS, path, MEASURES)) != dict(before)


def test_parts_with_and_without_views(tmp_path, without_core):
    """pyarrow cannot unify or filter texts that are stored as views; polars writes them."""
    folder = tmp_path / "run"
    folder.mkdir()
    pq.write_table(table(15, pa.string_view()).slice(0, 1000), folder / "part-0.parquet")
    pq.write_table(table(15).slice(1000), folder / "part-1.parquet")
    whole = tmp_path / "whole.parquet"
    pq.write_table(table(15), whole)
    expected = dict(gg.evaluate(QRELS, whole, MEASURES))
    assert dict(without_core(QRELS, folder, MEASURES)) == expected
    assert dict(gg.evaluate(QRELS, folder, MEASURES)) == expected


def test_a_column_without_a_name(tmp_path):
    path = tmp_path / "qrels.parquet"
    pq.write_table(pa.table({"": ["q"], "doc": ["d"], "gain": [1.0]}), path)
    with pytest.raises(GoodgainError):
        gg.Qrels(path)
    try:
        assert gg.Qrels(path, columns={"query": ""}).to_dict() == {"q": {"d": 1.0}}
    except GoodgainError as error:
        assert "column" in str(error)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is read from /proc")
def test_numbers_of_a_large_row_group_are_given_back(tmp_path):
    """A file may be one row group of any size: only some pages are in memory at a time."""
    import numpy as np

    numbers = np.arange(3_000_000)
    scores = np.random.default_rng(1).random(len(numbers))
    data = pa.table({"query": numbers // 1000, "doc": numbers % 1000, "score": scores})
    path = tmp_path / "run.parquet"
    code = (
        "import goodgain as gg\n"
        f"gg.evaluate({{3: {{5: 1}}}}, {str(path)!r}, 'AP', threads=1)['AP']\n"
        "with open('/proc/self/status') as status:\n"
        "    print(next(line.split()[1] for line in status if line.startswith('VmHWM')))"
    )
    peaks = []
    for rows in (100_000, len(numbers)):
        pq.write_table(data, path, row_group_size=rows, use_dictionary=["query"])
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        peaks.append(int(done.stdout) / 2**10)
    assert peaks[1] < peaks[0] + 12  # MB; all scores are 23
