"""OpenAI Chat Completions: messages with a role, tool calls and tool messages."""

from __future__ import annotations

from typing import Any

from goodgain.traces.chat import messages_of, read_chats
from goodgain.traces.format import TraceFormat


def _mismatch(document: Any) -> str:
    messages = messages_of(document)
    if messages is None:
        return "no list of messages"
    if not any(m.get("role") in ("user", "assistant", "tool", "system") for m in messages):
        return "no message has a role"
    return ""


FORMAT = TraceFormat("openai-chat", "OpenAI Chat Completions", _mismatch, read_chats)
