"""Parquet files that contradict themselves: an error, never other numbers and never much time or memory."""

from __future__ import annotations

import time

import pytest
from parquet_bytes import (
    BYTES,
    DICTIONARY,
    DOUBLE,
    PLAIN,
    Column,
    Number,
    data_page,
    dictionary_page,
    doubles,
    file_of,
    places,
    texts,
)

import goodgain as gg
from goodgain.errors import GoodgainError
from goodgain.io import arrow_files, parquet

QRELS = {"q0": {"a": 1, "d": 2}}


def file(rows=4, values=4, **pages):
    """A run of `rows` rows with other pages for some columns."""
    usual = {
        "query": data_page(4, texts("q0", "q0", "q0", "q0")),
        "doc": data_page(4, texts("a", "b", "c", "d")),
        "score": data_page(4, doubles(4, 3, 2, 1)),
    }
    kinds = {"query": BYTES, "doc": BYTES, "score": DOUBLE}
    return file_of(
        rows, *(Column(n, kinds[n], pages.get(n, usual[n]), values) for n in kinds)
    )  # fmt: skip


@pytest.fixture
def evaluate(tmp_path):
    def run(data, **options):
        (tmp_path / "run.parquet").write_bytes(data)
        return gg.evaluate(QRELS, tmp_path / "run.parquet", "AP NumRet", **options)

    return run


def test_the_usual_file(evaluate, monkeypatch):
    coded = dictionary_page(4, texts("d", "c", "b", "a"))
    coded += data_page(2, places(3, 2), DICTIONARY) + data_page(2, texts("c", "d"), PLAIN)
    for data in (file(), file(doc=coded)):
        expected = dict(evaluate(data))
        with monkeypatch.context() as patch:
            patch.setattr(parquet, "_core_table", lambda files: None)
            assert dict(evaluate(data)) == expected
        with monkeypatch.context() as patch:
            patch.setattr(arrow_files.ArrowFiles, "__init__", None)
            assert dict(evaluate(data)) == expected


def test_a_second_dictionary(evaluate):
    """Texts of the first one would point to memory that is no longer theirs."""
    first, second = ([f"{letter}{i}" for i in range(200)] for letter in "ab")
    docs = dictionary_page(200, texts(*first)) + data_page(2, places(100, 101), DICTIONARY)
    docs += dictionary_page(200, texts(*second)) + data_page(2, places(102, 103), DICTIONARY)
    with pytest.raises(GoodgainError, match="Parquet"):
        evaluate(file(doc=docs))


@pytest.mark.parametrize(
    ("rows", "values"),
    [
        (3, 4),
        (4, 3),
        (5, 4),
        (4, 5),
        (5, 5),
        *((many, v) for many in (1 << 40, 1 << 58) for v in (4, many)),
    ],
)
def test_other_rows_than_it_says(evaluate, rows, values):
    """pyarrow reads as many as there are, without a word."""
    start = time.process_time()
    with pytest.raises(GoodgainError):
        evaluate(file(rows, values))
    assert time.process_time() - start < 5


@pytest.mark.parametrize("column", ["query", "doc", "score"])
@pytest.mark.parametrize("values", [3, 1 << 31, 1 << 40])
def test_a_page_of_other_rows_than_it_says(evaluate, column, values):
    body = doubles(4, 3, 2, 1) if column == "score" else texts("q0", "q1", "q2", "q3")
    with pytest.raises(GoodgainError):
        evaluate(file(**{column: data_page(values, body)}))


@pytest.mark.parametrize("number", [4, 200, 255])
def test_a_place_behind_the_dictionary(evaluate, number):
    docs = dictionary_page(4, texts("a", "b", "c", "d"))
    docs += data_page(4, places(0, 1, 2, number), DICTIONARY)
    with pytest.raises(GoodgainError):
        evaluate(file(doc=docs))


def test_no_dictionary_where_one_is_used(evaluate):
    with pytest.raises(GoodgainError):
        evaluate(file(doc=data_page(4, places(0, 1, 2, 3), DICTIONARY)))


@pytest.mark.parametrize("size", [0, 10, 1 << 31, 1 << 50])
def test_sizes_of_pages_that_lie(evaluate, size):
    body = texts("a", "b", "c", "d")
    with pytest.raises(GoodgainError):
        evaluate(file(doc=data_page(4, body, compressed=size)))
    # pyarrow does not look at the other size where nothing is compressed.
    assert dict(evaluate(file(doc=data_page(4, body, size=size)))) == dict(evaluate(file()))


def test_texts_that_lead_out_of_their_page(evaluate):
    for body in (texts("a", "b", "c", "d")[:-1], b"\xff" * 20, texts("a", "b", "c") + b"\xff" * 4):
        with pytest.raises(GoodgainError):
            evaluate(file(doc=data_page(4, body)))


@pytest.mark.parametrize("number", [5, 6, 7, 9, 42])
def test_encodings_that_the_chunk_does_not_list(evaluate, number):
    with pytest.raises(GoodgainError):
        evaluate(file(doc=data_page(4, texts("a", "b", "c", "d"), number)))


def test_places_in_the_file_that_lie(evaluate):
    for more in ({9: Number(1 << 40)}, {7: Number(1 << 62)}, {9: Number(-4)}, {7: Number(-1)}):
        page = data_page(4, texts("a", "b", "c", "d"))
        columns = [
            Column("query", BYTES, data_page(4, texts("q0", "q0", "q0", "q0")), 4),
            Column("doc", BYTES, page, 4, more),
            Column("score", DOUBLE, data_page(4, doubles(4, 3, 2, 1)), 4),
        ]
        with pytest.raises(GoodgainError):
            evaluate(file_of(4, *columns))


def test_many_empty_pages(evaluate):
    """Each is passed over once."""
    page = data_page(0, b"")
    docs = page * 20000 + data_page(4, texts("a", "b", "c", "d"))
    start = time.process_time()
    assert evaluate(file(doc=docs))["NumRet"] == 4
    assert time.process_time() - start < 10
