"""OpenAI Chat Completions: messages with a role, tool calls and tool messages."""

from __future__ import annotations

from typing import Any

from goodgain.traces.chat import messages_of, read_chats, reply_items
from goodgain.traces.format import TraceFormat
from goodgain.traces.values import dicts


def _mismatch(document: Any) -> str:
    facts = document if isinstance(document, dict) else {}
    messages = [item.value for item in reply_items(facts, "")] or messages_of(document)
    if messages is None:
        return "no list of messages"
    if "citations" in facts or "search_results" in facts:
        return "an answer with search results, but no search call"
    roles = ("user", "assistant", "tool", "system", "developer", "function")
    if not any(m.get("role") in roles for m in dicts(messages)):
        return "no message has a role"
    return ""


FORMAT = TraceFormat("openai-chat", "OpenAI Chat Completions", _mismatch, read_chats)
