"""One collection in every form: the same numbers from each."""

from __future__ import annotations

import io
import json
import math

import inputs
import pytest
from inputs import FORMS, MEASURES, QREL_ROWS, QRELS, RUN, RUN_ROWS

from goodgain import Evaluator, Qrels, Run, evaluate
from goodgain.cli import run as command
from goodgain.errors import InputError


@pytest.fixture(params=FORMS)
def tables(request, tmp_path):
    """The same judgements and run, in one of the forms."""
    return FORMS[request.param](tmp_path)


def test_values(tables):
    """q1: d2 (0), d1 (2), then the tie of 'é,文' (1) and 'x#1', the larger id first; q3 is missing."""
    two = 1 / math.log2(3)
    expected = {
        "q1": ((2 * two + 1 / 2) / (2 + two), (1 / 2 + 2 / 3) / 2, 1 / 2, 1 / 2, 4, 3 / 4),
        "q2": (3 * two / (3 + two), 1 / 4, 1 / 2, 1 / 2, 2, 1 / 2),
        "q3": (0, 0, 0, 0, 0, math.nan),
    }
    found = evaluate(*tables, MEASURES).runs[0].per_query
    assert found.keys() == expected.keys()
    for q, values in expected.items():
        by_name = dict(zip(MEASURES, values, strict=True))
        assert found[q] == pytest.approx(by_name, abs=1e-15, nan_ok=True), q


def test_coverage(tables):
    coverage = evaluate(*tables, "AP").runs[0].coverage
    assert (coverage.judged_queries, coverage.missing_queries, coverage.unjudged_queries) == (
        3,
        1,
        1,
    )
    assert (coverage.documents, coverage.unjudged_documents) == (6, 2)
    assert coverage.judged_at_10 == pytest.approx(4 / 6)


def test_prepared_evaluator_is_the_same(tables):
    qrels, run = Qrels(tables[0]), tables[1]
    evaluator = Evaluator(qrels, MEASURES)
    first, second = evaluator(Run(run)).runs[0], evaluate(QRELS, RUN, MEASURES).runs[0]
    assert first.means == second.means
    assert all(repr(first.column(m)) == repr(second.column(m)) for m in MEASURES)


def test_qrels_as_a_table(tables):
    qrels = Qrels(tables[0])
    assert qrels.to_dict() == QRELS
    assert qrels.queries == list(QRELS)
    assert (len(qrels), qrels.judgments) == (3, 6)
    assert "q1" in qrels and "q9" not in qrels
    assert qrels["q2"] == {"d1": 1, "d9": 3}
    assert "3 queries, 6 judgments" in repr(qrels)


def test_run_as_a_table(tables):
    run = Run(tables[1], name="mine")
    assert run.to_dict() == RUN
    assert sorted(zip(*run.rows(), strict=True)) == sorted(RUN_ROWS)
    assert repr(run).startswith("Run('mine'")


# --- standard input ---


@pytest.mark.parametrize("name", ["trec", "csv", "tsv", "jsonl"])
def test_standard_input(tmp_path, monkeypatch, capsys, name):
    qrels, run = FORMS[name](tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(run.read_bytes())))
    assert command(["evaluate", str(qrels), "-", "-m", "AP", "--format", "json", "--quiet"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["value"] == evaluate(QRELS, RUN, "AP")["AP"]


# --- ids ---


def integers():
    return {1: {10: 1, 9: 0}, 2: {10: 2}}, {1: {9: 2.0, 10: 1.0}, 2: {10: 1.0}}


def integer_forms():
    import numpy as np
    import pandas as pd
    import polars as pl

    qrels, run = integers()
    q = [(a, b, g) for a, docs in qrels.items() for b, g in docs.items()]
    r = [(a, b, s) for a, docs in run.items() for b, s in docs.items()]
    names = (["query", "doc", "gain"], ["query", "doc", "score"])
    frames = pd.DataFrame(q, columns=names[0]), pd.DataFrame(r, columns=names[1])
    return {
        "dicts": (qrels, run),
        "rows": (q, r),
        "pandas": frames,
        "pandas int32": tuple(f.astype({"query": np.int32, "doc": np.int16}) for f in frames),
        "pandas uint64": tuple(f.astype({"query": np.uint64, "doc": np.uint8}) for f in frames),
        "polars": (
            pl.DataFrame(q, schema=names[0], orient="row"),
            pl.DataFrame(r, schema=names[1], orient="row"),
        ),
        "files": None,
    }


@pytest.mark.parametrize(
    "name", ["dicts", "rows", "pandas", "pandas int32", "pandas uint64", "polars", "files"]
)
def test_integer_ids(name, tmp_path):
    found = integer_forms()[name]
    if name == "files":  # a file's ids are text that fits either
        found = (
            integers()[0],
            inputs.put(tmp_path / "r.txt", "1 Q0 9 1 2 t\n1 Q0 10 2 1 t\n2 Q0 10 1 1 t\n"),
        )
    scores = evaluate(*found, "RR").runs[0]
    assert dict(zip(scores.queries, scores.column("RR"), strict=True)) == {"1": 0.5, "2": 1.0}


@pytest.mark.parametrize(
    "qrels, run, what, judged",
    [
        ({"1": {"a": 1}}, {1: {"a": 1.0}}, "query", "text"),
        ({1: {"a": 1}}, {"1": {"a": 1.0}}, "query", "integers"),
        ({"q": {"1": 1}}, {"q": {1: 1.0}}, "document", "text"),
        ([("q", 1, 1)], [("q", "1", 1.0)], "document", "integers"),
    ],
)
def test_ids_that_differ_only_by_type(qrels, run, what, judged):
    with pytest.raises(InputError) as caught:
        evaluate(qrels, run, "AP")
    assert caught.value.message.startswith(f"{what} ids are {judged} in the judgments")
    assert "1" in caught.value.message
    assert "str()" in caught.value.hint


def test_ids_are_bytes_not_letters():
    """é as one character and as two are two ids; so are upper and lower case."""
    qrels = {"q": {"\u00e9": 1, "A": 1}}
    run = {"q": {"e\u0301": 2.0, "a": 1.0}}
    assert evaluate(qrels, run, "NumRelRet")["NumRelRet"] == 0


def test_rows_with_targets_and_aspects():
    rows = [("q", "a", 1, "t1"), ("q", "b", 1, "t1"), ("q", "c", 1, None)]
    assert evaluate(rows, {"q": {"b": 2.0, "a": 1.0}}, "DR@5")["DR@5"] == 0.5


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_files_with_targets_and_aspects(tmp_path, ending):
    table = [
        ("q", "a", 1, "t1", "x"),
        ("q", "a", 0, "t1", "y"),
        ("q", "b", 1, "t1", "y"),
        ("q", "c", 1, "t2", "z"),
    ]
    names = ("query", "doc", "gain", "target", "subtopic")
    text = (
        inputs.delimited(names, table, ",")
        if ending == "csv"
        else inputs.lines_of_json(names, table)
    )
    path = inputs.put(tmp_path / f"q.{ending}", text)
    scores = evaluate(path, {"q": {"b": 2.0, "a": 1.0}}, "DR@5 StRecall@1 StRecall@2")["run"]
    assert scores.means == pytest.approx({"DR@5": 1 / 2, "StRecall@1": 1 / 3, "StRecall@2": 2 / 3})


def test_trec_iteration_column_is_the_aspect(tmp_path):
    path = inputs.put(tmp_path / "q.txt", "q 1 a 1\nq 2 b 1\nq 2 a 0\n")
    assert evaluate(path, {"q": {"a": 1.0}}, "StRecall@5")["StRecall@5"] == 0.5


def test_columns_by_name(tmp_path):
    path = inputs.put(tmp_path / "q.csv", "topic,query,doc,gain\nq1,how?,d1,1\n")
    with pytest.raises(InputError, match="'topic' or 'query'") as caught:
        Qrels(path)
    assert "columns=" in caught.value.hint
    assert Qrels(path, columns={"query": "topic"}).to_dict() == {"q1": {"d1": 1}}
    run = inputs.put(tmp_path / "r.csv", "a,b,c\nq1,d1,1\n")
    table = Run(run, columns={"query": "a", "doc": "b", "score": "c"})
    assert evaluate(Qrels(path, columns={"query": "topic"}), table, "RR")["RR"] == 1
    named = tmp_path / "named.csv"
    named.write_text("topic,doc,score,query\nq1,d1,1,other\n")
    assert evaluate(path, named, "RR", columns={"query": "topic"})["RR"] == 1  # of both tables


def test_a_generator_is_read_once_and_kept():
    qrels = Qrels(row for row in QREL_ROWS)
    assert evaluate(qrels, RUN, "AP")["AP"] == evaluate(qrels, RUN, "AP")["AP"] > 0


@pytest.mark.parametrize("value", [5, None, b"bytes", 1.5])
def test_what_is_no_table(value):
    with pytest.raises(InputError) as caught:
        evaluate(value, RUN, "AP")
    assert repr(value) in caught.value.message
    assert "path" in caught.value.hint
