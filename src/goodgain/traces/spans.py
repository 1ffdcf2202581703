"""Spans: what all tracing formats come down to, and how iterations are found in them.

A tool span belongs to the generation that made its call; where calls have no ids, to the generation that
ended last before it started; where there are no generations, each retrieval is an iteration of its own.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from goodgain.traces.builder import (
    Builder,
    Context,
    decode_json,
    dicts,
    query_of,
    seconds_between,
    text_of,
)
from goodgain.traces.results import is_failure, results_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goodgain.traces.format import Conversations

Kind = Literal["model", "tool", "retriever", "other"]


@dataclass(slots=True, kw_only=True)
class Span:
    """One span in the terms of a search; `start` and `end` are times that can be sorted."""

    kind: Kind
    trace: str
    start: Any
    end: Any = None
    session: str | None = None
    name: str | None = None
    call: str | None = None
    calls: tuple[str, ...] = ()  # the tool calls that a generation made
    query: Any = None
    output: Any = None
    error: str | None = None
    user: str | None = None
    system: str | None = None
    order: str = ""


def conversations(spans: Iterable[Span], context: Context) -> Conversations:
    """One conversation per session, with a turn for each of its traces."""
    listed = list(spans)
    session_of: dict[str, str] = {}
    for span in listed:
        if span.session:
            session_of.setdefault(span.trace, span.session)
    sessions: dict[str, dict[str, list[Span]]] = defaultdict(lambda: defaultdict(list))
    for span in listed:
        sessions[session_of.get(span.trace, span.trace)][span.trace].append(span)
    for session, traces in sessions.items():
        system = next((s.system for t in traces.values() for s in t if s.system), None)
        builder = Builder(session, system)
        for trace in sorted(traces.values(), key=lambda t: min(_key(s.start) for s in t)):
            _add_turn(trace, builder, context)
        yield builder.build()


def _key(moment: Any) -> tuple[int, str]:
    text = "" if moment is None else str(moment)
    return (len(text), text) if text.isdigit() else (0, text)


def _add_turn(spans: list[Span], builder: Builder, context: Context) -> None:
    spans = sorted(spans, key=lambda s: (s.order, _key(s.start)))
    builder.start_turn(next((s.user for s in spans if s.user), None))
    models = [s for s in spans if s.kind == "model"]
    model_of = {call: number for number, m in enumerate(models, 1) for call in m.calls}
    searches = [s for s in spans if _is_search(s, context)]
    if searches and not models:
        context.note(
            f"{context.name}: no model spans, so each retrieval counts as an iteration of its own"
        )
    groups: dict[int, list[Span]] = defaultdict(list)
    for number, span in enumerate(searches):
        if span.call in model_of:
            group = model_of[span.call]
        elif models:
            group = sum(_key(m.end or m.start) <= _key(span.start) for m in models)
        else:
            group = number
        groups[group].append(span)
    for _, group_spans in sorted(groups.items()):
        builder.start_iteration()
        for span in group_spans:
            _add_search(span, builder)


def _is_search(span: Span, context: Context) -> bool:
    if span.kind == "retriever" and not context.search_tools:
        return True
    return span.kind in ("tool", "retriever") and context.is_search(span.name)


def _add_search(span: Span, builder: Builder) -> None:
    latency = seconds_between(span.start, span.end)
    search = builder.add_search(None, span.name, query_of(span.query), latency=latency)
    if span.error or is_failure(span.output):
        search["error"] = span.error or str(span.output)
    else:
        search["results"] = results_of(span.output)


# --- what platforms record of a model and a tool ---


def exchange_fields(kind: Kind, inputs: Any, outputs: Any) -> dict[str, Any]:
    """The fields of a `Span` that follow from the input and output of a model or a tool."""
    return {
        "call": _answered_call(outputs, inputs),
        "calls": _tool_calls(outputs) if kind == "model" else (),
        "query": inputs,
        "output": outputs,
        "user": _last_user_message(inputs) if kind == "model" else None,
    }


def _tool_calls(output: Any) -> tuple[str, ...]:
    """The ids of all tool calls in a model's output, at any depth."""
    output = decode_json(output)
    calls: list[str] = []
    if isinstance(output, list):
        calls = [c for v in output for c in _tool_calls(v)]
    elif isinstance(output, dict):
        for name in ("tool_calls", "content"):
            calls += [
                str(c["id"])
                for c in dicts(output.get(name))
                if c.get("id") and (name == "tool_calls" or c.get("type") == "tool_use")
            ]
        calls += [
            c
            for k, v in output.items()
            if k != "tool_calls" and isinstance(v, dict | list)
            for c in _tool_calls(v)
        ]
    return tuple(dict.fromkeys(calls))


def _last_user_message(inputs: Any) -> str | None:
    """The last message of the user in a model's input."""
    inputs = decode_json(inputs)
    if isinstance(inputs, str):
        return inputs
    messages = inputs.get("messages") if isinstance(inputs, dict) else inputs
    if isinstance(messages, list) and messages and isinstance(messages[0], list):
        messages = messages[0]
    of_user = [m for m in dicts(messages) if (m.get("role") or m.get("type")) in ("user", "human")]
    return text_of(of_user[-1].get("content")) or None if of_user else None


def _answered_call(*values: Any) -> str | None:
    """The call that a tool's span answers, where its output or input names it."""
    for value in values:
        inner = decode_json(value)
        if isinstance(inner, dict):
            inner = inner["output"] if isinstance(inner.get("output"), dict) else inner
            call = inner.get("tool_call_id") or (
                inner.get("id") if inner.get("type") == "tool_call" else None
            )
            if call:
                return str(call)
    return None
