"""Every preset agrees with its tool, where that can be installed."""

from __future__ import annotations

import math
import warnings

import pytest
from collections_ import collections
from hypothesis import assume, given
from hypothesis import strategies as st

from goodgain import evaluate
from goodgain.errors import UsageError
from goodgain.ranking.policy import PRESETS
from goodgain.ranking.presets import RULES

# Scores that are one number in 32 bits and two in 64.
NEAR = (-1.5, 0.0, 0.1, 1.0, 1.0 + 1e-9, 2.0)
near_ties = collections(scores=NEAR)


def whole(qrels):
    return {q: {d: int(g) for d, g in docs.items()} for q, docs in qrels.items()}


def means(collection, measures, preset):
    return evaluate(collection.qrels(), collection.run(), list(measures), preset=preset)[
        "run"
    ].means


def comparable(collection) -> None:
    """Ensure that both sides share a query."""
    assume(set(collection.qrels()) & set(collection.run()))


def test_every_preset_has_rules_and_policies():
    assert set(PRESETS) == set(RULES)
    assert set(PRESETS) == {
        "default", "trec_eval", "trec_eval9", "ir_measures", "ranx", "beir", "elasticsearch",
    }  # fmt: skip


# --- trec_eval 9, which pytrec_eval wraps ---

TREC_EVAL = {
    "nDCG": "ndcg", "nDCG@3": "ndcg_cut_3", "AP": "map", "AP@3": "map_cut_3", "RR": "recip_rank",
    "P@3": "P_3", "R@3": "recall_3", "R_cap@3": "relative_P_3", "Hit@3": "success_3",
    "Rprec": "Rprec", "Bpref": "bpref", "infAP": "infAP", "IPrec@0.1": "iprec_at_recall_0.10",
    "IPrec@0.5": "iprec_at_recall_0.50", "AP11": "11pt_avg", "SetP": "set_P", "SetR": "set_recall",
    "SetF": "set_F", "SetAP": "set_map", "GMAP": "gm_map", "NumRet": "num_ret",
    "NumRel": "num_rel", "NumRelRet": "num_rel_ret",
}  # fmt: skip


@given(near_ties)
def test_trec_eval9_as_pytrec_eval(collection):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    comparable(collection)
    qrels = whole(collection.qrels())
    assume(all(max(docs.values()) >= 0 for docs in qrels.values()))  # it reads old memory then
    theirs = pytrec_eval.RelevanceEvaluator(qrels, set(TREC_EVAL.values())).evaluate(
        collection.run()
    )
    ours = means(collection, TREC_EVAL, "trec_eval9")
    for own, name in TREC_EVAL.items():
        values = [row[name] for row in theirs.values()]
        expected = pytrec_eval.compute_aggregated_measure(name, values)
        assert ours[own] == pytest.approx(expected, abs=1e-12), own


def test_trec_eval_10_rounds_recall_and_reads_scores_in_full():
    qrels = {"q": {"a": 1, "b": 1, "c": 1, "x": 0}}
    run = {"q": {"x": 4.0, "a": 3.0, "b": 2.0, "c": 1.0}}
    old, new = (
        evaluate(qrels, run, "IPrec@0.4", preset=p)["IPrec@0.4"]
        for p in ("trec_eval9", "trec_eval")
    )
    # .4 x 3 = 1.2 documents are two in version 9 and one in version 10; interpolated, both 3/4 here.
    assert old == new == 0.75
    run = {"q": {"a": 4.0, "x": 3.0, "b": 2.0, "c": 1.0}}
    old, new = (
        evaluate(qrels, run, "IPrec@0.4", preset=p)["IPrec@0.4"]
        for p in ("trec_eval9", "trec_eval")
    )
    assert (old, new) == (0.75, 1.0)
    near = {"q": {"a": 1.0, "x": 1.0 + 1e-9}}
    old, new = (evaluate(qrels, near, "RR", preset=p)["RR"] for p in ("trec_eval9", "trec_eval"))
    assert (old, new) == (0.5, 0.5)
    near = {"q": {"x": 1.0, "a": 1.0 + 1e-9}}
    old, new = (evaluate(qrels, near, "RR", preset=p)["RR"] for p in ("trec_eval9", "trec_eval"))
    assert (old, new) == (0.5, 1.0)  # in 32 bits a tie, and x is the larger id


# --- ir_measures ---

IR_MEASURES = {
    "nDCG": "nDCG", "nDCG@3": "nDCG@3", "AP": "AP", "AP(rel=2)@3": "AP(rel=2)@3", "RR": "RR",
    "RR@3": "RR@3", "P@3": "P@3", "R@3": "R@3", "Success@3": "Success@3", "Rprec": "Rprec",
    "Bpref": "Bpref", "infAP": "infAP", "IPrec@0.1": "IPrec@0.1", "SetP": "SetP", "SetR": "SetR",
    "SetF(beta=2)": "SetF(beta=2.0)", "SetAP": "SetAP", "Judged@3": "Judged@3", "NumQ": "NumQ",
    "RBP(p=0.8, rel=1)": "RBP(p=0.8,rel=1)", "NumRet": "NumRet", "NumRelRet": "NumRet(rel=1)",
}  # fmt: skip


@given(near_ties)
def test_ir_measures(collection):
    ir_measures = pytest.importorskip("ir_measures")
    comparable(collection)
    qrels = whole(collection.qrels())
    assume(all(max(docs.values()) >= 1 for docs in qrels.values()))
    measures = {own: ir_measures.parse_measure(name) for own, name in IR_MEASURES.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = ir_measures.calc_aggregate(list(measures.values()), qrels, collection.run())
    ours = means(collection, IR_MEASURES, "ir_measures")
    for own, measure in measures.items():
        assert ours[own] == pytest.approx(theirs[measure], abs=1e-9), own


@given(collections(distinct=True))
def test_ir_measures_compat(collection):
    """Distinct scores above 0; otherwise the tool orders the ideal list by the qrels."""
    ir_measures = pytest.importorskip("ir_measures")
    comparable(collection)
    run = {q: {d: s + 1 for d, s in docs.items()} for q, docs in collection.run().items()}
    measure = ir_measures.Compat(p=0.8)
    theirs = ir_measures.calc_aggregate([measure], whole(collection.qrels()), run)
    ours = evaluate(collection.qrels(), run, "Compat(p=0.8)", preset="ir_measures")
    assert ours["Compat(p=0.8)"] == pytest.approx(theirs[measure], abs=1e-9)


DIVERSITY = ("StRecall@3", "alpha_DCG@3", "alpha_nDCG@3", "ERR_IA@3", "nERR_IA@3", "AP_IA", "P_IA@3",
             "NRBP")  # fmt: skip


@given(collections(labels="aspect", grades=(0, 1, 1)))
def test_ir_measures_diversity(collection):
    ir_measures = pytest.importorskip("ir_measures")
    pytest.importorskip("pyndeval")
    comparable(collection)
    rows = collection.qrels_rows()
    assume(len({row[4] for row in rows}) > 1)
    qrels = [ir_measures.Qrel(q, d, int(g), a) for q, d, g, _, a in rows]
    measures = [ir_measures.parse_measure(m) for m in DIVERSITY]
    theirs = ir_measures.calc_aggregate(measures, qrels, collection.run())
    result = evaluate(rows, collection.run(), list(DIVERSITY), preset="ir_measures")
    for name, measure in zip(DIVERSITY, measures, strict=True):
        assert result[name] == pytest.approx(theirs[measure], abs=1e-6), name


# --- ranx ---

RANX = {
    "nDCG": "ndcg", "nDCG@3": "ndcg@3", "nDCG(gain=exp)@3": "ndcg_burges@3", "nDCG(rel=2)@3": "ndcg@3-l2",
    "DCG@3": "dcg@3", "AP": "map", "AP@3": "map@3", "RR": "mrr", "P@3": "precision@3", "R@3": "recall@3",
    "F@3": "f1@3", "Rprec": "r-precision", "Hit@3": "hit_rate@3", "NumRelRet@3": "hits@3",
    "RBP(p=0.8)": "rbp.8", "RBP(p=0.8, rel=2)": "rbp.8-l2",
}  # fmt: skip


@pytest.fixture(scope="module")
def ranx():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("ranx")


# Without ties: their order in ranx comes from an unstable sort and differs between machines and list lengths;
# the preset has the order of its compiled code for short lists, that of the input.
@given(collections(grades=(0, 0, 1, 1, 2, 3), distinct=True))
def test_ranx(ranx, collection):
    comparable(collection)
    qrels = {q: docs for q, docs in whole(collection.qrels()).items() if any(docs.values())}
    run = {q: docs for q, docs in collection.run().items() if q in qrels}
    assume(run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = ranx.evaluate(
            ranx.Qrels(qrels), ranx.Run(run), list(RANX.values()), make_comparable=True, threads=1
        )
    ours = evaluate(qrels, run, list(RANX), preset="ranx")
    for own, name in RANX.items():
        value = ours["run"].column(own)
        mean = math.fsum(value) / len(value)  # it averages counts, too
        assert mean == pytest.approx(theirs[name], abs=1e-9), own


@given(collections(grades=(-1, 0, 1, 2), distinct=True))
def test_ranx_bpref(ranx, collection):
    comparable(collection)
    qrels = {q: docs for q, docs in whole(collection.qrels()).items() if max(docs.values()) > 0}
    run = {q: docs for q, docs in collection.run().items() if q in qrels}
    assume(run)
    qrels = {q: qrels[q] for q in run}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import numpy as np

        with np.errstate(all="ignore"):
            theirs = ranx.Run(run)
            ranx.evaluate(ranx.Qrels(qrels), theirs, ["bpref"], return_mean=False, threads=1)
    ours = evaluate(qrels, run, "Bpref", preset="ranx")["run"].per_query
    for query, value in theirs.scores["bpref"].items():
        assert ours[query]["Bpref"] == pytest.approx(value, abs=1e-9, nan_ok=True), query


# --- BEIR ---


@given(near_ties, st.booleans())
def test_beir(collection, same_ids):
    evaluation = pytest.importorskip("beir_evaluation")
    comparable(collection)
    qrels = whole(collection.qrels())
    run = collection.run()
    assume(all(max(docs.values()) >= 1 for docs in qrels.values()))
    run = {q: dict(docs) for q, docs in run.items() if q in qrels}
    if same_ids:
        for query, docs in run.items():
            docs[query] = 3.0
    copies = [{q: dict(docs) for q, docs in run.items()} for _ in range(4)]
    theirs = {}
    for part in evaluation.EvaluateRetrieval.evaluate(qrels, copies[0], [1, 3]):
        theirs |= part
    for copy, metric in zip(copies[1:], ("mrr", "r_cap", "accuracy"), strict=True):
        theirs |= evaluation.EvaluateRetrieval.evaluate_custom(qrels, copy, [1, 3], metric)
    names = {name: name.replace("Accuracy", "Hit") for name in theirs}
    ours = evaluate(qrels, run, list(names.values()), preset="beir")
    for name, own in names.items():
        assert round(ours[own], 5) == pytest.approx(theirs[name], abs=1.1e-5), name


def test_beir_hole_is_refused():
    with pytest.raises(
        UsageError,
        match=r"hole@3 is not available .*BEIR's Hole@k looks documents up",
    ):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "hole@3", preset="beir")


# --- Elasticsearch, by the definition of its rank evaluation ---


def elasticsearch(qrels, hits, k):
    """precision, recall, mean_reciprocal_rank and dcg (normalize) of one request, as documented."""
    top = [qrels.get(d) for d in hits[:k]]
    relevant = sum(1 for g in qrels.values() if g >= 1)
    hit_count = sum(1 for g in top if g is not None and g >= 1)

    def dcg(ratings):
        return sum((2**g - 1) / math.log2(i + 2) for i, g in enumerate(ratings) if g is not None)

    ideal = dcg(sorted(qrels.values(), reverse=True)[: len(top)])
    first = next((i for i, g in enumerate(top, 1) if g is not None and g >= 1), None)
    return {
        f"P@{k}": hit_count / len(top) if top else 0.0,
        f"R@{k}": hit_count / relevant if relevant else 0.0,
        f"RR@{k}": 1 / first if first else 0.0,
        f"nDCG@{k}": dcg(top) / ideal if ideal else 0.0,
        f"DCG@{k}": dcg(top),
    }


@given(collections(grades=(0, 0, 1, 2, 3)), st.integers(1, 6))
def test_elasticsearch(collection, k):
    comparable(collection)
    run = collection.run()
    per_query = {}
    for query, docs in whole(collection.qrels()).items():
        listed = run.get(query, {})
        hits = sorted(listed, key=listed.__getitem__, reverse=True)  # stable: as they came
        per_query[query] = elasticsearch(docs, hits, k)
    names = list(next(iter(per_query.values())))
    result = evaluate(collection.qrels(), run, names, preset="elasticsearch")
    for name in names:
        expected = math.fsum(row[name] for row in per_query.values()) / len(per_query)
        assert result[name] == pytest.approx(expected, abs=1e-12), name


# --- what was asked for by name wins ---


def test_given_policies_and_parameters_win_over_a_preset():
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}
    assert evaluate(qrels, run, "RR@5", preset="ir_measures")["RR@5"] == 1.0
    assert evaluate(qrels, run, "RR@5", preset="ir_measures", ties="docid")["RR@5"] == 0.5
    exponential = evaluate({"q": {"a": 2}}, run, "DCG@1 DCG(gain=linear)@1", preset="elasticsearch")
    assert exponential["DCG@1"] == 3.0
    assert exponential["DCG(gain=linear)@1"] == 2.0


def test_a_result_says_its_preset(tmp_path):
    from goodgain import Evaluation

    result = evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR@5", preset="beir")
    assert (result.preset, result.policy.same_id) == ("beir", "drop")
    result.save(tmp_path / "r.json")
    assert Evaluation.load(tmp_path / "r.json").preset == "beir"
