"""Spans: what all tracing formats come down to, and how iterations are found in them.

A tool span belongs to the generation that made its call; where calls have no ids, to the generation that
ended last before it started; where there are no generations, each retrieval is an iteration of its own.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from goodgain.traces.builder import Builder
from goodgain.traces.values import decode_json, dicts, seconds_between, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goodgain.traces.calls import CallRecord
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations

Kind = Literal["model", "tool", "retriever", "span", "other"]  # span: a tool if nothing is in it


@dataclass(slots=True, kw_only=True)
class Span:
    """One span in the terms of a search; `start` and `end` are times that can be sorted."""

    kind: Kind
    trace: str
    start: Any
    where: str
    id: str | None = None
    parent: str | None = None
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
        builder = Builder(session, system, context)
        for trace in sorted(traces.values(), key=lambda t: min(_key(s.start) for s in t)):
            _add_turn(trace, builder)
        conversation = builder.build()
        _note_missing_models(traces.values(), conversation, context)
        yield conversation


def _note_missing_models(
    traces: Iterable[list[Span]], conversation: dict[str, Any], context: Context
) -> None:
    for trace, turn in zip(traces, conversation["turns"], strict=False):
        if turn["iterations"] and all(s.kind != "model" for s in trace):
            context.note(
                f"{context.name}: no model spans, so each retrieval counts as an iteration of its own"
            )


def _key(moment: Any) -> tuple[int, str]:
    text = "" if moment is None else str(moment)
    return (len(text), text) if text.isdigit() else (0, text)


def _add_turn(spans: list[Span], builder: Builder) -> None:
    spans = sorted(spans, key=lambda s: (s.order, _key(s.start)))
    builder.start_turn(next((s.user for s in spans if s.user), None))
    models = [s for s in spans if s.kind == "model"]
    model_of = {call: number for number, m in enumerate(models, 1) for call in m.calls}
    by_id = {s.id: s for s in spans if s.id}
    records: dict[int, CallRecord] = {}  # by span
    groups: dict[int, list[Span]] = defaultdict(list)
    parents = {s.parent for s in spans}
    calls = [
        s
        for s in spans
        if s.kind in ("tool", "retriever") or (s.kind == "span" and s.id not in parents)
    ]
    for number, span in enumerate(calls):
        outer = _outer_call(span, by_id)
        if span.call in model_of:
            group = model_of[span.call]
        elif models:
            group = sum(_key(m.end or m.start) <= _key(span.start) for m in models)
        else:
            repeats = calls[number - 1] if number and _is_retry(calls[number - 1], span) else outer
            group = next((n for n, spans in groups.items() if repeats in spans), number)
        groups[group].append(span)
    for group in range(max([len(models), *groups]) + 1):
        if group in groups or 0 < group <= len(models):
            builder.start_iteration()
        for span in groups.get(group, ()):
            outer = _outer_call(span, by_id)
            records[id(span)] = _add_call(span, records.get(id(outer)), builder)
    for span in spans:
        builder.add_item("span", span.where)


def _is_retry(earlier: Span, span: Span) -> bool:
    return bool(earlier.error) and (earlier.name, earlier.query) == (span.name, span.query)


def _outer_call(span: Span, by_id: dict[str, Span]) -> Span | None:
    """The nearest call around a span."""
    seen = {span.id}
    parent = by_id.get(span.parent or "")
    while parent is not None and parent.kind not in ("tool", "retriever"):
        if parent.id in seen:
            return None
        seen.add(parent.id)
        parent = by_id.get(parent.parent or "")
    return None if parent is span else parent


def _add_call(span: Span, parent: CallRecord | None, builder: Builder) -> CallRecord:
    record = builder.add_call(
        span.call,
        span.name,
        span.query,
        where=span.where,
        kind="retriever" if span.kind == "retriever" else None,
        seconds=seconds_between(span.start, span.end),
        parent=parent,
    )
    if span.output is not None or span.error:
        builder.add_output(record, span.output, where=span.where, error=span.error)
    return record


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
