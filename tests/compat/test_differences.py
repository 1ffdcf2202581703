"""The numbers in docs/differences.md agree with the tools."""

from __future__ import annotations

import warnings

import pytest
from load_script import load_script

differences = load_script("differences")

TREC_EVAL = {
    "nDCG": "ndcg", "nDCG@10": "ndcg_cut_10", "nDCG@3": "ndcg_cut_3", "RR": "recip_rank", "P@1": "P_1",
    "P@5": "P_5", "AP": "map", "AP@1": "map_cut_1", "R@2": "recall_2", "R_cap@2": "relative_P_2",
    "Bpref": "bpref", "NumQ": "num_q", "AP11": "11pt_avg", "SetF(beta=2)": "set_F_4",
    "IPrec@0.4": "iprec_at_recall_0.40",
}  # fmt: skip
RANX = {
    "DCG": "dcg", "nDCG": "ndcg", "nDCG@10": "ndcg@10", "nDCG@3": "ndcg@3", "RR": "mrr", "RR@10": "mrr@10",
    "P@1": "precision@1", "P@5": "precision@5", "R@2": "recall@2", "AP": "map", "AP@1": "map@1",
    "MRR@10": "mrr@10",
    "AP(rel=2)": "map-l2", "nDCG(rel=2)@10": "ndcg@10-l2", "Bpref": "bpref", "RBP(p=0.5)": "rbp.5",
}  # fmt: skip


@pytest.mark.parametrize("example", differences.EXAMPLES, ids=lambda e: e.title)
def test_trec_eval_9(example):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    for measure, row in differences.values(example).items():
        if row["trec_eval9"] is None or measure.startswith("AP(rel"):
            continue
        name = TREC_EVAL[measure]
        key = "set_F" if name.startswith("set_F") else name
        result = pytrec_eval.RelevanceEvaluator(example.qrels, {name}).evaluate(example.run)
        value = pytrec_eval.compute_aggregated_measure(key, [v[key] for v in result.values()])
        assert row["trec_eval9"] == pytest.approx(value), measure


@pytest.mark.parametrize("example", differences.EXAMPLES, ids=lambda e: e.title)
def test_ir_measures(example):
    ir_measures = pytest.importorskip("ir_measures")
    for measure, row in differences.values(example).items():
        if row["ir_measures"] is None or measure in ("ERR@10", "RBP", "RBP(p=0.5)", "AP11"):
            continue  # gdeval is a Perl program, RBP needs rel there
        theirs = ir_measures.parse_measure(measure.replace("beta=2", "beta=2.0"))
        value = ir_measures.calc_aggregate([theirs], example.qrels, example.run)[theirs]
        assert row["ir_measures"] == pytest.approx(value), measure


@pytest.mark.parametrize("example", differences.EXAMPLES, ids=lambda e: e.title)
def test_ranx(example):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranx = pytest.importorskip("ranx")
        for measure, row in differences.values(example).items():
            if row["ranx"] is None or measure not in RANX:
                continue
            value = ranx.evaluate(
                ranx.Qrels(example.qrels),
                ranx.Run(example.run),
                RANX[measure],
                make_comparable=True,
                threads=1,
            )
            assert row["ranx"] == pytest.approx(float(value)), measure


@pytest.mark.parametrize("example", differences.EXAMPLES, ids=lambda e: e.title)
def test_beir(example):
    beir = pytest.importorskip("beir_evaluation").EvaluateRetrieval
    run = {q: dict(docs) for q, docs in example.run.items()}
    for measure, row in differences.values(example).items():
        if row["beir"] is None:
            continue
        name, _, k = measure.partition("@")
        if name in ("RR", "MRR", "R_cap"):
            metric = {"RR": "mrr", "MRR": "mrr", "R_cap": "r_cap"}[name]
            result = beir.evaluate_custom(
                example.qrels, {q: dict(d) for q, d in run.items()}, [int(k)], metric
            )
        else:
            result = {}
            for part in beir.evaluate(
                example.qrels, {q: dict(d) for q, d in run.items()}, [int(k)]
            ):
                result |= part
        theirs = {"nDCG": "NDCG", "AP": "MAP", "R": "Recall", "RR": "MRR"}.get(name, name)
        assert row["beir"] == pytest.approx(result[f"{theirs}@{k}"], abs=1e-5), measure
