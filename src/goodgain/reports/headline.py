"""The headline: one sentence per kind of result, for readers who read nothing else."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from goodgain.reports.charts.frame import counted, unit_nouns
from goodgain.reports.elements import Span, Strong, UserText
from goodgain.results.numbers import p_text, signed
from goodgain.results.text import number

if TYPE_CHECKING:
    from goodgain.agentic.runs import Figure
    from goodgain.agentic.system import SystemGain
    from goodgain.comparison import Comparison, Pair
    from goodgain.measures import Measure
    from goodgain.reports.contents import PageContents


def headlines(contents: PageContents) -> list[list[Span]]:
    """The main findings, one headline for each kind of result."""
    sentences = []
    if contents.comparison is not None and contents.quality is not None:
        sentences.append(_comparison_headline(contents, contents.comparison))
    elif contents.systems and contents.quality is not None:
        sentences.append(_evaluation_headline(contents, contents.quality))
    if contents.gains:
        sentences.append(_good_gain_headline(contents))
    if contents.stoppings:
        sentences.append(_stopping_headline(contents))
    if contents.calibrations:
        sentences.append(_calibration_headline(contents))
    return sentences or [["Only time and cost were measured."]]


def _comparison_headline(contents: PageContents, comparison: Comparison) -> list[Span]:
    """The best system against the baseline, or that none is shown to be better, or what is open."""
    quality = contents.quality
    pairs = [
        p
        for p in comparison.pairs
        if p.measure == quality and contents.baseline in (p.baseline, p.system)
    ]
    by_verdict: dict[str, list[Pair]] = {"better": [], "worse": [], "open": [], "not shown": []}
    for pair in pairs:
        by_verdict[comparison.verdict(pair)].append(pair)
    if by_verdict["better"]:
        best = _best(by_verdict["better"])
        spans: list[Span] = [UserText(best.system), " is better than ", UserText(best.baseline)]
        spans += [": ", *_numbers(best, comparison), *_cost(best, comparison), "."]
        return [*spans, *_others(best, pairs, comparison)]
    if len(by_verdict["worse"]) == len(pairs):
        least = _best(pairs)
        spans = [UserText(least.system), " is worse than ", UserText(least.baseline), ": "]
        spans += [*_numbers(least, comparison), *_cost(least, comparison), "."]
        return [*spans, *([] if len(pairs) == 1 else [" Every system is worse than the baseline."])]
    if by_verdict["open"]:
        best = _best(by_verdict["open"])
        spans = ["Missing labels leave open whether ", UserText(best.system), " is better than "]
        spans += [UserText(best.baseline), ": ", *_numbers(best, comparison)]
        spans += [
            f"; with all labels the difference could be {signed(best.bound_low, 3)} to "
            f"{signed(best.bound_high, 3)}"
        ]
        spans += [*_cost(best, comparison), ".", *_others(best, pairs, comparison)]
        return [*spans, *_other_measure(contents, comparison)]
    best = _best(pairs)
    spans = [
        "No system is significantly better than ",
        UserText(str(contents.baseline)),
        f" by {quality} ",
    ]
    spans += ["(", UserText(best.system), " comes closest: " if best.improvement < 0 else ": "]
    spans += [*_numbers(best, comparison), ")"]
    if best.minimum_detectable is not None:
        level = " at the corrected level" if _is_corrected(best, comparison) else ""
        spans.append(
            f"; with {_units(best)} the test has 80% power{level} to detect a difference of "
            f"{number(best.minimum_detectable, 3)}"
        )
    return [*spans, *_cost(best, comparison), ".", *_other_measure(contents, comparison)]


def _best(pairs: list[Pair]) -> Pair:
    return max(pairs, key=lambda p: p.improvement)


def _other_measure(contents: PageContents, comparison: Comparison) -> list[Span]:
    """The strongest significant improvement by another measure, if the first has none."""
    improvements = [
        p
        for p in comparison.pairs
        if p.baseline == contents.baseline
        and comparison.verdict(p) == "better"
        and not p.measure.is_cost
    ]
    if not improvements:
        return []
    best = max(improvements, key=lambda p: abs(p.d_z or 0))
    count = len(improvements) - 1
    noun = "improvement is" if count == 1 else "improvements are"
    more = f" {count} more {noun} significant (see the table of differences)." if count else ""
    return [
        " ",
        UserText(best.system),
        " is better by another measure: ",
        *_numbers(best, comparison),
        f".{more}",
    ]


def _numbers(pair: Pair, comparison: Comparison) -> list[Span]:
    settings = comparison.settings
    interval = (
        f", {100 * settings.confidence:g}% interval {signed(pair.low, 3)} to {signed(pair.high, 3)}"
        if pair.low is not None and pair.high is not None
        else ""
    )
    p = p_text(pair.p_corrected, settings.alpha).replace("1e-4", "0.0001")
    p_value = f"p {p[0]} {p[1:]}" if p[0] in "<>" else f"p = {p}"
    if _is_corrected(pair, comparison):
        p_value = f"corrected {p_value}"
    return [
        f"{pair.measure} ", Strong(number(pair.mean, 3)), f" vs {number(pair.baseline_mean, 3)} "
        f"({signed(pair.difference, 3)}{interval}, {p_value}) on {_units(pair)}",
    ]  # fmt: skip


def _is_corrected(pair: Pair, comparison: Comparison) -> bool:
    """Whether there were several tests to correct for; time and cost are corrected apart."""
    family = [
        p
        for p in comparison.pairs
        if p.measure.is_cost == pair.measure.is_cost and not p.exploratory
    ]
    return comparison.settings.correction != "none" and len(family) > 1


def _units(pair: Pair) -> str:
    """How many queries, or conversations, a pair was compared on."""
    return counted(pair.queries, *unit_nouns(pair.measure))


_MILLISECONDS = {"us": 0.001, "ms": 1, "s": 1000, "min": 60_000}  # by unit


def _cost(pair: Pair, comparison: Comparison) -> list[Span]:
    """The difference in time or cost, by the first such measure."""
    own = [
        p
        for p in comparison.pairs
        if (p.system, p.baseline) == (pair.system, pair.baseline) and p.measure.is_cost
    ]
    if not own or own[0].difference == 0:
        return []
    cost, unit = own[0], own[0].measure.unit
    amount, more = abs(cost.difference), cost.difference > 0
    one, _ = unit_nouns(cost.measure)
    if unit in _MILLISECONDS:
        words = f"it is {_time(_MILLISECONDS[unit] * amount)} {'slower' if more else 'faster'}"
    elif unit == "cost":
        words = f"it costs {number(amount, 4)} {'more' if more else 'less'} per {one}"
    elif unit in ("searches", "tokens"):
        words = f"it uses {number(amount, 1)} {'more' if more else 'fewer'} {unit} per {one}"
    else:
        words = f"its mean {cost.measure} is {number(amount, 4)} {'higher' if more else 'lower'}"
    remarks = {"not shown": " (not significant)", "exploratory": " (exploratory)"}
    remark = remarks.get(comparison.verdict(cost), "")
    return [f"; {words}{remark}"]


def _time(milliseconds: float) -> str:
    if milliseconds >= 10_000:
        return f"{milliseconds / 1000:,.1f} s"
    if milliseconds >= 10:
        return f"{milliseconds:,.0f} ms"
    return f"{number(milliseconds, 1 if milliseconds >= 1 else 3)} ms"


_VERDICTS = {
    "better": "is better than",
    "worse": "is worse than",
    "not shown": "shows no significant difference from",
}


def _others(best: Pair, pairs: list[Pair], comparison: Comparison) -> list[Span]:
    """How many of the other systems are better, worse, not significantly different, or open."""
    others = [p for p in pairs if p is not best]
    if not others:
        return []
    verdicts = Counter(comparison.verdict(p) for p in others)
    if len(others) == 1:
        (pair,) = others
        system, baseline = UserText(pair.system), UserText(pair.baseline)
        if verdicts["open"]:
            return [" Missing labels leave open how ", system, " compares with ", baseline, "."]
        return [" ", system, f" {_VERDICTS[comparison.verdict(pair)]} ", baseline, "."]
    better, worse = verdicts["better"], verdicts["worse"]
    same, undecided = verdicts["not shown"], verdicts["open"]
    counts = [
        *([f"{better} {'is' if better == 1 else 'are'} also better"] if better else []),
        *([f"{worse} {'is' if worse == 1 else 'are'} worse"] if worse else []),
        *([f"{same} {'shows' if same == 1 else 'show'} no significant difference"] if same else []),
        *(
            [f"{undecided} {'is' if undecided == 1 else 'are'} left open by missing labels"]
            if undecided
            else []
        ),
    ]
    return [f" Of the other {len(others)} systems, {_joined(counts)}."]


def _joined(items: list[str]) -> str:
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def _evaluation_headline(contents: PageContents, quality: Measure) -> list[Span]:
    """One system, or several without a baseline."""
    means = {s: v for s in contents.systems if (v := contents.mean(s, quality)) is not None}
    one, several = unit_nouns(quality)
    units = counted(len(contents.units), one, several)
    if not means:
        return [f"{quality} is undefined for every {one}."]
    best = max(means, key=lambda s: quality.sign * means[s])
    if len(contents.systems) == 1:
        return [UserText(best), f" reaches {quality} ", Strong(number(means[best], 3)),
                f" on {units}. There is no other system to compare it with."]  # fmt: skip
    rest = [s for s in means if s != best]
    second = max(rest, key=lambda s: quality.sign * means[s], default=None)
    spans: list[Span] = [
        UserText(best),
        f" has the best {quality}: ",
        Strong(number(means[best], 3)),
    ]
    if second is not None:
        spans += [", followed by ", UserText(second), f" with {number(means[second], 3)}"]
    return [*spans, f", on {units}. Without a baseline, nothing was tested."]


def _good_gain_headline(contents: PageContents) -> list[Span]:
    """The mean good gain of each system."""
    spans: list[Span] = []
    for result in contents.gains:
        for system in result.systems:
            figure = system.figure("CG")
            if figure.n == 0 or _is_unlabelled(system):
                spans += [
                    UserText(system.name),
                    " has no labelled results, so its gain is unknown. ",
                ]
                continue
            spans += [
                UserText(system.name),
                " has a mean good gain of ",
                Strong(number(figure.value, 2)),
                *([] if figure.exact else [_label_bounds(figure)]),
                f" per conversation, over {counted(figure.n, 'conversation')}. ",
            ]
    return spans or ["No conversation was measured."]


def _is_unlabelled(system: SystemGain) -> bool:
    """Whether no result has a label, or none was read."""
    counts = system.counts()
    return not counts["coverage"] > 0 and bool(counts["results"] or counts["unread"])


def _stopping_headline(contents: PageContents) -> list[Span]:
    """What the rules keep and spend, the first few of them."""
    sentences = [s for result in contents.stoppings for s in result.sentences()]
    more = f" {counted(len(sentences) - 3, 'more outcome')} below." if len(sentences) > 3 else ""
    return [UserText(". ".join(sentences[:3]) + "."), more]


def _label_bounds(figure: Figure) -> str:
    if figure.upper == math.inf:
        return " or more, as results of some searches are unknown,"
    return f" ({number(figure.lower, 2)} to {number(figure.upper, 2)}, as labels are missing)"


def _calibration_headline(contents: PageContents) -> list[Span]:
    """How well the judge agrees with people."""
    calibration = contents.calibrations[0]
    kappa = calibration["quadratic kappa"]
    spans: list[Span] = [
        "The judge agrees with people at a quadratic kappa of ",
        Strong(number(kappa.value, 2)),
        f" over {counted(calibration.pairs, 'pair')}",
    ]
    rates = [
        f"labels {100 * rate:.0f}% of the documents {wrong} that people label {right}"
        for name, wrong, right in (
            ("false-good rate", "good", "bad"),
            ("missed-good rate", "bad", "good"),
        )
        if (rate := calibration[name].value) == rate
    ]
    if rates:
        spans.append(f"; it {' and '.join(rates)}")
    return [*spans, "."]
