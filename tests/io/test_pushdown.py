"""Through pyarrow, only rows of judged queries are read, and every number is as if all had been."""

from __future__ import annotations

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import goodgain as gg
from goodgain.errors import InputError
from goodgain.io import arrow_files, arrow_groups, parquet

MEASURES = "nDCG@10 AP RR"


@pytest.fixture(autouse=True)
def read_by_pyarrow(monkeypatch):
    monkeypatch.setattr(parquet, "_core_table", lambda files: None)


@pytest.fixture
def collection(tmp_path):
    rng = random.Random(3)
    rows = [
        (f"q{q:03}", f"d{d}", rng.random()) for q in range(200) for d in rng.sample(range(50), 20)
    ]
    qrels = {
        f"q{q:03}": {f"d{d}": rng.randrange(3) for d in range(0, 50, 3)} for q in (3, 4, 150, 999)
    }
    table = pa.table(
        dict(zip(("query", "doc", "score"), map(list, zip(*rows, strict=True)), strict=True))
    )
    pq.write_table(table, tmp_path / "run.parquet", row_group_size=200)
    return qrels, table, tmp_path / "run.parquet"


@pytest.fixture
def reads(monkeypatch):
    """(row group, columns) of each piece that is read."""
    pieces = []

    def noted(read):
        def note(self, number, columns, *options):
            pieces.append((number, tuple(columns)))
            return read(self, number, columns, *options)

        return note

    for name in ("read", "batches"):
        read = getattr(arrow_groups.ParquetReader, name)
        monkeypatch.setattr(arrow_groups.ParquetReader, name, noted(read))
    return pieces


@pytest.mark.parametrize("missing", ["zero", "skip"])
@pytest.mark.parametrize("skip_bad", [False, True])
def test_the_same_numbers_from_fewer_rows(collection, reads, missing, skip_bad):
    qrels, table, path = collection
    expected = gg.evaluate(qrels, table, MEASURES, missing=missing, skip_bad=skip_bad)
    result = gg.evaluate(qrels, path, MEASURES, missing=missing, skip_bad=skip_bad)
    assert result.runs[0].per_query == expected.runs[0].per_query
    assert result.runs[0].coverage == expected.runs[0].coverage
    assert result.runs[0].coverage.unjudged_queries == 197
    assert {number for number, columns in reads if "doc" in columns} == {0, 15}
    assert result.warnings() == expected.warnings()


def test_integer_scores_need_not_be_read(collection, reads, tmp_path):
    qrels, table, _ = collection
    ranks = pa.array([i % 20 + 1 for i in range(len(table))])
    pq.write_table(
        table.drop_columns("score").append_column("rank", ranks),
        tmp_path / "r.parquet",
        row_group_size=200,
    )
    gg.evaluate(qrels, tmp_path / "r.parquet", MEASURES)
    assert {number for number, columns in reads if "rank" in columns} == {0, 15}


@pytest.mark.parametrize("row", [10, 1000])  # of a group with judged queries, and of one without
@pytest.mark.parametrize("column", ["doc", "score", "nan", "query"])
def test_bad_rows_of_queries_without_judgments(collection, tmp_path, row, column):
    qrels, table, _ = collection
    columns = table.to_pydict()
    columns["score" if column == "nan" else column][row] = float("nan") if column == "nan" else None
    bad = pa.table(columns, schema=table.schema)
    pq.write_table(bad, tmp_path / "bad.parquet", row_group_size=200)
    with pytest.raises(InputError) as expected:
        gg.evaluate(qrels, bad, MEASURES)
    with pytest.raises(InputError) as error:
        gg.evaluate(qrels, tmp_path / "bad.parquet", MEASURES)
    assert error.value.message == expected.value.message
    assert error.value.where.endswith(f"row {row + 1}") and expected.value.where.endswith(
        f"row {row + 1}"
    )
    results = [
        gg.evaluate(qrels, source, MEASURES, skip_bad=True)
        for source in (bad, tmp_path / "bad.parquet")
    ]
    assert results[0].runs[0].coverage.bad_rows == results[1].runs[0].coverage.bad_rows == 1
    assert results[0].runs[0].per_query == results[1].runs[0].per_query


@pytest.mark.parametrize("order", ["sorted", "scattered"])
@pytest.mark.parametrize("coded", [True, False])
def test_parts_of_row_groups(collection, tmp_path, monkeypatch, order, coded):
    """Queries as numbers of a dictionary or as texts, in parts smaller than a group and than a query."""
    _, table, _ = collection
    monkeypatch.setattr(arrow_files, "PIECE_ROWS", 7)
    if order == "scattered":
        table = table.take(random.Random(5).sample(range(len(table)), len(table)))
    names = [f"{name}, ü" for name in table.column("query").to_pylist()]
    table = table.set_column(0, "query", pa.array(names))
    qrels = {name: {"d1": 1, "d2": 2, "d30": 1} for name in names}
    path = tmp_path / "parts.parquet"
    pq.write_table(table, path, row_group_size=999, use_dictionary=coded)
    expected, result = (gg.evaluate(qrels, run, MEASURES) for run in (table, path))
    assert result.runs[0].per_query == expected.runs[0].per_query
    assert result.runs[0].coverage == expected.runs[0].coverage
    damaged = table.set_column(
        2, "score", pa.array([None if i == 2345 else 1.0 for i in range(len(table))])
    )
    pq.write_table(damaged, path, row_group_size=999, use_dictionary=coded)
    with pytest.raises(InputError) as error:
        gg.evaluate(qrels, path, MEASURES)
    assert error.value.where.endswith("row 2346")


def test_nothing_in_common(collection):
    _, table, path = collection
    messages = []
    for source in (table, path):
        with pytest.raises(InputError, match="no query of the run is judged") as error:
            gg.evaluate({"other": {"a": 1}}, source)
        messages.append(error.value.message)
    assert messages[0] == messages[1]
    with pytest.raises(InputError, match="query ids are integers in the judgments"):
        gg.evaluate({3: {"a": 1}}, path)


def test_a_duplicate_names_its_row(collection, tmp_path):
    qrels, table, _ = collection
    columns = table.to_pydict()
    columns["doc"][61] = columns["doc"][60]
    pq.write_table(pa.table(columns), tmp_path / "twice.parquet", row_group_size=200)
    with pytest.raises(InputError, match="duplicate document") as error:
        gg.evaluate(qrels, tmp_path / "twice.parquet")
    assert error.value.where.endswith(("row 61", "row 62"))
