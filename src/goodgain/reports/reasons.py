"""Why a system won, in sentences: each with its evidence, and a link to the queries it is about."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from goodgain.comparison.reasons import SMALLEST, Kind, Shift, reasons
from goodgain.reports.addresses import queries_link
from goodgain.reports.elements import Link, Span, UserText, cut
from goodgain.results.nouns import counted
from goodgain.results.numbers import decimals, p_text, signed
from goodgain.results.text import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.comparison.card import Card
    from goodgain.comparison.reasons import Reason
    from goodgain.reports.contents import PageContents

    Floats = NDArray[np.float64]

MOST_QUERIES = 50_000
_MOST_WORDS = 40  # of the wording of queries; each is a test
_SHORTEST_WORD = 4  # letters; the table is searched for it anywhere in a text
_TEXT_CHARACTERS = 300  # of a text in the table of queries, which is searched


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A kind of queries, in words, and the parameters of the address that filter the table."""

    kind: Kind
    words: tuple[Span, ...]
    parameters: tuple[tuple[str, str], ...]


def why(contents: PageContents, card: Card) -> tuple[tuple[Span, ...], ...]:
    """At most three sentences on the two systems of a card; empty if nothing holds."""
    import numpy as np

    pair = card.pair
    if contents.scores is None or len(contents.units) > MOST_QUERIES:
        return ()
    own, other = (contents.values(s, pair.measure) for s in (pair.system, pair.baseline))
    units = [
        u
        for u in contents.units
        if u in own and u in other and own[u] == own[u] and other[u] == other[u]
    ]
    differences = np.array([own[u] - other[u] for u in units], dtype=np.float64)
    candidates = _candidates(contents, card, units)
    shifts = _shifts(contents, card, units)
    listed = reasons(
        differences,
        [c.kind for c in candidates],
        [shift for shift, _ in shifts.values()],
        sign=pair.measure.sign,
    )
    by_key = {c.kind.key: c for c in candidates}
    return tuple(
        _kind_sentence(by_key[reason.key], reason, card, contents)
        if reason.key in by_key
        else _shift_sentence(*shifts[reason.key], reason, card)
        for reason in listed
    )


def _address(card: Card, *parameters: tuple[str, str]) -> str:
    pair = card.pair
    base = queries_link(
        systems=[cut(pair.baseline), cut(pair.system)], measure=cut(pair.measure.label)
    )
    return f"{base}&{urlencode(parameters, errors='replace')}"


def _kind_sentence(
    candidate: _Candidate, reason: Reason, card: Card, contents: PageContents
) -> tuple[Span, ...]:
    digits = decimals(card.pair.mean, card.pair.baseline_mean)
    nouns = contents.unit_nouns
    link = Link(counted(reason.n, *nouns), _address(card, *candidate.parameters))
    return (
        link, " ", *candidate.words,
        f": {signed(reason.inside, digits)}, against {signed(reason.outside, digits)} on the other "
        f"{reason.rest:,} ({_p(reason.p)})",
    )  # fmt: skip


def _shift_sentence(shift: Shift, words: str, reason: Reason, card: Card) -> tuple[Span, ...]:
    """The two means, and on how many queries which of the systems has more."""
    counts = shift.system - shift.baseline
    sides = {"more": int((counts > 0).sum()), "fewer": int((counts < 0).sum())}
    first = "more" if reason.inside > reason.outside else "fewer"
    order = [first, *(side for side in sides if side != first and sides[side])]
    spans: list[Span] = [
        f"{first} {words}: {number(reason.inside, 2)} vs {number(reason.outside, 2)}"
    ]
    for side in order:
        spans += [
            f", {side} on ",
            Link(counted(sides[side], "query", "queries"), _address(card, (shift.key, side))),
        ]
    return (*spans, f" ({_p(reason.p)})")


def _p(value: float) -> str:
    text = p_text(value, 0.05).replace("1e-4", "0.0001")
    return f"corrected p {text[0]} {text[1:]}" if text[0] in "<>" else f"corrected p = {text}"


# --- kinds of queries ---


def _candidates(contents: PageContents, card: Card, units: list[str]) -> list[_Candidate]:
    facts = contents.facts
    shares = {
        u: share
        for u in units
        if (share := facts.unjudged_share(u, (card.pair.baseline, card.pair.system))) is not None
    }
    listed = _groups(contents, units) + _wording(contents, units)
    for name, values, noun in (
        ("words", facts.words, "words"),
        ("relevant", facts.relevant, "relevant documents"),
    ):
        listed += _split(name, {u: float(values[u]) for u in units if u in values}, units, noun)
    return listed + _split("unjudged", shares, units, "unjudged results")


def _groups(contents: PageContents, units: list[str]) -> list[_Candidate]:
    import numpy as np

    by = contents.comparison.settings.by if contents.comparison else None
    groups = contents.scores.groups.get(by or "", {}) if contents.scores else {}
    own = np.array([groups.get(u, "") for u in units], dtype=object)
    names = [name for name in dict.fromkeys(own) if name]
    if len(names) == 2:  # the other one is the rest
        names = names[:1]
    listed = []
    for name in names:
        members = np.array(own == name, dtype=bool)
        words: tuple[Span, ...] = (f"of {cut(by or 'group')} ", UserText(str(name)))
        listed.append(
            _Candidate(
                Kind(f"group {name}", "group", members, ~members), words, (("group", str(name)),)
            )
        )
    return listed


def _wording(contents: PageContents, units: list[str]) -> list[_Candidate]:
    """Words that enough queries contain and enough do not, the most frequent first."""
    import numpy as np

    texts = contents.queries
    if not texts:
        return []
    group = contents.comparison.settings.by if contents.comparison else None
    groups = contents.scores.groups.get(group or "", {}) if contents.scores else {}
    # What the search field of the table looks at: all its texts, in lower case.
    searched = [
        f"{cut(u)}\n{cut(texts.get(u, ''), _TEXT_CHARACTERS)}\n{cut(groups.get(u, ''))}".lower()
        for u in units
    ]
    words: Counter[str] = Counter()
    for u in units:
        own = {w.strip(".,;:!?\"'()[]") for w in texts.get(u, "").lower().split()}
        words.update({w for w in own if len(w) >= _SHORTEST_WORD and w.isalpha()})
        words.update({"?"} if "?" in texts.get(u, "") else ())
    listed: list[_Candidate] = []
    least = max(SMALLEST, len(units) // 20)
    for word, count in words.most_common():
        if count < least or len(listed) == _MOST_WORDS:
            break
        members = np.array([word in text for text in searched], dtype=bool)
        if int((~members).sum()) >= least:
            said: tuple[Span, ...] = ("with ", UserText(f"“{word}”"))
            listed.append(
                _Candidate(
                    Kind(f"word {word}", "wording", members, ~members), said, (("search", word),)
                )
            )
    return listed


def _split(name: str, values: Mapping[str, float], units: list[str], noun: str) -> list[_Candidate]:
    """Queries above the middle of a number; one candidate, or none if they hardly vary."""
    import numpy as np

    known = np.array([u in values for u in units], dtype=bool)
    if known.sum() < 2 * SMALLEST:
        return []
    numbers = np.array([values.get(u, 0.0) for u in units])
    levels = np.unique(numbers[known])
    if len(levels) < 2:
        return []
    middle = float(np.median(numbers[known]))
    lowest = float(levels[levels > middle][0]) if middle < levels[-1] else float(levels[-1])
    members = known & (numbers >= lowest)
    text = f"{100 * lowest:.0f}% or more" if name == "unjudged" else f"{lowest:g} or more"
    return [
        _Candidate(
            Kind(name, name, members, known & ~members),
            (f"with {text} {noun}",),
            ((name, f"{lowest:g}.."),),
        )
    ]


# --- counts that went with the difference ---


def _shifts(contents: PageContents, card: Card, units: list[str]) -> dict[str, tuple[Shift, str]]:
    """Relevant documents in the first ten, and texts that are there more than once."""
    import numpy as np

    facts = contents.facts
    listed = (
        # First: what repeats leave free is why other documents move up.
        ("repeated", facts.repeated, "repeated texts in the first ten", False),
        ("top", facts.top, "relevant documents in the first ten", True),
    )
    shifts = {}
    for key, by_system, words, more_is_better in listed:
        two = [by_system.get(s) for s in (card.pair.system, card.pair.baseline)]
        columns = [
            np.array([own.get(u, 0) for u in units], dtype=np.float64)
            for own in two
            if own is not None
        ]
        if len(columns) == 2 and (columns[0] != columns[1]).any():
            shifts[key] = (Shift(key, columns[0], columns[1], more_is_better), words)
    return shifts
