"""Anthropic Messages: tool_use and tool_result blocks, and searches that the server runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Builder
from goodgain.traces.format import TraceFormat
from goodgain.traces.values import dicts, text_of

if TYPE_CHECKING:
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents

_BLOCKS = ("tool_use", "tool_result", "server_tool_use", "web_search_tool_result")


def _mismatch(document: Any) -> str:
    if (
        isinstance(document, dict)
        and document.get("type") == "message"
        and isinstance(document.get("content"), list)
    ):
        return ""
    messages = document.get("messages") if isinstance(document, dict) else document
    if not isinstance(messages, list):
        return "no list of messages"
    types = {b.get("type") for m in dicts(messages) for b in dicts(m.get("content"))}
    return "" if types & set(_BLOCKS) else "no tool_use, tool_result or server_tool_use block"


def _read(documents: Documents, context: Context) -> Conversations:
    """One conversation per list of messages, or per response."""
    for where, document in documents:
        facts = document if isinstance(document, dict) else {}
        is_response = facts.get("type") == "message"
        messages = [facts] if is_response else facts.get("messages", document)
        messages = list(messages) if isinstance(messages, list) else []
        if not is_response and isinstance(facts.get("response"), dict):
            messages.append(facts["response"])
        builder = Builder(
            facts.get("id") or facts.get("conversation") or where, facts.get("model"), context
        )
        for number, message in enumerate(messages):
            _add_message(message, builder, f"{where} messages[{number}]")
        yield builder.build()


def _add_message(message: Any, builder: Builder, where: str) -> None:
    if not isinstance(message, dict):
        builder.add_item("message", where, "unusable", "not an object")
        return
    builder.add_item("message", where)
    content = message.get("content")
    blocks = (
        [{"type": "text", "text": content}] if isinstance(content, str) else list(dicts(content))
    )
    if message.get("role") == "user":
        results = [b for b in blocks if b.get("type") == "tool_result"]
        if not results:
            builder.start_turn(text_of([b for b in blocks if b.get("type") == "text"]))
        for number, block in enumerate(blocks):
            if block.get("type") == "tool_result":
                _add_output(block, builder, f"{where}.content[{number}]")
        return
    is_new = True  # whether the next call is of a new generation
    for number, block in enumerate(blocks):
        kind, place = block.get("type"), f"{where}.content[{number}]"
        if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            if is_new:
                builder.start_iteration()
            is_new = False
            builder.drop_answer()
            builder.add_call(block.get("id"), block.get("name"), block.get("input"), where=place)
        elif kind in ("web_search_tool_result", "tool_result", "mcp_tool_result"):
            _add_output(block, builder, place)
            is_new = True  # the model has seen results
        elif kind == "text":
            builder.add_answer(block.get("text"))


def _add_output(block: dict[str, Any], builder: Builder, where: str) -> None:
    content, error = block.get("content"), None
    if isinstance(content, dict):  # web_search_tool_result_error
        error = content.get("error_code") or content.get("type") or "error"
    elif block.get("is_error"):
        error = text_of(content) or "error"
    builder.add_output(block.get("tool_use_id"), content, where=where, error=error)


FORMAT = TraceFormat("anthropic", "Anthropic Messages", _mismatch, _read)
