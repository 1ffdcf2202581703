"""The verdict card: one word, who, by how much, at what cost, one caveat, and what to do next.

`verdict_card` is the only place that turns a comparison into a verdict; page, terminal, JSON and notebooks
show its result.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from goodgain.comparison.next_step import family_size, next_step
from goodgain.results.nouns import counted, unit_nouns
from goodgain.results.numbers import amount, decimals, p_text, signed
from goodgain.results.settling import labels_to_judge
from goodgain.results.spans import Span, Strong, UserText, spans_text
from goodgain.results.text import number

if TYPE_CHECKING:
    from goodgain.comparison.comparison import Comparison, Pair

Word = Literal["better", "tied", "worse", "not enough evidence"]
_WORDS: dict[str, Word] = {"better": "better", "tied": "tied", "worse": "worse"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A verdict about one pair of systems, in words and as the pair it is about."""

    word: Word
    pair: Pair
    confidence: float
    headline: tuple[Span, ...]
    numbers: tuple[Span, ...]
    others: tuple[Span, ...]  # what the tests show of the other systems
    cost: tuple[Span, ...]
    caveat: tuple[Span, ...]
    next: tuple[Span, ...]
    to_judge: tuple[tuple[str, str], ...] = ()  # queries and documents whose labels would settle it
    why: tuple[tuple[Span, ...], ...] = ()  # at most three reasons, if a page can name any

    def lines(self) -> list[tuple[str, tuple[Span, ...]]]:
        """What the card says below its headline, each line under its name; empty ones are left out.

        A name that is empty belongs to the line above.
        """
        because = "why" if self.word in ("better", "worse") else "where"
        listed = [
            ("by how much", self.numbers),
            *((because if i == 0 else "", spans) for i, spans in enumerate(self.why)),
            ("cost", self.cost),
            ("others", self.others),
            ("caveat", self.caveat),
            ("next", self.next),
        ]
        return [(name, spans) for name, spans in listed if spans]

    def to_dict(self) -> dict[str, Any]:
        """The card as plain data."""
        pair = self.pair
        return {
            "word": self.word,
            "system": pair.system,
            "baseline": pair.baseline,
            "measure": pair.measure.label,
            "difference": pair.difference,
            "low": pair.low,
            "high": pair.high,
            "headline": spans_text(self.headline),
            "why": [spans_text(spans) for spans in self.why],
            "to_judge": [list(pair) for pair in self.to_judge],
            **{
                name: spans_text(getattr(self, name))
                for name in ("numbers", "cost", "others", "caveat", "next")
            },
        }


def verdict_card(comparison: Comparison) -> Card | None:
    """The verdict on a comparison by its first measure of quality; None if it has none."""
    quality = comparison.quality
    pairs = [p for p in comparison.pairs if p.measure == quality]
    if quality is None or not pairs:
        return None
    others: tuple[Span, ...]
    if len(comparison.systems) == len(comparison.baselines) > 2:
        pair = _first_two(comparison, pairs)
        pairs, others = [pair], ()
    else:
        baseline = comparison.baselines[0]
        pairs = [p for p in pairs if baseline in (p.baseline, p.system)]
        pair = _deciding(pairs, comparison)
        others = _others(pair, pairs, comparison)
    verdict = comparison.verdict(pair)
    costs = _costs(pair, comparison)
    settling = labels_to_judge(comparison, pair) if verdict == "open" else None
    dearer = [p for p in costs if p.improvement < 0]
    return Card(
        word=_WORDS.get(verdict, "not enough evidence"),
        pair=pair,
        confidence=comparison.settings.confidence,
        headline=_headline(pair, verdict, len(pairs)),
        numbers=_numbers(pair, comparison),
        others=others,
        cost=_cost_line(costs, comparison),
        caveat=_caveat(pair, verdict, comparison),
        next=next_step(pair, verdict, comparison, dearer, settling),
        to_judge=() if settling is None else settling.pairs,
    )


def _first_two(comparison: Comparison, pairs: list[Pair]) -> Pair:
    """If every pair was compared: the first against the second."""
    standings = comparison.standings
    order = list(standings.systems) if standings else _by_mean(comparison)
    first, second = order[:2]
    for pair in pairs:
        if (pair.system, pair.baseline) == (first, second):
            return pair
        if (pair.system, pair.baseline) == (second, first):
            return flipped(pair)
    return pairs[0]


def _by_mean(comparison: Comparison) -> list[str]:
    quality = comparison.quality
    assert quality is not None
    means = {s: comparison.means[s][quality.label] for s in comparison.systems}
    return sorted(means, key=lambda s: (means[s] != means[s], -quality.sign * means[s]))


def flipped(pair: Pair) -> Pair:
    """The same pair seen from the other side."""

    def negative(value: float | None) -> float | None:
        return None if value is None else -value

    before = pair.mean
    return replace(
        pair,
        system=pair.baseline,
        baseline=pair.system,
        mean=pair.baseline_mean,
        baseline_mean=before,
        difference=-pair.difference,
        relative=None if abs(before) <= 1e-9 * abs(pair.difference) else -pair.difference / abs(before),
        low=negative(pair.high),
        high=negative(pair.low),
        statistic=negative(pair.statistic),
        d_z=negative(pair.d_z),
        d_z_low=negative(pair.d_z_high),
        d_z_high=negative(pair.d_z_low),
        wins=pair.losses,
        losses=pair.wins,
        p_noninferior=None,
        bound_low=negative(pair.bound_high),
        bound_high=negative(pair.bound_low),
    )  # fmt: skip


def _deciding(pairs: list[Pair], comparison: Comparison) -> Pair:
    """The pair that the verdict is about: the best that is better, else what is open, else the best."""
    by_verdict: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_verdict.setdefault(comparison.verdict(pair), []).append(pair)
    if len(by_verdict.get("worse", ())) == len(pairs):
        return _best(pairs)
    for verdict in ("better", "open"):
        if by_verdict.get(verdict):
            return _best(by_verdict[verdict])
    return _best([p for p in pairs if comparison.verdict(p) != "worse"])


def _best(pairs: list[Pair]) -> Pair:
    return max(pairs, key=lambda p: p.improvement)


# --- the sentences ---


def _headline(pair: Pair, verdict: str, count: int) -> tuple[Span, ...]:
    system, baseline = UserText(pair.system), UserText(pair.baseline)
    by: tuple[Span, ...] = (" by ", UserText(pair.measure.label))
    nouns = unit_nouns(pair.measure)
    if verdict in ("better", "worse"):
        return (system, f" is {verdict} than ", baseline, *by)
    if pair.wins == pair.losses == 0 and pair.difference == 0 and pair.queries > 1:
        also = "" if verdict == "tied" else ", but these are too few to show a tie"
        return (
            system,
            " and ",
            baseline,
            f" are the same on all {pair.queries:,} {nouns[1]}",
            *by,
            also,
        )
    if verdict == "tied":
        margin = number(pair.tied_within, decimals(pair.tied_within))
        return (system, " and ", baseline, " are tied", *by, f": less than {margin} apart")
    if verdict == "open":
        return ("Missing labels leave open whether ", system, " is better than ", baseline, *by)
    if not pair.is_tested:
        reason = f"one {nouns[0]}" if pair.queries == 1 else pair.note or "these scores"
        return (f"There is no test: {reason} cannot show whether ", system, " is better than ",
                baseline, *by)  # fmt: skip
    if count > 1:
        closest = " comes closest" if pair.improvement < 0 else " is ahead"
        return ("No system is shown to be better than ", baseline, *by, "; ", system, closest)
    if pair.improvement == 0:
        return (system, " and ", baseline, " are level", *by, ", but not shown to be tied")
    word = "better" if pair.improvement > 0 else "worse"
    return (system, " is not shown to be better or worse than ", baseline, *by,
            f", though it looks {word}")  # fmt: skip


def _numbers(pair: Pair, comparison: Comparison) -> tuple[Span, ...]:
    digits = decimals(pair.mean, pair.baseline_mean)
    lower = ", lower is better" if pair.lower_is_better else ""
    spans: list[Span] = [
        UserText(pair.measure.label), " ", Strong(number(pair.mean, digits)),
        f" vs {number(pair.baseline_mean, digits)}{lower}: {signed(pair.difference, digits)}",
    ]  # fmt: skip
    if pair.low is not None and pair.high is not None:
        spans.append(
            f", {100 * comparison.settings.confidence:g}% interval {signed(pair.low, digits)} to "
            f"{signed(pair.high, digits)}"
        )
    if text := p_words(pair, comparison):
        spans.append(f", {text}")
    return (*spans, f", on {counted(pair.queries, *unit_nouns(pair.measure))}")


def p_words(pair: Pair, comparison: Comparison) -> str:
    """The p-value in words, corrected if there were several tests; empty if nothing was tested."""
    if not pair.is_tested or pair.p_corrected is None or pair.note == "no difference":
        return ""
    text = p_text(pair.p_corrected, comparison.settings.alpha).replace("1e-4", "0.0001")
    value = f"p {text[0]} {text[1:]}" if text[0] in "<>" else f"p = {text}"
    return f"corrected {value}" if family_size(pair, comparison) > 1 else value


def _costs(pair: Pair, comparison: Comparison) -> list[Pair]:
    """The same two systems by time and cost."""
    duel = {pair.system, pair.baseline}
    own = [p for p in comparison.pairs if p.measure.is_cost and {p.system, p.baseline} == duel]
    return [p if p.system == pair.system else flipped(p) for p in own]


_MOST_COSTS = 3


def _cost_line(costs: list[Pair], comparison: Comparison) -> tuple[Span, ...]:
    """Time and cost of both, and the difference unless it is 0."""
    spans: list[Span] = []
    for pair in costs[:_MOST_COSTS]:
        unit, label = _unit(pair), pair.measure.label.rstrip(" ↓↑")
        spans += ["; "] if spans else []
        spans += [UserText(label), " "]
        spans.append(f"{amount(pair.mean, unit)} vs {amount(pair.baseline_mean, unit)}")
        words = _cost_words(pair)
        if words and comparison.verdict(pair) not in ("better", "worse"):
            words += ", not significant" if pair.is_tested else ", not tested"
        spans += [f" ({words})"] if words else []
    return tuple(spans)


def _unit(pair: Pair) -> str:
    """The unit, unless the measure is named after it: "Searches 4.5", not "Searches 4.5 searches"."""
    unit = pair.measure.unit
    return "" if unit.lower() == pair.measure.label.rstrip(" ↓↑").lower() else unit


def _cost_words(pair: Pair) -> str:
    unit, more = _unit(pair), pair.difference > 0
    if pair.difference == 0:
        return "the same"
    size = amount(abs(pair.difference), unit)
    if unit in ("us", "ms", "s", "min"):
        return f"{size} {'slower' if more else 'faster'}"
    return f"{size} {'more' if more else 'less'}"


_FEW = (
    10  # queries; below this the t-test rests on the shape of a distribution that nobody has seen
)


def _caveat(pair: Pair, verdict: str, comparison: Comparison) -> tuple[Span, ...]:
    """What a reader must know before anything else: the first that applies."""
    system, baseline = UserText(pair.system), UserText(pair.baseline)
    digits = decimals(pair.mean, pair.baseline_mean)
    if verdict == "open" and pair.bound_low is not None and pair.bound_high is not None:
        low, high = (
            "without a limit" if math.isinf(v) else signed(v, digits)
            for v in (pair.bound_low, pair.bound_high)
        )
        return (f"with all labels the difference could be {low} to {high} at the widest",)
    if contrary := _contrary(pair, verdict, comparison):
        return contrary
    if coverage := _coverage(pair, comparison):
        return coverage
    if verdict == "not shown" and pair.is_tested and pair.p < comparison.settings.alpha:
        alone = p_text(pair.p, comparison.settings.alpha).replace("1e-4", "0.0001")
        sign = "" if alone[0] in "<>" else "= "
        count = family_size(pair, comparison)
        return (f"alone this test would be significant (p {sign}{alone}), but it is one of {count:,}; the "
                "interval is that of one test",)  # fmt: skip
    nouns = unit_nouns(pair.measure)
    if pair.queries < _FEW:
        return (f"only {counted(pair.queries, *nouns)}, which may not be representative",)
    if (
        verdict in ("better", "worse")
        and pair.tied_within
        and abs(pair.difference) < pair.tied_within
    ):
        margin = number(pair.tied_within, decimals(pair.tied_within))
        return (f"the difference is real but small: less than {margin}",)
    if warnings := comparison.warnings():
        return (UserText(warnings[0]),)
    if verdict == "better" and pair.losses > pair.wins:
        return (system, f" is worse on more {nouns[1]} ({pair.losses:,}) than it is better on "
                f"({pair.wins:,}): a few large gains dominate the mean")  # fmt: skip
    if verdict == "worse" and pair.wins > pair.losses:
        return (baseline, f" is worse on more {nouns[1]} ({pair.wins:,}) than it is better on "
                f"({pair.losses:,}): a few large losses dominate the mean")  # fmt: skip
    return ()


def _contrary(pair: Pair, verdict: str, comparison: Comparison) -> tuple[Span, ...]:
    """Another measure of quality that shows something else about the same two systems."""
    own = [
        p
        for p in comparison.pairs
        if (p.system, p.baseline) == (pair.system, pair.baseline)
        and p.measure != pair.measure
        and not p.measure.is_cost
        and comparison.verdict(p) in ({"better", "worse"} - {verdict})
    ]
    if not own:
        return ()
    other = max(own, key=lambda p: abs(p.d_z or 0))
    digits = decimals(other.mean, other.baseline_mean)
    more = f" ({len(own) - 1} more measures too)" if len(own) > 1 else ""
    return (
        "by ", UserText(other.measure.label), " it is ", Strong(comparison.verdict(other)),
        f": {number(other.mean, digits)} vs {number(other.baseline_mean, digits)}, "
        f"{p_words(other, comparison)}{more}",
    )  # fmt: skip


_UNEQUAL = 0.05  # between the judged shares of two systems


def _coverage(pair: Pair, comparison: Comparison) -> tuple[Span, ...]:
    """Whether the system that is behind has more unjudged documents, which count as not relevant."""
    runs = comparison.scores.runs if comparison.scores is not None else {}
    if pair.measure.namespace == "agentic" or not pair.measure.definition.needs_labels:
        return ()
    shares = [
        runs[name][0].coverage.judged_at_10 if runs.get(name) else math.nan
        for name in (pair.system, pair.baseline)
    ]
    ahead = shares[0] - shares[1] if pair.improvement > 0 else shares[1] - shares[0]
    if not ahead >= _UNEQUAL:  # nor if one of them is not known
        return ()
    own, other = (f"{100 * share:.0f}%" for share in shares)
    return (f"{own} of the first ten documents of ", UserText(pair.system), f" are judged, {other} of ",
            UserText(pair.baseline), "'s; the others count as not relevant")  # fmt: skip


_OTHERS = {
    "better": "is better than",
    "worse": "is worse than",
    "tied": "is tied with",
    "not shown": "shows no significant difference from",
}
_COUNTS = (
    ("better", "is also better", "are also better"),
    ("worse", "is worse", "are worse"),
    ("tied", "is tied", "are tied"),
    ("not shown", "shows no significant difference", "show no significant difference"),
    ("open", "is left open by missing labels", "are left open by missing labels"),
)


def _others(deciding: Pair, pairs: list[Pair], comparison: Comparison) -> tuple[Span, ...]:
    """What the tests show of the other systems."""
    others = [p for p in pairs if p is not deciding]
    if not others:
        return ()
    verdicts = Counter(comparison.verdict(p) for p in others)
    if len(others) == 1:
        (pair,) = others
        system, baseline = UserText(pair.system), UserText(pair.baseline)
        if verdicts["open"]:
            return ("missing labels leave open how ", system, " compares with ", baseline)
        return (system, f" {_OTHERS[comparison.verdict(pair)]} ", baseline)
    first_better = comparison.verdict(deciding) == "better"
    counts = [
        f"{n} {one if n == 1 else several}".replace(" also ", " also " if first_better else " ")
        for verdict, one, several in _COUNTS
        if (n := verdicts[verdict])  # type: ignore[index]
    ]
    if len(counts) == 1:
        return (f"the other {counts[0].replace(' ', ' systems ', 1)}",)
    return (f"of the other {len(others)} systems, {', '.join(counts[:-1])} and {counts[-1]}",)
