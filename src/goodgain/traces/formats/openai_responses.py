"""OpenAI Responses: items of function calls and of hosted searches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Builder
from goodgain.traces.format import TraceFormat
from goodgain.traces.results import find_results
from goodgain.traces.values import dicts, text_of

if TYPE_CHECKING:
    from goodgain.traces.context import Context
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
        builder = Builder(name or facts.get("id") or where, facts.get("model"), context)
        _add_items(_items(response) or [], builder, where)
        yield builder.build()


def _add_items(items: list[dict[str, Any]], builder: Builder, where: str) -> None:
    is_new = True  # whether the next call is of a new generation
    for number, item in enumerate(items):
        place = f"{where} item {number + 1}"
        builder.add_item("message", place)
        kind = item.get("type") or ("message" if "role" in item else None)
        if kind == "message" and item.get("role") in ("user", "human"):
            builder.start_turn(text_of(item.get("content")))
            is_new = True
        elif kind in ("message", "reasoning"):
            is_new = True
            if kind == "message":
                builder.add_answer(text_of(item.get("content")))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            builder.add_output(item.get("call_id"), item.get("output"), where=place)
            is_new = True
        elif kind in _CALLS:
            if is_new:
                builder.start_iteration()
            is_new = False
            builder.drop_answer()
            _add_call(kind, item, builder, place)


def _add_call(kind: str, item: dict[str, Any], builder: Builder, where: str) -> None:
    name, call, arguments = item.get("name"), item.get("call_id"), item.get("arguments")
    if kind == "function_call":
        builder.add_call(call, name, arguments, where=where)
    elif kind == "mcp_call":
        record = builder.add_call(item.get("id"), name, arguments, where=where)
        if item.get("output") is not None or item.get("error"):
            builder.add_output(record, item.get("output"), where=where, error=item.get("error"))
    elif kind == "web_search_call":
        action = item["action"] if isinstance(item.get("action"), dict) else {}
        step = action.get("type", "search")
        if step != "search":
            builder.add_call(item.get("id"), str(step), action, where=where)
            return
        query = action.get("queries") or action.get("query")
        record = builder.add_call(
            item.get("id"), "web_search", query, where=where, kind="hosted search"
        )
        if action.get("sources") is not None:
            sources = find_results(action["sources"]).results
            results = [{**r, "type": "web"} for r in sources]
            builder.add_output(record, action["sources"], where=where, results=results)
    else:  # file_search_call
        record = builder.add_call(
            item.get("id"), "file_search", item.get("queries"), where=where, kind="hosted search"
        )
        if item.get("results") is not None:
            results = [{**_file_result(r), "type": "passage"} for r in dicts(item["results"])]
            builder.add_output(record, item["results"], where=where, results=results)
        else:
            builder.context.note(
                f"{builder.context.name}: a file search has no results; request them with "
                "include=file_search_call.results"
            )


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
