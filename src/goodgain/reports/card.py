"""What opens a page, readable without scripts: the verdict card, or a sentence for each kind of result."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goodgain.comparison.card import Card, verdict_card
from goodgain.comparison.card_views import card_html
from goodgain.comparison.comparer import compare_scores
from goodgain.comparison.comparison import Settings
from goodgain.comparison.pairing import Column
from goodgain.reports.elements import Span, Strong, UserText
from goodgain.reports.reasons import why
from goodgain.results.nouns import counted, unit_nouns
from goodgain.results.numbers import decimals
from goodgain.results.spans import spans_html, spans_text
from goodgain.results.text import number
from goodgain.stats.paired import Resampling

if TYPE_CHECKING:
    from goodgain.agentic import GoodGain
    from goodgain.agentic.runs import Figure
    from goodgain.measures import Measure
    from goodgain.reports.contents import PageContents


@dataclass(frozen=True, slots=True)
class Opening:
    """The verdict on the systems, if there are two to compare, and a sentence for each other result."""

    card: Card | None
    sentences: tuple[tuple[Span, ...], ...]

    @property
    def text(self) -> str:
        """All of it as plain text."""
        lines = [spans_text(spans) for spans in self.sentences]
        if self.card is not None:
            own = [(self.card.word, self.card.headline), *self.card.lines()]
            lines = [f"{name}: {spans_text(spans)}" for name, spans in own] + lines
        return "\n".join(lines)

    def html(self) -> str:
        """HTML that needs no script."""
        sentences = "".join(f'<p class="lead">{spans_html(spans)}</p>' for spans in self.sentences)
        return (card_html(self.card) if self.card is not None else "") + sentences


def opening(contents: PageContents) -> Opening:
    """The main findings, one for each kind of result."""
    card, sentences = None, []
    if contents.comparison is not None and contents.quality is not None:
        card = verdict_card(contents.comparison)
    elif contents.systems and contents.quality is not None:
        card = _first_two(contents, contents.quality)
        if card is None:
            sentences.append(_one_system(contents, contents.quality))
    if card is not None:
        card = replace(card, why=why(contents, card))
    elif len(contents.gains) == 1 and (compared := contents.agent_comparisons[0]) is not None:
        card = verdict_card(compared)
    if contents.gains:
        is_said = card is not None and not contents.systems  # the card has the means of the agents
        sentences += [line] if (line := _good_gain_headline(contents, is_said)) else []
    if contents.stoppings:
        sentences.append(_stopping_headline(contents))
    sentences += [[UserText(result.sentences()[0])] for result in contents.optimisations]
    if contents.calibrations:
        sentences.append(_calibration_headline(contents))
    if card is None and not sentences:
        sentences.append(["Only time and cost were measured."])
    return Opening(card, tuple(map(tuple, sentences)))


def _first_two(contents: PageContents, quality: Measure) -> Card | None:
    """The first against the second where nobody named a baseline; None if there are not two."""
    scores, standings = contents.scores, contents.standings
    if scores is None or standings is None:
        return None
    first, second = standings.systems[:2]
    two = replace(
        scores,
        systems={s: scores.systems[s] for s in (second, first)},
        names=[second, first],
        runs={s: runs for s, runs in scores.runs.items() if s in (first, second)},
        notes=[],
        inputs=[],
    )
    measures = [quality, *(m for m in contents.measures if m.is_cost)]
    defined = [
        m for m in measures
        if all(any(v == v for v in scores.values(s, m.label).values()) for s in (first, second))
    ]  # fmt: skip
    columns = [Column(m, m.label) for m in defined]
    comparison = compare_scores(two, [second], columns, Settings(), None, Resampling())
    # They were chosen for being first and second, so their test is one of all pairs.
    p = standings.p[0][1]
    pairs = [
        replace(pair, tests=standings.tests, p_corrected=pair.p if p is None else p,
                settled=pair.settled and p is not None)
        if pair.measure == quality
        else pair
        for pair in comparison.pairs
    ]  # fmt: skip
    return verdict_card(replace(comparison, pairs=tuple(pairs), notes=tuple(contents.warnings())))


def _one_system(contents: PageContents, quality: Measure) -> list[Span]:
    """One system, or several of which one has values."""
    means = {s: v for s in contents.systems if (v := contents.mean(s, quality)) is not None}
    one, several = unit_nouns(quality)
    if not means:
        return [f"{quality} is undefined for every {one}."]
    best = max(means, key=lambda s: quality.sign * means[s])
    value, units = means[best], counted(len(contents.units), one, several)
    return [UserText(best), f" reaches {quality} ", Strong(number(value, decimals(value))),
            f" on {units}. There is no other system to compare it with."]  # fmt: skip


def _good_gain_headline(contents: PageContents, is_said: bool) -> list[Span]:
    """The mean good gain of each system, and what became of the evidence; of exact means nothing if said."""
    spans: list[Span] = []
    for result in contents.gains:
        unlabelled = [s.name for s in result.systems if s.figure("CG").n == 0 or s.is_unlabelled]
        spans += _unlabelled_sentence(unlabelled)
        for system in result.systems:
            figure = system.figure("CG")
            if system.name in unlabelled:
                continue
            funnel = _funnel_sentence(result, system.name)
            if is_said and figure.exact:
                spans += [UserText(system.name), f": {funnel}"] if funnel else []
                continue
            spans += [
                UserText(system.name),
                " has a mean good gain of ",
                Strong(number(figure.value, 2)),
                *([] if figure.exact else [_label_bounds(figure)]),
                f" per conversation, over {counted(figure.n, 'conversation')}. ",
                funnel,
            ]
    return spans or ([] if is_said else ["No conversation was measured."])


def _unlabelled_sentence(names: list[str]) -> list[Span]:
    """That the gain of these systems is unknown; nothing for none."""
    if not names:
        return []
    if len(names) == 1:
        return [UserText(names[0]), " has no labelled results, so its gain is unknown. "]
    spans: list[Span] = []
    for i, name in enumerate(names):
        spans += [" and " if i == len(names) - 1 else ", "] if i else []
        spans.append(UserText(name))
    return [*spans, " have no labelled results, so their gains are unknown. "]


def _funnel_sentence(result: GoodGain, name: str) -> str:
    """How much of the known evidence got how far, where traces record more than searches."""
    funnel = result.funnel[name]
    known, *later = funnel.steps
    if not funnel.recorded or not known.evidence:
        return ""
    reached = [
        f"{step.evidence:,} ({100 * step.share:.0f}%) {step.name}"
        + (f" ({step.unknown:,} not recorded)" if step.unknown else "")
        for step in later
    ]
    return f"Of {known.evidence:,} good results known, {', '.join(reached)}. "


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
