"""The one table of measures.

Parsing, `goodgain measures`, the reference in docs/, and the tooltips of reports are all made from it.
A new measure is an entry here and a kernel in src/core/.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    Function = Callable[[NDArray[np.float64], NDArray[np.float64]], float]

Family = Literal[
    "gain",
    "binary",
    "distinct",
    "gain and loss",
    "coverage",
    "time and cost",
    "good gain",
    "registered",
]
Value = str | float | bool


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter: its values are one of `choices`, or numbers within `low` and `high`."""

    name: str
    default: Value | None
    meaning: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    open_low: bool = False
    open_high: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """All that is known about one measure; there is one object of each."""

    name: str
    family: Family
    summary: str
    formula: str
    range: str
    edge_cases: str
    citation: str
    kernel: str | None = None
    params: tuple[Param, ...] = ()
    cutoff: Literal["required", "optional", "none", "recall"] = "optional"
    aliases: tuple[str, ...] = ()
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    aggregate: Literal["mean", "sum", "geometric", "stat"] = "mean"
    lower_is_better: bool = False
    options: Mapping[str, Value] = field(default_factory=dict)
    function: Function | None = None
    column: str | None = None

    def param(self, name: str) -> Param | None:
        """The parameter of this name."""
        return next((p for p in self.params if p.name == name), None)


REL = Param("rel", 1.0, "the lowest gain that counts as relevant", low=0, open_low=True)
GAIN = Param("gain", "linear", "the gain of a grade g: g itself, or 2^g - 1", ("linear", "exp"))
MIN_GAIN = Param("rel", None, "with it: a gain below counts 0", low=0, open_low=True)
ALPHA = Param("alpha", 0.5, "how much a repeated aspect loses each time", low=0, high=1)
MAX_GRADE = Param(
    "max_grade",
    None,
    "the highest grade of the scale (default: the highest judged)",
    low=0,
    open_low=True,
)

_JARVELIN = "Järvelin & Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 2002"
_BURGES = "Burges et al., Learning to rank using gradient descent, ICML 2005"
_TREC = (
    "Voorhees & Harman, TREC: Experiment and Evaluation in Information Retrieval, MIT Press 2005"
)
_CLARKE = "Clarke et al., Novelty and diversity in information retrieval evaluation, SIGIR 2008"
_AGRAWAL = "Agrawal et al., Diversifying search results, WSDM 2009"
_NO_REL = "No relevant document judged: 0. Nothing retrieved: 0."
_NO_ASPECT = "Without an aspect column every query has one aspect. Nothing relevant judged: 0."
_IDEAL_DEPTH = " Without a cut-off the denominator sums over as many ranks as documents are judged."
_PENALTIES = (
    REL,
    Param(
        "gain",
        "documented",
        "the formula as documented, or as in the published package",
        ("documented", "reference"),
    ),
    Param("fp", 1.0, "what a false positive costs, as a share of a gain", low=0),
    Param("fn", 1.0, "what a false negative costs, as a share of a gain", low=0),
    Param("punish_max", False, "take both penalties at the largest gain"),
)
_LOSS_EDGE = (
    "The gain of a relevant document is its true rank t, larger is better. Unjudged documents are "
    "false positives. A relevant document is missing when it is nowhere in the list, whatever the "
    "cut-off. No relevant document judged: 0."
)
_LOSS_CITATION = "RaDiCuGLoss (Rank Discounted Cumulative Gain and Loss), Healthee 2023"

DEFINITIONS: tuple[Definition, ...] = (
    # --- gain ---
    Definition(
        "CG",
        "gain",
        "Cumulative gain: the sum of the gains, whatever their order.",
        "sum of g_i for i = 1..k",
        "0 and up",
        "Unjudged and negative count 0.",
        _JARVELIN,
        "cg",
        (GAIN,),
    ),
    Definition(
        "DCG",
        "gain",
        "Discounted cumulative gain: gains count less further down.",
        "sum of gain(g_i) / log2(i + 1) for i = 1..k",
        "0 and up",
        "Unjudged and negative count 0.",
        _JARVELIN + "; exponential gain: " + _BURGES,
        "dcg",
        (GAIN, MIN_GAIN),
        elsewhere={
            "trec_eval": "dcg (10)",
            "ranx": "dcg@k, dcg_burges@k (gain=exp)",
            "Elasticsearch": "dcg@k (gain=exp)",
        },
    ),
    Definition(
        "nDCG",
        "gain",
        "DCG divided by the DCG of the best possible order.",
        "DCG@k / ideal DCG@k",
        "0 to 1",
        "An ideal of 0 gives 0. The ideal is made of all judged documents; ideal=retrieved takes "
        "the list's own best order.",
        _JARVELIN + "; exponential gain: " + _BURGES,
        "ndcg",
        (
            GAIN,
            Param(
                "ideal",
                "judged",
                "what the ideal list is made of: all judged documents, the list's own, or all judged "
                "but no more than the list has",
                ("judged", "retrieved", "length"),
            ),
            MIN_GAIN,
        ),
        aliases=("NDCG",),
        elsewhere={
            "trec_eval": "ndcg, ndcg_cut_k",
            "ir_measures": "nDCG@k, nDCG(dcg='exp-log2')@k",
            "ranx": "ndcg@k, ndcg_burges@k (gain=exp)",
            "BEIR": "NDCG@k",
            "Elasticsearch": "dcg@k with normalize (gain=exp, ideal=length)",
            "torchmetrics": "RetrievalNormalizedDCG (ideal=retrieved)",
        },
    ),
    Definition(
        "Rndcg",
        "gain",
        "nDCG at every rank where the ideal list changes its grade, averaged.",
        "mean of nDCG@b over the grade boundaries b of the ideal list, and at the end of the list "
        "when it is longer than the ideal by two or more",
        "0 to 1",
        "No positive gain judged: 0.",
        "Buckley, trec_eval",
        "rndcg",
        (GAIN,),
        cutoff="none",
        elsewhere={"trec_eval": "Rndcg"},
    ),
    Definition(
        "ERR",
        "gain",
        "Expected reciprocal rank of the document that satisfies the user.",
        "sum of R_i / i x product of (1 - R_j) for j < i, with R = (2^g - 1) / 2^max_grade",
        "0 to 1",
        "A grade above max_grade counts as max_grade. Unjudged and negative count 0.",
        "Chapelle et al., Expected reciprocal rank for graded relevance, CIKM 2009",
        "err",
        (MAX_GRADE,),
        elsewhere={
            "ir_measures": "ERR@k (max_grade=4)",
            "gdeval": "err@k (max_grade=4)",
            "Elasticsearch": "expected_reciprocal_rank@k",
        },
    ),
    Definition(
        "nERR",
        "gain",
        "ERR divided by the ERR of the judged documents in their best order.",
        "ERR@k / ideal ERR@k",
        "0 to 1",
        "An ideal of 0 gives 0.",
        "Chapelle et al., Expected reciprocal rank for graded relevance, CIKM 2009",
        "nerr",
        (MAX_GRADE,),
    ),
    Definition(
        "RBP",
        "gain",
        "Rank-biased precision: a user goes on to the next rank with chance p.",
        "(1 - p) x sum of r_i p^(i-1), with r = g / max_grade, or 0 and 1 where rel is given",
        "0 to 1",
        "Unjudged and negative count 0.",
        "Moffat & Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 2008",
        "rbp",
        (
            Param("p", 0.8, "the chance to go on", low=0, high=1, open_low=True, open_high=True),
            Param(
                "rel", None, "with it: relevant (1) from this gain on, else 0", low=0, open_low=True
            ),
            MAX_GRADE,
            Param(
                "scale",
                "collection",
                "what a grade is divided by: the highest grade of all queries, the highest of the "
                "query, or nothing",
                ("collection", "query", "none"),
            ),
        ),
        elsewhere={"trec_eval": "rbp (10)", "ir_measures": "RBP(p=0.8, rel=1)", "ranx": "rbp.80"},
    ),
    Definition(
        "RBP_resid",
        "gain",
        "The weight that RBP leaves open: how far unjudged documents could raise it.",
        "(1 - p) x sum of p^(i-1) over unjudged ranks i, plus p^n past the end of the list",
        "0 to 1",
        "Nothing retrieved: 1.",
        "Moffat & Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 2008",
        "rbp_resid",
        (Param("p", 0.8, "the chance to go on", low=0, high=1, open_low=True, open_high=True),),
        elsewhere={"trec_eval": "rbp_resid (10)"},
        lower_is_better=True,
    ),
    # --- binary ---
    Definition(
        "P",
        "binary",
        "Precision: the share of the first k that is relevant.",
        "relevant in the first k / k",
        "0 to 1",
        "Divides by k even where the list is shorter. Without a cut-off: by the list's length.",
        _TREC,
        "precision",
        (
            REL,
            Param(
                "denominator",
                "k",
                "k itself, or what was returned where that is less",
                ("k", "returned"),
            ),
        ),
        cutoff="required",
        aliases=("Precision",),
        elsewhere={
            "trec_eval": "P_k",
            "ir_measures": "P@k",
            "ranx": "precision@k",
            "BEIR": "P@k",
            "Elasticsearch": "precision@k (denominator=returned)",
        },
    ),
    Definition(
        "R",
        "binary",
        "Recall: the share of the relevant documents found in the first k.",
        "relevant in the first k / all relevant",
        "0 to 1",
        _NO_REL,
        _TREC,
        "recall",
        (REL,),
        aliases=("Recall",),
        elsewhere={
            "trec_eval": "recall_k",
            "ir_measures": "R@k",
            "ranx": "recall@k",
            "BEIR": "Recall@k",
            "Elasticsearch": "recall@k",
        },
    ),
    Definition(
        "R_cap",
        "binary",
        "Recall against what k places can hold.",
        "relevant in the first k / min(k, all relevant)",
        "0 to 1",
        _NO_REL,
        "Thakur et al., BEIR, NeurIPS 2021",
        "capped_recall",
        (REL,),
        cutoff="required",
        elsewhere={"BEIR": "R_cap@k", "trec_eval": "relative_P_k"},
    ),
    Definition(
        "F",
        "binary",
        "The weighted harmonic mean of precision and recall in the first k.",
        "(1 + beta^2) P R / (beta^2 P + R)",
        "0 to 1",
        _NO_REL,
        "van Rijsbergen, Information Retrieval, 1979",
        "f",
        (REL, Param("beta", 1.0, "how much recall counts against precision", low=0, open_low=True)),
        aliases=("F1",),
        elsewhere={"ranx": "f1@k"},
    ),
    Definition(
        "AP",
        "binary",
        "Average precision: precision at each relevant document, averaged over all relevant ones.",
        "sum of P(i) over ranks i <= k of relevant documents / all relevant",
        "0 to 1",
        _NO_REL,
        _TREC,
        "ap",
        (REL,),
        aliases=("MAP",),
        elsewhere={
            "trec_eval": "map, map_cut_k",
            "ir_measures": "AP@k",
            "ranx": "map@k",
            "BEIR": "MAP@k",
        },
    ),
    Definition(
        "GMAP",
        "binary",
        "The geometric mean of average precision: hard queries count more.",
        "exp(mean of ln max(AP, 0.00001))",
        "0.00001 to 1",
        "A query's own value is its AP; only the mean is geometric.",
        "Robertson, On GMAP and other transformations, CIKM 2006",
        "ap",
        (REL,),
        aggregate="geometric",
        elsewhere={"trec_eval": "gm_map"},
    ),
    Definition(
        "RR",
        "binary",
        "Reciprocal rank of the first relevant document.",
        "1 / rank of the first relevant document within k",
        "0 to 1",
        _NO_REL,
        _TREC,
        "rr",
        (REL,),
        aliases=("MRR",),
        elsewhere={
            "trec_eval": "recip_rank",
            "ir_measures": "RR@k",
            "ranx": "mrr@k",
            "BEIR": "MRR@k",
            "Elasticsearch": "mean_reciprocal_rank@k",
        },
    ),
    Definition(
        "Hit",
        "binary",
        "Whether a relevant document is in the first k.",
        "1 if any of the first k is relevant, else 0",
        "0 or 1",
        _NO_REL,
        _TREC,
        "hit",
        (REL,),
        aliases=("Success", "hit_rate"),
        elsewhere={
            "trec_eval": "success_k",
            "ir_measures": "Success@k",
            "ranx": "hit_rate@k",
            "BEIR": "Accuracy@k",
        },
    ),
    Definition(
        "Rprec",
        "binary",
        "Precision at R, the number of relevant documents.",
        "relevant in the first R / R",
        "0 to 1",
        _NO_REL,
        _TREC,
        "r_precision",
        (REL,),
        cutoff="none",
        aliases=("RPrec",),
        elsewhere={"trec_eval": "Rprec", "ir_measures": "Rprec", "ranx": "r-precision"},
    ),
    Definition(
        "IPrec",
        "binary",
        "Interpolated precision at a recall point.",
        "largest precision from the rank on where c relevant documents are found, c = recall x R "
        "rounded",
        "0 to 1",
        "Recall not reached: 0. rounding=nearest is trec_eval 10's rule, rounding=up that of "
        "trec_eval 9 (up, unless the fraction is below .1).",
        _TREC,
        "iprec",
        (
            REL,
            Param(
                "rounding",
                "nearest",
                "how recall x R becomes a number of documents",
                ("nearest", "up"),
            ),
        ),
        cutoff="recall",
        elsewhere={"trec_eval": "iprec_at_recall_r", "ir_measures": "IPrec@r (rounding=up)"},
    ),
    Definition(
        "AP11",
        "binary",
        "Interpolated precision averaged over the recall points 0, .1, ... 1.",
        "mean of IPrec@r over eleven points",
        "0 to 1",
        _NO_REL,
        _TREC,
        "ap11",
        (
            REL,
            Param(
                "rounding",
                "nearest",
                "how recall x R becomes a number of documents",
                ("nearest", "up"),
            ),
        ),
        cutoff="none",
        elsewhere={"trec_eval": "11pt_avg"},
    ),
    Definition(
        "Bpref",
        "binary",
        "How often judged nonrelevant documents stand above relevant ones.",
        "1/R x sum over relevant retrieved of 1 - min(n, R) / min(N, R), n: judged nonrelevant "
        "documents above it, N: all of them",
        "0 to 1",
        _NO_REL + " A negative gain is not judged nonrelevant here.",
        "Buckley & Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004",
        "bpref",
        (
            REL,
            Param("negative", "unjudged", "what a negative gain is", ("unjudged", "nonrelevant")),
        ),
        cutoff="none",
        aliases=("BPref",),
        elsewhere={"trec_eval": "bpref", "ir_measures": "Bpref", "ranx": "bpref"},
    ),
    Definition(
        "infAP",
        "binary",
        "AP estimated from a sample of judgements.",
        "1/R x sum over relevant retrieved at i of 1/i + (i-1)/i x pooled/(i-1) x "
        "(rel + e)/(rel + nonrel + 2e), counts above i, e = 0.00001",
        "0 to 1",
        _NO_REL + " A negative gain marks a document of the pool that was not judged.",
        "Yilmaz & Aslam, Estimating average precision with incomplete and imperfect judgments, "
        "CIKM 2006",
        "infap",
        (REL,),
        cutoff="none",
        elsewhere={"trec_eval": "infAP", "ir_measures": "infAP"},
    ),
    Definition(
        "SetP",
        "binary",
        "Precision of the whole list as a set.",
        "relevant retrieved / retrieved",
        "0 to 1",
        _NO_REL,
        _TREC,
        "precision",
        (REL,),
        cutoff="none",
        elsewhere={"trec_eval": "set_P", "ir_measures": "SetP"},
    ),
    Definition(
        "SetR",
        "binary",
        "Recall of the whole list as a set.",
        "relevant retrieved / relevant",
        "0 to 1",
        _NO_REL,
        _TREC,
        "recall",
        (REL,),
        cutoff="none",
        elsewhere={"trec_eval": "set_recall", "ir_measures": "SetR"},
    ),
    Definition(
        "SetF",
        "binary",
        "F of the whole list as a set.",
        "(1 + beta^2) P R / (beta^2 P + R)",
        "0 to 1",
        _NO_REL + " trec_eval and ir_measures call beta what is beta^2 here.",
        "van Rijsbergen, Information Retrieval, 1979",
        "f",
        (REL, Param("beta", 1.0, "how much recall counts against precision", low=0, open_low=True)),
        cutoff="none",
        elsewhere={"trec_eval": "set_F", "ir_measures": "SetF"},
    ),
    Definition(
        "SetAP",
        "binary",
        "Precision times recall of the whole list.",
        "(relevant retrieved)^2 / (retrieved x relevant)",
        "0 to 1",
        _NO_REL,
        _TREC,
        "set_ap",
        (REL,),
        cutoff="none",
        elsewhere={"trec_eval": "set_map", "ir_measures": "SetAP"},
    ),
    Definition(
        "Compat",
        "binary",
        "Rank-biased overlap with the ideal list nearest to the run.",
        "RBO(run, ideal) / RBO(ideal, ideal) to depth 1000; documents of one grade stand in the "
        "ideal list in the run's order",
        "0 to 1",
        "Grades order the ideal list; nothing above 0 judged: 0.",
        "Clarke, Vtyurina & Smucker, Assessing top-k preferences, TOIS 2021",
        "compat",
        (
            Param(
                "p",
                0.95,
                "how deep the overlap looks",
                low=0,
                high=1,
                open_low=True,
                open_high=True,
            ),
            Param(
                "depth",
                1000.0,
                "where the overlap ends; 0: with the longer of the two lists",
                low=0,
            ),
        ),
        cutoff="none",
        elsewhere={"ir_measures": "Compat(depth=0)"},
    ),
    Definition(
        "Accuracy",
        "binary",
        "The share of (relevant, other) pairs retrieved in the right order.",
        "1 - pairs in the wrong order / all such pairs within k",
        "0 to 1",
        "Undefined where nothing, or everything, retrieved is relevant. Unjudged documents count "
        "as others.",
        "MacAvaney, Macdonald & Ounis, Streamlining evaluation with ir-measures, ECIR 2022",
        "accuracy",
        (REL,),
        elsewhere={"ir_measures": "Accuracy@k"},
    ),
    # --- distinct targets and aspects ---
    Definition(
        "DR",
        "distinct",
        "De-duplicate recall: distinct targets found in the first k.",
        "distinct targets of relevant documents in the first k / all targets",
        "0 to 1",
        "Without a target column every document is its own target. No target judged: 0.",
        "Retrieval experiment metrics (seed document)",
        "dr",
        (REL,),
    ),
    Definition(
        "Diversity",
        "distinct",
        "How many distinct targets are found in the first k.",
        "number of distinct targets of relevant documents in the first k",
        "0 and up",
        "Without a target column every document is its own target.",
        "Retrieval experiment metrics (seed document)",
        "diversity",
        (REL,),
    ),
    Definition(
        "StRecall",
        "distinct",
        "Subtopic recall: distinct aspects met in the first k.",
        "aspects met in the first k / all aspects",
        "0 to 1",
        _NO_ASPECT,
        "Zhai, Cohen & Lafferty, Beyond independent relevance, SIGIR 2003",
        "st_recall",
        (REL,),
        elsewhere={"ir_measures": "StRecall@k", "ndeval": "strec@k"},
    ),
    Definition(
        "alpha_DCG",
        "distinct",
        "DCG in which an aspect loses worth each time it is met.",
        "sum of g_i / log2(i+1) / (S x sum of (1-alpha)^(i-1) / log2(i+1)), g: sum over aspects of "
        "(1-alpha)^(times met above), S aspects",
        "0 to 1",
        _NO_ASPECT + _IDEAL_DEPTH,
        _CLARKE,
        "alpha_dcg",
        (REL, ALPHA),
        aliases=("α_DCG",),
        elsewhere={"ir_measures": "alpha_DCG@k", "ndeval": "alpha-DCG@k"},
    ),
    Definition(
        "alpha_nDCG",
        "distinct",
        "The same over the greedy ideal list of the judged documents.",
        "sum of g_i / log2(i+1) / the same of the greedy ideal list",
        "0 to about 1",
        _NO_ASPECT + " The greedy ideal is not always the best one, so values just above 1 are "
        "possible.",
        _CLARKE,
        "alpha_ndcg",
        (REL, ALPHA),
        aliases=("α_nDCG",),
        elsewhere={"ir_measures": "alpha_nDCG@k", "ndeval": "alpha-nDCG@k"},
    ),
    Definition(
        "ERR_IA",
        "distinct",
        "Intent-aware ERR: aspects lose worth each time they are met.",
        "sum of g_i / i / (S x sum of (1-alpha)^(i-1) / i)",
        "0 to 1",
        _NO_ASPECT + _IDEAL_DEPTH,
        "Chapelle et al., Intent-based diversification of web search results, IR Journal 2011",
        "err_ia",
        (REL, ALPHA),
        elsewhere={"ir_measures": "ERR_IA@k", "ndeval": "ERR-IA@k"},
    ),
    Definition(
        "nERR_IA",
        "distinct",
        "ERR_IA over the greedy ideal list of the judged documents.",
        "sum of g_i / i / the same of the greedy ideal list",
        "0 to about 1",
        _NO_ASPECT,
        "Chapelle et al., Intent-based diversification of web search results, IR Journal 2011",
        "nerr_ia",
        (REL, ALPHA),
        elsewhere={"ir_measures": "nERR_IA@k", "ndeval": "nERR-IA@k"},
    ),
    Definition(
        "AP_IA",
        "distinct",
        "Average precision for each aspect, averaged.",
        "mean over aspects of AP with that aspect's documents",
        "0 to 1",
        _NO_ASPECT,
        _AGRAWAL,
        "ap_ia",
        (REL,),
        aliases=("MAP_IA",),
        elsewhere={"ir_measures": "AP_IA", "ndeval": "MAP-IA"},
    ),
    Definition(
        "P_IA",
        "distinct",
        "Precision for each aspect, averaged.",
        "sum over the first k of the aspects a document meets / (k x S)",
        "0 to 1",
        _NO_ASPECT,
        _AGRAWAL,
        "p_ia",
        (REL,),
        cutoff="required",
        elsewhere={"ir_measures": "P_IA@k", "ndeval": "P-IA@k"},
    ),
    Definition(
        "NRBP",
        "distinct",
        "Novelty- and rank-biased precision.",
        "(1 - (1-alpha) beta) / S x sum of g_i beta^(i-1)",
        "0 to 1",
        _NO_ASPECT,
        "Clarke, Kolla & Vechtomova, An effectiveness measure for ambiguous and underspecified "
        "queries, ICTIR 2009",
        "nrbp",
        (
            REL,
            ALPHA,
            Param("beta", 0.5, "the chance to go on", low=0, high=1, open_low=True, open_high=True),
        ),
        cutoff="none",
        elsewhere={"ir_measures": "NRBP", "ndeval": "NRBP"},
    ),
    # --- gain and loss ---
    Definition(
        "RDCGL",
        "gain and loss",
        "Rank-discounted gain, less what false positives and false negatives cost.",
        "sum of (2^t - 1) / log2(a + 1) less penalties, t: true rank, a: rank group that the "
        "position holds in the perfect order, from 1",
        "any number",
        _LOSS_EDGE,
        _LOSS_CITATION,
        "rdcgl",
        _PENALTIES,
    ),
    Definition(
        "NRDCGL",
        "gain and loss",
        "RDCGL divided by that of the perfect list.",
        "RDCGL / RDCGL of the perfect list",
        "at most 1 (documented form)",
        _LOSS_EDGE,
        _LOSS_CITATION,
        "nrdcgl",
        _PENALTIES,
    ),
    Definition(
        "PNRDCGL",
        "gain and loss",
        "NRDCGL, not below 0.",
        "max(0, NRDCGL)",
        "0 to 1",
        _LOSS_EDGE,
        _LOSS_CITATION,
        "pnrdcgl",
        _PENALTIES,
    ),
    # --- coverage ---
    Definition(
        "Judged",
        "coverage",
        "The share of the first k retrieved that is judged.",
        "judged in the first k / min(k, retrieved)",
        "0 to 1",
        "Nothing retrieved: undefined. A negative gain is a judgement.",
        "MacAvaney, Macdonald & Ounis, Streamlining evaluation with ir-measures, ECIR 2022",
        "judged",
        elsewhere={"ir_measures": "Judged@k"},
    ),
    Definition(
        "Unjudged",
        "coverage",
        "The share of the first k places held by unjudged documents.",
        "unjudged in the first k / k",
        "0 to 1",
        "Places that a short list leaves empty are not unjudged. Nothing retrieved and no "
        "cut-off: undefined.",
        "trec_eval 10",
        "unjudged",
        elsewhere={"trec_eval": "unj_k (10)", "BEIR": "Hole@k (over all queries)"},
        lower_is_better=True,
    ),
    Definition(
        "NumRet",
        "coverage",
        "Documents retrieved.",
        "n",
        "0 and up",
        "Summed over queries.",
        _TREC,
        "num_ret",
        aggregate="sum",
        elsewhere={"trec_eval": "num_ret", "ir_measures": "NumRet"},
    ),
    Definition(
        "NumRel",
        "coverage",
        "Relevant documents judged.",
        "R",
        "0 and up",
        "Summed over queries.",
        _TREC,
        "num_rel",
        (REL,),
        cutoff="none",
        aggregate="sum",
        elsewhere={"trec_eval": "num_rel", "ir_measures": "NumRel"},
    ),
    Definition(
        "NumRelRet",
        "coverage",
        "Relevant documents retrieved.",
        "relevant in the first k",
        "0 and up",
        "Summed over queries.",
        _TREC,
        "num_rel_ret",
        (REL,),
        aggregate="sum",
        elsewhere={"trec_eval": "num_rel_ret", "ir_measures": "NumRet(rel=1)"},
    ),
    Definition(
        "NumQ",
        "coverage",
        "Queries evaluated.",
        "number of queries",
        "0 and up",
        "Summed over queries.",
        _TREC,
        "num_q",
        cutoff="none",
        aggregate="sum",
        elsewhere={"trec_eval": "num_q", "ir_measures": "NumQ"},
    ),
    # --- time and cost ---
    Definition(
        "Latency",
        "time and cost",
        "Seconds that a query took.",
        "mean or percentile of seconds",
        "0 and up",
        "Undefined where the run has no latencies. p50, p95 and p99 interpolate "
        "linearly between the two nearest queries.",
        "Retrieval experiment metrics (seed document)",
        None,
        (Param("stat", "mean", "what is taken over the queries", ("mean", "p50", "p95", "p99")),),
        cutoff="none",
        aggregate="stat",
        lower_is_better=True,
        column="latency",
    ),
    Definition(
        "Cost",
        "time and cost",
        "What a query cost, in the unit of the run.",
        "mean of costs",
        "0 and up",
        "Undefined where the run has no costs.",
        "Retrieval experiment metrics (seed document)",
        None,
        cutoff="none",
        lower_is_better=True,
        column="cost",
    ),
)
