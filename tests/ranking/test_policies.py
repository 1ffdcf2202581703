"""Every policy with a case worked by hand, and the presets."""

from __future__ import annotations

import math

import pytest

from goodgain import Policy, evaluate
from goodgain.errors import InputError, UsageError
from goodgain.ranking import CHOICES, PRESETS

QRELS = {"q1": {"a": 1}, "q2": {"a": 1}}


def rr(run, qrels=None, measure="RR", **policy):
    return evaluate(qrels or {"q": {"a": 1}}, run, measure, **policy)


# --- ties ---

TIED = {"q": {"b": 1.0, "a": 1.0, "c": 1.0}}


def test_ties_docid():
    """c, b, a: the larger id first."""
    assert rr(TIED)["RR"] == 1 / 3
    assert rr(TIED, ties="docid")["RR"] == 1 / 3


def test_ties_input():
    """b, a, c as they stand."""
    assert rr(TIED, ties="input")["RR"] == 1 / 2


def test_ties_average():
    """a on each of three ranks equally often."""
    assert rr(TIED, ties="average")["RR"] == pytest.approx((1 + 1 / 2 + 1 / 3) / 3, abs=1e-15)


def test_ties_bounds():
    result = rr(TIED, ties="bounds")
    assert result["RR"] == 1 / 3  # the point is still that of the id
    assert result.runs[0].bounds("RR") == (1 / 3, 1)
    with pytest.raises(UsageError, match="the result has no bounds of RR"):
        rr(TIED).runs[0].bounds("RR")


# --- missing queries ---


def test_missing_zero():
    result = evaluate(QRELS, {"q1": {"a": 1.0}}, "RR", missing="zero")
    assert result["RR"] == 0.5
    assert result.runs[0].queries == ["q1", "q2"]
    assert result.runs[0].count("RR") == 2


def test_missing_skip():
    result = evaluate(QRELS, {"q1": {"a": 1.0}}, "RR", missing="skip")
    assert result["RR"] == 1
    assert result.runs[0].queries == ["q1"]
    assert result.runs[0].coverage.missing_queries == 1


def test_an_empty_list_is_not_missing():
    """A query with no results is in the run."""
    result = evaluate(QRELS, {"q1": {"a": 1.0}, "q2": {}}, "RR", missing="skip")
    assert result["RR"] == 0.5


# --- unjudged documents ---

HALF_JUDGED = {"q": {"x": 3.0, "n": 2.0, "a": 1.0}}
WITH_NONRELEVANT = {"q": {"a": 1, "n": 0}}


def test_unjudged_nonrelevant():
    assert rr(HALF_JUDGED, WITH_NONRELEVANT)["RR"] == 1 / 3


def test_unjudged_remove():
    """x leaves; n, which is judged, stays above a. A negative gain is a judgement."""
    assert rr(HALF_JUDGED, WITH_NONRELEVANT, unjudged="remove")["RR"] == 1 / 2
    assert rr(HALF_JUDGED, {"q": {"a": 1, "n": -1}}, unjudged="remove")["RR"] == 1 / 2


def test_unjudged_bounds():
    result = rr(HALF_JUDGED, WITH_NONRELEVANT, unjudged="bounds")
    assert result["RR"] == 1 / 3
    assert result.runs[0].bounds("RR") == (1 / 3, 1)


# --- duplicates ---

TWICE = [("q", "b", 4.0), ("q", "a", 1.0), ("q", "c", 3.0), ("q", "a", 5.0), ("q", "d", 2.0)]


@pytest.mark.parametrize("form", ["rows", "file", "arrow"])
@pytest.mark.parametrize("policy, value", [("first", 1 / 4), ("best", 1)])
def test_duplicates(form, policy, value, tmp_path):
    """first: a scores 1 and is fourth; best: it scores 5 and is first. It counts once."""
    run = as_form(TWICE, form, tmp_path)
    result = evaluate({"q": {"a": 1}}, run, "RR NumRet NumRelRet", duplicates=policy)
    assert result.runs[0].means == {"RR": value, "NumRet": 4, "NumRelRet": 1}


@pytest.mark.parametrize("form", ["rows", "file", "arrow"])
def test_duplicates_error(form, tmp_path):
    with pytest.raises(InputError) as caught:
        evaluate({"q": {"a": 1}}, as_form(TWICE, form, tmp_path), "RR")
    assert "'a'" in caught.value.message and "'q'" in caught.value.message
    assert "4" in caught.value.where
    assert "duplicates=" in caught.value.hint


def as_form(rows, form, folder):
    if form == "file":
        path = folder / "run.txt"
        path.write_text("".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in rows))
        return path
    if form == "arrow":
        import pyarrow as pa

        q, d, s = zip(*rows, strict=True)
        return pa.table({"query": q, "doc": d, "score": s})
    return rows


def test_a_document_judged_twice_is_an_error():
    with pytest.raises(InputError, match="duplicate judgment of document 'a' for query 'q'"):
        evaluate([("q", "a", 1), ("q", "a", 2)], {"q": {"a": 1.0}}, "RR")


# --- scores ---


def test_scores_single():
    """0.1 and the next number above it are one 32-bit number."""
    run = {"q": {"a": math.nextafter(0.1, 1), "b": 0.1}}
    assert rr(run)["RR"] == 1
    assert rr(run, scores="single")["RR"] == 1 / 2


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_scores_must_be_finite(score):
    with pytest.raises(InputError, match="finite") as caught:
        rr({"q": {"a": score}})
    assert caught.value.hint


# --- policies as objects ---


def test_policies_are_recorded_and_named():
    result = rr(TIED, ties="average", missing="skip")
    assert result.policy == Policy(ties="average", missing="skip")
    assert result.policy.to_dict() == {
        "ties": "average", "missing": "skip", "unjudged": "nonrelevant", "duplicates": "error",
        "scores": "double", "same_id": "keep",
    }  # fmt: skip
    assert "ties=average" in str(result.policy)
    assert result.to_dict()["policy"]["ties"] == "average"
    assert rr(TIED, policy={"ties": "average"})["RR"] == result["RR"]
    assert rr(TIED, policy=Policy(ties="average"))["RR"] == result["RR"]


def test_every_choice_is_explained():
    assert set(CHOICES) == set(Policy().to_dict())
    assert all(text for choices in CHOICES.values() for text in choices.values())


@pytest.mark.parametrize(
    "preset, policy",
    [
        ("default", Policy()),
        ("trec_eval", Policy(missing="skip")),
        ("trec_eval9", Policy(missing="skip", scores="single")),
    ],
)
def test_presets_of_trec_eval(preset, policy):
    assert PRESETS[preset] == policy == Policy.of(preset=preset)


@pytest.mark.parametrize(
    "preset", ["default", "trec_eval", "trec_eval9", "ir_measures", "ranx", "beir", "elasticsearch"]
)
def test_presets_of_the_design_exist(preset):
    assert Policy.of(preset=preset).missing in ("zero", "skip")


def test_a_preset_with_a_change():
    assert Policy.of(preset="trec_eval9", ties="input") == Policy("input", "skip", scores="single")


@pytest.mark.parametrize(
    "given, text, hint",
    [
        ({"ties": "random"}, "ties='random'", "docid, docid-ascending, input, average, bounds"),
        ({"tie": "docid"}, "'tie'", "ties"),
        ({"preset": "trec"}, "'trec'", "trec_eval"),
        ({"threads": 0}, "threads must be a positive integer, got 0", ""),
    ],
)
def test_bad_policies(given, text, hint):
    with pytest.raises(UsageError) as caught:
        rr(TIED, **given)
    assert text in caught.value.message
    assert hint in caught.value.hint
