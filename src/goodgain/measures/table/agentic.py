"""Good Gain: what the searches of an agent brought, per iteration, up to it, and per conversation.

The values come from the core (src/core/good_gain.cpp), a column each; `kernel` is the column's name.
"""

from __future__ import annotations

from goodgain.measures.definition import COST_FAMILY, COUNT, SHARE, Definition, Range

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from goodgain.measures.definition import Direction

_HERE = "Defined by goodgain as Good Gain: docs/agentic.md, docs/good-gain.md"
_SESSION = (
    "Järvelin et al., Discounted cumulated gain based evaluation of multiple-query IR sessions, "
    "ECIR 2008"
)
_CUBE = "Luo et al., The water filling model and the cube test, CIKM 2013"
_OURS = "goodgain"
_NO_POOL = (
    "Undefined if no good result is known. The pool holds every known good result of the "
    "conversation: those that any system returned and the good labels that none returned."
)
_UNKNOWN = "Undefined if the sum is undefined or 0."
_UNREPORTED = (
    "Steps of the agent and their searches are added up. Undefined from the first step that does not "
    "report it; if no step does, from the first search that does not."
)
_NO_RESULT = "No result: 0."
_UNREAD = " Undefined from the first unread search on."


def define(
    name: str,
    summary: str,
    formula: str,
    *,
    unit: str = "",
    direction: Direction = "higher",
    range: Range = COUNT,  # noqa: A002 - the definition's word
    edge_cases: str = "",
    citation: str = _OURS,
    family: str = "good gain",
    needs_labels: bool = True,
    **facts: Any,
) -> Definition:
    """A measure of conversations."""
    return Definition(
        name=name,
        namespace="agentic",
        family=family,
        unit=unit,
        direction=direction,
        range=range,
        summary=summary,
        formula=formula,
        edge_cases=edge_cases,
        citation=citation,
        needs_labels=needs_labels,
        **facts,
    )


def _of_iteration(name: str, summary: str, formula: str, **facts: Any) -> Definition:
    """A value of one iteration: `R_i`, column `R`."""
    return define(f"{name}_i", summary, formula, level="iteration", kernel=name, **facts)


def _up_to(
    name: str, summary: str, formula: str, kernel: str | None = None, **facts: Any
) -> Definition:
    """A value up to and including an iteration: `CG@i`, column `CG`."""
    return define(
        f"{name}@i",
        summary,
        formula,
        level="iteration",
        cumulative=True,
        kernel=kernel or name,
        **facts,
    )


_ITERATION = (
    _of_iteration(
        "R",
        "Results of iteration i, duplicates included.",
        "|R^i| = |UR^i| + |Dup^i|",
        unit="results",
        edge_cases="Undefined if a search of the iteration is unread.",
        citation=_HERE,
        needs_labels=False,
    ),
    _of_iteration(
        "UR",
        "Results of iteration i that were not returned before.",
        "|UR^i|",
        unit="results",
        edge_cases=_UNREAD.strip(),
        citation=_HERE,
        needs_labels=False,
    ),
    _of_iteration(
        "GR",
        "New results of iteration i with gain >= threshold.",
        "|GR^i|",
        unit="results",
        citation=_HERE,
    ),
    _of_iteration(
        "Dup",
        "Results of iteration i that were returned before, in it or earlier.",
        "|Dup^i|",
        unit="results",
        edge_cases=_UNREAD.strip(),
        direction="lower",
        citation=_HERE,
        needs_labels=False,
    ),
    _of_iteration(
        "G",
        "Good gain of iteration i.",
        "sum of gain(c) for c in GR^i",
        unit="gain",
        citation=_HERE,
    ),
    _of_iteration(
        "AvgGain",
        "Good gain per result of iteration i.",
        "G_i / |R^i|",
        unit="gain",
        edge_cases=_NO_RESULT + _UNREAD,
        citation=_HERE,
    ),
    _of_iteration(
        "MarginalGain",
        "Good gain per search of iteration i.",
        "G_i / searches of iteration i",
        unit="gain",
    ),
)
_CUMULATIVE = (
    _up_to(
        "R",
        "Results through iteration i, duplicates included.",
        "sum of |R^k| = UR@i + DupR@i",
        kernel="R@i",
        unit="results",
        edge_cases=_UNREAD.strip(),
        citation=_HERE,
        needs_labels=False,
    ),
    _up_to(
        "UR",
        "Unique results through iteration i.",
        "sum of |UR^k|",
        kernel="UR@i",
        unit="results",
        edge_cases=_UNREAD.strip(),
        citation=_HERE,
        needs_labels=False,
    ),
    _up_to(
        "GR",
        "Good unique results through iteration i.",
        "sum of |GR^k|",
        kernel="GR@i",
        unit="results",
        citation=_HERE,
    ),
    _up_to(
        "DupR",
        "Duplicates through iteration i.",
        "sum of |Dup^k|",
        kernel="DupR@i",
        unit="results",
        edge_cases=_UNREAD.strip(),
        direction="lower",
        citation=_HERE,
        needs_labels=False,
    ),
    _up_to("CG", "Cumulative good gain.", "sum of G_k for k = 1..i", unit="gain", citation=_HERE),
    _up_to("RG", "Rate of good gain: per iteration.", "CG@i / i", unit="gain", citation=_HERE),
    _up_to(
        "DCG",
        "Discounted cumulative good gain: early iterations count more.",
        "sum of w(k) G_k, w(k) = 1 / log2(k + 1)",
        unit="gain",
        citation=_HERE,
    ),
    _up_to("DRG", "Discounted rate of good gain.", "DCG@i / i", unit="gain", citation=_HERE),
    _up_to(
        "RAG",
        "Rate of average gain: AvgGain averaged over iterations.",
        "sum of AvgGain_k / i",
        unit="gain",
        edge_cases=_UNREAD.strip(),
        citation=_HERE,
    ),
    _up_to(
        "DRAG",
        "Discounted rate of average gain.",
        "sum of w(k) AvgGain_k / i",
        unit="gain",
        edge_cases=_UNREAD.strip(),
        citation=_HERE,
    ),
    _up_to(
        "SRE",
        "Search result efficiency: the share of results that are good and new.",
        "GR@i / R@i",
        range=SHARE,
        edge_cases=_NO_RESULT + _UNREAD,
        citation=_HERE,
    ),
    _up_to(
        "SRR",
        "Search result redundancy: the share of results that are duplicates.",
        "DupR@i / R@i",
        range=SHARE,
        edge_cases=_NO_RESULT + _UNREAD,
        direction="lower",
        citation=_HERE,
        needs_labels=False,
    ),
    _up_to(
        "nCG",
        "The share of the pool's gain gathered by iteration i.",
        "CG@i / gain of the pool",
        range=SHARE,
        edge_cases=_NO_POOL,
    ),
    _up_to(
        "nDCG",
        "DCG relative to an agent that returns the whole pool at once.",
        "DCG@i / gain of the pool",
        range=SHARE,
        edge_cases=_NO_POOL,
    ),
    _up_to(
        "EvidenceRecall",
        "The share of the pool's good results returned by iteration i.",
        "GR@i / good results of the pool",
        range=SHARE,
        edge_cases=_NO_POOL,
    ),
    _up_to(
        "sDCG",
        "Session DCG: discounted by rank (b = 2) and by search (bq = 4).",
        "sum of gain / (log_b(rank + b - 1) log_bq(search + bq - 1)) over good new results",
        unit="gain",
        edge_cases=_UNREAD.strip(),
        citation=_SESSION,
    ),
    _up_to(
        "nsDCG",
        "Session DCG relative to the pool's best results in the same places.",
        "sDCG@i / ideal sDCG",
        range=SHARE,
        edge_cases=_NO_POOL
        + " In conversations of more than 64 iterations only at the last. Its bounds are 0 and 1."
        + _UNREAD,
        citation=_SESSION,
    ),
    _up_to(
        "CubeTest",
        "How far the need is filled per iteration; repeated aspects fill less.",
        "mean over aspects of min(1, sum of 0.5^n gain / max_gain) / i, n: results of the aspect before",
        range=SHARE,
        edge_cases="Without `aspects` in the results there is one aspect, filled by good results.",
        citation=_CUBE,
    ),
    _up_to(
        "GainPerSecond",
        "Good gain per second of searching.",
        "CG@i / seconds@i",
        unit="gain/s",
        edge_cases=_UNKNOWN,
    ),
    _up_to(
        "GainPer1kTokens",
        "Good gain per 1,000 tokens.",
        "1000 CG@i / tokens@i",
        unit="gain/1k tokens",
        edge_cases=_UNKNOWN,
    ),
    _up_to(
        "GainPerCost",
        "Good gain per unit of cost.",
        "CG@i / cost@i",
        unit="gain/cost",
        edge_cases=_UNKNOWN,
    ),
    _up_to(
        "WastedSearches",
        "Searches that returned no new good result.",
        "number of them through iteration i",
        unit="searches",
        direction="lower",
    ),
    _up_to(
        "RepeatedQueries",
        "Searches whose query was issued before, ignoring case and white space.",
        "number of them through iteration i",
        unit="searches",
        direction="lower",
        needs_labels=False,
    ),
    _up_to(
        "EmptySearches",
        "Searches that returned nothing, and did not fail.",
        "number of them through iteration i",
        unit="searches",
        direction="lower",
        needs_labels=False,
    ),
    _up_to(
        "FailedSearches",
        "Searches that ended in an error, without a result.",
        "number of them through iteration i",
        unit="searches",
        direction="lower",
        needs_labels=False,
    ),
    _up_to(
        "UnreadSearches",
        "Searches whose results are unknown; they turn figures into bounds.",
        "number of them through iteration i",
        unit="searches",
        direction="lower",
        needs_labels=False,
    ),
    _up_to(
        "Searches",
        "Searches through iteration i.",
        "number of them",
        unit="searches",
        direction="lower",
        family=COST_FAMILY,
        needs_labels=False,
    ),
    _up_to(
        "Seconds",
        "Seconds of generating and searching; those of parallel searches are added up.",
        "sum of the seconds of steps and the latency of searches, through iteration i",
        unit="s",
        direction="lower",
        edge_cases=_UNREPORTED,
        family=COST_FAMILY,
        needs_labels=False,
    ),
    _up_to(
        "Tokens",
        "Tokens of the agent's steps and of its searches.",
        "sum of their tokens, through iteration i",
        unit="tokens",
        direction="lower",
        edge_cases=_UNREPORTED,
        family=COST_FAMILY,
        needs_labels=False,
    ),
    _up_to(
        "Cost",
        "Cost of the agent's steps and of its searches.",
        "sum of their cost, through iteration i",
        unit="cost",
        direction="lower",
        edge_cases=_UNREPORTED,
        family=COST_FAMILY,
        needs_labels=False,
    ),
    _up_to(
        "Coverage",
        "The share of unique results that have a label.",
        "labelled in UR@i / UR@i",
        range=SHARE,
        edge_cases="No result: undefined." + _UNREAD,
        needs_labels=False,
    ),
)
_CONVERSATION = (
    define(
        "IterationsForAllGoodResults",
        "Iterations until all good results were returned.",
        "min(k, 100), k: the smallest iteration with GR@k = GR@N",
        level="conversation",
        unit="iterations",
        direction="lower",
        range=Range(1, 100, "1 to 100"),
        edge_cases="No good result: undefined. Only results of the conversation's own searches count.",
        citation=_HERE,
        kernel="IterationsForAllGoodResults",
    ),
    *(
        define(
            f"Area{budget.capitalize()}",
            f"Area under the curve of gain against {budget}, as a share.",
            f"area of CG against {budget}, linear between iterations, / ({budget}@N x gain of the pool)",
            level="conversation",
            range=SHARE,
            edge_cases=f"{_NO_POOL} {_UNREPORTED} Its bounds are 0 and 1.",
            kernel=f"Area{budget.capitalize()}",
        )
        for budget in ("searches", "seconds", "tokens")
    ),
    *(
        define(
            f"Total{kind.capitalize()}",
            f"{kind.capitalize()} of the whole turn, including what follows the last search.",
            f"{kind} of the turn where it states them, or else of its steps and searches",
            level="conversation",
            unit=unit,
            direction="lower",
            edge_cases=_UNREPORTED,
            family=COST_FAMILY,
            needs_labels=False,
            kernel=f"Total{kind.capitalize()}",
        )
        for kind, unit in (("tokens", "tokens"), ("cost", "cost"), ("seconds", "s"))
    ),
)

MEASURES: tuple[Definition, ...] = (*_ITERATION, *_CUMULATIVE, *_CONVERSATION)
