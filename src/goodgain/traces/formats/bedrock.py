"""Amazon Bedrock Converse: messages with toolUse and toolResult blocks, and responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Builder
from goodgain.traces.format import TraceFormat
from goodgain.traces.items import messages_in, text_name
from goodgain.traces.usage import read_usage
from goodgain.traces.values import dicts, first_of, text_of

if TYPE_CHECKING:
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents


def _mismatch(document: Any) -> str:
    messages = _messages(document)
    if not messages:
        return "no list of messages and no output.message"
    blocks = [b for m in dicts(messages) for b in dicts(m.get("content"))]
    if any(isinstance(b.get(k), dict) for b in blocks for k in ("toolUse", "toolResult")):
        return ""
    if isinstance(document, dict) and "stopReason" in document and _reply(document) is not None:
        return ""
    return "no toolUse or toolResult block"


def _reply(document: dict[str, Any]) -> Any:
    response = document["response"] if isinstance(document.get("response"), dict) else document
    output = response.get("output")
    return output.get("message") if isinstance(output, dict) else None


def _messages(document: Any) -> list[Any]:
    if not isinstance(document, dict):
        return list(document) if isinstance(document, list) else []
    messages = document.get("messages")
    request = document.get("request")
    if messages is None and isinstance(request, dict):
        messages = request.get("messages")
    listed = list(messages) if isinstance(messages, list) else []
    reply = _reply(document)
    return [*listed, reply] if isinstance(reply, dict) else listed


def _read(documents: Documents, context: Context) -> Conversations:
    """One conversation per list of messages, with the response to them if there is one."""
    for where, document in documents:
        facts = document if isinstance(document, dict) else {}
        name = text_name(facts, "conversation", "sessionId", "session_id", "id")
        builder = Builder(name or where, facts.get("modelId"), context)
        messages = _messages(document)
        response = facts["response"] if isinstance(facts.get("response"), dict) else facts
        for place, message in messages_in(messages, builder, where):
            is_reply = message is _reply(facts) if facts else False
            _add_message(message, builder, place, response.get("usage") if is_reply else None)
        yield builder.build()


def _add_message(message: dict[str, Any], builder: Builder, where: str, used: Any) -> None:
    blocks = list(dicts(message.get("content")))
    text = "\n".join(b["text"] for b in blocks if isinstance(b.get("text"), str))
    if message.get("role") == "user":
        if not any("toolResult" in b for b in blocks):
            builder.start_turn(text or text_of(message.get("content")))
    else:
        builder.start_iteration(**builder.context.spent(read_usage(used), builder.system))
        builder.drop_answer()
        if not any("toolUse" in b for b in blocks):
            builder.add_answer(text)
    for number, block in enumerate(blocks):
        place = f"{where}.content[{number}]"
        call, output = block.get("toolUse"), block.get("toolResult")
        if isinstance(call, dict):
            builder.add_call(
                call.get("toolUseId"), call.get("name"), call.get("input"), where=place
            )
        if isinstance(output, dict):
            _add_output(output, builder, place)


def _add_output(output: dict[str, Any], builder: Builder, where: str) -> None:
    values = [_value(block) for block in dicts(output.get("content"))]
    value = values[0] if len(values) == 1 else values
    error = text_of(value) or "error" if output.get("status") == "error" else None
    builder.add_output(output.get("toolUseId"), value, where=where, error=error)


def _value(block: dict[str, Any]) -> Any:
    if isinstance(block.get("searchResult"), dict):
        return block["searchResult"]
    return first_of(block, "json", "text", "document")


FORMAT = TraceFormat("bedrock", "Amazon Bedrock Converse", _mismatch, _read)
