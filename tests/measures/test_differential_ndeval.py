"""Against pyndeval (ndeval): the aspect family, to 1e-12."""

from __future__ import annotations

import math

import pytest
from collections_ import query
from hypothesis import given
from hypothesis import strategies as st

from goodgain import evaluate

pyndeval = pytest.importorskip("pyndeval")

# At k = 1 ndeval forgets to divide ERR-IA and alpha-DCG by the number of aspects: left out.
CUTOFFS = (2, 3, 5, 10, 20)
PAIRS = {
    "NRBP": "NRBP", "nNRBP": "nNRBP", "AP_IA": "MAP-IA", "nERR_IA@1": "nERR-IA@1",
    "alpha_nDCG@1": "alpha-nDCG@1", "P_IA@1": "P-IA@1", "StRecall@1": "strec@1",
    **{f"{ours}@{k}": f"{theirs}@{k}" for k in CUTOFFS for ours, theirs in {
        "ERR_IA": "ERR-IA", "nERR_IA": "nERR-IA", "alpha_DCG": "alpha-DCG",
        "alpha_nDCG": "alpha-nDCG", "P_IA": "P-IA", "StRecall": "strec"}.items()},
}  # fmt: skip
DOCS = tuple(f"d{i:02}" for i in range(15))


def with_alpha(label, alpha, beta):
    name, at, k = label.partition("@")
    if name in ("ERR_IA", "nERR_IA", "alpha_DCG", "alpha_nDCG"):
        return f"{name}(alpha={alpha:g}){at}{k}"
    return f"{name}(alpha={alpha:g}, beta={beta:g})" if name.endswith("NRBP") else label


@given(
    query(max_docs=12, min_run=1, min_rows=1, labels="aspect", distinct=True, docs=DOCS,
          grades=(0, 0, 1, 2)),
    st.sampled_from([(0.5, 0.5), (0.25, 0.75)]),
    st.sampled_from([1, 2]),
)  # fmt: skip
def test_aspect_measures(item, weights, level):
    alpha, beta = weights
    item.rows.append(("also judged", 2, None, "a"))
    qrels = [("q", aspect, doc, gain) for doc, gain, _, aspect in item.rows]
    run = [("q", doc, score) for doc, score in item.run]
    theirs = pyndeval.RelevanceEvaluator(
        qrels, list(PAIRS.values()), relevance_level=level, alpha=alpha, beta=beta
    ).evaluate(run)["q"]
    labels = [with_alpha(label, alpha, beta) for label in PAIRS]
    labels = [
        (m.replace("(", f"(rel={level}, ") if "(" in m else m.replace("@", f"(rel={level})@"))
        if "@" in m or "(" in m else f"{m}(rel={level})"
        for m in labels
    ]  # fmt: skip
    rows = [("q", doc, gain, None, aspect) for doc, gain, _, aspect in item.rows]
    ours = evaluate(rows, run, labels)["run"]
    for label, name in zip(labels, PAIRS.values(), strict=True):
        wanted = theirs[name]
        assert math.isclose(ours[label], wanted, rel_tol=1e-12, abs_tol=1e-12), (
            label,
            ours[label],
            wanted,
        )


def test_first_rank_is_divided_by_the_number_of_aspects():
    """Two aspects, the first document covers one: .5, where ndeval gives 1."""
    rows = [("q", "a", 1, None, "1"), ("q", "b", 1, None, "2")]
    ours = evaluate(rows, [("q", "a", 1.0)], "ERR_IA@1 alpha_DCG@1")["run"].means
    assert ours == {"ERR_IA@1": 0.5, "alpha_DCG@1": 0.5}
