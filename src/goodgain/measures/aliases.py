"""The names that other tools give to measures."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from goodgain.measures.definition import Value

# A name of another tool: the measure, and the parameters it stands for.
FOREIGN: dict[str, tuple[str, dict[str, Value]]] = {
    # trec_eval
    "map": ("AP", {}), "map_cut": ("AP", {}), "gm_map": ("GMAP", {}), "recip_rank": ("RR", {}),
    "ndcg": ("nDCG", {}), "ndcg_cut": ("nDCG", {}), "recall": ("R", {}), "success": ("Hit", {}),
    "bpref": ("Bpref", {}), "iprec_at_recall": ("IPrec", {}), "11pt_avg": ("AP11", {}),
    "set_P": ("SetP", {}), "set_recall": ("SetR", {}), "set_F": ("SetF", {}),
    "set_map": ("SetAP", {}), "relative_P": ("R_cap", {}), "num_ret": ("NumRet", {}),
    "num_rel": ("NumRel", {}), "num_rel_ret": ("NumRelRet", {}), "num_q": ("NumQ", {}),
    "rbp": ("RBP", {"p": 0.9}), "rbp_resid": ("RBP_resid", {"p": 0.9}), "unj": ("Unjudged", {}),
    "dcg": ("DCG", {}),
    # ranx
    "ndcg_burges": ("nDCG", {"gain": "exp"}), "dcg_burges": ("DCG", {"gain": "exp"}),
    "mrr": ("RR", {}), "precision": ("P", {}), "f1": ("F", {}), "r-precision": ("Rprec", {}),
    "hits": ("NumRelRet", {}),
    # BEIR, MTEB, sentence-transformers
    "hole": ("Unjudged", {}), "Hole": ("Unjudged", {}), "r_cap": ("R_cap", {}),
    "accuracy": ("Hit", {}), "hit": ("Hit", {}),
    # Elasticsearch
    "mean_reciprocal_rank": ("RR", {}), "expected_reciprocal_rank": ("ERR", {}),
    # ndeval
    "strec": ("StRecall", {}), "alpha-DCG": ("alpha_DCG", {}), "alpha-nDCG": ("alpha_nDCG", {}),
    "ERR-IA": ("ERR_IA", {}), "nERR-IA": ("nERR_IA", {}), "MAP-IA": ("AP_IA", {}),
    "P-IA": ("P_IA", {}),
    # torchmetrics
    "RetrievalNormalizedDCG": ("nDCG", {"ideal": "retrieved"}),
}  # fmt: skip
# Names that a tool uses for something else than other tools or this one: they hold under its preset only.
OF_PRESET: dict[str, dict[str, tuple[str, dict[str, Value]]]] = {"beir": {"Accuracy": ("Hit", {})}}
# Counts that a tool averages over queries, where others add them up.
AVERAGED: dict[str, tuple[str, ...]] = {"ranx": ("hits",)}
# Names of trec_eval that stand for several cut-offs if none is given.
_DEPTHS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
TREC_CUTOFFS: dict[str, tuple[str, ...]] = {
    "ndcg_cut": _DEPTHS,
    "map_cut": _DEPTHS,
    "relative_P": _DEPTHS,
    "success": ("1", "5", "10"),
    "unj": ("5", "10", "20"),
    "iprec_at_recall": tuple(f"{r / 10:.2f}" for r in range(11)),
}
# Without a cut-off these mean the whole list, except to trec_eval.
_TREC_ONLY: dict[str, tuple[str, ...]] = {"P": _DEPTHS, "recall": _DEPTHS}
CUTOFFS_OF_PRESET: dict[str, dict[str, tuple[str, ...]]] = {
    "trec_eval": _TREC_ONLY,
    "trec_eval9": _TREC_ONLY,
}
