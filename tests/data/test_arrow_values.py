"""Arrow columns of every kind hold the same numbers, and damaged data are refused, not read."""

from __future__ import annotations

import ctypes
import random
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import goodgain as gg
from goodgain.errors import InputError

QRELS = {"q": {"a": 3, "b": 0, "c": 1}}
ROWS = [("q", "a", 0.2), ("q", "b", 0.9), ("q", "c", 0.5)]


def table(scores, **columns):
    base = {"query": ["q"] * 3, "doc": ["a", "b", "c"]}
    return pa.table({**base, "score": scores, **columns})


EXPECTED = gg.evaluate(QRELS, {"q": {"a": 1.0, "b": 9.0, "c": 5.0}}, "nDCG@10 RR")["nDCG@10"]


@pytest.mark.parametrize(
    "kind",
    [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64(),
     pa.float32(), pa.float64()],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("index", [None, pa.int8(), pa.int32(), pa.uint16()], ids=str)
def test_scores_of_every_type(kind, index):
    """In a dictionary the order of first appearance is not that of the values."""
    scores = pa.array([1, 9, 5], kind)
    if index is not None:
        scores = scores.dictionary_encode().cast(pa.dictionary(index, kind))
    assert gg.evaluate(QRELS, table(scores), "nDCG@10")["nDCG@10"] == EXPECTED


def test_categorical_gains_of_pandas():
    frame = pd.DataFrame({"query": "q", "doc": ["a", "b", "c"], "gain": pd.Categorical([3, 0, 1])})
    run = {"q": {"a": 1.0, "b": 9.0, "c": 5.0}}
    assert gg.evaluate(frame, run, "nDCG@10")["nDCG@10"] == EXPECTED
    missing = frame.assign(gain=pd.Categorical([3, None, 1]))
    with pytest.raises(InputError, match="missing"):
        gg.evaluate(missing, run, "nDCG@10")


def test_large_unsigned_integers_stay_positive():
    scores = pa.array([2**63 + 5000, 2**64 - 1, 2**63 + 10_000_000], pa.uint64())
    assert gg.evaluate(QRELS, table(scores), "nDCG@10")["nDCG@10"] == EXPECTED
    ids = pa.array([2**64 - 1] * 3, pa.uint64())
    judged = pa.table({"query": ids, "doc": ["a", "b", "c"], "gain": [3, 0, 1]})
    run = pa.table({"query": ids, "doc": ["a", "b", "c"], "score": [1.0, 9.0, 5.0]})
    assert gg.evaluate(judged, run, "nDCG@10")["nDCG@10"] == EXPECTED


def test_a_null_in_a_dictionary_is_missing():
    scores = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int8()), pa.array([1.0, None]))
    with pytest.raises(InputError, match="the score is missing"):
        gg.evaluate(QRELS, table(scores), "nDCG@10")


class Hundredths(pa.ExtensionType):
    """A type that pyarrow does not know unless a program registers it."""

    def __init__(self, storage):
        super().__init__(storage, "shop.hundredths")

    def __arrow_ext_serialize__(self):
        return b""


def written(data, form, path):
    if form == "memory":
        return data
    if form == "parquet":
        pq.write_table(data, path)
    else:
        with pa.ipc.new_stream(path, data.schema) as file:
            file.write_table(data)
    return path


@pytest.mark.parametrize("form", ["memory", "parquet", "arrow"])
def test_extension_types_are_not_what_they_store(form, tmp_path):
    def extended(values):
        return pa.ExtensionArray.from_storage(Hundredths(values.type), values)

    path = str(tmp_path / f"run.{form}")
    days = pa.array(pd.period_range("2020", periods=3, freq="D"))
    for scores, name in (
        (extended(pa.array([1, 9, 5])), "shop.hundredths"),
        (extended(pa.array([1.0, 9.0, 5.0]).dictionary_encode()), "shop.hundredths"),
        (days, "pandas.period"),
    ):
        with pytest.raises(InputError, match="column 'score' must hold numbers") as error:
            gg.evaluate(QRELS, written(table(scores), form, path), "RR")
        assert error.value.hint == f"its Arrow type is the extension '{name}': cast it to numbers"
        gains = table([1.0] * 3).drop_columns("score").append_column("gain", scores)
        with pytest.raises(InputError, match="column 'gain' must hold numbers"):
            gg.Qrels(written(gains, form, path)).to_dict()
    for ids in (days, extended(pa.array([1, 2, 3])), extended(pa.array([b"a", b"b", b"c"]))):
        with pytest.raises(InputError, match="id column 'doc' must hold text or integers"):
            gg.evaluate(QRELS, written(table([1.0] * 3, doc=ids), form, path), "RR")
    texts = extended(pa.array(["a", "b", "c"]))
    data = written(table([1.0, 9.0, 5.0], doc=texts, unused=days), form, path)
    assert gg.evaluate(QRELS, data, "nDCG@10")["nDCG@10"] == EXPECTED
    flags = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([0, 1, 0], pa.int8()))
    same = gg.evaluate(QRELS, table([False, True, False]), "nDCG@10")["nDCG@10"]
    assert gg.evaluate(QRELS, written(table(flags), form, path), "nDCG@10")["nDCG@10"] == same


@pytest.mark.parametrize(
    "value",
    [np.timedelta64(5, "ns"), np.timedelta64(5), np.datetime64(5, "ns"), np.complex64(5),
     np.complex128(5), np.array("5"), np.array(np.timedelta64(5, "ns")), "5", b"5", np.nan],
    ids=repr,
)  # fmt: skip
def test_values_of_numpy_that_are_no_numbers(value):
    """float() takes them, and not only evaluation reads scores."""
    for run in ({"q": {"a": value}}, [("q", "a", value)], {"q": [("a", value)]}):
        with pytest.raises(InputError, match="not a finite number"):
            gg.evaluate(QRELS, run, "RR")
        with pytest.raises(InputError, match="not a finite number"):
            gg.Run(run).to_dict()
        with pytest.raises(InputError, match="not a finite number"):
            gg.fuse([run, run])
    with pytest.raises(InputError, match="not a finite number"):
        gg.Qrels({"q": {"a": value}})


# --- damaged data ---


class Stream:
    """A table whose memory can be spoilt after it was exported."""

    def __init__(self, data):
        self.data = data

    def __arrow_c_stream__(self, requested_schema=None):
        return self.data.__arrow_c_stream__(requested_schema)


def spoilt(array, buffer, position, value, kind):
    """The array with one element of a buffer overwritten."""
    copies = [
        None if b is None else pa.py_buffer(bytearray(b.to_pybytes())) for b in array.buffers()
    ]
    numbers = np.frombuffer(copies[buffer], dtype=kind)
    address = numbers.ctypes.data + position * numbers.itemsize
    ctypes.memmove(address, np.array([value], kind).tobytes(), numbers.itemsize)
    return pa.Array.from_buffers(array.type, len(array), copies)


@pytest.mark.parametrize(("position", "value"), [(1, -7), (1, 2**31 - 1), (2, 0)])
def test_offsets_out_of_order(position, value):
    docs = spoilt(pa.array(["a", "b", "c"]), 1, position, value, np.int32)
    with pytest.raises(InputError, match="damaged Arrow data"):
        gg.evaluate(QRELS, Stream(table([1.0, 2.0, 3.0]).set_column(1, "doc", docs)), "nDCG@10")


@pytest.mark.parametrize("value", [-1, 3, 2**31 - 1])
def test_an_index_outside_its_dictionary(value):
    for column, values in (("doc", ["a", "b", "c"]), ("score", [1.0, 2.0, 3.0])):
        indices = spoilt(pa.array([0, 1, 2], pa.int32()), 1, 1, value, np.int32)
        array = pa.DictionaryArray.from_arrays(indices, pa.array(values), safe=False)
        data = table([1.0, 2.0, 3.0])
        place = data.schema.get_field_index(column)
        with pytest.raises(InputError, match="damaged Arrow data"):
            gg.evaluate(QRELS, Stream(data.set_column(place, column, array)), "nDCG@10")


DAMAGE = """
import sys
import goodgain as gg
from goodgain.errors import GoodgainError
refused = 0
for path in sys.argv[1:]:
    try:
        gg.evaluate({"q1": {"d1": 1}}, path, "nDCG@10")
    except GoodgainError:
        refused += 1
print(refused)
"""


def test_damaged_files_do_not_end_the_process(tmp_path):
    """Random bytes of Arrow files changed: an error or a number, never a crash."""
    draw = random.Random(4)
    docs = [f"document-{i:05}" for i in range(400)]
    data = pa.table(
        {"query": pa.array(["q1"] * 400).dictionary_encode(), "doc": docs, "score": range(400)}
    )
    paths = []
    for n in range(150):
        path = tmp_path / f"{n}.arrow"
        writer = pa.ipc.new_file if n % 2 else pa.ipc.new_stream
        with writer(str(path), data.schema) as file:
            file.write_table(data)
        content = bytearray(path.read_bytes())
        for _ in range(draw.choice([1, 3, 20])):
            content[draw.randrange(len(content))] = draw.randrange(256)
        if n % 5 == 0:
            content = content[: draw.randrange(len(content))]
        path.write_bytes(content)
        paths.append(str(path))
    done = subprocess.run(
        [sys.executable, "-c", DAMAGE, *paths],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 20


def test_a_stream_that_fails_midway_leaks_nothing():
    import gc

    def batches():
        yield from table([1.0, 2.0, 3.0]).to_batches()
        raise ValueError("the lake is gone")

    before = pa.total_allocated_bytes()
    for _ in range(50):
        reader = pa.RecordBatchReader.from_batches(table([1.0, 2.0, 3.0]).schema, batches())
        with pytest.raises(InputError, match="the lake is gone"):
            gg.evaluate(QRELS, reader, "nDCG@10")
    gc.collect()
    assert pa.total_allocated_bytes() <= before + 4096


@pytest.mark.parametrize(
    ("values", "name"),
    [(["1", "2", "3"], "text"), ([b"1", b"2", b"3"], "binary"), ([[1], [2], [3]], "list"),
     ([None] * 3, "null"), (pa.array([1, 2, 3], pa.timestamp("s")), "timestamp"),
     (pa.array([1, 2, 3], pa.duration("s")), "duration"),
     (pa.RunEndEncodedArray.from_arrays([1, 2, 3], [1.0, 2.0, 3.0]), "run-end encoded")],
)  # fmt: skip
def test_what_is_no_number_is_refused_by_its_name(values, name):
    with pytest.raises(InputError, match="column 'score' must hold numbers") as error:
        gg.evaluate(QRELS, table(values), "nDCG@10")
    assert error.value.hint == f"its Arrow type is {name}: cast it to numbers"
    if name not in ("text", "binary"):
        with pytest.raises(InputError, match="id column 'doc' must hold text or integers") as error:
            gg.evaluate(QRELS, table([1.0] * 3, doc=values), "nDCG@10")
        assert error.value.hint.startswith(f"its Arrow type is {name}: ")


# --- what offers no stream, or an odd one ---


class Offers:
    """An object whose stream is whatever this function returns."""

    def __init__(self, stream):
        self._stream = stream

    def __arrow_c_stream__(self, requested_schema=None):
        return self._stream()


@pytest.mark.parametrize(
    ("column", "reason"),
    [(pd.Series(["a", 1, "c"], dtype=object), "Conversion failed for column doc"),
     (pd.array([0, 0, 1], dtype="Sparse[int]"), "Sparse"),
     (np.array([1, 2, 3], complex), "Conversion failed for column doc")],
    ids=["mixed", "sparse", "complex"],
)  # fmt: skip
def test_frames_that_arrow_cannot_hold(column, reason):
    frame = pd.DataFrame({"query": "q", "doc": column, "score": [1, 9, 5]})
    with pytest.raises(InputError, match=f"cannot read the data: .*{reason}"):
        gg.evaluate(QRELS, frame, "RR")
    with pytest.raises(InputError, match=f"cannot read the data: .*{reason}"):
        gg.evaluate(frame.rename(columns={"score": "gain"}), {"q": {"a": 1.0}}, "RR")


def test_objects_without_a_stream():
    def fails():
        raise RuntimeError("gone")

    for stream, reason in ((lambda: 5, "does not return an Arrow stream"), (fails, "gone")):
        with pytest.raises(InputError, match=f"cannot read the data: .*{reason}"):
            gg.evaluate(Offers(stream), {"q": {"a": 1.0}}, "RR")


def test_what_a_database_raises():
    """Its errors are none of Arrow's."""
    import duckdb

    mixed = pd.Series([1, True], dtype=object)
    frame = pd.DataFrame({"query": "q", "doc": ["a", "b"], "score": mixed})
    assert len(frame) == 2  # used below by its name
    with pytest.raises(InputError, match="cannot read the data: "):
        gg.evaluate(QRELS, duckdb.connect().sql("select * from frame"), "RR")


def test_interrupts_of_a_stream_are_interrupts():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gg.evaluate(Offers(interrupted), {"q": {"a": 1.0}}, "RR")


def test_a_row_that_is_null_is_refused():
    """Its columns still hold values in Arrow, which do not count."""
    judged = pa.StructArray.from_arrays(
        [pa.array(["q"] * 3), pa.array(["a", "b", "c"]), pa.array([3, 0, 1])],
        ["query", "doc", "gain"],
        mask=pa.array([False, True, False]),
    )
    with pytest.raises(InputError, match="a whole row is null"):
        gg.evaluate(pa.chunked_array([judged]), {"q": {"a": 1.0}}, "RR")


@pytest.mark.parametrize("form", ["memory", "parquet", "arrow"])
def test_columns_of_one_name(form, tmp_path):
    """Those that nobody uses do no harm; of two that could be meant none is taken."""

    def stored(names):
        columns = [pa.array(["q"] * 3), pa.array(["a", "b", "c"]), *[pa.array([1, 9, 5])] * 3]
        data = pa.table(columns[: len(names)], names=names)
        path = str(tmp_path / f"run.{form}")
        if form == "memory":
            return data
        if form == "parquet":
            pq.write_table(data, path)
        else:
            with pa.ipc.new_file(path, data.schema) as file:
                file.write_table(data)
        return path

    unused = stored(["query", "doc", "score", "x", "x"])
    assert gg.evaluate(QRELS, unused, "nDCG@10")["nDCG@10"] == EXPECTED
    with pytest.raises(InputError, match="two columns are named 'score'"):
        gg.evaluate(QRELS, stored(["query", "doc", "score", "score"]), "RR")


def test_a_length_that_nobody_could_hold(tmp_path):
    """Of a damaged file, pyarrow asks for as many bytes as it claims to have."""
    path = tmp_path / "run.arrow"
    with pa.ipc.new_stream(str(path), table([1.0, 9.0, 5.0]).schema) as file:
        file.write_table(table([1.0, 9.0, 5.0]))
    content = path.read_bytes()
    for position in range(0, len(content) - 8, 32):
        for claimed in (2**63 - 1, 2**31 - 1, 2**40):
            damaged = bytearray(content)
            damaged[position : position + 8] = claimed.to_bytes(8, "little")
            path.write_bytes(damaged)
            try:
                gg.evaluate(QRELS, str(path), "RR")
            except InputError as error:
                assert "memory" not in error.message
