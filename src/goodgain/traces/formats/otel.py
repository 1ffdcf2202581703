"""OpenTelemetry GenAI: spans of retrievals, tool calls and generations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.format import TraceFormat
from goodgain.traces.spans import Kind, Span, conversations
from goodgain.traces.telemetry import common_fields, mismatch_of_spans, spans_of
from goodgain.traces.values import decode_json, dicts

if TYPE_CHECKING:
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents

_KINDS: dict[Any, Kind] = {
    "retrieval": "retriever",
    "execute_tool": "tool",
    "chat": "model",
    "text_completion": "model",
    "generate_content": "model",
}


def _mismatch(document: Any) -> str:
    return mismatch_of_spans(
        document,
        lambda attributes: any(k.startswith("gen_ai.") for k in attributes),
        "no attribute gen_ai.*",
    )


def _read(documents: Documents, context: Context) -> Conversations:
    spans = (
        _span(s, a, f"{where} span {n}")
        for where, document in documents
        for n, (s, a) in enumerate(spans_of(document), 1)
    )
    return conversations(spans, context)


def _span(span: dict[str, Any], a: dict[str, Any], where: str) -> Span:
    operation = a.get("gen_ai.operation.name")
    calls = [
        block.get("id")
        for message in dicts(decode_json(a.get("gen_ai.output.messages")))
        for block in dicts(message.get("parts"))
        if block.get("type") in ("tool_call", "server_tool_call")
    ]
    user = None
    for message in dicts(decode_json(a.get("gen_ai.input.messages"))):
        if message.get("role") == "user":
            user = _text(message) or user
    return Span(
        kind=_KINDS.get(operation, "other"),
        **common_fields(span),
        where=where,
        session=a.get("gen_ai.conversation.id") or a.get("session.id"),
        name=a.get("gen_ai.tool.name")
        or a.get("gen_ai.data_source.id")
        or ("retrieval" if operation == "retrieval" else None),
        call=a.get("gen_ai.tool.call.id"),
        calls=tuple(c for c in calls if c),
        query=a.get("gen_ai.retrieval.query.text", a.get("gen_ai.tool.call.arguments")),
        output=a.get("gen_ai.retrieval.documents", a.get("gen_ai.tool.call.result")),
        user=user,
        system=a.get("gen_ai.agent.name"),
    )


def _text(message: dict[str, Any]) -> str:
    blocks = dicts(message.get("parts"))
    return "\n".join(str(b.get("content")) for b in blocks if b.get("type") == "text")


FORMAT = TraceFormat("otel", "OpenTelemetry GenAI spans", _mismatch, _read)
