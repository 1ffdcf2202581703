"""Chats with tool calls: OpenAI Chat Completions, LangChain and LangGraph, inspect_ai."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Builder, Context, dicts, loaded, query_of, text_of
from goodgain.traces.results import is_failure, results_of

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def refuses_chat(document: Any) -> str:
    """Why this is no chat of OpenAI's form; empty where it is."""
    messages = _messages(document)
    if messages is None:
        return "no list of messages"
    if not any(m.get("role") in ("user", "assistant", "tool", "system") for m in messages):
        return "no message has a role"
    return ""


def refuses_langchain(document: Any) -> str:
    """Why this is no LangChain chat."""
    messages = _messages(document)
    if messages is None:
        return "no list of messages"
    kinds = ("human", "ai", "tool", "AIMessageChunk")
    if not any(m.get("type") in kinds and "role" not in m for m in messages):
        return "no message of type human, ai or tool"
    return ""


def refuses_inspect(document: Any) -> str:
    """Why this is no inspect_ai log."""
    if not isinstance(document, dict) or not isinstance(document.get("samples"), list):
        return "no samples"
    return (
        "" if any("messages" in s for s in dicts(document["samples"])) else "no sample has messages"
    )


def _messages(document: Any) -> list[dict[str, Any]] | None:
    found = document
    if isinstance(document, dict):
        found = document.get("messages", document.get("traj"))
        if found is None and isinstance(document.get("values"), dict):  # a LangGraph state
            found = document["values"].get("messages")
    if not isinstance(found, list) or not found or not all(isinstance(m, dict) for m in found):
        return None
    return found


def read_chat(documents: Iterator[tuple[str, Any]], context: Context) -> Iterator[dict[str, Any]]:
    """One conversation a document."""
    for where, document in documents:
        facts = document if isinstance(document, dict) else {}
        names = ("conversation", "conversation_id", "session_id", "thread_id", "id", "query_id")
        name = next((facts[n] for n in names if isinstance(facts.get(n), str | int)), where)
        builder = Builder(
            name, facts.get("system") if isinstance(facts.get("system"), str) else None
        )
        _walk(_messages(document) or [], builder, context)
        yield builder.build()


def read_inspect(
    documents: Iterator[tuple[str, Any]], context: Context
) -> Iterator[dict[str, Any]]:
    """One conversation a sample and epoch; attachments are put back."""
    for _, log in documents:
        system = (log.get("eval") or {}).get("model")
        for sample in dicts(log["samples"]):
            builder = Builder(f"{sample.get('id')}/{sample.get('epoch', 1)}", system)
            attachments = sample.get("attachments") or {}
            _walk(_resolved(sample.get("messages"), attachments), builder, context)
            yield builder.build()


def _resolved(value: Any, attachments: dict[str, str]) -> Any:
    if isinstance(value, str) and value.startswith("attachment://"):
        return attachments.get(value.removeprefix("attachment://"), value)
    if isinstance(value, list):
        return [_resolved(v, attachments) for v in value]
    if isinstance(value, dict):
        return {k: _resolved(v, attachments) for k, v in value.items()}
    return value


def _walk(messages: Any, builder: Builder, context: Context) -> None:
    pending: list[tuple[str, bool]] = []  # calls in tags, answered in order
    for number, given in enumerate(dicts(messages)):
        m = {**given, **given["data"]} if isinstance(given.get("data"), dict) else given
        role = m.get("role") or _ROLES.get(str(m.get("type")), str(m.get("type")))
        role = _ROLES.get(role, role)
        text = text_of(m.get("content"))
        if role == "user":
            responses = _RESPONSE.findall(text)
            if responses:
                for (call, searching), response in zip(pending, responses, strict=False):
                    if searching:
                        _tagged_output(builder, call, response)
                pending = []
            elif observed := _OBSERVATION.match(text):
                for call, searching in pending:
                    if searching:
                        builder.output(call, results_of(text[observed.end() :]))
                pending = []
            else:
                builder.user(text)
        elif role == "assistant":
            builder.step()
            for made in _calls(m):
                if context.is_search(made["name"]):
                    builder.search(made["id"], made["name"], query_of(made["arguments"]))
            for n, tag in enumerate(_CALL.findall(text)):
                inner = loaded(tag)
                name = inner.get("name") if isinstance(inner, dict) else None
                searching = context.is_search(name)
                pending.append((f"tag {number} {n}", searching))
                if searching:
                    builder.search(pending[-1][0], name, query_of(inner.get("arguments")))
            for action in _ACTION.finditer(text):
                searching = context.is_search(action["tool"])
                pending.append((f"action {number}", searching))
                if searching:
                    builder.search(pending[-1][0], action["tool"], action["query"])
            if text and not _calls(m) and "<tool_call>" not in text:
                builder.answer(text)
        elif role == "tool":
            content = m.get("content")
            output = m.get("artifact") if m.get("artifact") else content
            failed = m.get("error") or (
                text if m.get("status") == "error" or is_failure(content) else None
            )
            found = [] if failed else results_of(output)
            if not found and not failed and output is not content:
                found = results_of(content)
            builder.output(m.get("tool_call_id"), found, _error(failed))


def _error(failed: Any) -> str | None:
    if isinstance(failed, dict):
        failed = failed.get("message") or failed.get("type")
    return str(failed) if failed else None


def _tagged_output(builder: Builder, call: str, response: str) -> None:
    """One call may batch several queries, each answered under a heading of its own."""
    headings = list(_BATCH.finditer(response))
    search = builder._calls[call]
    if len(headings) < 2:
        builder.output(call, results_of(response), response[:200] if is_failure(response) else None)
        return
    ends = [h.start() for h in headings[1:]] + [len(response)]
    searches = builder.turns[-1]["iterations"][-1]["searches"]
    for i, (heading, end) in enumerate(zip(headings, ends, strict=True)):
        results = results_of(response[heading.end() : end])
        if i == 0:
            search.update(query=heading["query"], results=results)
        else:
            searches.append({**search, "query": heading["query"], "results": results})


def _calls(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Tool calls in the forms of OpenAI ({function: {name, arguments}}), LangChain and inspect_ai."""
    extra = message.get("additional_kwargs")
    given = message.get("tool_calls") or (
        extra.get("tool_calls") if isinstance(extra, dict) else None
    )
    found = []
    for call in dicts(given):
        inner = call.get("function")
        if isinstance(inner, dict):
            found.append(
                {
                    "id": call.get("id"),
                    "name": inner.get("name"),
                    "arguments": inner.get("arguments"),
                }
            )
        else:
            name = call.get("name") or inner
            found.append(
                {
                    "id": call.get("id"),
                    "name": name,
                    "arguments": call.get("args", call.get("arguments")),
                }
            )
    return found
