"""Files as writers make them, by default and with options: the core reads what it can, with the same bits."""

from __future__ import annotations

import datetime
import decimal
import random
import zlib

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import goodgain as gg
from goodgain.errors import GoodgainError
from goodgain.io import arrow_files, parquet

MEASURES = "nDCG@10 AP RR NumRet"
QRELS = {f"q{q}": {f"d{d}": d % 3 for d in range(0, 60, 2)} for q in range(0, 20, 2)}


def table(seed: int) -> pa.Table:
    chance = random.Random(seed)
    rows = [
        (f"q{q}", f"d{d}", chance.randrange(50) / 8)
        for q in range(20)
        for d in chance.sample(range(200), 50)
    ]
    query, doc, score = zip(*rows, strict=True)
    return pa.table({"query": query, "doc": doc, "score": score})


def by_pyarrow(monkeypatch, path, **options):
    with monkeypatch.context() as patch:
        patch.setattr(parquet, "_core_table", lambda files: None)
        return gg.evaluate(QRELS, path, MEASURES, **options).to_dict()["runs"]


def by_core(monkeypatch, path, **options):
    with monkeypatch.context() as patch:
        patch.setattr(arrow_files.ArrowFiles, "__init__", None)  # cannot be made
        return gg.evaluate(QRELS, path, MEASURES, **options).to_dict()["runs"]


def write_duckdb(data, path, options=""):
    duckdb.register("data", data)
    duckdb.sql(f"COPY data TO '{path}' (FORMAT parquet {options})")


DEFAULTS = {
    "pyarrow": lambda data, path: pq.write_table(data, path),
    "polars": lambda data, path: pl.from_arrow(data).write_parquet(path),
    "polars, streamed": lambda data, path: pl.from_arrow(data).lazy().sink_parquet(path),
    "pandas": lambda data, path: data.to_pandas().to_parquet(path),
    "DuckDB": write_duckdb,
}
CODECS = ("none", "snappy", "gzip", "zstd")


@pytest.mark.parametrize("writer", DEFAULTS)
def test_what_writers_make_by_default_is_read_by_the_core(tmp_path, monkeypatch, writer):
    path = tmp_path / "run.parquet"
    DEFAULTS[writer](table(1), path)
    assert by_core(monkeypatch, path) == by_pyarrow(monkeypatch, path)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("has_nulls", [False, True])
@pytest.mark.parametrize("is_coded", [False, True])
def test_codecs(tmp_path, monkeypatch, codec, version, has_nulls, is_coded):
    path, data = tmp_path / "run.parquet", table(2)
    if has_nulls:
        scores = [None if i % 7 == 0 else s for i, s in enumerate(data["score"].to_pylist())]
        data = data.set_column(2, "score", pa.array(scores))
    pq.write_table(
        data,
        path,
        compression=codec,
        data_page_version=version,
        use_dictionary=is_coded,
        data_page_size=600,
        write_batch_size=13,
        row_group_size=330,
    )
    expected = by_pyarrow(monkeypatch, path, skip_bad=has_nulls)
    for threads in (1, 3):
        got = by_core(monkeypatch, path, skip_bad=has_nulls, threads=threads)
        assert got == expected


@pytest.mark.parametrize("codec", ["snappy", "gzip", "zstd"])
def test_codecs_of_other_writers(tmp_path, monkeypatch, codec):
    for path, write in (
        (tmp_path / "duck.parquet", lambda p: write_duckdb(table(3), p, f", COMPRESSION {codec}")),
        (
            tmp_path / "polar.parquet",
            lambda p: pl.from_arrow(table(3)).write_parquet(p, compression=codec),
        ),
    ):
        write(path)
        assert by_core(monkeypatch, path) == by_pyarrow(monkeypatch, path)


def test_judgments_and_runs_of_one_table_in_zstandard(tmp_path, monkeypatch):
    path, runs = tmp_path / "qrels.parquet", tmp_path / "runs.parquet"
    flat = [(q, d, g) for q, docs in QRELS.items() for d, g in docs.items()]
    query, doc, gain = zip(*flat, strict=True)
    pq.write_table(pa.table({"query": query, "doc": doc, "gain": gain}), path, compression="zstd")
    many = [table(n).append_column("run", pa.array([f"r{n}"] * 1000, pa.string())) for n in (1, 2)]
    pq.write_table(pa.concat_tables(many), runs, compression="gzip")
    monkeypatch.setattr(arrow_files.ArrowFiles, "__init__", None)
    assert gg.Qrels(path).to_dict() == QRELS
    result = gg.evaluate(path, runs, MEASURES)
    assert list(result) == ["r1", "r2"]


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_damaged_pages(tmp_path, monkeypatch, codec):
    """The same numbers as through pyarrow, or an error."""
    path, chance = tmp_path / "run.parquet", random.Random(4)
    pq.write_table(table(4), path, compression=codec, data_page_size=2000, write_batch_size=50)
    whole, refused = path.read_bytes(), 0
    for _ in range(80):
        damaged = bytearray(whole)
        damaged[chance.randrange(4, len(whole) - 2500)] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        try:
            got = gg.evaluate(QRELS, path, MEASURES, duplicates="best").to_dict()["runs"]
        except GoodgainError:
            refused += 1
            continue
        try:
            assert got == by_pyarrow(monkeypatch, path, duplicates="best")
        except GoodgainError:
            continue
    assert refused > 10


def test_memory_errors_and_interrupts_of_a_codec_are_not_damage(tmp_path, monkeypatch):
    path = tmp_path / "run.parquet"
    pq.write_table(table(5), path, compression="gzip")
    from goodgain.io import compression

    for kind in (KeyboardInterrupt, MemoryError):

        def fail(kind=kind):
            raise kind

        with monkeypatch.context() as patch:
            patch.setattr(compression, "_inflate", fail)
            with pytest.raises((kind, GoodgainError)) as error:
                gg.evaluate(QRELS, path, MEASURES, threads=1)
            assert kind is MemoryError or error.type is KeyboardInterrupt


def test_a_page_that_is_larger_than_it_says(tmp_path):
    """Never is more decompressed than a byte beyond."""
    from goodgain.io.compression import gzip_page, zstd_page

    bomb = zlib.compressobj(9, zlib.DEFLATED, 31)
    data = bomb.compress(bytes(1 << 24)) + bomb.flush()
    assert len(gzip_page(data, 100)) == 101
    assert gzip_page(b"no gzip", 100) == zstd_page(b"no frame", 100) == b""


ENCODINGS = {
    "delta lengths": {"query": "DELTA_LENGTH_BYTE_ARRAY", "doc": "DELTA_BYTE_ARRAY"},
    "split floats": {"score": "BYTE_STREAM_SPLIT"},
    "delta integers": {"number": "DELTA_BINARY_PACKED"},
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_encodings_that_are_left_to_pyarrow(tmp_path, monkeypatch, encoding):
    path, plain = tmp_path / "run.parquet", tmp_path / "plain.parquet"
    numbers = pa.array([int(s * 8) for s in table(6)["score"].to_pylist()], pa.int64())
    data = table(6).append_column("number", numbers)
    columns = {"score": "number"} if "integers" in encoding else None
    pq.write_table(data, path, use_dictionary=False, column_encoding=ENCODINGS[encoding])
    pq.write_table(data, plain)
    got, expected = (gg.evaluate(QRELS, p, MEASURES, columns=columns) for p in (path, plain))
    assert got.runs[0].per_query == expected.runs[0].per_query
    with pytest.raises(TypeError):
        by_core(monkeypatch, path, columns=columns)


VALUES = {
    "boolean": pa.array([i % 2 == 0 for i in range(1000)]),
    "decimal": pa.array([decimal.Decimal(i % 50) / 8 for i in range(1000)], pa.decimal128(9, 3)),
    "small decimal": pa.array([decimal.Decimal(i % 50) for i in range(1000)], pa.decimal128(5, 0)),
    "half": pa.array(np.arange(1000, dtype=np.float16) / 8),
    "unsigned": pa.array(range(1000), pa.uint32()),
    "unsigned long": pa.array([(1 << 63) + i * 4096 for i in range(1000)], pa.uint64()),
    "date": pa.array([datetime.date(2020, 1, 1 + i % 28) for i in range(1000)]),
    "time": pa.array([datetime.datetime(2020, 1, 1, 0, 0, i % 60) for i in range(1000)]),
    "texts": pa.array([str(i) for i in range(1000)]),
    "fixed": pa.array([b"%04d" % i for i in range(1000)], pa.binary(4)),
    "nothing": pa.nulls(1000),
}  # fmt: skip


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("column", ["query", "doc", "score"])
@pytest.mark.parametrize("options", [{}, {"store_schema": False}], ids=["schema", "no schema"])
def test_other_types_mean_the_same(tmp_path, monkeypatch, kind, column, options):
    path, data = tmp_path / "run.parquet", table(7)
    place = data.column_names.index(column)
    pq.write_table(data.set_column(place, column, VALUES[kind]), path, **options)
    _same_or_both_refused(monkeypatch, path)


def test_old_timestamps_of_96_bits(tmp_path, monkeypatch):
    path, data = tmp_path / "run.parquet", table(7)
    data = data.set_column(2, "score", VALUES["time"].cast(pa.timestamp("ns")))
    pq.write_table(data, path, use_deprecated_int96_timestamps=True)
    _same_or_both_refused(monkeypatch, path)


def _same_or_both_refused(monkeypatch, path):
    try:
        expected = by_pyarrow(monkeypatch, path, duplicates="best")
    except GoodgainError as error:
        with pytest.raises(GoodgainError) as by_core_first:
            gg.evaluate(QRELS, path, MEASURES, duplicates="best")
        assert str(by_core_first.value) == str(error)
    else:
        got = gg.evaluate(QRELS, path, MEASURES, duplicates="best").to_dict()["runs"]
        assert got == expected


def test_any_options_of_a_writer(tmp_path, monkeypatch):
    """Options drawn at random, also of sizes that no person would choose."""
    path, chance = tmp_path / "run.parquet", random.Random(8)
    for number in range(24):
        data = table(number)
        if chance.random() < 0.5:
            data = data.take(chance.sample(range(len(data)), len(data)))
        if chance.random() < 0.3:
            docs = [None if chance.random() < 0.02 else d for d in data["doc"].to_pylist()]
            data = data.set_column(1, "doc", pa.array(docs, pa.string()))
        has_nulls = {name: data.column(name).null_count > 0 for name in data.column_names}
        schema = pa.schema(
            [f.with_nullable(has_nulls[f.name] or chance.random() < 0.5) for f in data.schema]
        )
        pq.write_table(
            data.cast(schema),
            path,
            compression=chance.choice(CODECS),
            data_page_version=chance.choice(["1.0", "2.0"]),
            use_dictionary=chance.choice([True, False, ["query"], ["doc", "score"]]),
            dictionary_pagesize_limit=chance.choice([1, 100, 1000, 1 << 20]),
            data_page_size=chance.choice([1, 50, 500, 5000, 1 << 20]),
            write_batch_size=chance.choice([1, 3, 64, 1000]),
            row_group_size=chance.choice([1, 50, 333, 1 << 20]),
            write_statistics=chance.choice([True, False]),
            write_page_checksum=chance.choice([True, False]),
        )
        few = {q: QRELS[q] for q in chance.sample(sorted(QRELS), chance.choice([1, 3, 10]))}
        runs = []
        for is_core in (True, False):
            with monkeypatch.context() as patch:
                if is_core:
                    patch.setattr(arrow_files.ArrowFiles, "__init__", None)
                else:
                    patch.setattr(parquet, "_core_table", lambda files: None)
                result = gg.evaluate(few, path, MEASURES, skip_bad=True, threads=1 + number % 3)
                runs.append(result.to_dict()["runs"])
        assert runs[0] == runs[1]
