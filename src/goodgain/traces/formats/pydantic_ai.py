"""Pydantic AI: the JSON of `all_messages_json`, requests and responses made of parts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from goodgain.traces.format import TraceFormat
from goodgain.traces.items import piece_of_messages, read_threads
from goodgain.traces.usage import read_usage
from goodgain.traces.values import dicts, text_of

if TYPE_CHECKING:
    from goodgain.traces.builder import Builder
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents
    from goodgain.traces.threads import Item, Piece


def _mismatch(document: Any) -> str:
    messages = _messages(document)
    if messages is None:
        return "no list of messages"
    if any(
        m.get("kind") in ("request", "response") and isinstance(m.get("parts"), list)
        for m in dicts(messages)
    ):
        return ""
    return "no message of kind request or response with parts"


def _messages(document: Any) -> list[Any] | None:
    if isinstance(document, dict):
        document = document.get("messages") or document.get("all_messages")
    return document if isinstance(document, list) and document else None


def _read(documents: Documents, context: Context) -> Conversations:
    """One conversation per list of messages, or per lists that continue one another."""
    return read_threads(documents, _piece, context, lambda builder: partial(_add_message, builder))


def _piece(where: str, document: Any) -> Piece:
    messages = _messages(document) or []
    names = (m.get("conversation_id") for m in dicts(messages))
    models = (m.get("model_name") for m in dicts(messages))
    name = next((n for n in names if isinstance(n, str) and n), None)
    system = next((m for m in models if isinstance(m, str) and m), None)
    return piece_of_messages(where, document, messages, name=name, system=system)


def _add_message(builder: Builder, item: Item) -> None:
    message, where = item.value, item.where
    if message.get("kind") == "response":
        usage = read_usage(message.get("usage"))
        builder.start_iteration(**builder.context.spent(usage, message.get("model_name")))
        builder.drop_answer()
    has_calls = False
    for number, block in enumerate(dicts(message.get("parts"))):
        kind, place = str(block.get("part_kind")), f"{where}.parts[{number}]"
        if kind == "user-prompt":
            builder.start_turn(text_of(block.get("content")))
        elif kind.endswith("tool-call"):
            # the provider's own tools run inside the response, which then goes on
            has_calls = has_calls or kind == "tool-call"
            builder.add_call(
                block.get("tool_call_id"), block.get("tool_name"), block.get("args"), where=place
            )
        elif kind.endswith("tool-return"):
            failed = block.get("outcome") not in (None, "success")
            error = text_of(block.get("content")) or "error" if failed else None
            call = block.get("tool_call_id")
            builder.add_output(call, block.get("content"), where=place, error=error)
        elif kind == "retry-prompt" and block.get("tool_name"):
            error = text_of(block.get("content")) or "the call was invalid"
            call = block.get("tool_call_id")
            builder.add_output(call, block.get("content"), where=place, error=error)
        elif kind == "text" and not has_calls:
            builder.add_answer(block.get("content"))
    if has_calls:
        builder.drop_answer()


FORMAT = TraceFormat("pydantic-ai", "Pydantic AI messages", _mismatch, _read)
