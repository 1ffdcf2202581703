"""OpenInference (Phoenix): spans of retrievers, tools and models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.format import TraceFormat
from goodgain.traces.spans import Kind, Span, conversations
from goodgain.traces.telemetry import common_fields, mismatch_of_spans, spans_of
from goodgain.traces.values import decode_json, text_of

if TYPE_CHECKING:
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents

_KIND = "openinference.span.kind"
_KINDS: dict[str, Kind] = {"RETRIEVER": "retriever", "TOOL": "tool", "LLM": "model"}


def _mismatch(document: Any) -> str:
    return mismatch_of_spans(
        document, lambda attributes: _KIND in attributes, f"no attribute {_KIND}"
    )


def _read(documents: Documents, context: Context) -> Conversations:
    spans = (
        _span(s, a, f"{where} span {n}")
        for where, document in documents
        for n, (s, a) in enumerate(spans_of(document), 1)
    )
    return conversations(spans, context)


def _span(span: dict[str, Any], a: dict[str, Any], where: str) -> Span:
    documents = _objects(a, "retrieval.documents.")
    users = [m for m in _objects(a, "llm.input_messages.") if m.get("message.role") == "user"]
    output = decode_json(a.get("output.value"))
    return Span(
        kind=_KINDS.get(str(a.get(_KIND)).upper(), "other"),
        **common_fields(span),
        where=where,
        session=a.get("session.id"),
        name=a.get("tool.name") or span.get("name"),
        call=a.get("tool.id")
        or a.get("tool_call.id")
        or (output.get("tool_call_id") if isinstance(output, dict) else None),
        calls=tuple(
            str(v)
            for k, v in a.items()
            if k.startswith("llm.output_messages.") and k.endswith("tool_call.id")
        ),
        query=a.get("input.value"),
        output=[_document(d) for d in documents] if documents else output,
        user=text_of(users[-1].get("message.content")) if users else None,
    )


def _objects(attributes: dict[str, Any], prefix: str) -> list[dict[str, Any]]:
    """`prefix`0.x, `prefix`0.y, `prefix`1.x as a list of objects."""
    objects: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if key.startswith(prefix):
            number, _, name = key.removeprefix(prefix).partition(".")
            if number.isdigit() and name:
                objects.setdefault(int(number), {})[name] = value
    return [objects[number] for number in sorted(objects)]


def _document(attributes: dict[str, Any]) -> dict[str, Any]:
    fields = {
        k.removeprefix("document."): decode_json(v) if k.endswith("metadata") else v
        for k, v in attributes.items()
    }
    return {k: v for k, v in fields.items() if "." not in k}


FORMAT = TraceFormat("openinference", "OpenInference (Phoenix) spans", _mismatch, _read)
