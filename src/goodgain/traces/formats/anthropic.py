"""Anthropic Messages: tool_use and tool_result blocks, and searches that the server runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.chat import is_system_text
from goodgain.traces.citations import block_citations
from goodgain.traces.format import TraceFormat
from goodgain.traces.threads import Item, Piece, key_of, threads
from goodgain.traces.usage import read_usage
from goodgain.traces.values import dicts, first_of, text_of

if TYPE_CHECKING:
    from goodgain.traces.builder import Builder
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents

_BLOCKS = ("tool_use", "tool_result", "server_tool_use", "web_search_tool_result")


def _mismatch(document: Any) -> str:
    response = _response(document)
    if response is not None:
        return ""
    messages = _messages(document)
    if messages is None:
        return "no list of messages"
    types = {str(b.get("type")) for m in dicts(messages) for b in dicts(m.get("content"))}
    return "" if types & set(_BLOCKS) else "no tool_use, tool_result or server_tool_use block"


def _messages(document: Any) -> list[Any] | None:
    messages = document
    if isinstance(document, dict):
        request = document.get("request")
        holder = request if isinstance(request, dict) else document
        messages = holder.get("messages")
    return messages if isinstance(messages, list) else None


def _response(document: Any) -> dict[str, Any] | None:
    """The response in a document, or the document if it is one."""
    if not isinstance(document, dict):
        return None
    for holder in (document, document.get("response")):
        if (
            isinstance(holder, dict)
            and holder.get("type") == "message"
            and isinstance(holder.get("content"), list)
        ):
            return holder
    return None


def _piece(where: str, document: Any) -> Piece:
    facts = document if isinstance(document, dict) else {}
    messages, response = _messages(document) or [], _response(document)
    items = [Item(value=m, where=f"{where} messages[{n}]") for n, m in enumerate(messages)]
    if response is not None:
        items.append(Item(value=response, where=f"{where} response"))
    response = response or {}
    name = facts.get("id")
    model = first_of(response, "model") or first_of(facts, "model")
    return Piece(
        where=where,
        items=items,
        key=key_of(document),
        name=str(name) if isinstance(name, str | int) else None,
        system=model if isinstance(model, str) else None,
        goes_on=response.get("stop_reason") == "pause_turn",
    )


def _read(documents: Documents, context: Context) -> Conversations:
    """One conversation per list of messages, or per thread of requests and responses."""
    for thread in threads(documents, _piece, context):
        builder = thread.builder(context)
        generation = None
        for item in thread.items:
            generation = _add_message(item.value, builder, item.where, generation)
        yield builder.build()


def _add_message(message: Any, builder: Builder, where: str, generation: Any) -> Any:
    """Add a message; the id of the model's message, which a stream may repeat for each block."""
    if not isinstance(message, dict):
        builder.add_item("message", where, "unusable", "not an object")
        return generation
    builder.add_item("message", where)
    content = message.get("content")
    blocks = (
        [{"type": "text", "text": content}] if isinstance(content, str) else list(dicts(content))
    )
    if message.get("role") == "user":
        _add_user_message(blocks, builder, where)
        return None
    if message.get("role") == "system":
        return None
    spent = builder.context.spent(read_usage(message.get("usage")), message.get("model"))
    if message.get("id") is not None and message.get("id") == generation:
        builder.update_iteration(**spent)
    else:
        builder.start_iteration(**spent)
    is_new = False  # whether the next call is of a new generation
    for number, block in enumerate(blocks):
        kind, place = str(block.get("type")), f"{where}.content[{number}]"
        if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            if is_new:
                builder.start_iteration()
            is_new = False
            builder.drop_answer()
            builder.add_call(
                block.get("id"),
                block.get("name"),
                block.get("input"),
                where=place,
                kind="hosted search" if _is_hosted_search(block) else None,
            )
        elif kind.endswith("tool_result"):
            _add_output(block, builder, place)
            builder.drop_answer()
            is_new = True  # the model has seen results
        elif kind == "text" and isinstance(block.get("text"), str):
            builder.add_answer(block["text"], block_citations(block))
    return message.get("id")


def _is_hosted_search(block: dict[str, Any]) -> bool:
    return block.get("type") == "server_tool_use" and block.get("name") == "web_search"


def _add_user_message(blocks: list[dict[str, Any]], builder: Builder, where: str) -> None:
    """A message with the result of a tool goes on with the turn, whatever text stands beside it."""
    outputs = [b for b in blocks if b.get("type") == "tool_result"]
    text = text_of([b for b in blocks if b.get("type") == "text"])
    if not outputs and not is_system_text(text):
        builder.start_turn(text)
    for number, block in enumerate(blocks):
        if block.get("type") == "tool_result":
            _add_output(block, builder, f"{where}.content[{number}]")


def _add_output(block: dict[str, Any], builder: Builder, where: str) -> None:
    content, error = block.get("content"), None
    if isinstance(content, dict):  # web_search_tool_result_error
        error = content.get("error_code") or content.get("type") or "error"
    elif block.get("is_error"):
        error = text_of(content) or "error"
    builder.add_output(block.get("tool_use_id"), content, where=where, error=error)


FORMAT = TraceFormat("anthropic", "Anthropic Messages", _mismatch, _read)
