"""ShareGPT: conversations of {from, value}, with function_call and observation where tools were used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Builder
from goodgain.traces.chat import add_messages
from goodgain.traces.format import TraceFormat
from goodgain.traces.items import text_name
from goodgain.traces.values import decode_json, dicts

if TYPE_CHECKING:
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents

_ROLES = {
    "human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant", "chatgpt": "assistant",
    "bing": "assistant", "bard": "assistant", "model": "assistant", "system": "system",
}  # fmt: skip
_OUTPUTS = ("observation", "tool", "tool_response", "function_response", "function", "ipython")
_CALLS = ("function_call", "tool_call")


def _mismatch(document: Any) -> str:
    messages = _messages(document)
    if messages is None:
        return "no list 'conversations'"
    return "" if any("from" in m and "value" in m for m in dicts(messages)) else "no {from, value}"


def _messages(document: Any) -> list[Any] | None:
    if isinstance(document, dict):
        document = document.get("conversations") or document.get("conversation")
    return document if isinstance(document, list) and document else None


def _read(documents: Documents, context: Context) -> Conversations:
    """One conversation per document."""
    for where, document in documents:
        name = text_name(document, "id", "conversation_id")
        builder = Builder(name if name is not None else where, None, context)
        add_messages(_as_chat(_messages(document) or []), builder, where)
        yield builder.build()


def _as_chat(messages: list[Any]) -> list[Any]:
    """As messages with roles; calls are answered in order."""
    chat: list[Any] = []
    pending: list[str] = []
    for number, message in enumerate(messages):
        if not isinstance(message, dict):
            chat.append(message)
            continue
        role, value = str(message.get("from")).casefold(), message.get("value")
        if role in _CALLS:
            calls = decode_json(value)
            listed = list(dicts(calls if isinstance(calls, list) else [calls]))
            ids = [f"call {number} {n}" for n in range(len(listed))]
            pending += ids
            blocks = [{**call, "id": i} for call, i in zip(listed, ids, strict=True)]
            chat.append({"role": "assistant", "content": "", "tool_calls": blocks})
        elif role in _OUTPUTS and "<tool_response>" not in str(value):
            call = pending.pop(0) if pending else None
            chat.append({"role": "tool", "tool_call_id": call, "content": value})
        else:
            chat.append(
                {"role": _ROLES.get(role, "user" if role in _OUTPUTS else role), "content": value}
            )
    return chat


FORMAT = TraceFormat("sharegpt", "ShareGPT conversations", _mismatch, _read)
