"""What `gg.record` writes: a line for each event, put together into conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.traces.captured import read_spans
from goodgain.traces.format import TraceFormat
from goodgain.traces.formats.canonical import account_for
from goodgain.traces.spans import conversations
from goodgain.traces.values import dicts

if TYPE_CHECKING:
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents

_KINDS = ("user", "step", "search", "open", "answer")


def _mismatch(document: Any) -> str:
    first = document[0] if isinstance(document, list) and document else document
    if not isinstance(first, dict) or "recorded" not in first:
        return "no 'recorded'"
    return "" if "key" in first and {"turn", "span"} & first.keys() else "no 'key' and 'turn'"


def _read(documents: Documents, context: Context) -> Conversations:
    """One conversation per key. A name that comes again without a number is the next repeat."""
    counts: dict[tuple[str, str | None], int] = {}
    for where, document in documents:
        events = list(dicts(document)) if isinstance(document, list) else [document]
        if any("span" in event for event in events):
            yield from _captured(events, where, context)
            continue
        try:
            trace = assemble(events)
        except (LookupError, TypeError, AttributeError, ValueError):
            context.skip(InputError("not an event of a recording", where=f"{context.name} {where}"))
            continue
        name = trace["conversation"], trace.get("system")
        if "repeat" not in trace:
            counts[name] = counts.get(name, 0) + 1
            if counts[name] > 1:
                trace["repeat"] = counts[name]
                context.note(
                    f"{context.name}: conversations were recorded more than once, for example "
                    f"'{name[0]}'; they are read as repeats"
                )
        context.ledger.meet("event", len(events))
        context.ledger.enter("event", "read", where=where, number=len(events))
        account_for(trace, context.ledger, where)
        yield trace


def _captured(events: list[dict[str, Any]], where: str, context: Context) -> Conversations:
    """A conversation of live capture, which writes spans."""
    try:
        spans = read_spans(events, where)
    except (LookupError, TypeError, AttributeError, ValueError):
        context.skip(InputError("not a span of a capture", where=f"{context.name} {where}"))
        return
    if any(event.get("implicit") for event in events):
        context.note(
            f"{context.name}: some conversations were not named when they were captured; each thread or "
            "task of the application is read as one"
        )
    yield from conversations(spans, context)


def assemble(events: list[dict[str, Any]]) -> dict[str, Any]:
    """The canonical form of one conversation's events, in the order in which things began."""
    trace: dict[str, Any] = {"conversation": str(events[0]["conversation"])}
    for name in ("system", "repeat"):
        if events[0].get(name) is not None:
            trace[name] = events[0][name]
    turns: dict[tuple[Any, int], dict[str, Any]] = {}
    iterations: dict[tuple[Any, int, int], dict[str, Any]] = {}
    for event in events:
        place = event.get("segment"), int(event["turn"])
        turn = turns.setdefault(place, {"iterations": []})
        kind = next((k for k in _KINDS if k in event), "step")
        if kind == "user":
            turn |= {} if event["user"] is None else {"user": event["user"]}
            continue
        if kind == "answer":
            turn |= event["answer"]
            continue
        number = (*place, int(event["iteration"]))
        if number not in iterations:
            iterations[number] = {"searches": []}
            turn["iterations"].append(iterations[number])
        iteration = iterations[number]
        if kind == "search":
            if not isinstance(event["search"]["results"], list):
                raise TypeError
            iteration["searches"].append(event["search"])
        elif kind == "open":
            iteration.setdefault("opens", []).append(event["open"])
        else:
            iteration |= event["step"]
    return {**trace, "turns": list(turns.values())}


FORMAT = TraceFormat("recorded", "recordings of gg.record", _mismatch, _read)
