"""OpenAI Responses: items of function calls and of hosted searches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Builder, Context, dicts, query_of, text_of
from goodgain.traces.results import is_failure, results_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_CALLS = ("function_call", "web_search_call", "file_search_call", "mcp_call")
_OURS = (*_CALLS, "function_call_output", "reasoning")


def refuses(document: Any) -> str:
    """Why this is no response of OpenAI's Responses API; empty where it is."""
    if isinstance(document, dict) and str(document.get("type", "")).startswith("response."):
        return ""  # an event of a stream
    items = _items(document)
    if items is None:
        return "no object 'response' and no list of items"
    if isinstance(document, dict) and document.get("object") == "response":
        return ""
    return (
        ""
        if any(i.get("type") in _OURS for i in items)
        else "no item is a function_call or a hosted search"
    )


def _items(document: Any) -> list[dict[str, Any]] | None:
    if isinstance(document, dict):
        given, made = document.get("input"), document.get("output")
        if not isinstance(made, list):
            made = document.get("items")
        if not isinstance(made, list):
            return None
        before = (
            [{"role": "user", "content": given}] if isinstance(given, str) else list(dicts(given))
        )
        return [*before, *dicts(made)]
    return list(dicts(document)) if isinstance(document, list) else None


def read(documents: Iterator[tuple[str, Any]], context: Context) -> Iterator[dict[str, Any]]:
    """One conversation a response, a list of items, or a stream."""
    for where, given in documents:
        document = given
        if isinstance(given, dict) and str(given.get("type", "")).startswith("response."):
            if given["type"] not in ("response.completed", "response.incomplete"):
                continue  # of a stream only the end is needed: it holds the whole
            document = given.get("response", {})
        facts = document if isinstance(document, dict) else {}
        conversation = facts.get("conversation")
        name = conversation.get("id") if isinstance(conversation, dict) else conversation
        builder = Builder(name or facts.get("id") or where, facts.get("model"))
        _walk(_items(document) or [], builder, context)
        yield builder.build()


def _walk(items: list[dict[str, Any]], builder: Builder, context: Context) -> None:
    between = True  # whether the model has spoken since the last call
    for item in items:
        kind = item.get("type") or ("message" if "role" in item else None)
        if kind == "message" and item.get("role") in ("user", "human"):
            builder.user(text_of(item.get("content")))
            between = True
        elif kind in ("message", "reasoning"):
            between = True
            if kind == "message":
                builder.answer(text_of(item.get("content")))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            output = item.get("output")
            failed = str(output) if is_failure(output) else None
            builder.output(item.get("call_id"), [] if failed else results_of(output), failed)
            between = True
        elif kind in _CALLS:
            if between:
                builder.step()
            between = False
            _call(kind, item, builder, context)


def _call(kind: str, item: dict[str, Any], builder: Builder, context: Context) -> None:
    if kind == "function_call":
        if context.is_search(item.get("name")):
            builder.search(item.get("call_id"), item.get("name"), query_of(item.get("arguments")))
    elif kind == "web_search_call":
        action = item.get("action") or {}
        if action.get("type", "search") == "search":
            search = builder.search(
                item.get("id"), "web_search", query_of(action.get("queries") or action.get("query"))
            )
            search["results"] = [
                {**r, "type": "web"} for r in results_of(action.get("sources") or [])
            ]
    elif kind == "file_search_call":
        search = builder.search(item.get("id"), "file_search", query_of(item.get("queries")))
        search["results"] = [
            {**r, "type": "passage"} for r in map(_file_result, dicts(item.get("results")))
        ]
        if item.get("results") is None:
            context.note(
                f"{context.name}: a file search does not include its results; ask for "
                "include=file_search_call.results"
            )
    elif context.is_search(item.get("name")):
        search = builder.search(item.get("id"), item.get("name"), query_of(item.get("arguments")))
        if item.get("error"):
            search["error"] = str(item["error"])
        search["results"] = [] if item.get("error") else results_of(item.get("output"))


def _file_result(item: dict[str, Any]) -> dict[str, Any]:
    """Two passages of a file share its id: it is the document's, not the passage's."""
    found = {
        "id": item.get("file_id"),
        "ids": {"doc_id": item["file_id"]} if item.get("file_id") else None,
        "title": item.get("filename"),
        "content": item.get("text"),
        "score": item.get("score"),
        "fields": {
            k: v
            for k, v in (item.get("attributes") or {}).items()
            if isinstance(v, str | int | float)
        }
        or None,
    }
    return {k: v for k, v in found.items() if v is not None}
