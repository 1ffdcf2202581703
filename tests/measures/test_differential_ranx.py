"""Against ranx: 1e-12, on runs without ties and queries that both sides have."""

from __future__ import annotations

import math
import warnings

import pytest
from collections_ import collections
from hypothesis import given, settings
from hypothesis import strategies as st

from goodgain import evaluate, parse

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its dependencies warn while they are imported
    ranx = pytest.importorskip("ranx")

# Ours -> theirs. Its names are understood as they are, so each is asked for twice.
PAIRS = {
    "NumRelRet@3": "hits@3", "Hit@3": "hit_rate@3", "P@3": "precision@3", "R@3": "recall@3",
    "F@3": "f1@3", "Rprec": "r-precision", "RR": "mrr", "RR@2": "mrr@2", "AP": "map", "AP@3": "map@3",
    "DCG": "dcg", "DCG@3": "dcg@3", "DCG(gain=exp)@3": "dcg_burges@3", "nDCG": "ndcg",
    "nDCG@3": "ndcg@3", "nDCG(gain=exp)": "ndcg_burges", "nDCG(gain=exp)@3": "ndcg_burges@3",
}  # fmt: skip
LEVELS = {"AP(rel=2)@3": "map@3-l2", "P(rel=2)@3": "precision@3-l2", "RR(rel=2)": "mrr-l2",
          "R(rel=2)@3": "recall@3-l2", "Hit(rel=2)@3": "hit_rate@3-l2"}  # fmt: skip


def peer(collection, metrics):
    """Queries of both sides only: it takes no others."""
    run = ranx.Run(collection.run())
    # Grades are unsigned there; a query of zeros would be dropped.
    qrels = ranx.Qrels(
        {q: {d: int(g) for d, g in docs.items()} for q, docs in collection.qrels().items()}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=DeprecationWarning)
        warnings.simplefilter("ignore", category=UserWarning)
        ranx.evaluate(qrels, run, metrics, return_mean=False, threads=1)
    return {m: dict(run.scores[m]) for m in metrics}


@st.composite
def comparable(draw, grades=(0, 0, 1, 2, 3)):
    collection = draw(collections(distinct=True, max_docs=9, grades=grades, min_run=1, min_rows=1))
    for item in collection.queries.values():
        item.rows[0] = (item.rows[0][0], 3, None, None)
        item.run = [(d, s + 1) for d, s in item.run]
    return collection


@settings(max_examples=20)
@given(comparable())
@pytest.mark.parametrize("pairs", [PAIRS, LEVELS], ids=["level 1", "level 2"])
def test_measures(pairs, collection):
    theirs = peer(collection, list(pairs.values()))
    ours = evaluate(collection.qrels(), collection.run(), [*pairs, *pairs.values()])[
        "run"
    ].per_query
    for q in collection.qrels():
        for label, name in pairs.items():
            wanted = float(theirs[name][q])
            assert math.isclose(ours[q][label], wanted, rel_tol=1e-12, abs_tol=1e-12), (q, label)
            assert ours[q][name] == ours[q][label], name


@settings(max_examples=15)
@given(comparable(grades=(0, 1)), st.sampled_from(["50", "8", "95"]))
def test_rbp_of_binary_gains(collection, digits):
    """Its gains are raw grades, so the two agree where the only grade is 1."""
    for item in collection.queries.values():
        item.rows = [(d, min(g, 1), t, a) for d, g, t, a in item.rows]
    theirs = peer(collection, [f"rbp.{digits}"])[f"rbp.{digits}"]
    ours = evaluate(collection.qrels(), collection.run(), [f"RBP(p=0.{digits})", f"rbp.{digits}"])[
        "run"
    ]
    for q in collection.qrels():
        for m in ours.measures:
            assert ours.per_query[q][m.label] == pytest.approx(float(theirs[q]), abs=1e-12)


@pytest.mark.parametrize("ours, theirs", {**PAIRS, **LEVELS}.items())
def test_its_names_are_understood(ours, theirs):
    a, b = parse(ours), parse(theirs)
    assert (a.name, dict(a.params), a.cutoff) == (b.name, dict(b.params), b.cutoff)
    assert b.label == theirs
