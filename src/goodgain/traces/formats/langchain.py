"""LangChain and LangGraph: messages with a type, and the states that hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.chat import messages_of, read_chats
from goodgain.traces.format import TraceFormat
from goodgain.traces.values import dicts, text_of

if TYPE_CHECKING:
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents

_TYPES = ("human", "ai", "tool", "AIMessageChunk")


def _mismatch(document: Any) -> str:
    if _steps(document) is not None:
        return ""
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


def _steps(document: Any) -> list[Any] | None:
    """The (action, observation) pairs of an AgentExecutor's result."""
    steps = document.get("intermediate_steps") if isinstance(document, dict) else None
    return steps if isinstance(steps, list) else None


def _read(documents: Documents, context: Context) -> Conversations:
    return read_chats(((where, _as_chat(document)) for where, document in documents), context)


def _as_chat(document: Any) -> Any:
    """An AgentExecutor's result as messages; other documents unchanged."""
    steps = _steps(document)
    if steps is None:
        return document
    messages: list[Any] = [{"type": "human", "content": text_of(document.get("input"))}]
    for number, step in enumerate(steps):
        action, output = step if isinstance(step, list) and len(step) == 2 else (None, None)
        fields = action.get("kwargs", action) if isinstance(action, dict) else None
        if not isinstance(fields, dict):
            messages.append(None)  # unusable
            continue
        call = fields.get("tool_call_id") or f"step {number}"
        calls = [{"id": call, "name": fields.get("tool"), "args": fields.get("tool_input")}]
        messages.append({"type": "ai", "content": "", "tool_calls": calls})
        messages.append({"type": "tool", "tool_call_id": call, "content": output})
    messages.append({"type": "ai", "content": text_of(document.get("output"))})
    return {**document, "messages": messages}


FORMAT = TraceFormat("langchain", "LangChain and LangGraph messages", _mismatch, _read)
