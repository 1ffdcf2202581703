"""Spans: what all tracing formats come down to. A session is a conversation, a trace one of its turns."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

from goodgain.traces.builder import Builder
from goodgain.traces.joining import continued_traces, traces_of_calls
from goodgain.traces.messages import Message, find_messages
from goodgain.traces.steps import add_steps, sort_key
from goodgain.traces.usage import Usage
from goodgain.traces.values import decode_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations
    from goodgain.traces.results import Finding

Kind = Literal["model", "tool", "retriever", "span", "other"]  # span: a tool if nothing is in it


@dataclass(slots=True, kw_only=True, eq=False)
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
    description: str | None = None
    call: str | None = None
    query: Any = None
    output: Any = None
    error: str | None = None
    system: str | None = None
    order: str = ""
    inputs: list[Message] = field(default_factory=list)  # of a model
    outputs: list[Message] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    said: str | None = None  # what a call is, where that was decided when it was captured
    finding: Finding | None = None  # what its output holds, likewise

    @property
    def is_call(self) -> bool:
        """Whether it is a tool or a retriever."""
        return self.kind in ("tool", "retriever")

    @property
    def user(self) -> str | None:
        """The last message of the user in a model's input."""
        texts = [m.text for m in self.inputs if m.role == "user" and m.text and not m.outputs]
        return texts[-1] if texts else None

    @property
    def continues(self) -> bool:
        """Whether a model goes on with the results of tools, and not with a message of the user."""
        return bool(self.inputs) and bool(self.inputs[-1].outputs)


def conversations(spans: Iterable[Span], context: Context) -> Conversations:
    """One conversation per session, with a turn for each of its traces."""
    listed = list(spans)
    session_of: dict[str, str] = {}
    for span in listed:
        if span.session:
            session_of.setdefault(span.trace, str(span.session))
    alone = _by_trace(s for s in listed if s.trace not in session_of)
    moved = traces_of_calls(alone)
    for span in listed:
        span.trace = moved.get(span.trace, span.trace)
    alone = _by_trace(s for s in listed if s.trace not in session_of)
    session_of |= continued_traces(alone)
    sessions: dict[str, dict[str, list[Span]]] = defaultdict(lambda: defaultdict(list))
    for span in listed:
        sessions[session_of.get(span.trace, span.trace)][span.trace].append(span)
    for session, traces in sessions.items():
        system = next((s.system for t in traces.values() for s in t if s.system), None)
        builder = Builder(session, system, context)
        has_models = any(s.kind == "model" for t in traces.values() for s in t)
        for trace in sorted(traces.values(), key=lambda t: min(sort_key(s.start) for s in t)):
            _add_trace(_once(trace, builder), builder)
        conversation = builder.build()
        if not has_models and any(t["iterations"] for t in conversation["turns"]):
            context.note(
                f"{context.name}: no model spans, so calls count as one iteration only where they ran side by side"
            )
        yield conversation


def _by_trace(spans: Iterable[Span]) -> dict[str, list[Span]]:
    traces: dict[str, list[Span]] = defaultdict(list)
    for span in spans:
        traces[span.trace].append(span)
    return traces


def _once(spans: list[Span], builder: Builder) -> list[Span]:
    """Each span once: events of its start and its end, and updates, are completed into one."""
    by_id: dict[str, Span] = {}
    unique = []
    for span in spans:
        first = by_id.get(span.id or "")
        if first is None:
            if span.id:
                by_id[span.id] = span
            unique.append(span)
            builder.add_item("span", span.where)
            continue
        for name in (f.name for f in fields(Span)):
            if getattr(span, name):
                setattr(first, name, getattr(span, name))
        builder.add_item("span", span.where, "duplicate", "a span with this id is recorded before")
    return unique


def _add_trace(spans: list[Span], builder: Builder) -> None:
    spans = sorted(spans, key=lambda s: (s.order, sort_key(s.start)))
    first = next((s for s in spans if s.kind == "model"), None)
    if first is None or not first.continues or not builder.has_turns:
        builder.start_turn(next((s.user for s in spans if s.user), None))
    add_steps(spans, builder)


# --- what platforms record of a model and a tool ---


def exchange_fields(kind: Kind, inputs: Any, outputs: Any) -> dict[str, Any]:
    """The fields of a `Span` that follow from the input and output of a model or a tool."""
    return {
        "call": _answered_call(outputs, inputs),
        "query": inputs,
        "output": outputs,
        "inputs": _messages(inputs, "user") if kind == "model" else [],
        "outputs": _messages(outputs, "assistant") if kind == "model" else [],
    }


def _messages(value: Any, role: str) -> list[Message]:
    """The messages that went in or came out; a plain text is one of them."""
    messages = list(find_messages(value))
    if not messages and isinstance(text := decode_json(value), str) and text:
        messages = [Message(role=role, text=text)]
    return messages


def _answered_call(*values: Any) -> str | None:
    """The call that a tool's span answers, where its output or input names it."""
    for value in values:
        inner = decode_json(value)
        if isinstance(inner, dict):
            inner = inner["output"] if isinstance(inner.get("output"), dict) else inner
            inner = inner["kwargs"] if isinstance(inner.get("kwargs"), dict) else inner
            call = inner.get("tool_call_id") or (
                inner.get("id") if inner.get("type") == "tool_call" else None
            )
            if isinstance(call, str | int) and call:
                return str(call)
    return None
