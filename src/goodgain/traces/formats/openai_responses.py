"""OpenAI Responses: items of function calls and of hosted searches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Builder
from goodgain.traces.chat import is_system_text
from goodgain.traces.citations import citations_of
from goodgain.traces.context import Context
from goodgain.traces.format import TraceFormat
from goodgain.traces.results import find_results
from goodgain.traces.telemetry import text_in
from goodgain.traces.threads import Item, Piece, key_of, threads
from goodgain.traces.usage import read_usage
from goodgain.traces.values import dicts, first_of, text_of

if TYPE_CHECKING:
    from goodgain.traces.calls import CallRecord
    from goodgain.traces.format import Conversations, Documents

_CALLS = ("function_call", "custom_tool_call", "web_search_call", "file_search_call", "mcp_call")
_TYPES = (*_CALLS, "function_call_output", "reasoning")


def _mismatch(document: Any) -> str:
    listed = _items(document)
    if listed is None:
        return "no object 'response' and no list of items"
    if isinstance(document, dict) and document.get("object") == "response":
        return ""
    return (
        ""
        if any(i.get("type") in _TYPES for side in listed for i in dicts(side))
        else "no item is a function_call or a hosted search"
    )


def _items(document: Any) -> tuple[list[Any], list[Any]] | None:
    """The items of the input and of the output."""
    if isinstance(document, dict):
        response = document.get("response")
        request = document.get("request")
        holder = response if isinstance(response, dict) else document
        outputs = holder.get("output")
        if not isinstance(outputs, list):
            outputs = holder.get("items")
        if not isinstance(outputs, list):
            return None
        inputs = first_of(request if isinstance(request, dict) else {}, "input")
        inputs = first_of(document, "input") if inputs is None else inputs
        before = (
            [{"role": "user", "content": inputs}]
            if isinstance(inputs, str)
            else inputs
            if isinstance(inputs, list)
            else []
        )
        return before, outputs
    return ([], document) if isinstance(document, list) else None


def _piece(where: str, document: Any) -> Piece:
    """A response with its input, or a list of items."""
    facts = document if isinstance(document, dict) else {}
    response = facts.get("response")
    holder: dict[str, Any] = response if isinstance(response, dict) else facts
    inputs, outputs = _items(document) or ([], [])
    items = [
        Item(value=item, where=f"{where} item {n}") for n, item in enumerate([*inputs, *outputs], 1)
    ]
    if outputs and isinstance(document, dict):
        first = items[len(inputs)]
        first.usage, first.model = read_usage(holder.get("usage")), holder.get("model")
        first.is_reply = True
    request = facts.get("request")
    previous = first_of(holder, "previous_response_id")
    if previous is None and isinstance(request, dict):
        previous = request.get("previous_response_id")
    model = holder.get("model")
    return Piece(
        where=where,
        items=items,
        key=key_of(holder) or key_of(facts),
        id=str(holder["id"]) if isinstance(holder.get("id"), str) else None,
        previous=str(previous) if isinstance(previous, str) and previous else None,
        system=model if isinstance(model, str) else None,
    )


def _read(documents: Documents, context: Context) -> Conversations:
    """One conversation per response, list of items, or stream, or per thread of responses."""
    for thread in threads(documents, _piece, context):
        builder = thread.builder(context)
        _add_items(thread.items, builder)
        yield builder.build()


def _add_items(items: list[Item], builder: Builder) -> None:
    is_new = True  # whether the next call is of a new generation
    for item in items:
        value = item.value
        if not isinstance(value, dict):
            builder.add_item("message", item.where, "unusable", "not an object")
            continue
        builder.add_item("message", item.where)
        if item.is_reply:
            builder.start_iteration(**builder.context.spent(item.usage, item.model))
            is_new = False
        kind = value.get("type") or ("message" if "role" in value else None)
        if kind == "message" and value.get("role") in ("user", "human"):
            text = text_of(value.get("content"))
            if not is_system_text(text):
                builder.start_turn(text)
            is_new = True
        elif kind == "reasoning":
            is_new = is_new or not item.is_reply
            builder.drop_answer()
        elif kind == "message" and value.get("role") in (None, "assistant"):
            is_new = is_new or not item.is_reply
            if value.get("phase") != "commentary":
                builder.add_answer(text_of(value.get("content")), citations_of(value))
        elif str(kind).endswith("_call_output"):
            builder.add_output(value.get("call_id"), value.get("output"), where=item.where)
            is_new = True
        elif str(kind).endswith("_call"):
            if is_new:
                builder.start_iteration()
            is_new = False
            builder.drop_answer()
            _add_call(str(kind), value, builder, item.where)


def hosted_calls(items: list[Any]) -> list[CallRecord]:
    """The calls among the items of a response that the provider itself has made, with their outputs."""
    hosted = [i for i in dicts(items) if str(i.get("type")).endswith("_call")]
    builder = Builder("", None, Context(name=""))
    for item in hosted:
        if item["type"] not in ("function_call", "custom_tool_call"):
            _add_call(item["type"], item, builder, "")
    return builder.calls


def _add_call(kind: str, item: dict[str, Any], builder: Builder, where: str) -> None:
    name, call, arguments = item.get("name"), item.get("call_id"), item.get("arguments")
    if kind in ("function_call", "custom_tool_call"):
        arguments = item.get("input") if arguments is None else arguments
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
        if item.get("status") == "failed":
            builder.add_output(record, None, where=where, error="the search failed")
        elif action.get("sources") is not None:
            sources = find_results(action["sources"]).results
            results = [{**r, "type": "web"} for r in sources]
            builder.add_output(record, action["sources"], where=where, results=results)
    elif kind != "file_search_call":  # code_interpreter_call, computer_call, ...
        arguments = first_of(item, "arguments", "action", "code", "input", "operation")
        record = builder.add_call(
            call or item.get("id"), name or kind.removesuffix("_call"), arguments, where=where
        )
        output = first_of(item, "output", "outputs", "result")
        if output is not None:
            builder.add_output(record, output, where=where)
    else:
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
    attributes = item["attributes"].items() if isinstance(item.get("attributes"), dict) else ()
    result = {
        "id": text_in(item, "file_id"),
        "ids": {"doc_id": text_in(item, "file_id")} if text_in(item, "file_id") else None,
        "title": text_in(item, "filename"),
        "content": text_in(item, "text"),
        "score": score if isinstance(score := item.get("score"), int | float) else None,
        "fields": {k: v for k, v in attributes if isinstance(v, str | int | float)} or None,
    }
    return {k: v for k, v in result.items() if v is not None}


FORMAT = TraceFormat("openai-responses", "OpenAI Responses", _mismatch, _read)
