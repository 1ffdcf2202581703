"""Anthropic Messages: tool_use and tool_result blocks, and searches that the server runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Builder, Context, dicts, query_of, text_of
from goodgain.traces.results import is_failure, results_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCKS = ("tool_use", "tool_result", "server_tool_use", "web_search_tool_result")


def refuses(document: Any) -> str:
    """Why these are no Anthropic messages; empty where they are."""
    if (
        isinstance(document, dict)
        and document.get("type") == "message"
        and isinstance(document.get("content"), list)
    ):
        return ""
    messages = document.get("messages") if isinstance(document, dict) else document
    if not isinstance(messages, list):
        return "no list of messages"
    kinds = {b.get("type") for m in dicts(messages) for b in dicts(m.get("content"))}
    return "" if kinds & set(_BLOCKS) else "no tool_use, tool_result or server_tool_use block"


def read(documents: Iterator[tuple[str, Any]], context: Context) -> Iterator[dict[str, Any]]:
    """One conversation a list of messages, or a single response."""
    for where, document in documents:
        facts = document if isinstance(document, dict) else {}
        single = facts.get("type") == "message"
        messages = [facts] if single else list(dicts(facts.get("messages", document)))
        if not single and isinstance(facts.get("response"), dict):
            messages.append(facts["response"])
        builder = Builder(facts.get("id") or facts.get("conversation") or where, facts.get("model"))
        for message in messages:
            _message(message, builder, context)
        yield builder.build()


def _message(message: dict[str, Any], builder: Builder, context: Context) -> None:
    content = message.get("content")
    blocks = (
        [{"type": "text", "text": content}] if isinstance(content, str) else list(dicts(content))
    )
    if message.get("role") == "user":
        results = [b for b in blocks if b.get("type") == "tool_result"]
        if len(results) < len(blocks):
            builder.user(text_of([b for b in blocks if b.get("type") == "text"]))
        for block in results:
            _result(block, builder)
        return
    between = True
    for block in blocks:
        kind = block.get("type")
        if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            if between:
                builder.step()
            between = False
            if context.is_search(block.get("name")):
                builder.search(block.get("id"), block.get("name"), query_of(block.get("input")))
        elif kind in ("web_search_tool_result", "tool_result", "mcp_tool_result"):
            _result(block, builder)
            between = True  # the model has seen results: what follows is a new generation
        elif kind == "text":
            builder.answer(block.get("text"))


def _result(block: dict[str, Any], builder: Builder) -> None:
    content = block.get("content")
    if isinstance(content, dict):  # web_search_tool_result_error
        builder.output(
            block.get("tool_use_id"), [], str(content.get("error_code") or content.get("type"))
        )
    elif block.get("is_error") or is_failure(text_of(content)):
        builder.output(block.get("tool_use_id"), [], text_of(content) or "error")
    else:
        builder.output(block.get("tool_use_id"), [_visible(r) for r in results_of(content)])


def _visible(result: dict[str, Any]) -> dict[str, Any]:
    """The encrypted content of a web result is no text."""
    return {k: v for k, v in result.items() if k != "encrypted_content"}
