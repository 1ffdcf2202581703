"""OpenInference (Phoenix): spans of retrievers, tools and models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.format import TraceFormat
from goodgain.traces.messages import Message, find_messages, parse_message
from goodgain.traces.spans import Kind, Span, conversations
from goodgain.traces.telemetry import common_fields, mismatch_of_spans, objects, spans_of, text_in
from goodgain.traces.usage import read_usage
from goodgain.traces.values import decode_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents

KIND = "openinference.span.kind"
_KINDS: dict[str, Kind] = {"RETRIEVER": "retriever", "TOOL": "tool", "LLM": "model"}


def _mismatch(document: Any) -> str:
    return mismatch_of_spans(
        document, lambda attributes: KIND in attributes, f"no attribute {KIND}"
    )


def _read(documents: Documents, context: Context) -> Conversations:
    spans = (
        span_of_attributes(s, a, f"{where} span {n}")
        for where, document in documents
        for n, (s, a) in enumerate(spans_of(document), 1)
    )
    return conversations(spans, context)


def span_of_attributes(span: dict[str, Any], a: dict[str, Any], where: str) -> Span:
    """A span by its attributes in these conventions."""
    kind = kind_of(a)
    documents = objects(a, "retrieval.documents.") or objects(a, "reranker.output_documents.")
    output = decode_json(a.get("output.value"))
    return Span(
        kind=kind,
        **common_fields(span),
        where=where,
        session=session_of(a),
        name=name_of(a) or text_in(span, "name"),
        description=text_in(a, "tool.description"),
        call=call_of(a) or _answered_call(output),
        query=a.get("input.value"),
        output=[_document(d) for d in documents] if documents else output,
        system=text_in(a, "agent.name"),
        inputs=_messages(a, "input", kind),
        outputs=_messages(a, "output", kind),
        usage=read_usage(
            {k.removeprefix("llm.token_count."): v for k, v in a.items() if "token_count" in k},
            {k.removeprefix("llm."): v for k, v in a.items() if k.startswith("llm.cost")},
            {"total_cost": a.get("llm.cost.total")},
        ),
        model=text_in(a, "llm.model_name"),
    )


def kind_of(a: Mapping[str, Any]) -> Kind:
    """What a span is of."""
    return _KINDS.get(str(a.get(KIND)).upper(), "other")


def session_of(a: Mapping[str, Any]) -> str | None:
    """The conversation that a span names."""
    return text_in(a, "session.id")


def name_of(a: Mapping[str, Any]) -> str | None:
    """The name of a tool."""
    return text_in(a, "tool.name")


def call_of(a: Mapping[str, Any]) -> str | None:
    """The call that a span answers, where an attribute says so."""
    return text_in(a, "tool.id", "tool_call.id", "tool.call.id")


def _answered_call(output: Any) -> str | None:
    if isinstance(output, dict):
        output = output["kwargs"] if isinstance(output.get("kwargs"), dict) else output
        return text_in(output, "tool_call_id")
    return None


def _messages(a: dict[str, Any], side: str, kind: str) -> list[Message]:
    if kind != "model":
        return []
    messages = [_message(m) for m in objects(a, f"llm.{side}_messages.")]
    if not messages:
        messages = list(find_messages(a.get(f"{side}.value")))
    if not messages and side == "output" and (text := text_in(a, "output.value")):
        messages = [Message(role="assistant", text=text)]
    return messages


def _message(fields: dict[str, Any]) -> Message:
    message = {k.removeprefix("message."): v for k, v in fields.items()}
    calls = [
        {
            "id": call.get("tool_call.id"),
            "name": call.get("tool_call.function.name"),
            "arguments": call.get("tool_call.function.arguments"),
        }
        for call in objects(message, "tool_calls.")
    ]
    blocks = [
        {"type": "text", "text": block.get("message_content.text")}
        for block in objects(message, "contents.")
        if block.get("message_content.text")
    ]
    plain = {k: v for k, v in message.items() if "." not in k}
    if blocks and not plain.get("content"):
        plain["content"] = blocks
    return parse_message({**plain, "tool_calls": calls})


def _document(attributes: dict[str, Any]) -> dict[str, Any]:
    fields = {
        k.removeprefix("document."): decode_json(v) if k.endswith("metadata") else v
        for k, v in attributes.items()
    }
    return {k: v for k, v in fields.items() if "." not in k}


FORMAT = TraceFormat("openinference", "OpenInference (Phoenix) spans", _mismatch, _read)
