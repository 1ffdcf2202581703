"""Anthropic Messages: tool_use and tool_result blocks, and searches that the server runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Builder, Context, dicts, query_of, text_of
from goodgain.traces.format import TraceFormat
from goodgain.traces.results import is_failure, results_of

if TYPE_CHECKING:
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
        messages = [facts] if is_response else list(dicts(facts.get("messages", document)))
        if not is_response and isinstance(facts.get("response"), dict):
            messages.append(facts["response"])
        builder = Builder(facts.get("id") or facts.get("conversation") or where, facts.get("model"))
        for message in messages:
            _add_message(message, builder, context)
        yield builder.build()


def _add_message(message: dict[str, Any], builder: Builder, context: Context) -> None:
    content = message.get("content")
    blocks = (
        [{"type": "text", "text": content}] if isinstance(content, str) else list(dicts(content))
    )
    if message.get("role") == "user":
        results = [b for b in blocks if b.get("type") == "tool_result"]
        if len(results) < len(blocks):
            builder.start_turn(text_of([b for b in blocks if b.get("type") == "text"]))
        for block in results:
            _add_output(block, builder)
        return
    is_new = True  # whether the next call is of a new generation
    for block in blocks:
        kind = block.get("type")
        if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            if is_new:
                builder.start_iteration()
            is_new = False
            if context.is_search(block.get("name")):
                builder.add_search(block.get("id"), block.get("name"), query_of(block.get("input")))
        elif kind in ("web_search_tool_result", "tool_result", "mcp_tool_result"):
            _add_output(block, builder)
            is_new = True  # the model has seen results
        elif kind == "text":
            builder.set_answer(block.get("text"))


def _add_output(block: dict[str, Any], builder: Builder) -> None:
    call, content = block.get("tool_use_id"), block.get("content")
    if isinstance(content, dict):  # web_search_tool_result_error
        builder.add_output(call, [], str(content.get("error_code") or content.get("type")))
    elif block.get("is_error") or is_failure(text_of(content)):
        builder.add_output(call, [], text_of(content) or "error")
    else:
        builder.add_output(call, [_without_encrypted(r) for r in results_of(content)])


def _without_encrypted(result: dict[str, Any]) -> dict[str, Any]:
    """The encrypted content of a web result is not text."""
    return {k: v for k, v in result.items() if k != "encrypted_content"}


FORMAT = TraceFormat("anthropic", "Anthropic Messages", _mismatch, _read)
