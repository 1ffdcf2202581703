"""OpenAI Agents SDK: traces and spans as its processors export them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.format import TraceFormat
from goodgain.traces.spans import Kind, Span, conversations, exchange_fields
from goodgain.traces.telemetry import text_in
from goodgain.traces.usage import read_usage
from goodgain.traces.values import dicts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents

_KINDS: dict[str, Kind] = {"function": "tool", "generation": "model", "response": "model"}


def _mismatch(document: Any) -> str:
    items = list(_items(document))
    if any(i.get("object") in ("trace", "trace.span") for i in items):
        return ""
    return "no object trace or trace.span"


def _items(document: Any) -> Iterator[dict[str, Any]]:
    """Spans and traces, in a list, alone, or as the request to the tracing endpoint: {"data": [...]}."""
    if isinstance(document, dict) and isinstance(document.get("data"), list):
        document = document["data"]
    yield from dicts(document if isinstance(document, list) else [document])


def _read(documents: Documents, context: Context) -> Conversations:
    traces: dict[str, dict[str, Any]] = {}
    spans = []
    for where, document in documents:
        for number, item in enumerate(_items(document), 1):
            if item.get("object") == "trace":
                traces[str(item.get("id"))] = item
                context.ledger.meet("event")
                context.ledger.enter("event", "read", where=f"{where} item {number}")
            elif "span_data" in item or item.get("object") == "trace.span":
                spans.append((item, f"{where} item {number}"))
            else:
                context.ledger.meet("event")
                rule = "neither a trace nor a span"
                context.ledger.enter("event", "unusable", rule, where=f"{where} item {number}")
    return conversations((span_of_export(s, traces, where) for s, where in spans), context)


def span_of_export(span: dict[str, Any], traces: Mapping[str, dict[str, Any]], where: str) -> Span:
    """A span as processors export it; `traces` by their ids."""
    data = span["span_data"] if isinstance(span.get("span_data"), dict) else {}
    kind = _KINDS.get(str(data.get("type")), "other")
    trace = str(span.get("trace_id"))
    facts = traces.get(trace, {})
    error = span.get("error")
    fields = exchange_fields(kind, data.get("input"), data.get("output"))
    return Span(
        kind=kind,
        trace=trace,
        where=where,
        id=text_in(span, "id"),
        parent=text_in(span, "parent_id"),
        start=span.get("started_at"),
        end=span.get("ended_at"),
        session=text_in(facts, "group_id"),
        name=text_in(data, "name", "type"),
        error=error_text(error) if isinstance(error, dict) else None,
        usage=read_usage(data.get("usage")),
        model=text_in(data, "model"),
        system=text_in(facts, "workflow_name"),
        **fields,
    )


def error_text(error: dict[str, Any]) -> str:
    """The message, and the error of the tool behind it."""
    data = error.get("data")
    cause = data.get("error") if isinstance(data, dict) else None
    return ": ".join(str(t) for t in (error.get("message"), cause) if t) or str(error)


FORMAT = TraceFormat("openai-agents", "OpenAI Agents SDK spans", _mismatch, _read)
