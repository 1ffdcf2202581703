"""What frameworks put around the arguments and the output of a tool when they record them."""

from __future__ import annotations

from typing import Any

from goodgain.traces.results import find_results
from goodgain.traces.values import decode_json, text_of


def unwrap_arguments(value: Any) -> Any:
    """The arguments alone: LlamaIndex records {"args": [], "kwargs": {...}}."""
    inner = decode_json(value)
    if isinstance(inner, dict) and "kwargs" in inner and set(inner) <= {"args", "kwargs"}:
        return inner["kwargs"] or inner.get("args")
    return value


def unwrap_output(value: Any) -> tuple[Any, str | None]:
    """(the output alone, its error) of what may be LangChain's ToolMessage or LlamaIndex's ToolOutput."""
    inner = decode_json(value)
    if isinstance(inner, dict):
        for name in ("data", "kwargs"):  # messages_to_dict; serialised objects
            if isinstance(inner.get(name), dict) and ("lc" in inner or inner.get("type") == "tool"):
                inner = inner[name]
        if "tool_call_id" in inner and "content" in inner:
            return _message(inner)
        if "raw_output" in inner and "raw_input" in inner:
            failed = inner.get("is_error") is True
            text = text_of(inner.get("content") or inner.get("blocks") or inner["raw_output"])
            return inner["raw_output"], text or "error" if failed else None
    return value, None


def _message(message: dict[str, Any]) -> tuple[Any, str | None]:
    """The documents behind the text for the model, where a tool's message has them."""
    if message.get("status") == "error":
        return message["content"], text_of(message["content"]) or "error"
    artifact = message.get("artifact")
    has_documents = artifact and find_results(artifact).account == "result"
    return artifact if has_documents else message["content"], None
