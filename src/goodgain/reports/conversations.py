"""The conversations of a page: which ones it shows, and their data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from goodgain.agentic.trajectory import diff_of
from goodgain.errors import InputError
from goodgain.reports.elements import MAX_CHARACTERS, cut, value_of

if TYPE_CHECKING:
    from goodgain.agentic import GoodGain
    from goodgain.agentic.conversations import Conversation, CountedResult, CountedSearch
    from goodgain.agentic.funnel import ConversationFunnel
    from goodgain.agentic.settings import GainSettings

MAX_RESULTS = 8_000  # of all conversations on a page; above it some conversations are selected
MAX_BYTES = 10_000_000
MAX_SNIPPET_CHARACTERS = 300
MAX_MESSAGE_CHARACTERS = 2_000
MAX_EVIDENCE = 200  # of a conversation
MAX_URL_CHARACTERS = 2_000  # longer URLs are not links
MAX_PAIRED = 3  # systems that are compared with each other; of more, each with the first


@dataclass(frozen=True, slots=True)
class PageConversations:
    """The conversations of a page, and a note about those it omits."""

    items: list[dict[str, Any]]
    note: str


def page_conversations(result: GoodGain) -> PageConversations:
    """All conversations, or a selection by a rule stated in the note if there are too many."""
    if result.conversations is None:
        return PageConversations([], "This result does not include the conversations themselves.")
    selection, rule = _select(result)
    places = {pair: i for i, pair in enumerate(selection)}  # most informative first
    evidence = {
        (f.system, f.conversation, f.repeat): f
        for f in (result.funnel.conversations() if result.funnel.recorded else ())
        if (f.system, f.conversation) in places
    }
    by_place: dict[int, list[dict[str, Any]]] = {}
    runs: dict[tuple[str, str], dict[str, tuple[Conversation, dict[str, Any]]]] = {}
    try:
        for conversation in result.conversations.read(places):
            place = places[conversation.system, conversation.name]
            own = evidence.get((conversation.system, conversation.name, conversation.repeat))
            item = _item(conversation, result) | _evidence(own)
            by_place.setdefault(place, []).append(item)
            same = runs.setdefault((conversation.name, conversation.repeat), {})
            same[conversation.system] = conversation, item
    except InputError as error:
        return PageConversations([], f"The conversations cannot be shown: {error.message}.")
    for same in runs.values():
        _compare_systems(result, same)
    items = [item for i in sorted(by_place) for item in by_place[i]]
    fitting = _fitting(items)
    total = sum(len(s.runs.conversations) for s in result.systems)
    if len(fitting) == total:
        return PageConversations(_in_order(fitting, result), "")
    why = rule or (
        "the others were not kept, because the input was a stream"
        if result.conversations.left_out
        else "to limit the size of the page"
    )
    return PageConversations(
        _in_order(fitting, result),
        f"Showing {len(fitting):,} of {total:,} conversations ({why}).",
    )


def _select(result: GoodGain) -> tuple[list[tuple[str, str]], str]:
    """(system, conversation) pairs, most informative first, and the rule if not all are selected."""
    sizes: dict[tuple[str, str], int] = {}
    for s in result.systems:
        for c, n in zip(s.runs.conversations, s.runs.counted[:, 0].tolist(), strict=True):
            sizes[s.name, c] = sizes.get((s.name, c), 0) + n
    if sum(sizes.values()) <= MAX_RESULTS:
        return list(sizes), ""
    measure = "CG" if result.labelled else "UR@i"
    orders = []
    for s in result.systems:
        values = s.final(measure)
        defined = {c: v for c, v in values.items() if v == v}
        by_value = sorted(defined, key=defined.__getitem__)
        orders += [[(s.name, c) for c in order] for order in (values, by_value[::-1], by_value)]
    selected: dict[tuple[str, str], None] = {}
    used = 0
    for turn in zip(*_padded(orders), strict=True):
        for pair in turn:
            if pair is None or pair in selected:
                continue
            used += sizes[pair]
            if used > MAX_RESULTS:
                rule = f"for each system the first, and those with the highest and the lowest {measure}"
                return list(selected), rule
            selected[pair] = None
    return list(selected), ""


def _padded(orders: list[list[tuple[str, str]]]) -> list[list[tuple[str, str] | None]]:
    longest = max(map(len, orders), default=0)
    return [[*order, *[None] * (longest - len(order))] for order in orders]


def _fitting(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first items, up to the limit on page size."""
    size, fitting = 0, []
    for item in items:
        size += len(json.dumps(item, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        if size > MAX_BYTES:
            break
        fitting.append(item)
    return fitting


def _in_order(items: list[dict[str, Any]], result: GoodGain) -> list[dict[str, Any]]:
    """The items in the order of the result."""
    places = {
        (s.name, c, r): (i, j)
        for i, s in enumerate(result.systems)
        for j, (c, r) in enumerate(zip(s.runs.conversations, s.runs.repeats, strict=True))
    }
    items.sort(key=lambda item: places[item.pop("place")])
    return items


def _item(c: Conversation, result: GoodGain) -> dict[str, Any]:
    system = result[c.system]
    rows = system.values[system.rows_of(c.name, c.repeat)][: len(c.iterations)]
    columns = [system.column(m) for m in ("G", "CG", "GR")]
    return {
        "place": (c.system, c.name, c.repeat),
        "system": cut(c.system),
        "name": cut(f"{c.name}, repeat {c.repeat}" if system.is_repeated else c.name),
        "user": _prose(c.user, MAX_MESSAGE_CHARACTERS),
        "answer": _prose(c.answer, MAX_MESSAGE_CHARACTERS),
        "labelled": result.settings.unlabelled == "zero"
        or any(r.gain is not None for i in c.iterations for s in i for r in s.results),
        "iterations": [
            {
                "figures": [value_of(v) for v in row[columns].tolist()],
                "spent": {
                    name: value_of(float(row[system.column(name.capitalize())]))
                    for name in ("seconds", "tokens", "cost")
                },
                "searches": [
                    {
                        **_brought(s, result.settings),
                        "query": _prose(s.search.query),
                        "tool": cut(s.search.tool or ""),
                        "latency": s.search.latency,
                        "tokens": s.search.tokens,
                        "cost": s.search.cost,
                        "error": _prose(s.search.error),
                        "unread": _prose(s.search.unread),
                        "repeats": s.repeats_query,
                        "results": [_result(result) for result in s.results],
                    }
                    for s in searches
                ],
            }
            for searches, row in zip(c.iterations, rows, strict=True)
        ],
    }


def _evidence(funnel: ConversationFunnel | None) -> dict[str, Any]:
    """What became of each known good result, and whether the answer is right."""
    if funnel is None:
        return {}
    listed = [
        {**e.to_dict(), "name": cut(e.name), "hop": cut(e.hop or "")}
        for e in funnel.evidence[:MAX_EVIDENCE]
    ]
    return {
        "evidence": listed,
        "evidenceCount": len(funnel.evidence),
        "correct": funnel.answer,
        "confidence": funnel.confidence,
    }


def _brought(search: CountedSearch, settings: GainSettings) -> dict[str, Any]:
    """How many results of a search are new, good, and without a label, and the gain that they add."""
    new = [r.gain for r in search.results if r.first is None]
    good = [gain for gain in new if gain is not None and gain >= settings.threshold]
    added = sum(good) if settings.gain == "linear" else sum(2**gain - 1 for gain in good)
    unlabelled = 0 if settings.unlabelled == "zero" else new.count(None)
    return {"fresh": len(new), "good": len(good), "unlabelled": unlabelled, "added": added}


def _compare_systems(
    result: GoodGain, runs: dict[str, tuple[Conversation, dict[str, Any]]]
) -> None:
    """Add to each run how it differs from those of the other systems; of many systems from the first's."""
    names = sorted(runs, key=result.names.index)
    pairs = list(combinations(names, 2))
    if len(names) > MAX_PAIRED:
        pairs = [pair for pair in pairs if names[0] in pair]
    for one, other in pairs:
        diff = diff_of(result, runs[one][0], runs[other][0])
        data = {
            "systems": [cut(one), cut(other)],
            "sentences": [_prose(text, MAX_MESSAGE_CHARACTERS) for text in diff.sentences()],
            "divergence": diff.divergence.iteration if diff.divergence else None,
            "steps": [
                [
                    [
                        [_prose(q) for q in step.queries],
                        step.new,
                        step.good,
                        step.shared,
                        step.gain,
                        step.results - step.new,
                        step.failed,
                        step.unread,
                    ]
                    for step in steps
                ]
                for steps in diff.steps
            ],
            "evidence": [
                [_prose(e.name), e.gain, *(str(p) if p else None for p in e.places)]
                for e in diff.evidence[:MAX_EVIDENCE]
            ],
            "evidenceCount": len(diff.evidence),
        }
        for name in (one, other):
            runs[name][1].setdefault("against", []).append(data)


def _prose(text: Any, limit: int = MAX_CHARACTERS) -> str:
    """Text in one paragraph: line breaks become blanks."""
    return cut(" ".join(str(text or "").split()), limit)


def _result(counted: CountedResult) -> dict[str, Any]:
    """A result; empty fields are omitted."""
    r = counted.result
    name = r.title or r.id or next(iter(r.ids.values()), None) or r.url or ""
    data: dict[str, Any] = {
        "gain": counted.gain,
        "title": _prose(name),
        "url": str(r.url)
        if r.url and len(str(r.url)) <= MAX_URL_CHARACTERS
        else cut(str(r.url or "")),
        "text": _prose(r.snippet or r.content, MAX_SNIPPET_CHARACTERS),
        "type": cut(str(r.type or "")),
    }
    if counted.first is not None:
        data["first"] = counted.first
        if counted.reason:
            reason = counted.reason
            data["why"] = [cut(reason.key), reason.step, cut(reason.fields), reason.other]
    return {name: value for name, value in data.items() if value not in (None, "")}
