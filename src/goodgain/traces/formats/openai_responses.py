"""OpenAI Responses: items of function calls and of hosted searches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Builder, Context, dicts, query_of, text_of
from goodgain.traces.format import TraceFormat
from goodgain.traces.results import is_failure, results_of

if TYPE_CHECKING:
    from goodgain.traces.format import Conversations, Documents

_CALLS = ("function_call", "web_search_call", "file_search_call", "mcp_call")
_TYPES = (*_CALLS, "function_call_output", "reasoning")


def _mismatch(document: Any) -> str:
    if _is_event(document):
        return ""
    items = _items(document)
    if items is None:
        return "no object 'response' and no list of items"
    if isinstance(document, dict) and document.get("object") == "response":
        return ""
    return (
        ""
        if any(i.get("type") in _TYPES for i in items)
        else "no item is a function_call or a hosted search"
    )


def _is_event(document: Any) -> bool:
    """Whether this is an event of a stream."""
    return isinstance(document, dict) and str(document.get("type", "")).startswith("response.")


def _items(document: Any) -> list[dict[str, Any]] | None:
    if isinstance(document, dict):
        inputs, outputs = document.get("input"), document.get("output")
        if not isinstance(outputs, list):
            outputs = document.get("items")
        if not isinstance(outputs, list):
            return None
        before = (
            [{"role": "user", "content": inputs}]
            if isinstance(inputs, str)
            else list(dicts(inputs))
        )
        return [*before, *dicts(outputs)]
    return list(dicts(document)) if isinstance(document, list) else None


def _read(documents: Documents, context: Context) -> Conversations:
    """One conversation per response, list of items, or stream."""
    for where, document in documents:
        response = document
        if _is_event(document):
            if document["type"] not in ("response.completed", "response.incomplete"):
                continue  # the last event of a stream holds all of it
            response = document.get("response", {})
        facts = response if isinstance(response, dict) else {}
        conversation = facts.get("conversation")
        name = conversation.get("id") if isinstance(conversation, dict) else conversation
        builder = Builder(name or facts.get("id") or where, facts.get("model"))
        _add_items(_items(response) or [], builder, context)
        yield builder.build()


def _add_items(items: list[dict[str, Any]], builder: Builder, context: Context) -> None:
    is_new = True  # whether the next call is of a new generation
    for item in items:
        kind = item.get("type") or ("message" if "role" in item else None)
        if kind == "message" and item.get("role") in ("user", "human"):
            builder.start_turn(text_of(item.get("content")))
            is_new = True
        elif kind in ("message", "reasoning"):
            is_new = True
            if kind == "message":
                builder.set_answer(text_of(item.get("content")))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            output = item.get("output")
            error = str(output) if is_failure(output) else None
            builder.add_output(item.get("call_id"), [] if error else results_of(output), error)
            is_new = True
        elif kind in _CALLS:
            if is_new:
                builder.start_iteration()
            is_new = False
            _add_call(kind, item, builder, context)


def _add_call(kind: str, item: dict[str, Any], builder: Builder, context: Context) -> None:
    name, query = item.get("name"), query_of(item.get("arguments"))
    if kind == "web_search_call":
        action = item.get("action") or {}
        if action.get("type", "search") == "search":
            query = query_of(action.get("queries") or action.get("query"))
            search = builder.add_search(item.get("id"), "web_search", query)
            search["results"] = [
                {**r, "type": "web"} for r in results_of(action.get("sources") or [])
            ]
    elif kind == "file_search_call":
        query = query_of(item.get("queries"))
        search = builder.add_search(item.get("id"), "file_search", query)
        search["results"] = [
            {**r, "type": "passage"} for r in map(_file_result, dicts(item.get("results")))
        ]
        if item.get("results") is None:
            context.note(
                f"{context.name}: a file search has no results; request them with "
                "include=file_search_call.results"
            )
    elif not context.is_search(name):
        return
    elif kind == "function_call":
        builder.add_search(item.get("call_id"), name, query)
    else:  # mcp_call
        search = builder.add_search(item.get("id"), name, query)
        if item.get("error"):
            search["error"] = str(item["error"])
        search["results"] = [] if item.get("error") else results_of(item.get("output"))


def _file_result(item: dict[str, Any]) -> dict[str, Any]:
    """Passages of one file share its id: it is the document's, not the passage's."""
    attributes = (item.get("attributes") or {}).items()
    result = {
        "id": item.get("file_id"),
        "ids": {"doc_id": item["file_id"]} if item.get("file_id") else None,
        "title": item.get("filename"),
        "content": item.get("text"),
        "score": item.get("score"),
        "fields": {k: v for k, v in attributes if isinstance(v, str | int | float)} or None,
    }
    return {k: v for k, v in result.items() if v is not None}


FORMAT = TraceFormat("openai-responses", "OpenAI Responses", _mismatch, _read)
