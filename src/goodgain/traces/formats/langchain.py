"""LangChain and LangGraph: messages with a type, and the states that hold them."""

from __future__ import annotations

from typing import Any

from goodgain.traces.chat import messages_of, read_chats
from goodgain.traces.format import TraceFormat
from goodgain.traces.values import dicts

_TYPES = ("human", "ai", "tool", "AIMessageChunk")


def _mismatch(document: Any) -> str:
    messages = messages_of(document)
    if messages is None:
        return "no list of messages"
    if any(_is_serialised(m) for m in dicts(messages)):
        return ""
    if not any(m.get("type") in _TYPES and "role" not in m for m in dicts(messages)):
        return "no message of type human, ai or tool"
    return ""


def _is_serialised(message: dict[str, Any]) -> bool:
    """Whether `dumps` wrote it: {"lc": 1, "type": "constructor", "id": [..., "HumanMessage"], "kwargs"}."""
    name = message.get("id")
    return "lc" in message and isinstance(name, list) and str(name[-1:]).endswith("Message']")


FORMAT = TraceFormat("langchain", "LangChain and LangGraph messages", _mismatch, read_chats)
