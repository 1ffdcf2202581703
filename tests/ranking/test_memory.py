"""Tables in memory with odd values: what is taken, and what is refused with its place."""

from __future__ import annotations

import decimal
import math

import numpy as np
import pyarrow as pa
import pytest

from goodgain import Run, evaluate
from goodgain.errors import InputError

QRELS = {"q": {"a": 1}}


def rr(run, qrels=None):
    return evaluate(qrels or QRELS, run, "RR")["RR"]


def table(query=("q",), doc=("a",), score=(1.0,)):
    return pa.table({"query": query, "doc": doc, "score": score})


@pytest.mark.parametrize(
    "score", [1, True, np.float32(1), np.int64(1), decimal.Decimal("1.5"), -1e308, 5e-324]
)
def test_scores_of_any_kind_of_number(score):
    assert rr({"q": {"a": score}}) == 1
    assert rr([("q", "a", score)]) == 1


@pytest.mark.parametrize("gain", [1, True, 1.5, np.int8(2), np.float32(1)])
def test_gains_of_any_kind_of_number(gain):
    assert rr({"q": {"a": 1.0}}, {"q": {"a": gain}}) == 1


@pytest.mark.parametrize("score", ["1.5", None, math.nan, 10**400, [1.5]])
def test_what_is_no_score(score):
    for run in ({"q": {"a": score}}, [("q", "a", score)]):
        with pytest.raises(InputError, match="score"):
            rr(run)


@pytest.mark.parametrize("doc", [("a", 1), b"a", 1.0, None])
def test_what_is_no_id(doc):
    with pytest.raises(InputError, match="id"):
        rr({"q": {doc: 1.0}})
    with pytest.raises(InputError, match="id"):
        rr({"q": {"a": 1.0}}, {"q": {doc: 1}})


@pytest.mark.parametrize("doc", ["", "a b", "a\tb", "a\0b", "\udcff", "x" * 100_000, 2**70, -1])
def test_odd_ids(doc):
    assert rr({"q": {doc: 1.0}}, {"q": {doc: 1}}) == 1


@pytest.mark.parametrize("kind", [pa.float32(), pa.int8(), pa.uint64(), pa.int32()], ids=str)
def test_arrow_numbers(kind):
    assert rr(table(score=pa.array([1], kind))) == 1


@pytest.mark.parametrize(
    "run, where",
    [
        (table(("q", "q"), ("a", None), (1.0, 2.0)), "row 2"),
        (table(pa.array(["q", None]).dictionary_encode(), ("a", "b"), (1.0, 2.0)), "row 2"),
        (table(score=pa.array([None], pa.float64())), "row 1"),
        (table(("q", "q"), ("a", "b"), (1.0, math.nan)), "row 2"),
        (table(("q", "q"), ("a", "b"), (math.inf, 1.0)), "row 1"),
    ],
)
def test_arrow_holes_are_errors_with_their_row(run, where):
    with pytest.raises(InputError) as caught:
        rr(run)
    assert where in caught.value.where


@pytest.mark.parametrize(
    "run, column",
    [(table(score=("1",)), "score"), (table(doc=pa.array([1], pa.timestamp("s"))), "doc")],
)
def test_arrow_columns_of_another_type(run, column):
    with pytest.raises(InputError, match=f"'{column}'") as caught:
        rr(run)
    assert "type" in caught.value.hint


def test_arrow_slices_and_streams():
    whole = table(("x", "q", "q"), ("z", "b", "a"), (9.0, 1.0, 2.0))
    assert rr(whole.slice(1)) == 1
    run = Run(table().to_reader())  # a stream can be read once, a run as often as wanted
    assert rr(run) == rr(run) == 1


@pytest.mark.parametrize("run", [{}, [], pa.table({"query": [], "doc": [], "score": []})])
def test_no_results_at_all(run):
    with pytest.raises(InputError):
        rr(run)


@pytest.mark.parametrize("qrels", [{}, []])
def test_no_judgements_at_all(qrels):
    with pytest.raises(InputError):
        evaluate(qrels, {"q": {"a": 1.0}}, "RR")


def test_minus_zero_is_zero():
    assert rr({"q": {"a": 0.0, "b": -0.0}}) == 0.5


def test_the_input_is_not_changed():
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"b": 1.0, "a": 1.0}}
    rr(run, qrels)
    assert (qrels, run) == ({"q": {"a": 1, "b": 0}}, {"q": {"b": 1.0, "a": 1.0}})
    assert list(run["q"]) == ["b", "a"]
