"""The table of Good Gain measures: what `goodgain trace` prints, in the words of `goodgain measures`.

The values come from the core (src/core/good_gain.cpp), a column each; `kernel` is its name there.
"""

from __future__ import annotations

from typing import Literal

from goodgain.measures.table.ranked import Definition

Level = Literal["iteration", "cumulative", "conversation"]

_SEED = "Retrieved Good Gain Metrics (seed document)"
_SESSION = (
    "Järvelin et al., Discounted cumulated gain based evaluation of multiple-query IR sessions, "
    "ECIR 2008"
)
_CUBE = "Luo et al., The water filling model and the cube test, CIKM 2013"
_OURS = "goodgain"
_NO_POOL = "Undefined where no good result is known. The pool: good results found, and good labels not found."
_UNKNOWN = "Undefined where a search up to i does not say, or the sum is 0."


def _m(
    name: str,
    summary: str,
    formula: str,
    range: str = "0 and up",  # noqa: A002 - the table's word
    edge: str = "",
    citation: str = _SEED,
    lower: bool = False,
    kernel: str | None = None,
) -> Definition:
    return Definition(
        name,
        "good gain",
        summary,
        formula,
        range,
        edge,
        citation,
        kernel or name.removesuffix("@i"),
        cutoff="none",
        lower_is_better=lower,
    )


# Of one iteration.
ITERATION: tuple[Definition, ...] = (
    _m(
        "R_i",
        "Results of iteration i, duplicates included.",
        "|R^i| = |UR^i| + |Dup^i|",
        kernel="R",
    ),
    _m("UR_i", "Results of iteration i that were not seen before.", "|UR^i|", kernel="UR"),
    _m("GR_i", "New results of iteration i with gain >= threshold.", "|GR^i|", kernel="GR"),
    _m(
        "Dup_i",
        "Results of iteration i seen before, in it or earlier.",
        "|Dup^i|",
        lower=True,
        kernel="Dup",
    ),
    _m("G_i", "Good gain of iteration i.", "sum of gain(c) for c in GR^i", kernel="G"),
    _m(
        "AvgGain_i",
        "Good gain per result of iteration i.",
        "G_i / |R^i|",
        edge="No result: 0.",
        kernel="AvgGain",
    ),
    _m(
        "MarginalGain_i",
        "Good gain per search of iteration i.",
        "G_i / searches of iteration i",
        citation=_OURS,
        kernel="MarginalGain",
    ),
)
# Up to and including iteration i.
CUMULATIVE: tuple[Definition, ...] = (
    _m(
        "R@i",
        "Results through iteration i, duplicates included.",
        "sum of |R^k| = UR@i + DupR@i",
        kernel="R@i",
    ),
    _m("UR@i", "Unique results through iteration i.", "sum of |UR^k|", kernel="UR@i"),
    _m("GR@i", "Good unique results through iteration i.", "sum of |GR^k|", kernel="GR@i"),
    _m("DupR@i", "Duplicates through iteration i.", "sum of |Dup^k|", lower=True, kernel="DupR@i"),
    _m("CG@i", "Cumulative good gain.", "sum of G_k for k = 1..i"),
    _m("RG@i", "Rate of good gain: per iteration.", "CG@i / i"),
    _m(
        "DCG@i",
        "Discounted cumulative good gain: early iterations count more.",
        "sum of w(k) G_k, w(k) = 1 / log2(k + 1)",
    ),
    _m("DRG@i", "Discounted rate of good gain.", "DCG@i / i"),
    _m("RAG@i", "Rate of average gain: AvgGain averaged over iterations.", "sum of AvgGain_k / i"),
    _m("DRAG@i", "Discounted rate of average gain.", "sum of w(k) AvgGain_k / i"),
    _m(
        "SRE@i",
        "Search result efficiency: the share of results that are good and new.",
        "GR@i / R@i",
        "0 to 1",
        "No result: 0.",
    ),
    _m(
        "SRR@i",
        "Search result redundancy: the share of results that are duplicates.",
        "DupR@i / R@i",
        "0 to 1",
        "No result: 0.",
        lower=True,
    ),
    _m(
        "nCG@i",
        "The share of the pool's gain found by iteration i.",
        "CG@i / gain of the pool",
        "0 to 1",
        _NO_POOL,
        _OURS,
    ),
    _m(
        "nDCG@i",
        "DCG over that of an agent that finds the whole pool at once.",
        "DCG@i / gain of the pool",
        "0 to 1",
        _NO_POOL,
        _OURS,
    ),
    _m(
        "EvidenceRecall@i",
        "The share of the pool's good results found by iteration i.",
        "GR@i / good results of the pool",
        "0 to 1",
        _NO_POOL,
        _OURS,
    ),
    _m(
        "sDCG@i",
        "Session DCG: discounted by rank (b = 2) and by search (bq = 4).",
        "sum of gain / (log_b(rank + b - 1) log_bq(search + bq - 1)) over good new results",
        citation=_SESSION,
    ),
    _m(
        "nsDCG@i",
        "Session DCG over that of the pool's best results in the same places.",
        "sDCG@i / ideal sDCG",
        "0 to 1",
        _NO_POOL
        + " In conversations of more than 64 iterations only at the last. Its bounds are 0 and 1.",
        _SESSION,
    ),
    _m(
        "CubeTest@i",
        "How far the need is filled per iteration; repeated aspects fill less.",
        "mean over aspects of min(1, sum of 0.5^n gain / max_gain) / i, n: results of the aspect before",
        "0 to 1",
        "Without `aspects` in the results there is one aspect, filled by good results.",
        _CUBE,
    ),
    _m(
        "GainPerSecond@i",
        "Good gain per second of searching.",
        "CG@i / seconds@i",
        edge=_UNKNOWN,
        citation=_OURS,
    ),
    _m(
        "GainPer1kTokens@i",
        "Good gain per 1,000 tokens.",
        "1000 CG@i / tokens@i",
        edge=_UNKNOWN,
        citation=_OURS,
    ),
    _m(
        "GainPerCost@i",
        "Good gain per unit of cost.",
        "CG@i / cost@i",
        edge=_UNKNOWN,
        citation=_OURS,
    ),
    _m(
        "WastedSearches@i",
        "Searches that brought no new good result.",
        "number of them through iteration i",
        citation=_OURS,
        lower=True,
    ),
    _m(
        "RepeatedQueries@i",
        "Searches whose query was asked before, but for case and white space.",
        "number of them through iteration i",
        citation=_OURS,
        lower=True,
    ),
    _m("Searches@i", "Searches through iteration i.", "number of them", citation=_OURS),
    _m(
        "Seconds@i",
        "Seconds of searching; those of parallel searches are added up.",
        "sum of latency",
        edge="Undefined where a search does not say.",
        citation=_OURS,
        lower=True,
    ),
    _m(
        "Tokens@i",
        "Tokens of the searches.",
        "sum of tokens",
        edge="Undefined where a search does not say.",
        citation=_OURS,
        lower=True,
    ),
    _m(
        "Cost@i",
        "Cost of the searches.",
        "sum of cost",
        edge="Undefined where a search does not say.",
        citation=_OURS,
        lower=True,
    ),
    _m(
        "Coverage@i",
        "The share of unique results that have a label.",
        "labelled in UR@i / UR@i",
        "0 to 1",
        "No result: undefined.",
        _OURS,
    ),
)
# Of a whole conversation.
CONVERSATION: tuple[Definition, ...] = (
    _m(
        "IterationsForAllGoodResults",
        "Iterations until all good results were found.",
        "min(k, 100), k: the smallest iteration with GR@k = GR@N",
        "1 to 100",
        "Nothing good found: undefined.",
        lower=True,
    ),
    *(
        _m(
            f"Area{what}",
            f"Area under the curve of gain against {unit}, as a share.",
            f"area of CG against {unit}, linear between iterations, / ({unit}@N x gain of the pool)",
            "0 to 1",
            _NO_POOL + " Undefined where a search does not say. Its bounds are 0 and 1.",
            _OURS,
        )
        for what, unit in (("Searches", "searches"), ("Seconds", "seconds"), ("Tokens", "tokens"))
    ),
)

GOOD_GAIN: tuple[Definition, ...] = (*ITERATION, *CUMULATIVE, *CONVERSATION)
BY_COLUMN: dict[str, Definition] = {str(d.kernel): d for d in GOOD_GAIN}
LEVELS: dict[str, Level] = {
    **{str(d.kernel): "iteration" for d in ITERATION},
    **{str(d.kernel): "cumulative" for d in CUMULATIVE},
    **{str(d.kernel): "conversation" for d in CONVERSATION},
}


def good_gain_definition(name: str) -> Definition | None:
    """The entry of a Good Gain measure: `SRE@i`, or `SRE` as tables print it."""
    for d in GOOD_GAIN:
        if name in (d.name, d.kernel, d.name.removesuffix("@i")):
            return d
    return None
