"""Vercel AI SDK telemetry: spans of generations (doGenerate, doStream) and of tool calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.format import TraceFormat
from goodgain.traces.messages import Message, ToolCall, find_messages
from goodgain.traces.spans import Kind, Span, conversations
from goodgain.traces.telemetry import common_fields, mismatch_of_spans, spans_of, text_in
from goodgain.traces.usage import read_usage
from goodgain.traces.values import decode_json, dicts, first_of

if TYPE_CHECKING:
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents

_SESSIONS = (
    "ai.telemetry.metadata.sessionId", "ai.telemetry.metadata.session_id",
    "ai.telemetry.metadata.chatId", "ai.telemetry.metadata.threadId",
    "ai.telemetry.metadata.conversationId", "session.id",
)  # fmt: skip


def _mismatch(document: Any) -> str:
    return mismatch_of_spans(
        document, lambda attributes: "ai.operationId" in attributes, "no attribute ai.operationId"
    )


def _read(documents: Documents, context: Context) -> Conversations:
    spans = (
        _span(s, a, f"{where} span {n}")
        for where, document in documents
        for n, (s, a) in enumerate(spans_of(document), 1)
    )
    return conversations(spans, context)


def _span(span: dict[str, Any], a: dict[str, Any], where: str) -> Span:
    operation = str(a.get("ai.operationId"))
    kind: Kind = "other"
    if operation == "ai.toolCall":
        kind = "tool"
    elif operation.endswith((".doGenerate", ".doStream")):
        kind = "model"
    usage = {k.removeprefix("ai.usage."): v for k, v in a.items() if k.startswith("ai.usage.")}
    return Span(
        kind=kind,
        **common_fields(span),
        where=where,
        session=text_in(a, *_SESSIONS),
        name=text_in(a, "ai.toolCall.name") or text_in(span, "name"),
        call=text_in(a, "ai.toolCall.id"),
        query=decode_json(a.get("ai.toolCall.args")),
        output=_output(a.get("ai.toolCall.result")),
        inputs=_inputs(a) if kind == "model" else [],
        outputs=[_reply(a)] if kind == "model" else [],
        usage=read_usage(usage) if kind == "model" else read_usage(),
        model=text_in(a, "ai.response.model", "ai.model.id"),
        system=text_in(a, "ai.telemetry.functionId", "resource.name"),
    )


def _output(value: Any) -> Any:
    return decode_json(value)


def _inputs(a: dict[str, Any]) -> list[Message]:
    prompt = decode_json(first_of(a, "ai.prompt.messages", "ai.prompt"))
    return [_without_outputs(m) for m in find_messages(prompt)]


def _without_outputs(message: Message) -> Message:
    """The outputs in a prompt repeat those of the tool spans."""
    return Message(role=message.role, text=message.text)


def _reply(a: dict[str, Any]) -> Message:
    calls = [
        ToolCall(
            id=text_in(call, "toolCallId"),
            name=text_in(call, "toolName"),
            arguments=decode_json(first_of(call, "input", "args")),
        )
        for call in dicts(decode_json(a.get("ai.response.toolCalls")))
    ]
    return Message(role="assistant", text=str(a.get("ai.response.text") or ""), calls=calls)


FORMAT = TraceFormat("vercel-telemetry", "Vercel AI SDK telemetry", _mismatch, _read)
