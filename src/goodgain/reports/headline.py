"""The sentence that a manager needs, made of what was found and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.comparison.scores import is_price, measure_of
from goodgain.reports.elements import Piece, Strong, User
from goodgain.results.numbers import p_text, signed
from goodgain.results.text import number

if TYPE_CHECKING:
    from goodgain.comparison.comparison import Pair
    from goodgain.reports.contents import Material


def headlines(material: Material) -> list[list[Piece]]:
    """What was found, for someone who reads nothing else: a sentence for each kind of result."""
    found = []
    if material.comparison is not None and material.quality is not None:
        found.append(_compared(material))
    elif material.systems and material.quality is not None:
        found.append(_measured(material))
    if material.gains:
        found.append(_gained(material))
    if material.calibrations:
        found.append(_calibrated(material))
    return found or [["Nothing was measured but time and cost."]]


def _compared(material: Material) -> list[Piece]:
    """The best system against the baseline, with its interval; or that nothing can be told apart."""
    assert material.comparison is not None
    quality = material.quality
    pairs = [
        p
        for p in material.comparison.pairs
        if p.measure == quality and material.baseline in (p.baseline, p.system)
    ]
    alpha = material.comparison.settings.alpha
    better = [p for p in pairs if p.p_corrected < alpha and p.improvement > 0]
    worse = [p for p in pairs if p.p_corrected < alpha and p.improvement < 0]
    if better:
        best = max(better, key=lambda p: p.improvement)
        pieces: list[Piece] = [User(best.system), " is better than ", User(best.baseline), ": "]
        pieces += [*_numbers(best, material), *_price(best, material), "."]
        others = [p for p in pairs if p is not best]
        if others:
            pieces += _others(others, alpha)
        return pieces
    if worse and len(worse) == len(pairs):
        least = max(worse, key=lambda p: p.improvement)
        start = "It is" if len(pairs) == 1 else "Every system is"
        head: list[Piece] = [User(least.system), " is worse than ", User(least.baseline), ": "]
        return [*head, *_numbers(least, material), *_price(least, material), ".",
                *([] if len(pairs) == 1 else [f" {start} worse than the baseline."])]  # fmt: skip
    best = max(pairs, key=lambda p: p.improvement)
    pieces = [
        "No system is shown to be better than ",
        User(str(material.baseline)),
        f" by {quality} ",
    ]
    pieces += ["(", User(best.system), " comes closest: " if best.improvement < 0 else ": "]
    pieces += [*_numbers(best, material), ")"]
    if best.minimum_detectable is not None:
        pieces.append(
            f"; {best.queries:,} queries would show a difference of "
            f"{number(best.minimum_detectable, 3)} four times out of five"
        )
    return [*pieces, *_price(best, material), ".", *_elsewhere(material, alpha)]


def _elsewhere(material: Material, alpha: float) -> list[Piece]:
    """What another measure shows, where the first shows nothing."""
    assert material.comparison is not None
    shown = [
        p
        for p in material.comparison.pairs
        if p.baseline == material.baseline
        and p.p_corrected < alpha
        and p.improvement > 0
        and not is_price(p.measure)
    ]
    if not shown:
        return []
    best = max(shown, key=lambda p: p.d_z or 0)
    more = "" if len(shown) == 1 else f", and so in {len(shown) - 1} more of the differences below"
    return [" ", User(best.system), " is, by ", *_numbers(best, material), f"{more}."]


def _numbers(pair: Pair, material: Material) -> list[Piece]:
    assert material.comparison is not None
    settings = material.comparison.settings
    span = (
        f", {100 * settings.confidence:g}% interval {signed(pair.low, 3)} to {signed(pair.high, 3)}"
        if pair.low is not None and pair.high is not None
        else ""
    )
    p = p_text(pair.p_corrected, settings.alpha).replace("1e-4", "0.0001")
    shown = f"p {p[0]} {p[1:]}" if p[0] in "<>" else f"p = {p}"
    if settings.correction != "none" and len(material.comparison.pairs) > 1:
        shown = f"corrected {shown}"
    return [
        f"{pair.measure} ", Strong(number(pair.mean, 3)), f" against {number(pair.baseline_mean, 3)} "
        f"({signed(pair.difference, 3)}{span}, {shown}), on {_queries(pair.queries)}",
    ]  # fmt: skip


def _queries(count: int) -> str:
    return f"{count:,} quer{'y' if count == 1 else 'ies'}"


def _price(pair: Pair, material: Material) -> list[Piece]:
    """What it costs beside: time or money, as the first such measure says."""
    assert material.comparison is not None
    own = [
        p
        for p in material.comparison.pairs
        if (p.system, p.baseline) == (pair.system, pair.baseline) and is_price(p.measure)
    ]
    if not own or own[0].difference == 0:
        return []
    price = own[0]
    measure = measure_of(price.measure)
    more = price.difference > 0
    if measure is not None and measure.definition.column == "cost":
        words = "more" if more else "less"
        return [f"; it costs {number(abs(price.difference), 4)} {words} a query"]
    milliseconds = 1000 * abs(price.difference)
    digits = 0 if milliseconds >= 10 else 1 if milliseconds >= 1 else 3
    words = "slower" if more else "faster"
    sure = "" if price.p_corrected < material.comparison.settings.alpha else " (not significant)"
    return [
        f"; it is {number(milliseconds, digits) if digits else f'{milliseconds:,.0f}'} ms {words}{sure}"
    ]


def _others(pairs: list[Pair], alpha: float) -> list[Piece]:
    """How many of the others are better, worse, or not told apart."""
    if len(pairs) == 1:
        (pair,) = pairs
        words = (
            "not told apart from"
            if pair.p_corrected >= alpha
            else ("better than" if pair.improvement > 0 else "worse than")
        )
        return [" ", User(pair.system), f" is {words} ", User(pair.baseline), "."]
    better = sum(p.p_corrected < alpha and p.improvement > 0 for p in pairs)
    worse = sum(p.p_corrected < alpha and p.improvement < 0 for p in pairs)
    open_ = len(pairs) - better - worse
    counts = ((better, "better too"), (worse, "worse"), (open_, "not told apart from it"))
    told = [f"{n} {'is' if n == 1 else 'are'} {words}" for n, words in counts if n]
    return [f" Of the other {len(pairs)} systems, {', '.join(told)}."]


def _measured(material: Material) -> list[Piece]:
    """One system, or several without a baseline."""
    quality = str(material.quality)
    sign = -1 if material.lower_is_better(quality) else 1
    known = {s: v for s in material.systems if (v := material.mean(s, quality)) is not None}
    queries = len(material.units)
    if not known:
        return [f"{quality} is undefined for every query."]
    best = max(known, key=lambda s: sign * known[s])
    if len(material.systems) == 1:
        return [User(best), f" reaches {quality} ", Strong(number(known[best], 3)),
                f" on {_queries(queries)}. There is nothing to compare it with."]  # fmt: skip
    rest = [s for s in known if s != best]
    second = max(rest, key=lambda s: sign * known[s], default=None)
    pieces: list[Piece] = [User(best), f" has the best {quality}: ", Strong(number(known[best], 3))]
    if second is not None:
        pieces += [" before ", User(second), f" with {number(known[second], 3)}"]
    return [*pieces, f", on {_queries(queries)}. No baseline was named, so nothing is tested."]


def _gained(material: Material) -> list[Piece]:
    """Good Gain of the system that gains most."""
    pieces: list[Piece] = []
    for result in material.gains:
        for system in result:
            found = result.figure("CG", None, system.name)
            if found.value != found.value:
                pieces += [
                    User(system.name),
                    " has no labelled results, so its gain is not known. ",
                ]
                continue
            pieces += [User(system.name), " gathers a good gain of ", Strong(number(found.value, 2)),
                       f" a conversation, over {found.n:,} conversations. "]  # fmt: skip
    return pieces or ["No conversation was measured."]


def _calibrated(material: Material) -> list[Piece]:
    """How far labels can be trusted."""
    found = material.calibrations[0]
    kappa = found["quadratic kappa"]
    wrong = found["false-good rate"]
    return [
        "Labels and people agree with a quadratic kappa of ", Strong(number(kappa.value, 2)),
        f" over {found.pairs:,} pairs; of what people call bad, the judge calls "
        f"{100 * wrong.value:.0f}% good." if wrong.value == wrong.value else f" over {found.pairs:,} pairs.",
    ]  # fmt: skip
