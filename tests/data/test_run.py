"""Runs and judgments are read, never changed."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError

import pyarrow as pa
import pytest

import goodgain as gg
from goodgain.errors import InputError

QRELS = {"q": {"a": 1}}
BEST, WORST = {"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": 1.0, "b": 2.0}}


def test_keys_of_a_dictionary_name_the_runs():
    best, worst = gg.Run(BEST), gg.Run(WORST, name="mine")
    result = gg.evaluate(QRELS, {"old": best, "new": worst}, "RR")
    assert {r.name: r["RR"] for r in result.runs} == {"old": 1.0, "new": 0.5}
    assert (best.name, worst.name) == ("run", "mine")


def test_runs_in_a_list_are_not_renamed():
    runs = [gg.Run(BEST), gg.Run(WORST)]
    result = gg.evaluate(QRELS, runs, "RR")
    assert [r.name for r in result.runs] == ["run#1", "run#2"]
    assert [run.name for run in runs] == ["run", "run"]
    assert [r.name for r in gg.evaluate(QRELS, runs, "RR").runs] == ["run#1", "run#2"]


def test_the_same_run_twice():
    run = gg.Run(BEST)
    assert [r["RR"] for r in gg.evaluate(QRELS, [run, run], "RR").runs] == [1.0, 1.0]
    assert gg.evaluate(QRELS, {"a": run, "b": run}, "RR").names == ("a", "b")


def test_renamed():
    run = gg.Run(BEST, latency={"q": 0.5}, cost={"q": 2})
    other = run.renamed("other")
    assert (run.name, other.name) == ("run", "other")
    assert other.to_dict() == BEST
    assert (other.latency, other.cost, other.source) == (run.latency, run.cost, run.source)
    assert run.renamed("run") is run


def test_a_stream_is_read_once_for_all_names():
    table = pa.table({"query": ["q", "q"], "doc": ["a", "b"], "score": [2.0, 1.0]})
    run = gg.Run(pa.RecordBatchReader.from_batches(table.schema, table.to_batches()))
    other = run.renamed("other")
    assert gg.evaluate(QRELS, [run, other], "RR").names == ("run", "other")
    assert run.to_dict() == other.to_dict() == BEST


@pytest.mark.parametrize("value", [gg.Run(BEST), gg.Qrels(QRELS)], ids=["run", "qrels"])
def test_frozen(value):
    with pytest.raises(FrozenInstanceError):
        value.source = None
    with pytest.raises(FrozenInstanceError):
        value.name = "other"
    assert value.to_dict() in (BEST, QRELS)


def test_copies_and_pickles():
    run = gg.Run(BEST, name="mine", latency={"q": 1})
    for other in (copy.copy(run), copy.deepcopy(run), pickle.loads(pickle.dumps(run))):
        assert (other.name, other.to_dict(), other.latency) == ("mine", BEST, {"q": 1.0})


def test_bad_numbers_and_duplicates():
    with pytest.raises(
        InputError, match="latency of query 'q' must be a non-negative number, got -1"
    ):
        gg.Run(BEST, latency={"q": -1})
    with pytest.raises(InputError, match="duplicate document 'a' for query 'q'"):
        gg.Run([("q", "a", 1.0), ("q", "a", 2.0)]).to_dict()


def test_repr_and_lookup():
    qrels = gg.Qrels(QRELS)
    assert repr(qrels) == "Qrels('qrels', 1 queries, 1 judgments)"
    assert list(qrels) == ["q"] and "q" in qrels
    assert "q" in qrels and "r" not in qrels
    with pytest.raises(KeyError):
        qrels["r"]
