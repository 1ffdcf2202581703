"""Chat Completions whose provider searched: Perplexity, Groq, OpenRouter, xAI, Azure's "on your data"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Builder
from goodgain.traces.chat import add_items, messages_of, reply_items
from goodgain.traces.citations import citations_of, numbered_citations
from goodgain.traces.format import TraceFormat
from goodgain.traces.threads import Item, Piece, key_of, threads
from goodgain.traces.usage import read_usage
from goodgain.traces.values import decode_json, dicts, first_of, text_of

if TYPE_CHECKING:
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents

_SOURCES = ("search_results", "citations")  # Perplexity; xAI
_MINE = "search_results_of_the_response"  # beside the message, for its item
_SEARCHES = ("search", "web_search", "browser_search", "browser.search")  # of Groq


def _mismatch(document: Any) -> str:
    response = _response(document)
    if response is None:
        return "no response with choices"
    message = _message(response)
    if any(isinstance(response.get(name), list) for name in _SOURCES) or _is_hosted(message):
        return ""
    return "no search by the provider: no citations, search_results or executed_tools"


def _response(document: Any) -> dict[str, Any] | None:
    """The response, which may stand beside its request."""
    if not isinstance(document, dict):
        return None
    for value in (document, document.get("response")):
        if isinstance(value, dict) and isinstance(value.get("choices"), list):
            return value
    return None


def _message(response: dict[str, Any]) -> dict[str, Any]:
    choice = next(iter(dicts(response["choices"])), {})
    message = choice.get("message")
    return message if isinstance(message, dict) else {}


def _is_hosted(message: dict[str, Any]) -> bool:
    return bool(
        _MINE in message
        or message.get("executed_tools")
        or message.get("reasoning_steps")
        or _documents(message) is not None
        or any(a.get("type") == "url_citation" for a in dicts(message.get("annotations")))
    )


def _read(documents: Documents, context: Context) -> Conversations:
    """One conversation per response with its request, or per thread of them."""
    for thread in threads(documents, _piece, context):
        builder = Builder(thread.name, thread.system, context)
        if thread.repeated:
            rule = "repeated from an earlier line"
            builder.add_item("message", thread.where, "duplicate", rule, thread.repeated)
        for item in thread.items:
            if isinstance(item.value, dict) and _is_hosted(item.value):
                _add_reply(item, builder)
            else:
                add_items([item], builder)
        yield builder.build()


def _piece(where: str, document: Any) -> Piece:
    facts = document if isinstance(document, dict) else {}
    response = _response(document) or {}
    messages = messages_of(document) or []
    items = [Item(value=m, where=f"{where} messages[{n}]") for n, m in enumerate(messages)]
    replies = reply_items(facts, where)
    sources = first_of(response, *_SOURCES)
    if replies and isinstance(sources, list):
        replies[-1].value = {**replies[-1].value, _MINE: sources}
    name = response.get("id")
    return Piece(
        where=where,
        items=[*items, *replies],
        key=key_of(document),
        name=name if isinstance(name, str) else None,
        system=response.get("model"),
    )


def _add_reply(item: Item, builder: Builder) -> None:
    """The searches of the provider, each a step, then the answer."""
    message = item.value
    builder.add_item("message", item.where)
    spent = builder.context.spent(item.usage or read_usage(message.get("usage")), item.model)
    builder.start_iteration(**spent)
    builder.drop_answer()
    for number, (tool, query, value, results) in enumerate(_calls(message)):
        if number:
            builder.start_iteration()
        place = f"{item.where} search {number + 1}"
        kind = "hosted search" if tool in _SEARCHES else None
        record = builder.add_call(None, tool, query, where=place, kind=kind)
        if value is not None:
            builder.add_output(record, value, where=place, results=results)
    text = text_of(message.get("content"))
    numbered = numbered_citations(text, _numbered_sources(message))
    builder.add_answer(text, [*citations_of(message), *numbered])


def _numbered_sources(message: dict[str, Any]) -> list[Any]:
    """The list that the markers of the answer number: Perplexity's sources, Azure's citations."""
    context = message.get("context")
    cited = context.get("citations") if isinstance(context, dict) else None
    sources = message.get(_MINE, cited)
    return sources if isinstance(sources, list) else []


def _calls(message: dict[str, Any]) -> list[tuple[str, Any, Any, list[dict[str, Any]] | None]]:
    """(tool, arguments, output, results) of what the provider ran; no output where it is not known."""
    thoughts = dicts(message.get("reasoning_steps"))  # of Perplexity's pro search
    steps = [t["web_search"] for t in thoughts if isinstance(t.get("web_search"), dict)]
    if steps:
        return [
            ("web_search", s.get("search_keywords"), s.get("search_results"), None) for s in steps
        ]
    tools = list(dicts(message.get("executed_tools")))
    if tools:
        return [(str(t.get("type")), t.get("arguments"), _groq_output(t), None) for t in tools]
    if _MINE in message:  # of all its queries, which it does not name
        pages = [{"url": s} if isinstance(s, str) else _page(s) for s in message[_MINE]]
        return [("web_search", None, message[_MINE], [p for p in pages if p])]
    documents = _documents(message)
    if documents is not None:
        return [("web_search", decode_json(message["context"].get("intent")), documents, None)]
    cited = [
        a["url_citation"] if isinstance(a.get("url_citation"), dict) else a
        for a in dicts(message.get("annotations"))
        if a.get("type") == "url_citation"
    ]
    if any(c.get("content") for c in cited):  # OpenRouter: what the model was given
        pages = list({str(c.get("url")): _page(c) for c in cited}.values())
        return [("web_search", None, cited, [p for p in pages if p])]
    return [("web_search", None, None, None)] if cited else []  # other sources are not recorded


def _documents(message: dict[str, Any]) -> list[Any] | None:
    """What Azure retrieved from the user's data for the model."""
    context = message.get("context")
    if not isinstance(context, dict):
        return None
    documents = first_of(context, "all_retrieved_documents", "citations")
    return documents if isinstance(documents, list) else None


def _groq_output(tool: dict[str, Any]) -> Any:
    listed = decode_json(tool.get("search_results"))
    pages = listed.get("results") if isinstance(listed, dict) else listed
    return pages or tool.get("output")


def _page(page: Any) -> dict[str, Any]:
    names = ("url", "title", "snippet", "content")
    fields = {k: str(page[k]) for k in names if isinstance(page, dict) and page.get(k)}
    return {**fields, "type": "web"} if fields else {}


FORMAT = TraceFormat("hosted-chat", "Chat Completions with hosted search", _mismatch, _read)
