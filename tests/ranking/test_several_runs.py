"""No input loses a system, and nothing that the caller passed is changed."""

from __future__ import annotations

import copy
from types import MappingProxyType

import pyarrow as pa
import pytest

from goodgain import Run, evaluate, fuse
from goodgain.errors import InputError

QRELS = {"q": {"a": 1, "b": 0}}
GOOD = {"q": {"a": 2.0, "b": 1.0}}
BAD = {"q": {"a": 1.0, "b": 2.0}}


def rows(run):
    return [(q, d, s) for q, docs in run.items() for d, s in docs.items()]


def frame(run):
    query, doc, score = zip(*rows(run), strict=True)
    return pa.table({"query": query, "doc": doc, "score": score})


FORMS = {
    "dict": copy.deepcopy, "Run": Run, "named": lambda run: Run(run, name="same"), "rows": rows,
    "frame": frame, "fused": lambda run: fuse([run, run]), "lists": lambda run: {"q": list(run["q"].items())},
}  # fmt: skip


def values(result):
    return {name: run["AP"] for name, run in zip(result.names, result.runs, strict=True)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mapping", [dict, MappingProxyType])
def test_the_names_of_a_dictionary(form, mapping):
    runs = {"old": FORMS[form](GOOD), "new": FORMS[form](BAD)}
    names = [getattr(run, "name", None) for run in runs.values()]
    assert values(evaluate(QRELS, mapping(runs), "AP")) == {"old": 1.0, "new": 0.5}
    assert [getattr(run, "name", None) for run in runs.values()] == names


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sequence", [list, tuple, iter])
def test_equal_names_of_a_list_are_numbered(form, sequence):
    runs = [FORMS[form](GOOD), FORMS[form](BAD), FORMS[form](GOOD)]
    names = [getattr(run, "name", None) for run in runs]
    result = evaluate(QRELS, sequence(runs), "AP")
    assert list(values(result).values()) == [1.0, 0.5, 1.0]
    assert len(set(result.names)) == 3
    assert [getattr(run, "name", None) for run in runs] == names


def test_the_same_run_under_two_names():
    run = Run(GOOD)
    assert values(evaluate(QRELS, {"x": run, "y": run}, "AP")) == {"x": 1.0, "y": 1.0}
    assert values(evaluate(QRELS, [run, run], "AP")) == {"run#1": 1.0, "run#2": 1.0}


def test_forms_may_differ():
    runs = {form: make(GOOD) for form, make in FORMS.items()}
    for first in runs:  # whichever comes first
        listed = {first: runs[first], **runs}
        assert values(evaluate(QRELS, listed, "AP")) == dict.fromkeys(listed, 1.0)


def test_names_that_print_alike_are_an_error():
    with pytest.raises(InputError, match="two runs are called '1'"):
        evaluate(QRELS, {1: GOOD, "1": BAD}, "AP")


def test_an_empty_run_is_named_in_the_error():
    for runs in ({"none": {}, "good": GOOD}, {"good": GOOD, "none": {}}):
        with pytest.raises(InputError, match=r"the run is empty \(none\)"):
            evaluate(QRELS, runs, "AP")


def test_with_identity_and_policies():
    runs = {"old": Run(GOOD), "new": Run(BAD)}
    result = evaluate(QRELS, runs, "AP", identity={}, ties="average")
    assert values(result) == {"old": 1.0, "new": 0.5}
