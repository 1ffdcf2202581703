"""Chat Completions responses of OpenAI, OpenRouter, Groq, Perplexity and others, alone or with their requests.

A loop logged as one response a line is one conversation: each request repeats what was said before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Builder
from goodgain.traces.chat import add_messages
from goodgain.traces.format import TraceFormat
from goodgain.traces.items import text_name
from goodgain.traces.values import dicts, first_of

if TYPE_CHECKING:
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents

_SESSIONS = ("conversation", "conversation_id", "session_id", "thread_id", "trace_id")


def _mismatch(document: Any) -> str:
    response = _response(document)
    if response is None:
        return "no response with choices"
    return "" if any(isinstance(c.get("message"), dict) for c in dicts(response["choices"])) else "no choice has a message"


def _response(document: Any) -> dict[str, Any] | None:
    """The response in a document, which may also hold the request."""
    if not isinstance(document, dict):
        return None
    for value in (document, *(document.get(k) for k in ("response", "output", "completion", "body"))):
        if isinstance(value, dict) and isinstance(value.get("choices"), list):
            return value
        if isinstance(value, dict) and isinstance(value.get("body"), dict):  # OpenAI's batches
            return _response(value["body"])
    return None


def _request(document: dict[str, Any]) -> list[Any]:
    """The messages that were sent."""
    for value in (document, *(document.get(k) for k in ("request", "input", "kwargs", "body"))):
        if isinstance(value, dict) and isinstance(value.get("messages"), list):
            return list(value["messages"])
    return []


def _read(documents: Documents, context: Context) -> Conversations:
    """One conversation per loop: responses of a session, or requests that continue one another."""
    loops: dict[Any, _Loop] = {}
    last: _Loop | None = None
    for where, document in documents:
        response = _response(document) or {}
        request = _request(document)
        session = text_name(document, *_SESSIONS)
        if session is not None:
            loop = loops.get(session)
            if loop is None:
                loop = loops[session] = _Loop(session, response, context)
        elif last is not None and last.is_continued_by(request):
            loop = last
        else:
            if last is not None:
                yield last.builder.build()
            name = text_name(response, "id") or where
            loop = last = _Loop(name, response, context)
        loop.add(request, response, where)
    if last is not None:
        yield last.builder.build()
    for loop in loops.values():
        yield loop.builder.build()


class _Loop:
    """A conversation as its requests and responses come."""

    def __init__(self, name: Any, response: dict[str, Any], context: Context) -> None:
        self.builder = Builder(name, response.get("model"), context)
        self.messages: list[Any] = []  # what was said so far

    def is_continued_by(self, request: list[Any]) -> bool:
        """Whether a request repeats what was said so far."""
        number = len(self.messages)
        return 0 < number <= len(request) and all(
            _same(a, b) for a, b in zip(self.messages, request, strict=False)
        )

    def add(self, request: list[Any], response: dict[str, Any], where: str) -> None:
        new = request[len(self.messages) :] if self.is_continued_by(request) else request
        add_messages(new, self.builder, where)
        choices = list(dicts(response.get("choices")))
        for number, choice in enumerate(choices):
            message = choice.get("message")
            place = f"{where} choices[{number}]"
            if number or not isinstance(message, dict):
                self.builder.add_item("message", place, "read", "another choice")
                continue
            usage = {"usage": response["usage"]} if response.get("usage") else {}
            model = {"model": response["model"]} if response.get("model") else {}
            if _hosted(message, response):
                self._add_hosted(message, response, place)
            else:
                add_messages([{**message, **usage, **model}], self.builder, place)
            self.messages = [*request, message]

    def _add_hosted(self, message: dict[str, Any], response: dict[str, Any], where: str) -> None:
        """A reply for which the provider searched: its searches, then its text."""
        from goodgain.traces.citations import citations_of
        from goodgain.traces.usage import read_usage
        from goodgain.traces.values import text_of

        builder, usage = self.builder, read_usage(response.get("usage"))
        builder.add_item("message", where)
        builder.start_iteration(tokens=usage.tokens, cost=usage.cost)
        builder.drop_answer()
        for number, (tool, query, value, results) in enumerate(_searches(message, response)):
            if number:
                builder.start_iteration()
            place = f"{where} search {number + 1}"
            hosted = "hosted search" if tool in _SEARCHES else None
            record = builder.add_call(None, tool, query, where=place, kind=hosted)
            if value is not None:
                builder.add_output(record, value, where=place, results=results)
        builder.add_answer(text_of(message.get("content")), citations_of(message))


def _same(said: Any, sent: Any) -> bool:
    """Whether two messages are the same one; SDKs add and drop empty fields."""
    if not isinstance(said, dict) or not isinstance(sent, dict) or said.get("role") != sent.get("role"):
        return False
    ids = [[c.get("id") for c in dicts(m.get("tool_calls"))] for m in (said, sent)]
    return ids[0] == ids[1] and (said.get("content") or "") == (sent.get("content") or "")


_SEARCHES = ("web_search", "search", "browser_search", "browser.search")
_KEYS = ("search_results", "citations")  # Perplexity, xAI


def _hosted(message: dict[str, Any], response: dict[str, Any]) -> bool:
    return bool(
        any(isinstance(response.get(key), list) for key in _KEYS)
        or message.get("executed_tools")
        or message.get("reasoning_steps")
        or any(a.get("type") == "url_citation" for a in dicts(message.get("annotations")))
    )


def _searches(
    message: dict[str, Any], response: dict[str, Any]
) -> list[tuple[str, Any, Any, list[dict[str, Any]] | None]]:
    """(tool, query, value, results) of each search or tool that the provider ran."""
    steps = [
        (step["web_search"].get("search_keywords"), step["web_search"].get("search_results"))
        for step in dicts(message.get("reasoning_steps"))
        if isinstance(step.get("web_search"), dict)
    ]
    if steps:
        return [("web_search", query, value, None) for query, value in steps]
    tools = list(dicts(message.get("executed_tools")))  # Groq
    if tools:
        return [(str(t.get("type")), t.get("arguments"), _groq_output(t), None) for t in tools]
    sources = first_of(response, *_KEYS)
    if isinstance(sources, list):
        results = [{"url": s} if isinstance(s, str) else _page(s) for s in sources]
        return [("web_search", None, sources, [r for r in results if r])]
    pages = [
        a["url_citation"] if isinstance(a.get("url_citation"), dict) else a
        for a in dicts(message.get("annotations"))
        if a.get("type") == "url_citation"
    ]
    if any(p.get("content") for p in pages):  # OpenRouter: what the model was given
        unique = {str(p.get("url")): _page(p) for p in pages}
        return [("web_search", None, pages, [r for r in unique.values() if r])]
    return [("web_search", None, None, None)]  # only what was cited is known


def _groq_output(tool: dict[str, Any]) -> Any:
    found = tool.get("search_results")
    pages = found.get("results") if isinstance(found, dict) else found
    return pages if pages else tool.get("output")


def _page(page: Any) -> dict[str, Any]:
    names = ("url", "title", "snippet", "content")
    fields = {k: str(page[k]) for k in names if isinstance(page, dict) and page.get(k)}
    return {**fields, "type": "web"} if fields else {}


FORMAT = TraceFormat("chat-completions", "Chat Completions responses", _mismatch, _read)
