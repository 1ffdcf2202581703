"""Spans as live capture writes them: one line of a recording each, read back by the rules of all spans.

What a call was, which of two nested spans counts and what a generation led to are decided when the file is
read, as for every other format. So capturing costs little, and better rules apply to old captures, too.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError
from goodgain.traces.formats import openinference, otel
from goodgain.traces.messages import Message, ToolCall, ToolOutput
from goodgain.traces.objects import plain_results
from goodgain.traces.results import Finding
from goodgain.traces.spans import Span
from goodgain.traces.usage import Usage
from goodgain.traces.values import dicts

if TYPE_CHECKING:
    from collections.abc import Iterable

_FIELDS = (
    "kind", "id", "parent", "start", "end", "name", "description", "call", "query", "output", "error",
    "model", "said",
)  # fmt: skip
_values = attrgetter(*_FIELDS)
_USAGE = ("tokens", "input", "output", "cached", "cost")


def span_fields(span: Span) -> dict[str, Any]:
    """The fields of a span that are set, as a line holds them; values may still be objects."""
    values = zip(_FIELDS, _values(span), strict=True)
    fields = {name: value for name, value in values if value is not None}
    if span.usage:
        fields["usage"] = {n: v for n in _USAGE if (v := getattr(span.usage, n))}
    if span.inputs:
        fields["inputs"] = [_message_fields(m) for m in span.inputs]
    if span.outputs:
        fields["outputs"] = [_message_fields(m) for m in span.outputs]
    finding = span.finding
    if finding is not None:
        fields["finding"] = {"account": finding.account, "reason": finding.reason}
        if finding.results:
            fields["finding"]["results"] = finding.results
    return fields


def _message_fields(message: Message) -> dict[str, Any]:
    calls = [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in message.calls]
    outputs = [{"call": o.call, "value": o.value, "error": o.error} for o in message.outputs]
    fields = {
        "role": message.role,
        "text": message.text,
        "calls": calls,
        "outputs": outputs,
        "citations": message.citations,
    }
    return {k: v for k, v in fields.items() if v}


def read_spans(events: Iterable[dict[str, Any]], where: str) -> list[Span]:
    """The spans of a conversation's lines; an exception where one is damaged."""
    return [_span(event, f"{where} span {n}") for n, event in enumerate(events, 1)]


def _span(event: dict[str, Any], where: str) -> Span:
    fields = dict(event["span"])
    if "otel" in fields:
        return _telemetry_span(event, fields, where)
    usage = fields.pop("usage", {})
    inputs, outputs = fields.pop("inputs", []), fields.pop("outputs", [])
    finding = fields.pop("finding", None)
    if "returned" in fields:
        finding = finding_of(fields.pop("returned"))
    elif finding is not None:
        finding = Finding(finding.get("results", []), finding["account"], str(finding["reason"]))
    session = event.get("conversation")
    return Span(
        trace=str(event["key"]),
        session=None if session is None else str(session),
        system=event.get("system"),
        where=where,
        inputs=[_message(m) for m in dicts(inputs)],
        outputs=[_message(m) for m in dicts(outputs)],
        usage=Usage(**usage),
        finding=finding,
        **fields,
    )


def _telemetry_span(event: dict[str, Any], fields: dict[str, Any], where: str) -> Span:
    """A span of OpenTelemetry that was written as it was."""
    raw = {
        **fields["otel"],
        "trace_id": event["key"],
        "span_id": fields.get("id"),
        "parent_id": fields.get("parent"),
        "start_time": fields.get("start"),
        "end_time": fields.get("end"),
    }
    attributes = dict(raw["attributes"])
    rules = openinference if openinference.KIND in attributes else otel
    span: Span = rules.span_of_attributes(raw, attributes, where)
    span.kind = fields["kind"]
    span.session = event.get("conversation") or span.session
    span.system = event.get("system") or span.system
    return span


def _message(fields: dict[str, Any]) -> Message:
    return Message(
        role=str(fields["role"]),
        text=fields.get("text", ""),
        calls=[
            ToolCall(id=c.get("id"), name=c.get("name"), arguments=c.get("arguments"))
            for c in dicts(fields.get("calls"))
        ],
        outputs=[
            ToolOutput(call=o.get("call"), value=o.get("value"), error=o.get("error"))
            for o in dicts(fields.get("outputs"))
        ],
        citations=list(dicts(fields.get("citations"))),
    )


def finding_of(value: Any) -> Finding:
    """What a function returned of which the user says that it is a search."""
    try:
        return plain_results(value)
    except UsageError as problem:
        return Finding([], "unread", problem.message)
