"""Why a system won, in sentences: each with its evidence, and a link to the queries it is about."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from goodgain.comparison.reasons import SMALLEST, Kind, Shift, reasons
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
    from goodgain.ranking.top_lists import RankedLists
    from goodgain.reports.contents import PageContents

    Floats = NDArray[np.float64]

MOST_QUERIES = 50_000
_MOST_WORDS = 40  # of the wording of queries; each is a test
_SHORTEST_WORD = 4  # letters; the table is searched for it anywhere in a text
_TOP = 10  # results in which documents are counted
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
        else _shift_sentence(shifts[reason.key][1], reason, card)
        for reason in listed
    )


def _address(card: Card, *parameters: tuple[str, str]) -> str:
    pair = card.pair
    base = [("system", pair.baseline), ("system", pair.system), ("measure", pair.measure.label)]
    return "#" + urlencode([*base, *parameters], errors="replace")


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


def _shift_sentence(words: str, reason: Reason, card: Card) -> tuple[Span, ...]:
    verb = "more" if reason.inside > reason.outside else "fewer"
    return (
        f"{verb} {words}: {number(reason.inside, 2)} vs {number(reason.outside, 2)}, different on ",
        Link(counted(reason.n, "query", "queries"), _address(card, ("sort", "-change"))),
        f" ({_p(reason.p)})",
    )


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

    lists = contents.lists.by_system
    two = [lists.get(s) for s in (card.pair.system, card.pair.baseline)]
    if None in two or not units:
        return {}
    counts: dict[str, tuple[list[dict[str, int]], str, bool]] = {}
    if contents.documents:  # first: what they leave free is why other documents move up
        ids = contents.lists.ids
        counts["duplicates"] = (
            [_duplicates(own, ids, contents.documents) for own in two if own is not None],
            "repeated texts in the first ten",
            False,
        )
    counts["moved"] = (
        [_relevant(own) for own in two if own is not None],
        "relevant documents in the first ten",
        True,
    )
    shifts = {}
    for key, ((system, baseline), words, more_is_better) in counts.items():
        columns = [
            np.array([own.get(u, 0) for u in units], dtype=np.float64) for own in (system, baseline)
        ]
        if (columns[0] != columns[1]).any():
            shifts[key] = (Shift(key, columns[0], columns[1], more_is_better), words)
    return shifts


def _relevant(lists: RankedLists) -> dict[str, int]:
    import numpy as np

    owners = np.repeat(np.arange(len(lists.queries)), lists.hit_counts)
    near = (lists.hit_ranks <= _TOP) & (lists.gains > 0)
    counts = np.bincount(owners[near], minlength=len(lists.queries))
    return dict(zip(lists.queries, counts.tolist(), strict=True))


def _duplicates(lists: RankedLists, ids: list[str], texts: Mapping[str, str]) -> dict[str, int]:
    """How many of the first ten have the text of another one above them."""
    counts, start = {}, 0
    docs = lists.docs.tolist()
    for query, count in zip(lists.queries, lists.counts.tolist(), strict=True):
        known = [texts.get(ids[doc], "").strip() for doc in docs[start : start + min(count, _TOP)]]
        filled = [text for text in known if text]
        counts[query] = len(filled) - len(set(filled))
        start += count
    return counts
