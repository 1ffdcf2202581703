"""Against scikit-learn: dcg_score and ndcg_score, which average over ties, to 1e-12."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import dcg_score, ndcg_score

from goodgain import dcg, evaluate, ndcg

GAINS = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0])
LISTS = st.lists(st.tuples(GAINS, st.sampled_from([0.0, 0.5, 1.0, 2.0])), min_size=2, max_size=12)
CUTOFFS = st.sampled_from([None, 1, 2, 3, 5, 20])


def tables(items):
    gains = {"q": {f"d{i}": g for i, (g, _) in enumerate(items)}}
    scores = {"q": {f"d{i}": s for i, (_, s) in enumerate(items)}}
    return gains, scores, np.array([[g for g, _ in items]]), np.array([[s for _, s in items]])


def at(name, k):
    return name if k is None else f"{name}@{k}"


@given(LISTS, CUTOFFS)
def test_dcg_with_averaged_ties(items, k):
    gains, scores, true, score = tables(items)
    ours = evaluate(gains, scores, at("DCG", k), ties="average")[at("DCG", k)]
    assert ours == pytest.approx(dcg_score(true, score, k=k), rel=1e-12, abs=1e-12)


@given(LISTS, CUTOFFS)
def test_ndcg_with_averaged_ties(items, k):
    gains, scores, true, score = tables(items)
    ours = evaluate(gains, scores, at("nDCG", k), ties="average")[at("nDCG", k)]
    assert ours == pytest.approx(ndcg_score(true, score, k=k), rel=1e-12, abs=1e-12)


@given(LISTS, CUTOFFS)
def test_exponential_gains(items, k):
    gains, scores, true, score = tables(items)
    label = at("nDCG(gain=exp)", k)
    ours = evaluate(gains, scores, label, ties="average")[label]
    assert ours == pytest.approx(ndcg_score(2**true - 1, score, k=k), rel=1e-12, abs=1e-12)


@given(st.lists(GAINS, min_size=2, max_size=12), CUTOFFS)
def test_list_functions(gains, k):
    true = np.array([gains])
    order = np.array([range(len(gains), 0, -1)])
    assert dcg(gains, k, exp=False) == pytest.approx(
        dcg_score(true, order, k=k), rel=1e-12, abs=1e-12
    )
    assert ndcg(gains, k, exp=False) == pytest.approx(
        ndcg_score(true, order, k=k), rel=1e-12, abs=1e-12
    )
    exp = 2**true - 1
    assert ndcg(gains, k) == pytest.approx(ndcg_score(exp, order, k=k), rel=1e-12, abs=1e-12)
