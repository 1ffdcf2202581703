"""Chats with tool calls: what the formats of messages share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import (
    Builder,
    Context,
    decode_json,
    dicts,
    first_of,
    query_of,
    text_of,
)
from goodgain.traces.results import is_failure, results_of

if TYPE_CHECKING:
    from goodgain.traces.format import Conversations, Documents

_ROLES = {
    "human": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "function": "tool",
    "developer": "system",
}
_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.S)
_RESPONSE = re.compile(r"<tool_response>\s*(.*?)\s*(?:</tool_response>|\Z)", re.S)
_ACTION = re.compile(r"^Action(?: \d+)?:\s*(?P<tool>\w+)\[(?P<query>.*)\]\s*$", re.M)
_OBSERVATION = re.compile(r"^Observation(?: \d+)?:\s*")
_BATCH = re.compile(r"^A (?:Google )?search for '(?P<query>.*?)' found \d+ results?:", re.M)


def messages_of(document: Any) -> list[dict[str, Any]] | None:
    """The messages of a chat; None if there is no list of them."""
    messages = document
    if isinstance(document, dict):
        messages = document.get("messages", document.get("traj"))
        if messages is None and isinstance(document.get("values"), dict):  # a LangGraph state
            messages = document["values"].get("messages")
    if not isinstance(messages, list) or not messages:
        return None
    return messages if all(isinstance(m, dict) for m in messages) else None


def read_chats(documents: Documents, context: Context) -> Conversations:
    """One conversation per document."""
    for where, document in documents:
        facts = document if isinstance(document, dict) else {}
        names = ("conversation", "conversation_id", "session_id", "thread_id", "id", "query_id")
        name = next((facts[n] for n in names if isinstance(facts.get(n), str | int)), where)
        builder = Builder(
            name, facts.get("system") if isinstance(facts.get("system"), str) else None
        )
        add_messages(messages_of(document) or [], builder, context)
        yield builder.build()


def add_messages(messages: Any, builder: Builder, context: Context) -> None:
    """Add the turns, searches and answers of a chat to a conversation."""
    pending: list[tuple[str, bool]] = []  # calls in tags and whether they search, answered in order
    for number, item in enumerate(dicts(messages)):
        message = {**item, **item["data"]} if isinstance(item.get("data"), dict) else item
        role = message.get("role") or _ROLES.get(str(message.get("type")), str(message.get("type")))
        role = _ROLES.get(role, role)
        text = text_of(message.get("content"))
        if role == "user":
            if _add_responses(text, pending, builder):
                pending = []
            else:
                builder.start_turn(text)
        elif role == "assistant":
            builder.start_iteration()
            calls = _calls(message)
            for call in calls:
                if context.is_search(call["name"]):
                    builder.add_search(call["id"], call["name"], query_of(call["arguments"]))
            pending += _add_tagged_calls(text, number, builder, context)
            if text and not calls and "<tool_call>" not in text:
                builder.set_answer(text)
        elif role == "tool":
            _add_tool_message(message, text, builder)


def _add_tagged_calls(
    text: str, number: int, builder: Builder, context: Context
) -> list[tuple[str, bool]]:
    """Add the calls in tags and ReAct actions of an assistant's text."""
    calls: list[tuple[str, Any, str | None]] = []
    for n, tag in enumerate(_CALL.findall(text)):
        inner = decode_json(tag)
        name = inner.get("name") if isinstance(inner, dict) else None
        query = query_of(inner.get("arguments")) if isinstance(inner, dict) else None
        calls.append((f"tag {number} {n}", name, query))
    calls += [(f"action {number}", a["tool"], a["query"]) for a in _ACTION.finditer(text)]
    pending = []
    for call, name, query in calls:
        searching = context.is_search(name)
        pending.append((call, searching))
        if searching:
            builder.add_search(call, name, query)
    return pending


def _add_responses(text: str, pending: list[tuple[str, bool]], builder: Builder) -> bool:
    """Add the outputs in a user's message; whether it holds any."""
    responses = _RESPONSE.findall(text)
    observation = _OBSERVATION.match(text)
    if responses:
        for (call, searching), response in zip(pending, responses, strict=False):
            if searching:
                _add_response(builder, call, response)
    elif observation:
        for call, searching in pending:
            if searching:
                builder.add_output(call, results_of(text[observation.end() :]))
    return bool(responses or observation)


def _add_response(builder: Builder, call: str, response: str) -> None:
    """One call may batch several queries, each answered under a heading of its own."""
    headings = list(_BATCH.finditer(response))
    if len(headings) < 2:
        error = response[:200] if is_failure(response) else None
        builder.add_output(call, results_of(response), error)
        return
    ends = [h.start() for h in headings[1:]] + [len(response)]
    builder.add_batch(
        call,
        [
            (heading["query"], results_of(response[heading.end() : end]))
            for heading, end in zip(headings, ends, strict=True)
        ],
    )


def _add_tool_message(message: dict[str, Any], text: str, builder: Builder) -> None:
    content = message.get("content")
    output = message.get("artifact") or content
    error = message.get("error") or (
        text if message.get("status") == "error" or is_failure(content) else None
    )
    results = [] if error else results_of(output)
    if not results and not error and output is not content:
        results = results_of(content)
    if isinstance(error, dict):
        error = error.get("message") or error.get("type")
    builder.add_output(message.get("tool_call_id"), results, str(error) if error else None)


def _calls(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Tool calls in the forms of OpenAI ({function: {name, arguments}}), LangChain and inspect_ai."""
    extra = message.get("additional_kwargs")
    calls = message.get("tool_calls") or (
        extra.get("tool_calls") if isinstance(extra, dict) else None
    )
    return [_call(call) for call in dicts(calls)]


def _call(call: dict[str, Any]) -> dict[str, Any]:
    function = call.get("function")
    if isinstance(function, dict):
        name, arguments = function.get("name"), function.get("arguments")
    else:
        name, arguments = call.get("name") or function, first_of(call, "args", "arguments")
    return {"id": call.get("id"), "name": name, "arguments": arguments}
