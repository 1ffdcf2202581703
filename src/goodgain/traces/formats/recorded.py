"""What `gg.record` writes: a line for each event, put together into conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.traces.builder import Builder
from goodgain.traces.format import TraceFormat
from goodgain.traces.formats.canonical import account_for
from goodgain.traces.values import dicts

if TYPE_CHECKING:
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents

_KINDS = ("user", "step", "search", "open", "call", "answer")


def _mismatch(document: Any) -> str:
    first = document[0] if isinstance(document, list) and document else document
    if not isinstance(first, dict) or "recorded" not in first:
        return "no 'recorded'"
    return "" if "key" in first and "turn" in first else "no 'key' and 'turn'"


def _read(documents: Documents, context: Context) -> Conversations:
    """One conversation per key. A name that comes again without a number is the next repeat."""
    counts: dict[tuple[str, str | None], int] = {}
    for where, document in documents:
        events = list(dicts(document)) if isinstance(document, list) else [document]
        has_calls = any("call" in event for event in events)
        try:
            trace = _from_calls(events, context, where) if has_calls else assemble(events)
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
        if not has_calls:
            account_for(trace, context.ledger, where)
        yield trace


def _from_calls(events: list[dict[str, Any]], context: Context, where: str) -> dict[str, Any]:
    """A conversation with calls of tools as they were: what they are is decided as in every format."""
    first = events[0]
    events = sorted(events, key=_began)  # calls are written when they end
    builder = Builder(first["conversation"], first.get("system"), context)
    place: tuple[Any, ...] | None = None
    for number, event in enumerate(events, 1):
        at = f"{where}, event {number}" if where else f"event {number}"
        kind = next((k for k in _KINDS if k in event), "step")
        content: Any = event.get(kind)
        if kind == "user":
            builder.start_turn(content)
            continue
        if kind == "answer":
            builder.add_answer(content.get("answer"), content.get("citations", ()))
            builder.add_usage(
                **{k: content[k] for k in ("tokens", "cost", "seconds") if k in content}
            )
            continue
        if place != (place := _began(event)):
            builder.start_iteration()
        if kind == "step":
            builder.update_iteration(**content)
        else:
            _add_call(builder, kind, content, at)
    trace = builder.build()
    return {**trace, "repeat": first["repeat"]} if first.get("repeat") is not None else trace


def _began(event: dict[str, Any]) -> tuple[str, int, float]:
    """The place of an event in its conversation: an answer comes last in its turn."""
    last = float("inf") if "answer" in event else 0
    return str(event.get("segment", "")), int(event["turn"]), int(event.get("iteration", last))


def _add_call(builder: Builder, kind: str, facts: dict[str, Any], where: str) -> None:
    """A call as it was, or a search or an open that the recorder was told of."""
    if kind == "open":
        document = {k: v for k, v in facts.items() if k != "tool"}
        call = builder.add_call(
            None, facts.get("tool") or "open", document, where=where, kind="open"
        )
        builder.add_output(call, None, where=where, results=[document])
        return
    call = builder.add_call(
        None,
        facts.get("tool"),
        facts.get("arguments", {"query": facts.get("query")}),
        where=where,
        kind="retriever" if kind == "search" else None,
        description=facts.get("description"),
        seconds=facts.get("latency"),
        cost=facts.get("cost"),
        tokens=facts.get("tokens"),
    )
    call.tries = facts.get("tries", 1)
    if not {"output", "results", "error"} & set(facts) or "unread" in facts:
        return
    builder.add_output(
        call,
        facts.get("output"),
        where=where,
        error=facts.get("error"),
        results=facts.get("results"),
    )


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
