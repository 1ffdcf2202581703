"""Every measure without a cut-off is the one of the whole list, or its documentation says what it is."""

from __future__ import annotations

import pytest

from goodgain import evaluate
from goodgain.errors import MeasureError
from goodgain.measures import definitions

QRELS = {"q": {"a": 2, "b": 0, "c": 1, "d": 3, "e": -1}}
RUN = {"q": {"b": 5.0, "a": 4.0, "x": 3.0, "c": 2.0, "y": 1.0}}
BY_NAME = {d.name: d for d in definitions("ranked")}


def value(text):
    return evaluate(QRELS, RUN, text)["run"].means[text]


@pytest.mark.parametrize("name", [n for n, d in BY_NAME.items() if d.cutoff == "optional"])
def test_the_whole_list_or_as_documented(name):
    without, deep = value(name), value(f"{name}@1000")
    if without != pytest.approx(deep, nan_ok=True):
        assert "Without a cut-off" in BY_NAME[name].edge_cases, (without, deep)
    else:
        assert "Without a cut-off" not in BY_NAME[name].edge_cases


@pytest.mark.parametrize(
    "name", [n for n, d in BY_NAME.items() if d.cutoff in ("required", "recall")]
)
def test_a_cutoff_that_is_needed(name):
    with pytest.raises(MeasureError, match=f"the measure '{name}' needs a cut-off"):
        value(name)
    assert "Without a cut-off" not in BY_NAME[name].edge_cases


def test_precision_of_the_whole_list():
    """Two of five documents; a list of none is 0."""
    assert value("P") == value("SetP") == value("P(denominator=returned)") == 2 / 5
    assert evaluate({"q": {"a": 1}, "r": {"a": 1}}, {"r": {"a": 1.0}}, "P")["run"].column("P") == [
        0,
        1,
    ]


def test_precision_of_the_whole_list_under_ties_and_unjudged_bounds():
    run = {"q": dict.fromkeys(RUN["q"], 1.0)}
    for policy in ({"ties": "average"}, {"ties": "bounds"}):
        assert evaluate(QRELS, run, "P", **policy)["P"] == 2 / 5
    bounds = evaluate(QRELS, RUN, "P", unjudged="bounds")["run"].bounds("P")
    assert bounds == (2 / 5, 4 / 5)


@pytest.mark.parametrize(("grade", "divisor"), [(0.25, 1), (1, 1), (4, 4)])
def test_the_highest_grade_is_at_least_1(grade, divisor):
    """RBP and ERR: shares and probabilities are gains on a scale to 1."""
    qrels, run = {"q": {"a": grade}}, {"q": {"a": 1.0}}
    result = evaluate(qrels, run, "RBP(p=0.5) ERR RBP(p=0.5, scale=query)")["run"].means
    assert list(result.values()) == pytest.approx(
        [0.5 * grade / divisor, (2**grade - 1) / 2**divisor, 0.5 * grade / divisor]
    )
    for name in ("RBP", "ERR", "nERR"):
        assert "at least 1" in BY_NAME[name].param("max_grade").meaning


def test_measures_over_aspects_say_so():
    """All of the family except those over targets: they may read TREC's second column."""
    family = {n for n, d in BY_NAME.items() if d.family == "distinct"}
    assert {n for n, d in BY_NAME.items() if d.by_aspect} == family - {"DR", "Diversity"}
