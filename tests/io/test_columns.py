"""One table of column names, and one rule for two columns that fit."""

from __future__ import annotations

import pytest

from goodgain.errors import InputError
from goodgain.io.columns import TABLES, find_columns, kinds_of_header


@pytest.mark.parametrize("table", TABLES)
def test_every_alias_is_recognised(table):
    """Every alias of a role is recognised, in upper case too, beside the first names of the other roles."""
    layout = TABLES[table]
    for role, entry in layout.roles.items():
        for name in (name for group in entry.names for name in group):
            others = {r: e.names[0][0] for r, e in layout.roles.items() if r != role}
            if role == "rank":
                others.pop("value", None)  # a rank beside a score is ignored
            if name in others.values():
                continue
            names = [name.upper(), *others.values()]
            rivals = [other for other in others.values() if any(other in g for g in entry.names)]
            if not rivals:
                assert find_columns(names, table)[role] == name.upper()


@pytest.mark.parametrize(
    ("table", "names", "columns"),
    [
        ("run", ["qid", "docno", "sim"], {"query": "qid", "doc": "docno", "value": "sim"}),
        ("qrels", ["query-id", "corpus-id", "score"],
         {"query": "query-id", "doc": "corpus-id", "value": "score"}),
        ("qrels", ["query", "doc", "score", "gain"], {"query": "query", "doc": "doc", "value": "gain"}),
        ("qrels", ["conversation", "doc", "gain"],
         {"query": "conversation", "doc": "doc", "value": "gain"}),
        ("scores", ["model", "run", "query", "AP"], {"query": "query", "system": "run"}),
        ("scores", ["question", "question_id", "AP"], {"query": "question_id"}),
        ("queries", ["query_id", "query"], {"text": "query", "id": "query_id"}),
        ("queries", ["query", "text"], {"text": "text", "id": "query"}),
        ("groups", ["query", "kind"], {"query": "query"}),
        ("groups", ["query", "query_id", "kind"], {"query": "query_id"}),
        ("documents", ["_id", "title", "text"], {"text": "text", "id": "_id", "title": "title"}),
        ("documents", ["doc_id", "document"], {"text": "document", "id": "doc_id"}),
        ("pairs", ["query", "doc", "text"], {"question": "query", "doc": "doc", "text": "text"}),
        ("edges", ["from", "to"], {"source": "from", "target": "to"}),
    ],
)  # fmt: skip
def test_columns_by_role(table, names, columns):
    assert find_columns(names, table) == columns


@pytest.mark.parametrize("table", ["run", "qrels", "scores", "preferences"])
def test_two_columns_that_fit_are_an_error(table):
    names = ["qid", "query_id", "doc", "score", "label"]
    with pytest.raises(InputError) as error:
        find_columns(names, table, "x.csv:1")
    assert error.value.message == "ambiguous query id: it could be column 'qid' or 'query_id'"
    assert error.value.where == "x.csv:1"
    assert "choose one with columns={'query': ..." in error.value.hint
    assert find_columns(names, table, chosen={"query": "qid"})["query"] == "qid"


def test_chosen_columns():
    names = ["a", "b", "c"]
    chosen = {"query": "a", "doc": "b", "score": "c"}
    assert find_columns(names, "run", chosen=chosen) == {"query": "a", "doc": "b", "value": "c"}
    with pytest.raises(InputError, match="column 'z' not found") as error:
        find_columns(names, "run", "r.csv:1", {"query": "z"})
    assert error.value.hint == "available columns: a, b, c"
    with pytest.raises(InputError, match="unknown column role 'z'"):
        find_columns(names, "run", chosen={"z": "a"})


def test_a_chosen_column_has_no_second_role():
    names = ["method", "query", "name", "AP"]
    assert find_columns(names, "scores", chosen={"query": "method"})["system"] == "name"


def test_missing_column_lists_usual_names():
    with pytest.raises(InputError, match="no column for the text of a query") as error:
        find_columns(["number", "words"], "queries", "q.tsv")
    assert error.value.hint.startswith(
        "available columns: number, words; usual names: text, question"
    )


def test_kinds_of_header():
    assert kinds_of_header(["query", "doc", "score"]) == {"run"}
    assert kinds_of_header(["query", "doc", "gain"]) == {"qrels"}
    assert kinds_of_header(["query-id", "corpus-id", "score"]) == {"qrels"}
    assert kinds_of_header(["query", "doc"]) == set()
    assert kinds_of_header(["a", "b"]) == set()
