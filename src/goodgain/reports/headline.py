"""The headline: one sentence per kind of result, for readers who read nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.comparison.scores import is_price, measure_of
from goodgain.reports.charts.frame import counted
from goodgain.reports.elements import Span, Strong, UserText
from goodgain.results.numbers import p_text, signed
from goodgain.results.text import number

if TYPE_CHECKING:
    from goodgain.comparison.comparison import Pair
    from goodgain.reports.contents import PageContents


def headlines(contents: PageContents) -> list[list[Span]]:
    """The main findings, one headline for each kind of result."""
    sentences = []
    if contents.comparison is not None and contents.quality is not None:
        sentences.append(_comparison_headline(contents))
    elif contents.systems and contents.quality is not None:
        sentences.append(_evaluation_headline(contents))
    if contents.gains:
        sentences.append(_good_gain_headline(contents))
    if contents.calibrations:
        sentences.append(_calibration_headline(contents))
    return sentences or [["Only time and cost were measured."]]


def _comparison_headline(contents: PageContents) -> list[Span]:
    """The best system against the baseline with its interval, or that none is significantly better."""
    assert contents.comparison is not None
    quality = contents.quality
    pairs = [
        p
        for p in contents.comparison.pairs
        if p.measure == quality and contents.baseline in (p.baseline, p.system)
    ]
    alpha = contents.comparison.settings.alpha
    better = [p for p in pairs if p.p_corrected < alpha and p.improvement > 0]
    worse = [p for p in pairs if p.p_corrected < alpha and p.improvement < 0]
    if better:
        best = max(better, key=lambda p: p.improvement)
        spans: list[Span] = [UserText(best.system), " is better than ", UserText(best.baseline)]
        spans += [": ", *_numbers(best, contents), *_price(best, contents), "."]
        others = [p for p in pairs if p is not best]
        return [*spans, *(_others(others, alpha) if others else [])]
    if worse and len(worse) == len(pairs):
        least = max(worse, key=lambda p: p.improvement)
        spans = [UserText(least.system), " is worse than ", UserText(least.baseline), ": "]
        spans += [*_numbers(least, contents), *_price(least, contents), "."]
        return [*spans, *([] if len(pairs) == 1 else [" Every system is worse than the baseline."])]
    best = max(pairs, key=lambda p: p.improvement)
    spans = [
        "No system is significantly better than ",
        UserText(str(contents.baseline)),
        f" by {quality} ",
    ]
    spans += ["(", UserText(best.system), " comes closest: " if best.improvement < 0 else ": "]
    spans += [*_numbers(best, contents), ")"]
    if best.minimum_detectable is not None:
        spans.append(
            f"; with {_queries(best.queries)} the test has 80% power to detect a difference of "
            f"{number(best.minimum_detectable, 3)}"
        )
    return [*spans, *_price(best, contents), ".", *_other_measure(contents, alpha)]


def _other_measure(contents: PageContents, alpha: float) -> list[Span]:
    """The strongest significant improvement by another measure, if the first has none."""
    assert contents.comparison is not None
    improvements = [
        p
        for p in contents.comparison.pairs
        if p.baseline == contents.baseline
        and p.p_corrected < alpha
        and p.improvement > 0
        and not is_price(p.measure)
    ]
    if not improvements:
        return []
    best = max(improvements, key=lambda p: p.d_z or 0)
    count = len(improvements) - 1
    noun = "improvement is" if count == 1 else "improvements are"
    more = f" {count} more {noun} significant (see the table of differences)." if count else ""
    return [
        " ",
        UserText(best.system),
        " is better by another measure: ",
        *_numbers(best, contents),
        f".{more}",
    ]


def _numbers(pair: Pair, contents: PageContents) -> list[Span]:
    assert contents.comparison is not None
    settings = contents.comparison.settings
    interval = (
        f", {100 * settings.confidence:g}% interval {signed(pair.low, 3)} to {signed(pair.high, 3)}"
        if pair.low is not None and pair.high is not None
        else ""
    )
    p = p_text(pair.p_corrected, settings.alpha).replace("1e-4", "0.0001")
    p_value = f"p {p[0]} {p[1:]}" if p[0] in "<>" else f"p = {p}"
    if settings.correction != "none" and len(contents.comparison.pairs) > 1:
        p_value = f"corrected {p_value}"
    return [
        f"{pair.measure} ", Strong(number(pair.mean, 3)), f" vs {number(pair.baseline_mean, 3)} "
        f"({signed(pair.difference, 3)}{interval}, {p_value}) on {_queries(pair.queries)}",
    ]  # fmt: skip


def _queries(count: int) -> str:
    return counted(count, "query", "queries")


def _price(pair: Pair, contents: PageContents) -> list[Span]:
    """The difference in time or cost, by the first such measure."""
    assert contents.comparison is not None
    own = [
        p
        for p in contents.comparison.pairs
        if (p.system, p.baseline) == (pair.system, pair.baseline) and is_price(p.measure)
    ]
    if not own or own[0].difference == 0:
        return []
    price = own[0]
    measure = measure_of(price.measure)
    more = price.difference > 0
    if measure is not None and measure.definition.column == "cost":
        words = "more" if more else "less"
        return [f"; it costs {number(abs(price.difference), 4)} {words} per query"]
    milliseconds = 1000 * abs(price.difference)
    digits = 0 if milliseconds >= 10 else 1 if milliseconds >= 1 else 3
    words = "slower" if more else "faster"
    remark = "" if price.p_corrected < contents.comparison.settings.alpha else " (not significant)"
    return [
        f"; it is {number(milliseconds, digits) if digits else f'{milliseconds:,.0f}'} ms {words}{remark}"
    ]


def _others(pairs: list[Pair], alpha: float) -> list[Span]:
    """How many of the other systems are better, worse, or not significantly different."""
    if len(pairs) == 1:
        (pair,) = pairs
        words = (
            "shows no significant difference from"
            if pair.p_corrected >= alpha
            else ("is better than" if pair.improvement > 0 else "is worse than")
        )
        return [" ", UserText(pair.system), f" {words} ", UserText(pair.baseline), "."]
    better = sum(p.p_corrected < alpha and p.improvement > 0 for p in pairs)
    worse = sum(p.p_corrected < alpha and p.improvement < 0 for p in pairs)
    same = len(pairs) - better - worse
    counts = [
        *([f"{better} {'is' if better == 1 else 'are'} also better"] if better else []),
        *([f"{worse} {'is' if worse == 1 else 'are'} worse"] if worse else []),
        *([f"{same} {'shows' if same == 1 else 'show'} no significant difference"] if same else []),
    ]
    return [f" Of the other {len(pairs)} systems, {_joined(counts)}."]


def _joined(items: list[str]) -> str:
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def _evaluation_headline(contents: PageContents) -> list[Span]:
    """One system, or several without a baseline."""
    quality = str(contents.quality)
    sign = -1 if contents.lower_is_better(quality) else 1
    means = {s: v for s in contents.systems if (v := contents.mean(s, quality)) is not None}
    queries = len(contents.units)
    if not means:
        return [f"{quality} is undefined for every query."]
    best = max(means, key=lambda s: sign * means[s])
    if len(contents.systems) == 1:
        return [UserText(best), f" reaches {quality} ", Strong(number(means[best], 3)),
                f" on {_queries(queries)}. There is no other system to compare it with."]  # fmt: skip
    rest = [s for s in means if s != best]
    second = max(rest, key=lambda s: sign * means[s], default=None)
    spans: list[Span] = [
        UserText(best),
        f" has the best {quality}: ",
        Strong(number(means[best], 3)),
    ]
    if second is not None:
        spans += [", followed by ", UserText(second), f" with {number(means[second], 3)}"]
    return [*spans, f", on {_queries(queries)}. Without a baseline, nothing was tested."]


def _good_gain_headline(contents: PageContents) -> list[Span]:
    """The mean good gain of each system."""
    spans: list[Span] = []
    for result in contents.gains:
        for system in result:
            figure = result.figure("CG", None, system.name)
            if figure.value != figure.value:
                spans += [
                    UserText(system.name),
                    " has no labelled results, so its gain is unknown. ",
                ]
                continue
            spans += [
                UserText(system.name),
                " has a mean good gain of ",
                Strong(number(figure.value, 2)),
                f" per conversation, over {counted(figure.n, 'conversation')}. ",
            ]
    return spans or ["No conversation was measured."]


def _calibration_headline(contents: PageContents) -> list[Span]:
    """How well the judge agrees with people."""
    calibration = contents.calibrations[0]
    kappa = calibration["quadratic kappa"]
    false_good = calibration["false-good rate"].value
    spans: list[Span] = [
        "The judge agrees with people at a quadratic kappa of ",
        Strong(number(kappa.value, 2)),
        f" over {counted(calibration.pairs, 'pair')}",
    ]
    if false_good == false_good:
        spans.append(
            f"; it labels {100 * false_good:.0f}% of the documents good that people label bad"
        )
    return [*spans, "."]
