"""A column that names runs splits a table into them, and lists of results are rows, in every form."""

from __future__ import annotations

import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import goodgain as gg
from goodgain.errors import InputError

QRELS = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 1}, "q3": {"c": 1}}
RUNS = {
    "bm25": {"q1": {"b": 3.0, "a": 2.0, "c": 1.0}, "q2": {"x": 3.0, "a": 1.0}, "q9": {"a": 1.0}},
    "knn": {"q1": {"c": 0.9, "b": 0.5}, "q3": {"c": 0.1}},
}
ROWS = [
    {"run": name, "query": query, "doc": doc, "score": score}
    for name, run in RUNS.items()
    for query, docs in run.items()
    for doc, score in docs.items()
]
MEASURES = "nDCG@10 AP RR"


def forms(rows, folder):
    """The same rows in all forms that have names of columns."""
    names = list(rows[0])
    csv = (
        ",".join(names)
        + "\n"
        + "".join(",".join(str(row[n]) for n in names) + "\n" for row in rows)
    )
    (folder / "all.csv").write_text(csv)
    (folder / "all.tsv").write_text(csv.replace(",", "\t"))
    (folder / "all.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "all.json").write_text(json.dumps(rows))
    table = pa.Table.from_pylist(rows)
    pq.write_table(table, folder / "all.parquet", row_group_size=3)
    feather.write_feather(table, folder / "all.arrow")
    for name in ("all.csv", "all.tsv", "all.jsonl", "all.json", "all.parquet", "all.arrow"):
        yield name, folder / name
    yield "rows", rows
    yield "arrow", table
    yield "reader", table.to_reader()
    yield "pandas", pd.DataFrame(rows)
    yield "polars", pl.DataFrame(rows)


def check(result, expected):
    for name in expected.names:
        assert result[name].per_query == expected[name].per_query
        assert result[name].coverage == expected[name].coverage


@pytest.mark.parametrize("order", [1, -1])
def test_every_form_splits_alike(tmp_path, order):
    expected = gg.evaluate(QRELS, RUNS, MEASURES)
    for name, source in forms(ROWS[::order], tmp_path):
        result = gg.evaluate(QRELS, source, MEASURES)
        assert sorted(result.names) == ["bm25", "knn"], name
        check(result, expected)
        assert result["bm25"].coverage.unjudged_queries == 1


@pytest.mark.parametrize("column", ["system", "run_id", "System"])
def test_other_names_of_the_column(tmp_path, column):
    rows = [{column: row["run"], **{k: v for k, v in row.items() if k != "run"}} for row in ROWS]
    for name, source in forms(rows, tmp_path):
        assert set(gg.evaluate(QRELS, source, MEASURES).names) == {"bm25", "knn"}, name


def test_a_column_by_choice(tmp_path):
    rows = [{"variant": row["run"], **{k: v for k, v in row.items() if k != "run"}} for row in ROWS]
    for name, source in forms(rows, tmp_path):
        chosen = gg.evaluate(QRELS, source, MEASURES, columns={"run": "variant"}).names
        assert set(chosen) == {"bm25", "knn"}, name


def test_one_run_keeps_the_name_of_its_file(tmp_path):
    rows = [row for row in ROWS if row["run"] == "knn"]
    for name, source in forms(rows, tmp_path):
        names = gg.evaluate(QRELS, source, MEASURES).names
        assert names == (("all",) if name.startswith("all.") else ("knn",)) or name in ("rows",), (
            name
        )


def test_runs_under_a_name_of_their_own():
    result = gg.evaluate(
        QRELS, {"mine": pa.Table.from_pylist(ROWS), "yours": RUNS["knn"]}, MEASURES
    )
    assert result.names == ("mine/bm25", "mine/knn", "yours")


def test_one_run_is_never_two(tmp_path):
    for name, source in forms(ROWS, tmp_path):
        run = gg.Run(source)
        with pytest.raises(InputError, match="the table holds 2 runs, such as 'bm25' and 'knn'"):
            run.to_dict()
        if name != "reader":
            with pytest.raises(InputError, match="holds 2 runs"):
                gg.explain(QRELS, gg.Run(source), "AP")


def test_a_row_without_a_run(tmp_path):
    table = pa.table(
        {"run": ["a", None], "query": ["q1", "q1"], "doc": ["a", "b"], "score": [1.0, 2.0]}
    )
    pq.write_table(table, tmp_path / "run.parquet")
    (tmp_path / "run.csv").write_text("run,query,doc,score\na,q1,a,1\n,q1,b,2\n")
    (tmp_path / "run.jsonl").write_text(
        '{"run":"a","query":"q1","doc":"a","score":1}\n{"query":"q1","doc":"b","score":2}\n'
    )
    for source in (
        table,
        tmp_path / "run.parquet",
        tmp_path / "run.csv",
        tmp_path / "run.jsonl",
        table.to_pylist(),
    ):
        with pytest.raises(InputError):
            gg.evaluate(QRELS, source)


def test_bad_rows_belong_to_their_run(tmp_path):
    (tmp_path / "run.csv").write_text("run,query,doc,score\na,q1,a,1\nb,q1,b,x\nb,q1,a,2\n")
    with pytest.raises(InputError, match="'x' is not a number") as error:
        gg.evaluate(QRELS, tmp_path / "run.csv")
    assert error.value.where.endswith("run.csv:3")
    result = gg.evaluate(QRELS, tmp_path / "run.csv", skip_bad=True)
    assert [run.coverage.bad_rows for run in result.runs] == [0, 1]


# --- a row per query ---

STRUCTS = {
    "q1": [("b", 3.0), ("a", 2.0), ("c", 1.0)],
    "q2": [],
    "q3": [("c", 0.5)],
    "q9": [("z", 1.0)],
}


def nested(key="doc_id", value="score", run=None):
    rows = [
        {"query": query, "results": [{key: doc, value: number} for doc, number in results]}
        for query, results in STRUCTS.items()
    ]
    return [{"run": run, **row} for row in rows] if run else rows


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_arrays_of_structs(tmp_path, missing):
    expected = gg.evaluate(QRELS, STRUCTS, MEASURES, missing=missing)
    table = pa.Table.from_pylist(nested())
    pq.write_table(table, tmp_path / "run.parquet", row_group_size=1)
    for source in (
        table,
        table.to_reader(),
        tmp_path / "run.parquet",
        pl.DataFrame(nested()),
        table.to_pandas(),
    ):
        result = gg.evaluate(QRELS, source, MEASURES, missing=missing)
        assert result.runs[0].per_query == expected.runs[0].per_query
        assert result.runs[0].coverage == expected.runs[0].coverage
    assert expected.runs[0].coverage.missing_queries == 0


@pytest.mark.parametrize("kind", [pa.list_, pa.large_list, pa.list_view])
def test_lists_of_ids_rank_by_their_order(kind):
    ids = [[doc for doc, _ in results] for results in STRUCTS.values()]
    expected = gg.evaluate(QRELS, {q: [d for d, _ in r] for q, r in STRUCTS.items()}, MEASURES)
    table = pa.table({"query": list(STRUCTS), "retrieved_ids": pa.array(ids, kind(pa.string()))})
    for source in (table, table.slice(0, 4), pa.concat_tables([table.slice(0, 1), table.slice(1)])):
        result = gg.evaluate(QRELS, source, MEASURES)
        assert result.runs[0].per_query == expected.runs[0].per_query
        assert not gg.Run(source).has_scores


def test_ranks_in_structs():
    rows = [{"query": "q1", "results": [{"id": "a", "rank": 2}, {"id": "b", "rank": 1}]}]
    assert (
        gg.evaluate(QRELS, pa.Table.from_pylist(rows), "RR")["RR"]
        == gg.evaluate(QRELS, {"q1": ["b", "a"]}, "RR")["RR"]
    )


def test_structs_that_hold_their_document_deeper():
    rows = [
        {
            "query": "q1",
            "results": [
                {"document": {"id": "a"}, "score": 2.0},
                {"document": {"id": "b"}, "score": 1.0},
            ],
        }
    ]
    deep = pa.Table.from_pylist(rows)
    assert gg.evaluate(QRELS, deep, "AP")["AP"] == gg.evaluate(QRELS, rows, "AP")["AP"]
    by_url = pa.Table.from_pylist(
        [{"query": "q1", "results": [{"metadata": {"url": "a"}, "score": 2.0}]}]
    )
    assert gg.evaluate(QRELS, by_url, "AP", columns={"doc": "metadata.url"})["AP"] > 0


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        (
            [[{"id": "a", "score": 1.0}, {"id": "b", "score": 2.0}]],
            "not in the order of their scores",
        ),
        ([[{"id": "a", "score": 1.0}, {"id": "b", "score": None}]], "has no score"),
        ([[{"id": "a", "score": 1.0}, {"id": None, "score": 0.5}]], "has no id"),
        ([[{"id": "a"}], [{"id": "b"}]], "duplicate query 'q1'"),
    ],
)
def test_lists_are_refused_as_in_json(lists, message):
    rows = [{"query": "q1", "results": results} for results in lists]
    for source in (rows, pa.Table.from_pylist(rows)):
        with pytest.raises(InputError, match=message):
            gg.evaluate(QRELS, source)


def test_lists_of_several_runs(tmp_path):
    other = [{**row, "results": row["results"][::-1]} for row in nested(value="unused")]
    rows = nested(run="up") + [
        {
            "run": "down",
            **row,
            "results": [
                {"doc_id": r["doc_id"], "score": float(-i)} for i, r in enumerate(row["results"])
            ],
        }
        for row in other
    ]
    expected = gg.evaluate(
        QRELS,
        {
            "up": STRUCTS,
            "down": {
                r["query"]: [(x["doc_id"], -i) for i, x in enumerate(r["results"])] for r in other
            },
        },
        MEASURES,
    )
    table = pa.Table.from_pylist(rows)
    pq.write_table(table, tmp_path / "run.parquet")
    (tmp_path / "run.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for source in (rows, table, tmp_path / "run.parquet", tmp_path / "run.jsonl"):
        result = gg.evaluate(QRELS, source, MEASURES)
        assert set(result.names) == {"up", "down"}
        check(result, expected)


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_a_run_of_bad_rows_alone_is_not_left_out(tmp_path, form):
    """It has no row that could name it: without an error, a whole system would be missing."""
    rows = [("q1", "a", "1", "x"), ("q1", "b", "much", "y"), ("q1", "b", "many", "y")]
    names = ("query", "doc", "score", "run")
    if form == "jsonl":
        text = "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)
        text = text.replace('"1"', "1")
    else:
        separator = {"csv": ",", "tsv": "\t"}[form]
        text = "".join(separator.join(row) + "\n" for row in [names, *rows])
    path = tmp_path / f"runs.{form}"
    path.write_text(text)
    line = 2 if form == "jsonl" else 3
    for read in (
        lambda: gg.evaluate(QRELS, path, "RR"),
        lambda: gg.fuse([path, RUNS["knn"]], "rrf"),
    ):
        with pytest.raises(InputError, match="score") as error:
            read()
        assert error.value.where.endswith(f"runs.{form}:{line}")
    assert gg.evaluate(QRELS, path, "RR", skip_bad=True).names == ("runs",)
