"""Messages of a chat: what the providers' and frameworks' forms have in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goodgain.traces.citations import citations_of
from goodgain.traces.results import find_results
from goodgain.traces.usage import Usage, read_usage
from goodgain.traces.values import decode_json, dicts, first_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROLES = {
    "human": "user", "ai": "assistant", "aimessage": "assistant", "aimessagechunk": "assistant",
    "humanmessage": "user", "toolmessage": "tool", "systemmessage": "system", "function": "tool",
    "developer": "system", "model": "assistant", "functionmessage": "tool", "chatbot": "assistant",
}  # fmt: skip
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "server_tool_call")
_OUTPUTS = ("tool_result", "tool_call_response", "server_tool_call_response", "mcp_tool_result")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call in a message."""

    id: str | None
    name: str | None
    arguments: Any
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """An output in a message."""

    call: str | None
    value: Any
    error: str | None = None
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message in the terms of a search."""

    role: str
    text: str = ""
    id: str | None = None
    calls: list[ToolCall] = field(default_factory=list)
    outputs: list[ToolOutput] = field(default_factory=list)
    citations: list[dict[str, Any]] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    model: Any = None
    tool: str | None = None


def parse_message(item: dict[str, Any]) -> Message:
    """A message in the form of OpenAI, Anthropic, LangChain, inspect_ai or OpenTelemetry."""
    inner = item.get("data") if isinstance(item.get("data"), dict) else None
    if inner is None and isinstance(item.get("kwargs"), dict):  # LangChain's serialised objects
        inner = item["kwargs"]
    message = {**item, **inner} if inner else item
    role = _role(message, item)
    content = message.get("content")
    blocks = list(dicts(content)) or list(dicts(message.get("parts")))
    calls = [*_calls(message), *_block_calls(blocks)]
    unique = {c.id or f"#{n}": c for n, c in reversed(list(enumerate(calls)))}
    text = text_of(content) or text_of([b for b in blocks if not b.get("thought")])
    extra = message.get("response_metadata")
    extra = extra if isinstance(extra, dict) else {}
    return Message(
        role=role,
        text=text,
        id=message["id"] if isinstance(message.get("id"), str) else None,
        calls=list(reversed(unique.values())),
        outputs=_outputs(message, role, text, blocks),
        citations=citations_of(message) if role == "assistant" else [],
        usage=read_usage(
            message.get("usage_metadata"), message.get("usage"), extra.get("token_usage"),
            extra.get("usage"),
        ),
        model=message.get("model") or extra.get("model_name") or extra.get("model"),
        tool=message["name"] if isinstance(message.get("name"), str) else None,
    )  # fmt: skip


def _role(message: dict[str, Any], item: dict[str, Any]) -> str:
    role = message.get("role")
    if not isinstance(role, str):
        lc = item.get("id")
        name = lc[-1] if isinstance(lc, list) and lc else message.get("type")
        role = name if isinstance(name, str) else ""
    return _ROLES.get(role.casefold(), role.casefold())


def _calls(message: dict[str, Any]) -> list[ToolCall]:
    """Calls in the forms of OpenAI ({function: {name, arguments}}), LangChain and inspect_ai."""
    extra = message.get("additional_kwargs")
    extra = extra if isinstance(extra, dict) else {}
    listed = message.get("tool_calls") or extra.get("tool_calls")
    if not isinstance(listed, list):
        listed = []
    calls = [
        _call(call, f".tool_calls[{n}]") for n, call in enumerate(listed) if isinstance(call, dict)
    ]
    legacy = message.get("function_call") or extra.get("function_call")
    if not calls and isinstance(legacy, dict):
        calls.append(_call(legacy, ".function_call"))
    return calls


def _call(call: dict[str, Any], where: str) -> ToolCall:
    function = call.get("function")
    if isinstance(function, dict):
        name, arguments = function.get("name"), function.get("arguments")
    else:
        name = call.get("name") or function
        arguments = first_of(call, "args", "arguments", "input")
    return ToolCall(id=_id(call.get("id")), name=_id(name), arguments=arguments, where=where)


def _block_calls(blocks: list[dict[str, Any]]) -> list[ToolCall]:
    return [
        _call(block, f".content[{n}]")
        for n, block in enumerate(blocks)
        if block.get("type") in _CALLS
    ]


def _outputs(
    message: dict[str, Any], role: str, text: str, blocks: list[dict[str, Any]]
) -> list[ToolOutput]:
    outputs = [
        _block_output(block, f".content[{n}]")
        for n, block in enumerate(blocks)
        if block.get("type") in _OUTPUTS or str(block.get("type")).endswith("_tool_result")
    ]
    if role == "tool" and not outputs:
        error = message.get("error") or (
            text or "error" if message.get("status") == "error" else None
        )
        if isinstance(error, dict):
            error = error.get("message") or error.get("type") or "error"
        value, artifact = message.get("content"), message.get("artifact")
        if artifact and find_results(artifact).account == "result":
            value = artifact  # the documents behind the text for the model
        call = _id(first_of(message, "tool_call_id", "call_id"))
        outputs = [ToolOutput(call=call, value=value, error=None if not error else str(error))]
    return outputs


def _block_output(block: dict[str, Any], where: str) -> ToolOutput:
    value = first_of(block, "content", "response", "result", "output")
    error = None
    if isinstance(value, dict) and str(value.get("type")).endswith("_error"):
        error = str(value.get("error_code") or value.get("type"))
    elif block.get("is_error") is True:
        error = text_of(value) or "error"
    call = _id(first_of(block, "tool_use_id", "tool_call_id", "id"))
    return ToolOutput(call=call, value=value, error=error, where=where)


def _id(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        return None
    return str(value)


# --- messages in the input and output of a model ---

_DEPTH = 12


def find_messages(value: Any, depth: int = 0) -> Iterator[Message]:
    """The messages in a model's input or output, at any depth, in order."""
    value = decode_json(value) if depth < 3 else value
    if depth > _DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from find_messages(item, depth + 1)
    elif isinstance(value, dict):
        if _is_message(value):
            yield parse_message(value)
            return
        for item in value.values():
            if isinstance(item, dict | list) or depth == 0:
                yield from find_messages(item, depth + 1)


def _is_message(value: dict[str, Any]) -> bool:
    fields = value.get("kwargs") if isinstance(value.get("kwargs"), dict) else value
    fields = value["data"] if isinstance(value.get("data"), dict) else fields
    if not isinstance(fields, dict) or not (
        {"content", "parts", "tool_calls", "function_call"} & fields.keys()
    ):
        return False
    return _role(fields, value) in ("user", "assistant", "tool", "system")
