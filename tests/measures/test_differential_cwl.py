"""Against cwl_eval: every C/W/L measure, with expected utility, cost and items."""

from __future__ import annotations

import math

import numpy as np
import pytest
from collections_ import collections
from cwl.ruler.cwl_ruler import (
    BPMCWLMetric,
    BPMDCWLMetric,
    INSQCWLMetric,
    INSTCWLMetric,
    NDCGCWLMetric,
    NERReq8CWLMetric,
    NERReq9CWLMetric,
    NERReq10CWLMetric,
    NERReq11CWLMetric,
)
from cwl.ruler.ranking import Ranking
from hypothesis import given

from goodgain import evaluate

PAIRS = {
    "INST": lambda: INSTCWLMetric(1.0),
    "INST(T=2.5)": lambda: INSTCWLMetric(2.5),
    "INSQ": lambda: INSQCWLMetric(1.0),
    "INSQ(T=3)": lambda: INSQCWLMetric(3.0),
    "BPM@10": lambda: BPMCWLMetric(1.0, 10),
    "BPM(T=2)@3": lambda: BPMCWLMetric(2.0, 3),
    "BPM(hb=0.5)@10": lambda: BPMDCWLMetric(1.0, 10, 0.5, 0.0, 0.5),
    "BPM(T=2, hb=1, median=0.25)@5": lambda: BPMDCWLMetric(2.0, 5, 1.0, 0.0, 0.25),
    "SDCG@5": lambda: NDCGCWLMetric(5),
    "SDCG@10": lambda: NDCGCWLMetric(10),
    "NERR8@5": lambda: NERReq8CWLMetric(5),
    "NERR9@5": lambda: NERReq9CWLMetric(5),
    "NERR10": lambda: NERReq10CWLMetric(0.9),
    "NERR10(p=0.5)": lambda: NERReq10CWLMetric(0.5),
    "NERR11(T=2)": lambda: NERReq11CWLMetric(2.0),
}
FIELDS = {
    "utility": "expected_utility",
    "total-utility": "expected_total_utility",
    "cost": "expected_cost",
    "total-cost": "expected_total_cost",
    "items": "expected_items",
}


def with_expected(label, expected):
    name, at, cutoff = label.partition("@")
    inside = f"{name[:-1]}, " if name.endswith(")") else f"{name}("
    return f"{inside}expected={expected}){at}{cutoff}"


@given(collections(distinct=True, max_docs=9, grades=(0, 1, 2, 3)))
def test_every_expectation(collection):
    labels = {(label, e): with_expected(label, e) for label in PAIRS for e in FIELDS}
    scores = evaluate(collection.qrels(), collection.run(), list(labels.values()))["run"].per_query
    top = max(max(docs.values()) for docs in collection.qrels().values())
    for q, docs in collection.run().items():
        if q not in scores:
            continue
        gains = collection.qrels()[q]
        ranked = sorted(docs, key=lambda d: -docs[d])
        shares = np.array([gains.get(d, 0) / max(top, 1) for d in ranked])
        ranking = Ranking(q, shares, np.ones(len(shares)))
        for label, make in PAIRS.items():
            metric = make()
            metric.measure(ranking)
            for expected, field in FIELDS.items():
                ours = scores[q][labels[label, expected]]
                theirs = float(getattr(metric, field))
                assert math.isclose(ours, theirs, rel_tol=1e-10, abs_tol=1e-12), (label, expected)


@pytest.mark.parametrize("name", ["INST", "INSQ", "BPM@10", "SDCG@10", "NERR8@5", "NERR10"])
def test_by_ir_measures(name):
    import ir_measures

    qrels = {"q": {"a": 2, "b": 1, "c": 0, "d": 2}}
    run = {"q": {"c": 4.0, "a": 3.0, "x": 2.0, "b": 1.0}}
    stem, at, cutoff = name.partition("@")
    theirs = ir_measures.parse_measure(f"{stem}(max_rel=2){at}{cutoff}")
    expected = ir_measures.calc_aggregate([theirs], qrels, run)[theirs]
    assert evaluate(qrels, run, name)[name] == pytest.approx(expected, abs=1e-12)


def test_compat_without_normalisation():
    """ir_measures ends the overlap with the longer list: depth=0."""
    import ir_measures

    qrels = {"q": {"a": 2, "b": 1, "c": 3, "d": 2, "e": 1}}
    run = {"q": {"c": 5.0, "x": 4.0, "a": 3.0, "y": 2.0, "b": 1.0}}
    theirs = ir_measures.parse_measure("Compat(p=0.8, normalize=False)")
    expected = ir_measures.calc_aggregate([theirs], qrels, run)[theirs]
    label = "Compat(p=0.8, depth=0, normalize=False)"
    assert evaluate(qrels, run, label)[label] == pytest.approx(expected, abs=1e-12)
