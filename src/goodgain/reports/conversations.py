"""Conversations for a page: which of them are shown, and what is told of each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.reports.elements import LONGEST, cut, value_of

if TYPE_CHECKING:
    from goodgain.agentic import GoodGain
    from goodgain.agentic.conversations import Conversation, Seen

MOST_RESULTS = 8_000  # of all conversations on a page; beyond them some are chosen
MOST_BYTES = 10_000_000
SNIPPET = 300  # characters
QUESTION = 2_000
ADDRESS = 2_000  # a longer one is no link


@dataclass(frozen=True, slots=True)
class Told:
    """The conversations of a page, and what is left out of it."""

    items: list[dict[str, Any]]
    note: str


def told(result: GoodGain) -> Told:
    """All conversations, or those that a stated rule chooses where they are too many for a page."""
    if result.conversations is None:
        return Told([], "The conversations themselves are not known to this result.")
    wanted, rule = _chosen(result)
    places = {pair: i for i, pair in enumerate(wanted)}  # the most telling first
    found: dict[int, dict[str, Any]] = {}
    try:
        for conversation in result.conversations.read(places):
            found[places[conversation.system, conversation.name]] = _item(conversation, result)
    except InputError as error:
        return Told([], f"The conversations cannot be shown: {error.message}.")
    items = [found[i] for i in sorted(found)]
    fitting = _fitting(items)
    total = sum(len(s.conversations) for s in result)
    if len(fitting) == total:
        return Told(_in_order(fitting, result), "")
    why = rule or (
        "the others passed by only once and were too many to keep"
        if result.conversations.left_out
        else "the others would make the page too large"
    )
    return Told(
        _in_order(fitting, result), f"Shown are {len(fitting):,} of {total:,} conversations: {why}."
    )


def _chosen(result: GoodGain) -> tuple[list[tuple[str, str]], str]:
    """(system, conversation), the most telling first; and the rule, where not all are chosen."""
    sizes = {
        (s.name, c): int(n)
        for s in result
        for c, n in ({**dict.fromkeys(s.conversations, 0), **s.final("R@i")}).items()
    }
    if sum(sizes.values()) <= MOST_RESULTS:
        return list(sizes), ""
    measure = "CG" if result.labelled else "UR@i"
    orders = []
    for s in result:
        values = s.final(measure)
        by_value = sorted(values, key=lambda c, v=values: v[c])  # type: ignore[misc]
        orders += [[(s.name, c) for c in order] for order in (values, by_value[::-1], by_value)]
    chosen: dict[tuple[str, str], None] = {}
    used = 0
    for turn in zip(*_padded(orders), strict=True):
        for pair in turn:
            if pair is None or pair in chosen:
                continue
            used += sizes[pair]
            if used > MOST_RESULTS:
                rule = (
                    f"of each system the first, and those with the highest and the lowest {measure}"
                )
                return list(chosen), rule
            chosen[pair] = None
    return list(chosen), ""


def _padded(orders: list[list[tuple[str, str]]]) -> list[list[tuple[str, str] | None]]:
    longest = max(map(len, orders), default=0)
    return [[*order, *[None] * (longest - len(order))] for order in orders]


def _fitting(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As many as a page of a bearable size has room for."""
    size, kept = 0, []
    for item in items:
        size += len(json.dumps(item, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        if size > MOST_BYTES:
            break
        kept.append(item)
    return kept


def _in_order(items: list[dict[str, Any]], result: GoodGain) -> list[dict[str, Any]]:
    """As the result has them."""
    places = {
        (s.name, c): (i, j) for i, s in enumerate(result) for j, c in enumerate(s.conversations)
    }
    items.sort(key=lambda item: places[item.pop("place")])
    return items


def _item(c: Conversation, result: GoodGain) -> dict[str, Any]:
    system = result[c.system]
    at = system.conversations.index(c.name)
    rows = system.values[system.first_row[at] : system.first_row[at + 1]]
    columns = [system.column(m) for m in ("G", "CG", "GR", "Dup")]
    return {
        "place": (c.system, c.name),
        "system": cut(c.system),
        "name": cut(c.name),
        "user": _prose(c.user, QUESTION),
        "answer": _prose(c.answer, QUESTION),
        "iterations": [
            {
                "figures": [value_of(v) for v in row[columns].tolist()],
                "searches": [
                    {
                        "query": _prose(s.search.query),
                        "tool": cut(s.search.tool or ""),
                        "latency": s.search.latency,
                        "tokens": s.search.tokens,
                        "cost": s.search.cost,
                        "error": _prose(s.search.error),
                        "repeats": s.repeats_query,
                        "results": [_result(seen) for seen in s.results],
                    }
                    for s in searches
                ],
            }
            for searches, row in zip(c.iterations, rows, strict=True)
        ],
    }


def _prose(text: Any, longest: int = LONGEST) -> str:
    """A text to be read in one piece: its line breaks are blanks."""
    return cut(" ".join(str(text or "").split()), longest)


def _result(seen: Seen) -> dict[str, Any]:
    """A result; what is absent is left out."""
    r = seen.result
    name = r.title or r.id or next(iter(r.ids.values()), None) or r.url or ""
    found: dict[str, Any] = {
        "gain": seen.gain,
        "title": _prose(name),
        "url": str(r.url) if r.url and len(str(r.url)) <= ADDRESS else cut(str(r.url or "")),
        "text": _prose(r.snippet or r.content, SNIPPET),
        "type": cut(str(r.type or "")),
    }
    if seen.first is not None:
        found["first"] = seen.first
        if seen.reason:
            reason = seen.reason
            found["why"] = [cut(reason.key), reason.step, cut(reason.fields), reason.other]
    return {name: value for name, value in found.items() if value not in (None, "")}
