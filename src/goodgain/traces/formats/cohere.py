"""Cohere chat: messages and responses of version 2, histories and responses of version 1."""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Builder
from goodgain.traces.format import TraceFormat
from goodgain.traces.items import messages_in, piece_of_messages, read_threads, text_name
from goodgain.traces.usage import read_usage
from goodgain.traces.values import decode_json, dicts, first_of, text_of

if TYPE_CHECKING:
    from goodgain.traces.calls import CallRecord
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents
    from goodgain.traces.threads import Item, Piece

_HISTORY = ("USER", "CHATBOT", "TOOL", "SYSTEM")
_REPLY = ("citations", "documents", "search_results", "search_queries", "tool_calls")


def _mismatch(document: Any) -> str:
    if isinstance(document, dict):
        if _is_version_1(document):
            return ""
        request, response = document.get("request"), document.get("response")
        reply = response if isinstance(response, dict) else document
        if isinstance(reply.get("message"), dict) and "finish_reason" in reply:
            return ""
        document = (request if isinstance(request, dict) else document).get("messages")
    if not isinstance(document, list):
        return "no messages, no chat_history and no response"
    if any(m.get("role") in _HISTORY and "message" in m for m in dicts(document)):
        return ""
    known = any("tool_plan" in m or _has_documents(m) for m in dicts(document))
    return "" if known else "no message with a tool_plan or with documents"


def _has_documents(message: dict[str, Any]) -> bool:
    blocks = dicts(message.get("content"))
    return any(b.get("type") == "document" and isinstance(b.get("document"), dict) for b in blocks)


def _is_reply_1(document: dict[str, Any]) -> bool:
    return (
        "generation_id" in document
        and isinstance(document.get("text"), str)
        and any(name in document for name in _REPLY)
    )


def _read(documents: Documents, context: Context) -> Conversations:
    """One conversation per list of messages, or per thread of requests and responses."""
    for is_first_version, group in groupby(documents, lambda pair: _is_version_1(pair[1])):
        if not is_first_version:
            yield from read_threads(
                group, _piece, context, lambda builder: partial(_add_message, builder)
            )
            continue
        for where, facts in group:
            name = text_name(facts, "conversation_id", "conversation", "id", "generation_id")
            builder = Builder(name or where, facts.get("model"), context)
            _add_version_1(facts, builder, where)
            yield builder.build()


def _is_version_1(document: Any) -> bool:
    return isinstance(document, dict) and (
        isinstance(document.get("chat_history"), list) or _is_reply_1(document)
    )


def _piece(where: str, document: Any) -> Piece:
    facts = document if isinstance(document, dict) else {}
    request = facts["request"] if isinstance(facts.get("request"), dict) else facts
    response = facts["response"] if isinstance(facts.get("response"), dict) else facts
    usage = response.get("usage")
    tokens = usage.get("tokens") if isinstance(usage, dict) else None
    return piece_of_messages(
        where,
        document,
        request.get("messages") if facts else document,
        reply=response.get("message"),
        usage=read_usage(tokens, usage),
        name=text_name(facts, "id") or text_name(response, "id"),
        system=first_of(request, "model") or first_of(facts, "model"),
    )


# --- version 2 ---


def _add_message(builder: Builder, item: Item) -> None:
    message, where = item.value, item.where
    role = str(message.get("role")).lower()
    if role == "user":
        builder.start_turn(text_of(message.get("content")))
    elif role == "assistant":
        usage = item.usage or read_usage(message.get("usage"))
        builder.start_iteration(**builder.context.spent(usage, builder.system))
        builder.drop_answer()
        calls = list(dicts(message.get("tool_calls")))
        for number, call in enumerate(calls):
            function = call.get("function")
            function = function if isinstance(function, dict) else call
            builder.add_call(
                call.get("id"),
                function.get("name"),
                function.get("arguments", function.get("parameters")),
                where=f"{where}.tool_calls[{number}]",
            )
        if not calls:
            builder.add_answer(text_of(message.get("content")), _citations(message))
    elif role == "tool":
        value = _tool_content(message.get("content"))
        builder.add_output(message.get("tool_call_id"), value, where=where)


def _tool_content(content: Any) -> Any:
    """The data of the documents in a tool message; a single text as it is."""
    blocks = list(dicts(content))
    if not blocks:
        return content
    values = [_block_value(block) for block in blocks]
    return values[0] if len(values) == 1 and not isinstance(values[0], dict) else values


def _block_value(block: dict[str, Any]) -> Any:
    document = block.get("document")
    if not isinstance(document, dict):
        return block.get("text", block)
    data = decode_json(document.get("data"))
    if isinstance(data, dict) and set(data) <= {"output", "result", "error"} and len(data) == 1:
        return decode_json(next(iter(data.values())))
    more = {"id": document["id"]} if document.get("id") else {}
    return {**more, **data} if isinstance(data, dict) else data


def _citations(message: dict[str, Any]) -> list[dict[str, Any]]:
    citations = []
    for citation in dicts(message.get("citations")):
        for source in dicts(citation.get("sources")):
            inner = source.get("document") or source.get("tool_output")
            inner = inner if isinstance(inner, dict) else {}
            fields = {
                "id": inner.get("id") or source.get("id"),
                "url": inner.get("url"),
                "title": inner.get("title"),
                "quote": citation.get("text"),
            }
            citations.append({k: str(v) for k, v in fields.items() if v})
    return citations


# --- version 1 ---


def _add_version_1(facts: dict[str, Any], builder: Builder, where: str) -> None:
    history = _History(builder)
    for place, item in messages_in(facts.get("chat_history"), builder, where, "chat_history"):
        history.add(item, place)
    if isinstance(facts.get("message"), str) and facts["message"]:
        builder.add_item("message", f"{where} message")
        builder.start_turn(facts["message"])
    history.add_outputs(facts.get("tool_results"), f"{where} tool_results")
    response = facts["response"] if isinstance(facts.get("response"), dict) else facts
    if isinstance(response.get("text"), str):
        builder.add_item("message", f"{where} text")
        _add_reply_1(response, history, where)


class _History:
    """Version 1 has no ids: a result repeats the call that it answers."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.pending: list[tuple[Any, CallRecord]] = []

    def add(self, item: dict[str, Any], where: str) -> None:
        role = str(item.get("role")).upper()
        if role == "USER":
            self.builder.start_turn(text_of(item.get("message")))
        elif role == "CHATBOT":
            self.builder.start_iteration()
            self.builder.drop_answer()
            if not self.add_calls(item.get("tool_calls"), where):
                self.builder.add_answer(text_of(item.get("message")))
        self.add_outputs(item.get("tool_results"), where)

    def add_calls(self, calls: Any, where: str) -> int:
        listed = list(dicts(calls))
        for number, call in enumerate(listed):
            place = f"{where}.tool_calls[{number}]"
            record = self.builder.add_call(
                None, call.get("name"), call.get("parameters"), where=place
            )
            self.pending.append((_question(call), record))
        return len(listed)

    def add_outputs(self, results: Any, where: str) -> None:
        for number, result in enumerate(dicts(results)):
            questions = [question for question, _ in self.pending]
            question = _question(result.get("call"))
            record = None
            if question in questions:
                record = self.pending.pop(questions.index(question))[1]
            self.builder.add_output(record, result.get("outputs"), where=f"{where}[{number}]")


def _question(call: Any) -> Any:
    fields = call if isinstance(call, dict) else {}
    return fields.get("name"), fields.get("parameters")


def _add_reply_1(response: dict[str, Any], history: _History, where: str) -> None:
    builder = history.builder
    meta = response.get("meta")
    used = [meta.get("tokens"), meta.get("billed_units")] if isinstance(meta, dict) else []
    builder.start_iteration(**builder.context.spent(read_usage(*used), builder.system))
    builder.drop_answer()
    documents = {str(d.get("id")): d for d in dicts(response.get("documents"))}
    for number, search in enumerate(dicts(response.get("search_results"))):
        place = f"{where} search_results[{number}]"
        query = search.get("search_query")
        text = query.get("text") if isinstance(query, dict) else query
        connector = search.get("connector")
        tool = connector.get("id") if isinstance(connector, dict) else None
        record = builder.add_call(
            None, tool or "web-search", text, where=place, kind="hosted search"
        )
        error = search.get("error_message")
        pages = [documents[i] for i in map(str, search.get("document_ids") or []) if i in documents]
        builder.add_output(record, pages, where=place, error=error)
    if not response.get("search_results"):
        for number, query in enumerate(dicts(response.get("search_queries"))):
            place = f"{where} search_queries[{number}]"
            builder.add_call(
                None, "web-search", query.get("text"), where=place, kind="hosted search"
            )
    if not history.add_calls(response.get("tool_calls"), where):
        cited = [i for c in dicts(response.get("citations")) for i in c.get("document_ids") or []]
        pages = [documents[str(i)] for i in dict.fromkeys(cited) if str(i) in documents]
        names = ("id", "url", "title")
        builder.add_answer(
            response["text"], [{k: str(p[k]) for k in names if p.get(k)} for p in pages]
        )


FORMAT = TraceFormat("cohere", "Cohere chat", _mismatch, _read)
