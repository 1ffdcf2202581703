"""Chats with tool calls: what the formats of messages share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Builder
from goodgain.traces.results import find_results
from goodgain.traces.values import decode_json, dicts, first_of, text_of

if TYPE_CHECKING:
    from goodgain.traces.calls import CallRecord
    from goodgain.traces.context import Context
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
        system = facts.get("system")
        builder = Builder(name, system if isinstance(system, str) else None, context)
        add_messages(messages_of(document) or [], builder, where)
        yield builder.build()


def add_messages(messages: Any, builder: Builder, where: str) -> None:
    """Add the turns, calls and answers of a chat to a conversation."""
    pending: list[CallRecord] = []  # calls in tags, answered in order
    for number, item in enumerate(messages if isinstance(messages, list) else ()):
        place = f"{where} messages[{number}]"
        if not isinstance(item, dict):
            builder.add_item("message", place, "unusable", "not an object")
            continue
        builder.add_item("message", place)
        message = {**item, **item["data"]} if isinstance(item.get("data"), dict) else item
        role = message.get("role") or _ROLES.get(str(message.get("type")), str(message.get("type")))
        role = _ROLES.get(str(role), str(role))
        text = text_of(message.get("content"))
        if role == "user":
            if _add_responses(text, pending, builder, place):
                pending = []
            else:
                builder.start_turn(text)
        elif role == "assistant":
            builder.start_iteration()
            builder.drop_answer()
            calls = _calls(message)
            for n, call in enumerate(calls):
                builder.add_call(
                    call["id"], call["name"], call["arguments"], where=f"{place}.tool_calls[{n}]"
                )
            pending += _add_tagged_calls(text, builder, place)
            if text and not calls and "<tool_call>" not in text:
                builder.add_answer(text)
        elif role == "tool":
            _add_tool_message(message, text, builder, place)


def _add_tagged_calls(text: str, builder: Builder, place: str) -> list[CallRecord]:
    """Add the calls in tags and ReAct actions of an assistant's text."""
    calls: list[tuple[Any, Any]] = []
    for tag in _CALL.findall(text):
        inner = decode_json(tag)
        call = inner if isinstance(inner, dict) else {}
        calls.append((call.get("name"), call.get("arguments")))
    calls += [(action["tool"], action["query"]) for action in _ACTION.finditer(text)]
    return [builder.add_call(None, name, query, where=place) for name, query in calls]


def _add_responses(text: str, pending: list[CallRecord], builder: Builder, place: str) -> bool:
    """Add the outputs in a user's message; whether it holds any."""
    responses = _RESPONSE.findall(text)
    observation = _OBSERVATION.match(text)
    if responses:
        for number, response in enumerate(responses):
            record = pending[number] if number < len(pending) else None
            builder.add_output(record, response, where=place)
    elif observation:
        records: list[CallRecord | None] = [*pending] or [None]
        for record in records:
            builder.add_output(record, text[observation.end() :], where=place)
    return bool(responses or observation)


def _add_tool_message(message: dict[str, Any], text: str, builder: Builder, place: str) -> None:
    error = message.get("error") or (text or "error" if message.get("status") == "error" else None)
    if isinstance(error, dict):
        error = error.get("message") or error.get("type") or "error"
    call, content = message.get("tool_call_id"), message.get("content")
    artifact = message.get("artifact")
    if artifact and find_results(artifact).account == "result":
        content = artifact
    builder.add_output(call, content, where=place, error=error)


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
