"""The worked examples of the documents that asked for this package."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain import cg, dcg, evaluate, gsb, ndcg, nrdcgl, pnrdcgl, rdcgl
from goodgain.errors import InputError, UsageError

GAINS = [3, 2, 3, 0, 1, 2]
RESULTS = ["Elad", "Uzi", "Gold", "Namer", "Yoav", "GT"]
TRUTH = {"Elad": 3, "Yoav": 2, "Gold": 2, "Namer": 2, "Uzi": 1, "GT": 1}


def as_tables(gains):
    docs = {f"d{i}": g for i, g in enumerate(gains)}
    return {"q": docs}, {"q": {d: -i for i, d in enumerate(docs)}}


def test_gain_of_six_results():
    assert cg(GAINS) == 11
    assert round(dcg(GAINS, exp=False), 2) == 6.86
    ideal = dcg(sorted(GAINS, reverse=True), exp=False)
    assert math.floor(ideal * 100) / 100 == 7.14  # the seed adds rounded terms
    assert round(ndcg(GAINS, exp=False) * 100, 2) == 96.08


def test_gain_of_six_results_over_tables():
    scores = evaluate(*as_tables(GAINS), "CG DCG nDCG")["run"]
    assert scores["CG"] == 11
    assert round(scores["DCG"], 2) == 6.86
    assert round(scores["nDCG"] * 100, 2) == 96.08


def test_dcg_at_5():
    gains = [3, 2, 3, 0, 1]
    assert round(dcg(gains, k=5, exp=True), 2) == 12.78
    assert round(dcg(gains, 5), 2) == 12.78
    label = "DCG(gain=exp)@5"
    assert round(evaluate(*as_tables(gains), label)[label], 2) == 12.78


def test_gsb():
    assert gsb(1, 1, 2) == gsb(["Good", "Same", "Bad", "Bad"]) == -1 / 4
    assert gsb(["g", " BAD ", "S"]) == 0
    assert gsb(3, 0, 0) == 1


@pytest.mark.parametrize(
    "arguments, kind, text",
    [
        ((0, 0, 0), InputError, "nothing to compare"),
        (([],), InputError, "nothing to compare"),
        ((1, -1, 2), InputError, "must not be negative, got -1"),
        ((["Good", "Better"],), InputError, "'Better'"),
        ((1,), UsageError, "three counts"),
    ],
)
def test_gsb_of_bad_input(arguments, kind, text):
    with pytest.raises(kind, match=text):
        gsb(*arguments)


# --- the minimal functions of the seed ---


def seed_dcg(rels, k, exp=True):
    s = 0.0
    for i, rel in enumerate(rels[:k], start=1):
        gain = (2**rel - 1) if exp else rel
        s += gain / math.log2(i + 1)
    return s


def seed_ndcg(rels, k, exp=True):
    ideal = sorted(rels, reverse=True)
    idcg = seed_dcg(ideal, k, exp=exp)
    return 0.0 if idcg == 0 else seed_dcg(rels, k, exp=exp) / idcg


@given(
    st.lists(st.sampled_from([0, 1, 2, 3, 4, 0.5, 2.5]), max_size=30),
    st.integers(1, 40),
    st.booleans(),
)
def test_the_minimal_functions(gains, k, exp):
    assert dcg(gains, k, exp=exp) == pytest.approx(seed_dcg(gains, k, exp), rel=1e-12, abs=1e-12)
    assert ndcg(gains, k, exp=exp) == pytest.approx(seed_ndcg(gains, k, exp), rel=1e-12, abs=1e-12)
    assert cg(gains, k) == pytest.approx(sum(gains[:k]), rel=1e-12)


@given(
    st.lists(st.sampled_from([0, 1, 2, 3]), min_size=1, max_size=12),
    st.integers(1, 15),
    st.booleans(),
)
def test_the_function_form_is_the_retrieved_ideal(gains, k, exp):
    label = f"nDCG(gain={'exp' if exp else 'linear'}, ideal=retrieved)@{k}"
    assert evaluate(*as_tables(gains), label)[label] == pytest.approx(
        seed_ndcg(gains, k, exp), abs=1e-12
    )


def test_lists_may_be_any_iterable_and_must_be_finite():
    assert dcg(iter([1, 0])) == dcg((1, 0)) == 1
    assert cg([]) == dcg([]) == ndcg([]) == 0
    with pytest.raises(InputError, match="finite"):
        dcg([1, math.nan])
    with pytest.raises(UsageError, match="k must be a positive integer, got 0"):
        dcg([1], k=0)


# --- RaDiCuGLoss ---


def test_radicugloss_documented():
    assert rdcgl(RESULTS, TRUTH) == pytest.approx(17.178367782, abs=5e-10)
    perfect = sorted(TRUTH, key=TRUTH.get)
    assert rdcgl(perfect, TRUTH) == pytest.approx(20.178367782, abs=5e-10)
    assert nrdcgl(RESULTS, TRUTH) == pytest.approx(0.851325933, abs=5e-10)
    assert pnrdcgl(RESULTS, TRUTH) == nrdcgl(RESULTS, TRUTH)


def test_radicugloss_reference():
    assert nrdcgl(RESULTS, TRUTH, gain="reference") == pytest.approx(0.750518606, abs=5e-10)


@pytest.mark.parametrize("gain, value", [("documented", 0.851325933), ("reference", 0.750518606)])
def test_radicugloss_over_tables(gain, value):
    """A table's gains are the true ranks turned: the same number."""
    qrels = {"q": {item: 4 - rank for item, rank in TRUTH.items()}}
    run = {"q": {item: -i for i, item in enumerate(RESULTS)}}
    label = f"NRDCGL(gain={gain})"
    assert evaluate(qrels, run, label)[label] == pytest.approx(value, abs=5e-10)


# --- Hit, MRR, Recall@20, DR@20, Diversity ---


def retrieval_experiment():
    """Two queries by hand: q1 finds two copies of one paper and one of another, q2 nothing in 20."""
    qrels = [
        ("q1", "a1", 1, "paper A"), ("q1", "a2", 1, "paper A"), ("q1", "b1", 1, "paper B"),
        ("q1", "c1", 1, "paper C"), ("q1", "x", 0, "paper X"), ("q2", "z", 1, "paper Z"),
    ]  # fmt: skip
    noise = [f"n{i:02}" for i in range(25)]
    run = {
        "q1": ["n00", "a1", "a2", "x", "b1", *noise[1:]],
        "q2": [*noise[:20], "z", *noise[20:]],
    }
    return qrels, {q: {d: -i for i, d in enumerate(docs)} for q, docs in run.items()}


@pytest.mark.parametrize(
    "label, q1, q2",
    [
        ("Hit@1", 0, 0), ("Hit@5", 1, 0), ("Hit@20", 1, 0), ("MRR", 1 / 2, 1 / 21),
        ("Recall@20", 3 / 4, 0), ("DR@20", 2 / 3, 0), ("Diversity@20", 2, 0), ("DR@2", 1 / 3, 0),
        ("Diversity@30", 2, 1), ("hit_rate@2", 1, 0), ("Success@1", 0, 0),
    ],
)  # fmt: skip
def test_retrieval_experiment(label, q1, q2):
    scores = evaluate(*retrieval_experiment(), label)["run"]
    assert scores.column(label) == pytest.approx([q1, q2], abs=1e-15)
    assert scores[label] == pytest.approx((q1 + q2) / 2)


def test_distinct_targets_without_targets_are_documents():
    qrels, run = {"q": {"a": 1, "b": 2, "c": 0, "d": -1}}, {"q": {"a": 3, "c": 2, "d": 1}}
    assert evaluate(qrels, run, "DR@3 Diversity@3")["run"].means == {"DR@3": 0.5, "Diversity@3": 1}
