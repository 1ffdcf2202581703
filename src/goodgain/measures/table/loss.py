"""Gain and loss: RaDiCuGLoss and its normalised forms."""

from __future__ import annotations

import math

from goodgain.measures.definition import ANY_NUMBER, SHARE, Definition, Param, Range
from goodgain.measures.table.common import REL

_PENALTIES = (
    REL,
    Param(
        name="gain",
        default="documented",
        meaning="the formula as documented, or as in the published package",
        choices=("documented", "reference"),
        choice_options={"documented": {"reference": False}, "reference": {"reference": True}},
    ),
    Param(
        name="fp",
        default=1.0,
        meaning="the cost of a false positive, as a share of a gain",
        low=0,
        options=("fp_penalty",),
    ),
    Param(
        name="fn",
        default=1.0,
        meaning="the cost of a false negative, as a share of a gain",
        low=0,
        options=("fn_penalty",),
    ),
    Param(name="punish_max", default=False, meaning="take both penalties at the largest gain"),
)
_EDGE = (
    "The gain of a relevant document is its true rank t, larger is better. Unjudged documents are "
    "false positives. A relevant document is missing if it is nowhere in the list, whatever the "
    "cut-off. No relevant document judged: 0."
)
_CITATION = "RaDiCuGLoss (Rank Discounted Cumulative Gain and Loss), Healthee 2023"

MEASURES: tuple[Definition, ...] = (
    Definition(
        name="RDCGL",
        namespace="ranked",
        family="gain and loss",
        level="query",
        unit="",
        direction="higher",
        range=ANY_NUMBER,
        summary="Rank-discounted gain, minus the cost of false positives and false negatives.",
        formula=(
            "sum of (2^t - 1) / log2(a + 1) less penalties, t: true rank, a: rank group that the "
            "position holds in the perfect order, from 1"
        ),
        edge_cases=_EDGE,
        citation=_CITATION,
        kernel="rdcgl",
        params=_PENALTIES,
        cutoff="optional",
    ),
    Definition(
        name="NRDCGL",
        namespace="ranked",
        family="gain and loss",
        level="query",
        unit="",
        direction="higher",
        range=Range(-math.inf, math.inf, "at most 1 (documented form)"),
        summary="RDCGL divided by that of the perfect list.",
        formula="RDCGL / RDCGL of the perfect list",
        edge_cases=_EDGE,
        citation=_CITATION,
        kernel="nrdcgl",
        params=_PENALTIES,
        cutoff="optional",
    ),
    Definition(
        name="PNRDCGL",
        namespace="ranked",
        family="gain and loss",
        level="query",
        unit="",
        direction="higher",
        range=SHARE,
        summary="NRDCGL, not below 0.",
        formula="max(0, NRDCGL)",
        edge_cases=_EDGE,
        citation=_CITATION,
        kernel="pnrdcgl",
        params=_PENALTIES,
        cutoff="optional",
    ),
)
