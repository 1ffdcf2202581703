"""What to do next about a verdict: how many queries to add, which documents to judge, what to look at."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goodgain.comparison.power_analysis import power
from goodgain.errors import UsageError
from goodgain.results.nouns import counted, unit_nouns
from goodgain.results.numbers import decimals
from goodgain.results.spans import Span, UserText
from goodgain.results.text import number
from goodgain.stats.distributions import normal_ppf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodgain.comparison.comparison import Comparison, Pair

_POWER = 0.8
_FAR = 20  # times the present queries: more than that is no plan


def next_step(
    pair: Pair,
    verdict: str,
    comparison: Comparison,
    dearer: Sequence[Pair],
    settling: Any,
) -> tuple[Span, ...]:
    """One thing to do; `dearer` are the measures of time and cost by which the system is worse."""
    system, baseline = UserText(pair.system), UserText(pair.baseline)
    nouns = unit_nouns(pair.measure)
    if verdict == "better":
        losses = (
            (f"; look at the {counted(pair.losses, *nouns)} on which it is worse",)
            if pair.losses
            else ()
        )
        if worse := [p for p in dearer if comparison.verdict(p) == "worse"]:
            name = UserText(worse[0].measure.label.rstrip(" ↓↑"))
            direction = "higher" if worse[0].difference > 0 else "lower"
            return (f"decide whether the gain is worth the {direction} ", name, *losses)
        return ("use ", system, *losses)
    if verdict == "worse":
        return ("keep ", baseline, f"; look at the {counted(pair.losses, *nouns)} on which ", system,
                " is worse")  # fmt: skip
    if verdict == "tied":
        return _choose(pair, comparison)
    if verdict == "open":
        return _labels(settling)
    return _more(pair, comparison)


def _choose(pair: Pair, comparison: Comparison) -> tuple[Span, ...]:
    """Of two that are tied, the one that costs less."""
    duel = {pair.system, pair.baseline}
    for cost in comparison.pairs:
        if not cost.measure.is_cost or {cost.system, cost.baseline} != duel:
            continue
        if (verdict := comparison.verdict(cost)) in ("better", "worse"):
            name = cost.system if verdict == "better" else cost.baseline
            return ("use ", UserText(name), ", which is better by ", UserText(cost.measure.label))
    return ("choose by something else: cost, latency, or another measure",)


_LISTED = 3  # documents that the card itself names


def _labels(settling: Any) -> tuple[Span, ...]:
    """The labels that would settle it, if their number can be computed."""
    if settling is None or not settling.unjudged:
        return ("label what is missing: goodgain label, or goodgain judge for people",)
    if not settling.pairs:
        return (f"judge the {settling.unjudged:,} unjudged documents; fewer may not settle it",)
    count = len(settling.pairs)
    these = "this document" if count == 1 else f"these {count:,} documents"
    listed = ", ".join(f"{doc} of {query}" for query, doc in settling.pairs[:_LISTED])
    more = (
        f" and {count - _LISTED:,} more, which --report and --save list" if count > _LISTED else ""
    )
    return (f"judge {these} (of {settling.unjudged:,} unjudged): ", UserText(listed), more)


def _more(pair: Pair, comparison: Comparison) -> tuple[Span, ...]:
    """How many queries would show the difference, or that there is none worth having."""
    nouns = unit_nouns(pair.measure)
    if pair.seeds:
        detectable = pair.minimum_detectable
        if detectable is None:
            return (f"add {nouns[1]} or {comparison.factor}s",)
        return (f"add {nouns[1]} or {comparison.factor}s: now only a difference of "
                f"{number(detectable, decimals(detectable))} would be shown with 80% power",)  # fmt: skip
    needed = queries_needed(pair, comparison)
    if needed is None:
        return (f"add {nouns[1]}",)
    more, is_tie = needed
    aim = "to show that they are tied" if is_tie else "to show a difference of this size"
    total = pair.queries + more
    if more > _FAR * pair.queries:
        return (
            f"stop here, or plan for about {_rounded(total):,} {nouns[1]}, which it would take {aim}",
        )
    if pair.queries > 1:
        more = _rounded(more)
    return (f"add about {counted(more, *nouns)} {aim} (80% power)",)


def queries_needed(pair: Pair, comparison: Comparison) -> tuple[int, bool] | None:
    """How many more queries would decide, and whether by showing a tie; None if nothing says.

    A difference that is smaller than what counts as tied is not worth showing: the aim is then a tie.
    """
    tests, alpha = family_size(pair, comparison), comparison.settings.alpha
    size, margin = abs(pair.difference), pair.tied_within
    if pair.d_z is None:  # one query, or the same difference everywhere
        if pair.queries < 2 or not size:
            return None
        enough = math.ceil(math.log2(2 * tests / alpha) + 1e-9)
        return max(1, enough - pair.queries), False
    if not pair.d_z or not size:
        return None
    deviation = size / abs(pair.d_z)
    if margin and size < margin:
        z = normal_ppf(1 - alpha / tests) + normal_ppf((1 + _POWER) / 2)
        total = math.ceil((z * deviation / (margin - size)) ** 2)
        return max(1, total - pair.queries), True
    try:
        planned = power(sd=deviation, difference=size, alpha=alpha, tests=tests)
    except UsageError:
        return None
    return max(1, planned.queries - pair.queries), False


def family_size(pair: Pair, comparison: Comparison) -> int:
    """How many tests were corrected together; time and cost are corrected apart."""
    if comparison.settings.correction == "none":
        return 1
    if pair.tests:
        return pair.tests
    return sum(p.measure.is_cost == pair.measure.is_cost for p in comparison.pairs)


def _rounded(count: int) -> int:
    """Two digits, upwards: the number rests on estimates."""
    if count < 10:
        return count
    step = int(10 ** (len(str(count)) - 2))
    return math.ceil(count / step) * step
