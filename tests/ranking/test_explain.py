"""Terms add up to the number, shares of causes to the difference, for every measure and pair of presets."""

from __future__ import annotations

import json
import math

import pytest
from collections_ import collections
from hypothesis import assume, given
from hypothesis import strategies as st

from goodgain import evaluate
from goodgain.errors import InputError, UsageError
from goodgain.measures import definitions
from goodgain.ranking.causes import CAUSES
from goodgain.ranking.explain import explain
from goodgain.ranking.policy import CHOICES, PRESETS

MEASURES = (
    "nDCG@3", "nDCG", "nDCG(gain=exp)@3", "nDCG(ideal=retrieved)@3", "nDCG(ideal=length)@3", "DCG@3",
    "CG@2", "ERR@3", "RBP", "AP", "AP@2", "RR", "RR@2", "P@3", "R@3", "Hit@2", "Rprec", "Bpref", "infAP",
    "IPrec@0.5", "AP11", "F@3", "SetP", "Judged@3", "Unjudged@3", "RBP_resid", "alpha_nDCG@3", "Compat",
)  # fmt: skip
PRESET = st.sampled_from(sorted(PRESETS))


@given(collections(labels=None), st.sampled_from(MEASURES), PRESET)
def test_contributions_add_up(collection, measure, preset):
    qrels, run = collection.qrels(), collection.run()
    query = next(q for q in qrels if q in run)
    assume(not (preset == "beir" and measure.startswith("Unjudged")))
    found = explain(qrels, run, measure, query, preset=preset)
    expected = evaluate(qrels, run, measure, preset=preset)["run"].per_query[query][measure]
    assert found.value == pytest.approx(expected, nan_ok=True)
    if expected == expected:
        total = found.base + math.fsum(t.contribution for t in found.terms)
        assert total == pytest.approx(expected, abs=1e-9)
    assert [t.rank for t in found.terms] == list(range(1, len(found.terms) + 1))
    if (
        found.terms
        and found.terms[0].ideal is not None
        and found.norm
        and found.measure.cutoff is None
    ):
        assert math.fsum(t.ideal for t in found.terms) <= 1 + 1e-9
    for term in found.terms:
        assert (
            term.contribution
            == pytest.approx(term.gain * term.discount / (found.norm or 1), abs=1e-9)
            or term.gain == 0
        )


@given(
    collections(scores=(0.0, 1.0, 1.0 + 1e-9, 2.0)),
    st.sampled_from(MEASURES),
    PRESET,
    PRESET,
    st.booleans(),
)
def test_shares_add_up(collection, measure, preset, against, one_query):
    qrels, run = collection.qrels(), collection.run()
    query = next(q for q in qrels if q in run) if one_query else None
    assume("beir" not in (preset, against) or not measure.startswith("Unjudged"))
    found = explain(qrels, run, measure, query, against=against, preset=preset)
    if found.causes:
        total = math.fsum(c.share for c in found.causes)
        assert total == pytest.approx(found.difference, abs=1e-9, nan_ok=True)
    for side, value in ((preset, found.value), (against, found.other)):
        result = evaluate(qrels, run, measure, preset=side)["run"]
        expected = result.per_query[query][measure] if query else result.means[measure]
        assert value == pytest.approx(expected, abs=1e-9, nan_ok=True), side
    if preset == against:
        assert found.causes == ()


EVERY = [d for d in definitions("ranked") if d.kernel is not None]


def in_words(definition, sides):
    """A measure with a cut-off where it needs one; None where a preset refuses it."""
    if "beir" in sides and definition.name == "Unjudged":
        return None
    if definition.name == "P":  # to trec_eval nine cut-offs
        return "P@3"
    return definition.name + {"required": "@3", "recall": "@0.5"}.get(definition.cutoff, "")


@pytest.mark.parametrize("against", sorted(PRESETS))
@pytest.mark.parametrize("preset", ["default", "trec_eval9", "beir"])
def test_every_measure_is_that_of_evaluate(preset, against):
    """Sums, geometric means, queries that are missing, undefined for one query or for all."""
    cases = [
        ({"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"d": 1}, "q3": {"e": 0}},
         {"q1": {"b": 2.0, "x": 2.0, "a": 1.0}, "q3": {"x": 1.0}}),
        ({"q1": {"a": 1}}, {"q1": {"a": 1.0}}),  # no nonrelevant document: Accuracy is undefined
        ({"q1": {"a": 0}}, {"q1": {"x": 1.0}}),
    ]  # fmt: skip
    for definition in EVERY:
        measure = in_words(definition, (preset, against))
        for qrels, run in cases if measure else ():
            found = explain(qrels, run, measure, against=against, preset=preset)
            for side, value in ((preset, found.value), (against, found.other)):
                expected = evaluate(qrels, run, measure, preset=side)["run"].means
                assert value == pytest.approx(*expected.values(), nan_ok=True), (measure, side)
            shares = [c.share for c in found.causes]
            if found.difference == found.difference:
                assert math.fsum(shares) == pytest.approx(found.difference), measure
            else:
                assert all(share != share for share in shares), measure


def test_an_undefined_value_is_shown_as_undefined():
    found = explain({"q": {"a": 1}}, {"q": {"a": 1.0}}, "Accuracy", against="trec_eval")
    assert found.value != found.value
    assert str(found).startswith("Accuracy of all queries: default -, trec_eval -, difference -\n")
    assert found.to_dict()["value"] is None


def test_every_choice_and_parameter_has_its_cause():
    listed = {key for keys in CAUSES.values() for key in keys}
    assert set(CHOICES) <= listed


QRELS = {"q1": {"a": 3, "b": 1, "c": 0}, "q2": {"d": 1}}
RUN = {"q1": {"b": 2.0, "c": 2.0, "x": 1.0, "a": 0.5}}


def test_in_the_terminal():
    assert (
        str(explain(QRELS, RUN, "nDCG@3", "q1"))
        == """\
nDCG@3 of query q1: 0.1738

rank  document  score  judged  gain  discount  contribution   ideal
   1  c             2       0     0    1.0000        0.0000  0.8262
   2  b             2       1     1    0.6309        0.1738  0.1738
   3  x             1       -     0    0.5000        0.0000  0.0000
... and 1 document that adds nothing

contribution = gain x discount / 3.6309, the DCG of the ideal list
sum of the contributions: 0.1738
policies: ties=docid, missing=zero, unjudged=nonrelevant, duplicates=error, scores=double, same_id=keep"""
    )


def test_a_difference_in_the_terminal():
    found = explain(QRELS, RUN, "nDCG@3", against="elasticsearch")
    assert str(found).splitlines()[0] == (
        "nDCG@3 of all queries: default 0.0869, elasticsearch 0.0655, difference -0.0214"
    )
    causes = {c.cause: c for c in found.causes}
    assert set(causes) == {"ties", "gain form", "ideal"}
    assert (causes["ties"].ours, causes["ties"].theirs) == ("docid", "input")
    assert (causes["ties"].query, causes["ties"].doc) == ("q1", "b")
    assert causes["ties"].note == (
        "query q1, document b: rank 2 -> 1, 0.1738 -> 0.2754 (no other query differs)"
    )
    assert causes["ideal"].note == "no effect here"
    skipped = explain(QRELS, RUN, "nDCG@3", against="trec_eval")
    assert [(c.cause, c.note) for c in skipped.causes] == [
        ("missing queries", "query q2 is not in the run (1 of them)")
    ]


def test_json():
    found = explain(QRELS, RUN, "AP", "q1").to_dict()
    assert json.loads(json.dumps(found))["terms"][1] == {
        "rank": 2, "doc": "b", "score": 2.0, "judged": 1.0, "gain": 1.0, "discount": 0.25,
        "contribution": 0.25, "ideal": None,
    }  # fmt: skip
    found = explain(QRELS, RUN, "nDCG@3", against="ranx", query="q1").to_dict()
    assert (found["preset"], found["against"], found["query"]) == ("default", "ranx", "q1")
    json.dumps(found)


def test_errors():
    with pytest.raises(InputError, match="query 'q9' is not judged"):
        explain(QRELS, RUN, "AP", "q9")
    with pytest.raises(UsageError, match="can only be explained for one order of the documents"):
        explain(QRELS, RUN, "AP", "q1", ties="average")
    with pytest.raises(UsageError, match="unknown preset 'foo'"):
        explain(QRELS, RUN, "AP", against="foo")
    with pytest.raises(UsageError, match="Latency is not computed from documents"):
        explain(QRELS, RUN, "Latency", "q1")


def test_a_query_that_the_run_lacks():
    assert "no documents retrieved" in str(explain(QRELS, RUN, "AP", "q2"))


def test_command(tmp_path, capsys):
    from goodgain.cli import run

    (tmp_path / "q.json").write_text(json.dumps(QRELS))
    (tmp_path / "r.json").write_text(json.dumps(RUN))
    paths = [str(tmp_path / "q.json"), str(tmp_path / "r.json")]
    assert run(["explain", *paths, "-m", "nDCG@3", "--query", "q1"]) == 0
    assert capsys.readouterr().out.startswith("nDCG@3 of query q1: 0.1738\n")
    assert run(["explain", *paths, "-m", "nDCG@3", "--against", "ranx", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["goodgain"] == "difference"
    assert run(["explain", *paths, "-m", "nDCG@3"]) == 2
    assert capsys.readouterr().err == (
        "goodgain: no query to explain: --query ID is missing\n"
        "hint: for example --query q1; it is optional with --against PRESET\n"
    )
