"""Against ir_measures: 1e-12, on runs without ties (its providers break them in three different ways)."""

from __future__ import annotations

import math

import ir_measures
import pytest
from collections_ import Collection, Query, collections
from hypothesis import given
from hypothesis import strategies as st

from goodgain import evaluate, parse

# Written alike on both sides, but for what is said on the right.
SAME = (
    "AP", "AP@3", "AP(rel=2)", "RR", "RR@2", "RR(rel=2)", "P@3", "P(rel=2)@5", "R@3", "R(rel=2)@5",
    "nDCG", "nDCG@3", "Rprec", "Rprec(rel=2)", "Bpref", "Bpref(rel=2)", "infAP", "SetP", "SetR",
    "SetF", "SetAP", "Success@3", "Judged@3", "NumRel", "NumRet",
)  # fmt: skip
IPREC = ("IPrec@0.0", "IPrec@0.3", "IPrec@0.5", "IPrec@1.0")


def peer(collection, measures):
    qrels = [
        ir_measures.Qrel(q, d, int(g))
        for q, docs in collection.qrels().items()
        for d, g in docs.items()
    ]
    run = [ir_measures.ScoredDoc(q, d, s) for q, d, s in collection.run_rows()]
    asked = [ir_measures.parse_measure(m) for m in measures]
    found: dict[str, dict[str, float]] = {}
    for metric in ir_measures.iter_calc(asked, qrels, run):
        found.setdefault(metric.query_id, {})[str(metric.measure)] = metric.value
    return found


def compare(collection, measures, theirs=None, tolerance=1e-12):
    theirs_named = [str(ir_measures.parse_measure(m)) for m in theirs or measures]
    expected = peer(collection, theirs or measures)
    scores = evaluate(collection.qrels(), collection.run(), list(measures))["run"]
    ours = scores.per_query
    for q in scores.queries:
        if q not in collection.run():
            continue
        for mine, label in zip(scores.measures, theirs_named, strict=True):
            value = ours[q][mine.label]
            wanted = expected.get(q, {}).get(label, math.nan)
            same = (value != value and wanted != wanted) or math.isclose(
                value, wanted, rel_tol=tolerance, abs_tol=tolerance
            )
            assert same, f"{q} {mine}: {value} for {wanted}"


@st.composite
def without_ties(draw, **options):
    collection = draw(collections(distinct=True, **options))
    for item in collection.queries.values():
        if item.rows and max(item.gains.values()) < 2:
            item.rows[0] = (item.rows[0][0], 2, None, None)
    return collection


@given(without_ties(max_docs=12))
def test_measures_written_alike(collection):
    compare(collection, SAME)


@given(without_ties(max_docs=12))
def test_interpolated_precision(collection):
    ours = [m.replace("IPrec@", "IPrec(rounding=up)@") for m in IPREC]
    compare(collection, ours, IPREC)


@given(without_ties(max_docs=12, grades=(0, 0, 1, 2)))
def test_accuracy(collection):
    """Left out by the peer where nothing relevant is retrieved, a crash where all is: undefined here."""
    for item in collection.queries.values():
        if item.run and all(item.gains.get(d, 0) >= 1 for d, _ in item.run):
            item.run.append(("never judged", -9.0))
    compare(collection, ["Accuracy"])


@given(without_ties(max_docs=6, grades=(0, 1, 2)))
def test_compat_at_its_depth(collection):
    """The peer stops at the longer list; with p small enough that is depth 1000 to 1e-6."""
    for item in collection.queries.values():
        item.run = [(d, s + 1) for d, s in item.run]  # it takes a score of 0 for "not retrieved"
        item.run += [(f"tail{i}", -1.0 - i) for i in range(30)] if item.run else []
    compare(collection, ["Compat(p=0.5)"], tolerance=1e-9)


@given(without_ties(max_docs=10))
def test_means_count_missing_queries_as_empty(collection):
    measures = ["AP", "nDCG@5", "P@5", "RR"]
    qrels = [
        ir_measures.Qrel(q, d, int(g))
        for q, docs in collection.qrels().items()
        for d, g in docs.items()
    ]
    run = [ir_measures.ScoredDoc(*row) for row in collection.run_rows()]
    theirs = ir_measures.calc_aggregate(
        [ir_measures.parse_measure(m) for m in measures], qrels, run
    )
    ours = evaluate(collection.qrels(), collection.run(), measures)["run"]
    for m, value in theirs.items():
        assert ours[str(m)] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    "theirs",
    [*SAME, *IPREC, "nDCG(dcg='exp-log2')@10", "nDCG(dcg='log2')", "ERR@20", "alpha_nDCG@20",
     "α_nDCG(alpha=0.3)@5", "ERR_IA@10", "P_IA@5", "StRecall@5", "AP_IA", "MAP_IA", "NRBP",
     "NDCG@10", "MAP", "MRR@10", "Precision@5", "Recall@5", "BPref", "RPrec", "Accuracy@10",
     "SetF(beta=2.0)", "NumQ", "Compat(p=0.9)"],
)  # fmt: skip
def test_its_names_are_understood(theirs):
    m = parse(theirs)
    asked = ir_measures.parse_measure(theirs)
    assert m.cutoff == asked.params.get("cutoff", asked.params.get("recall"))
    assert m.label == parse(m.label).label


def test_exponential_gain_by_its_name():
    qrels, run = {"q": {"a": 3, "b": 1}}, {"q": {"b": 2.0, "a": 1.0}}
    ours = evaluate(qrels, run, ["nDCG(dcg='exp-log2')", "nDCG(gain=exp)"])["run"].means
    assert len(set(ours.values())) == 1
    assert next(iter(ours.values())) == pytest.approx(
        (1 + 7 / math.log2(3)) / (7 + 1 / math.log2(3))
    )


def test_ties_go_by_id_with_and_without_a_cutoff():
    """The peer ranks RR by descending id and RR@k by ascending: .5 and 1 for one run."""
    collection = Collection({"q": Query([("a", 1, None, None)], [("a", 1.0), ("b", 1.0)])})
    assert peer(collection, ["RR", "RR@10"])["q"] == {"RR": 0.5, "RR@10": 1.0}
    ours = evaluate(collection.qrels(), collection.run(), "RR RR@10")["run"].means
    assert ours == {"RR": 0.5, "RR@10": 0.5}
