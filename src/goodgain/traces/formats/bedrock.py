"""Amazon Bedrock Converse: messages with toolUse and toolResult blocks, and responses."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from goodgain.traces.citations import block_citations
from goodgain.traces.format import TraceFormat
from goodgain.traces.items import piece_of_messages, read_threads, text_name
from goodgain.traces.usage import read_usage
from goodgain.traces.values import dicts, first_of, text_of

if TYPE_CHECKING:
    from goodgain.traces.builder import Builder
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents
    from goodgain.traces.threads import Item, Piece


def _mismatch(document: Any) -> str:
    messages = _messages(document)
    if isinstance(document, dict) and isinstance(_reply(document), dict):
        messages = [*messages, _reply(document)]
    if not messages:
        return "no list of messages and no output.message"
    blocks = [b for m in dicts(messages) for b in dicts(m.get("content"))]
    if any(
        isinstance(b.get(k), dict)
        for b in blocks
        for k in ("toolUse", "toolResult", "citationsContent")
    ):
        return ""
    if isinstance(document, dict) and "stopReason" in document and _reply(document) is not None:
        return ""
    return "no toolUse, toolResult or citationsContent block"


def _reply(document: dict[str, Any]) -> Any:
    response = document["response"] if isinstance(document.get("response"), dict) else document
    output = response.get("output")
    return output.get("message") if isinstance(output, dict) else None


def _messages(document: Any) -> list[Any]:
    """The messages of a conversation or a request."""
    if isinstance(document, dict):
        request = document.get("request")
        holder = request if isinstance(request, dict) and "messages" not in document else document
        document = holder.get("messages")
    return document if isinstance(document, list) else []


def _piece(where: str, document: Any) -> Piece:
    facts = document if isinstance(document, dict) else {}
    response = facts["response"] if isinstance(facts.get("response"), dict) else facts
    return piece_of_messages(
        where,
        document,
        _messages(document),
        reply=_reply(facts),
        usage=read_usage(response.get("usage")),
        name=text_name(facts, "id", "requestId"),
        system=facts.get("modelId"),
    )


def _read(documents: Documents, context: Context) -> Conversations:
    """One conversation per list of messages, or per thread of requests and responses."""
    return read_threads(documents, _piece, context, lambda builder: partial(_add_message, builder))


def _add_message(builder: Builder, item: Item) -> None:
    message, where = item.value, item.where
    blocks = list(dicts(message.get("content")))
    text = "\n".join(filter(None, map(_block_text, blocks)))
    if message.get("role") == "user":
        if not any("toolResult" in b for b in blocks):
            builder.start_turn(text or text_of(message.get("content")))
    else:
        builder.start_iteration(**builder.context.spent(item.usage, builder.system))
        builder.drop_answer()
        if not any("toolUse" in b for b in blocks):
            builder.add_answer(text, [c for block in blocks for c in block_citations(block)])
    for number, block in enumerate(blocks):
        place = f"{where}.content[{number}]"
        call, output = block.get("toolUse"), block.get("toolResult")
        if isinstance(call, dict):
            builder.add_call(
                call.get("toolUseId"), call.get("name"), call.get("input"), where=place
            )
        if isinstance(output, dict):
            _add_output(output, builder, place)


def _block_text(block: dict[str, Any]) -> str:
    cited = block.get("citationsContent")
    if isinstance(cited, dict):
        return "".join(filter(None, map(_block_text, dicts(cited.get("content")))))
    return block["text"] if isinstance(block.get("text"), str) else ""


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
