"""Measures of graded gain: CG, DCG, nDCG, ERR, RBP."""

from __future__ import annotations

from goodgain.measures.definition import COUNT, SHARE, Definition, Param
from goodgain.measures.table.common import (
    BURGES,
    GAIN,
    JARVELIN,
    MAX_GRADE,
    MIN_GAIN,
    continuation,
)

_CHAPELLE = "Chapelle et al., Expected reciprocal rank for graded relevance, CIKM 2009"
_MOFFAT = (
    "Moffat & Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 2008"
)
_CONTINUE = continuation("p", 0.8, "the probability of continuing to the next rank")

MEASURES: tuple[Definition, ...] = (
    Definition(
        name="CG",
        namespace="ranked",
        family="gain",
        level="query",
        unit="gain",
        direction="higher",
        range=COUNT,
        summary="Cumulative gain: the sum of the gains, whatever their order.",
        formula="sum of g_i for i = 1..k",
        edge_cases="Unjudged and negative count 0.",
        citation=JARVELIN,
        kernel="cg",
        params=(GAIN,),
        cutoff="optional",
    ),
    Definition(
        name="DCG",
        namespace="ranked",
        family="gain",
        level="query",
        unit="gain",
        direction="higher",
        range=COUNT,
        summary="Discounted cumulative gain: gains count less further down.",
        formula="sum of gain(g_i) / log2(i + 1) for i = 1..k",
        edge_cases="Unjudged and negative count 0.",
        citation=JARVELIN + "; exponential gain: " + BURGES,
        kernel="dcg",
        params=(GAIN, MIN_GAIN),
        cutoff="optional",
        elsewhere={
            "trec_eval": "dcg (10)",
            "ranx": "dcg@k, dcg_burges@k (gain=exp)",
            "Elasticsearch": "dcg@k (gain=exp)",
        },
    ),
    Definition(
        name="nDCG",
        namespace="ranked",
        family="gain",
        level="query",
        unit="",
        direction="higher",
        range=SHARE,
        summary="DCG divided by the DCG of the best possible order.",
        formula="DCG@k / ideal DCG@k",
        edge_cases=(
            "An ideal of 0 gives 0. The ideal list contains all judged documents; ideal=retrieved "
            "uses the list's own best order."
        ),
        citation=JARVELIN + "; exponential gain: " + BURGES,
        kernel="ndcg",
        params=(
            GAIN,
            Param(
                name="ideal",
                default="judged",
                meaning="what the ideal list contains: all judged documents, the list's own "
                "documents, or the judged documents cut at the list's length",
                choices=("judged", "retrieved", "length"),
                choice_options={
                    "judged": {"ideal_retrieved": False, "ideal_length": False},
                    "retrieved": {"ideal_retrieved": True, "ideal_length": False},
                    "length": {"ideal_retrieved": False, "ideal_length": True},
                },
            ),
            MIN_GAIN,
        ),
        cutoff="optional",
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
        name="Rndcg",
        namespace="ranked",
        family="gain",
        level="query",
        unit="",
        direction="higher",
        range=SHARE,
        summary="nDCG at every rank where the ideal list changes its grade, averaged.",
        formula=(
            "mean of nDCG@b over the grade boundaries b of the ideal list, and at the end of the list "
            "when it is longer than the ideal by two or more"
        ),
        edge_cases="No positive gain judged: 0.",
        citation="Buckley, trec_eval",
        kernel="rndcg",
        params=(GAIN,),
        elsewhere={"trec_eval": "Rndcg"},
    ),
    Definition(
        name="ERR",
        namespace="ranked",
        family="gain",
        level="query",
        unit="",
        direction="higher",
        range=SHARE,
        summary="Expected reciprocal rank of the document that satisfies the user.",
        formula=(
            "sum of R_i / i x product of (1 - R_j) for j < i, with R = (2^g - 1) / 2^max_grade"
        ),
        edge_cases=(
            "A grade above max_grade counts as max_grade. Unjudged and negative count 0. If no grade is "
            "above 1, max_grade is 1 unless it is set."
        ),
        citation=_CHAPELLE,
        kernel="err",
        params=(MAX_GRADE,),
        cutoff="optional",
        elsewhere={
            "ir_measures": "ERR@k (max_grade=4)",
            "gdeval": "err@k (max_grade=4)",
            "Elasticsearch": "expected_reciprocal_rank@k",
        },
    ),
    Definition(
        name="nERR",
        namespace="ranked",
        family="gain",
        level="query",
        unit="",
        direction="higher",
        range=SHARE,
        summary="ERR divided by the ERR of the judged documents in their best order.",
        formula="ERR@k / ideal ERR@k",
        edge_cases="An ideal of 0 gives 0.",
        citation=_CHAPELLE,
        kernel="nerr",
        params=(MAX_GRADE,),
        cutoff="optional",
    ),
    Definition(
        name="RBP",
        namespace="ranked",
        family="gain",
        level="query",
        unit="",
        direction="higher",
        range=SHARE,
        summary="Rank-biased precision: a user continues to the next rank with probability p.",
        formula=(
            "(1 - p) x sum of r_i p^(i-1), with r = g / max_grade, or 0 and 1 where rel is given"
        ),
        edge_cases=(
            "Unjudged and negative count 0. A grade above max_grade counts as max_grade. Grades up to 1 "
            "(shares, probabilities) are not scaled: max_grade is at least 1 unless it is set."
        ),
        citation=_MOFFAT,
        kernel="rbp",
        params=(
            _CONTINUE,
            Param(
                name="rel",
                default=None,
                meaning="if set, gains from here on count as 1 and others as 0",
                low=0,
                open_low=True,
                options=("rel", "min_gain"),
                flags=("binary",),
            ),
            MAX_GRADE,
            Param(
                name="scale",
                default="collection",
                meaning="what a grade is divided by: the highest grade of all queries, the highest "
                "of the query (both at least 1), or nothing",
                choices=("collection", "query", "none"),
            ),
        ),
        cutoff="optional",
        elsewhere={"trec_eval": "rbp (10)", "ir_measures": "RBP(p=0.8, rel=1)", "ranx": "rbp.80"},
    ),
    Definition(
        name="RBP_resid",
        namespace="ranked",
        family="gain",
        level="query",
        unit="",
        direction="lower",
        range=SHARE,
        summary="The weight that RBP leaves open: how far unjudged documents could raise it.",
        formula=(
            "(1 - p) x sum of p^(i-1) over unjudged ranks i, plus p^n past the end of the list"
        ),
        edge_cases="Nothing retrieved: 1.",
        citation=_MOFFAT,
        kernel="rbp_resid",
        params=(_CONTINUE,),
        cutoff="optional",
        elsewhere={"trec_eval": "rbp_resid (10)"},
    ),
)
