"""Vercel AI SDK: messages of a model, messages of a user interface, and the steps of a result."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from goodgain.traces.citations import source_fields
from goodgain.traces.format import TraceFormat
from goodgain.traces.items import piece_of_messages, read_threads, text_name
from goodgain.traces.usage import read_usage
from goodgain.traces.values import dicts, first_of, text_of

if TYPE_CHECKING:
    from goodgain.traces.builder import Builder
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents
    from goodgain.traces.threads import Item, Piece

_CONTENT = ("tool-call", "tool-result", "tool-error")  # blocks of a model's messages


def _mismatch(document: Any) -> str:
    if _steps(document):
        return ""
    messages = _messages(document)
    if messages is None:
        return "no list of messages"
    for message in dicts(messages):
        if any(_is_block(b) for b in dicts(message.get("parts")) if "part_kind" not in b):
            return ""
        if any(
            b.get("type") in _CONTENT and "toolCallId" in b for b in dicts(message.get("content"))
        ):
            return ""
        if isinstance(message.get("toolInvocations"), list):
            return ""
    return "no message with tool-call, tool-result or tool-* parts"


def _is_block(block: dict[str, Any]) -> bool:
    kind = str(block.get("type"))
    if kind in ("step-start", "source-url", "source-document", "tool-invocation"):
        return True
    if kind == "dynamic-tool" or kind.startswith("tool-"):
        return "toolCallId" in block
    return kind == "text" and "text" in block and "content" not in block


def _messages(document: Any) -> list[Any] | None:
    if isinstance(document, dict):
        if isinstance(document.get("parts"), list) and "role" in document:
            return [document]
        document = document.get("messages")
    return document if isinstance(document, list) and document else None


def _steps(document: Any) -> list[dict[str, Any]]:
    """The steps of a result of generateText."""
    steps = list(dicts(document.get("steps"))) if isinstance(document, dict) else []
    known = any(
        isinstance(s.get("content"), list) and ("finishReason" in s or "usage" in s) for s in steps
    )
    return steps if known else []


def _read(documents: Documents, context: Context) -> Conversations:
    """One conversation per list of messages or result, or per lists that continue one another."""
    return read_threads(documents, _piece, context, lambda builder: partial(_add, builder))


def _piece(where: str, document: Any) -> Piece:
    messages = _steps(document) or _messages(document)
    name = text_name(document, "chatId", "id")
    return piece_of_messages(where, document, messages, name=name)


def _add(builder: Builder, item: Item) -> None:
    is_step = "role" not in item.value and isinstance(item.value.get("content"), list)
    (_add_step if is_step else _add_message)(item.value, builder, item.where)


def _add_step(step: dict[str, Any], builder: Builder, where: str) -> None:
    response = step.get("response")
    model = response.get("modelId") if isinstance(response, dict) else None
    builder.start_iteration(**builder.context.spent(read_usage(step.get("usage")), model))
    builder.drop_answer()
    _add_blocks(step["content"], builder, f"{where}.content")


def _add_message(message: dict[str, Any], builder: Builder, where: str) -> None:
    role = message.get("role")
    name = "parts" if isinstance(message.get("parts"), list) else "content"
    content = message.get(name)
    if role == "user":
        builder.start_turn(text_of(content))
        return
    if role == "assistant":
        metadata = message.get("metadata")
        used = metadata.get("usage") if isinstance(metadata, dict) else None
        spent = builder.context.spent(read_usage(used, message.get("usage")))
        starts = [b for b in dicts(content) if b.get("type") == "step-start"]
        if not starts:
            builder.start_iteration(**spent)
        else:
            builder.add_usage(**spent)
        builder.drop_answer()
        if isinstance(content, str):
            builder.add_answer(content)
        if not isinstance(message.get("parts"), list):
            for number, call in enumerate(dicts(message.get("toolInvocations"))):
                _add_tool(call, builder, f"{where}.toolInvocations[{number}]")
    _add_blocks(content, builder, f"{where}.{name}")


def _add_blocks(blocks: Any, builder: Builder, where: str) -> None:
    for number, block in enumerate(dicts(blocks)):
        kind, place = str(block.get("type")), f"{where}[{number}]"
        if kind == "step-start":
            builder.start_iteration()
            builder.drop_answer()
        elif kind == "text":
            builder.add_answer(block.get("text"))
        elif kind in ("source", "source-url", "source-document"):
            source = block.get("source")  # version 4 nests it
            fields = source_fields(source if isinstance(source, dict) else block)
            builder.add_answer(None, [fields] if fields else [])
        elif kind == "tool-call":
            builder.drop_answer()
            arguments = first_of(block, "input", "args")
            builder.add_call(block.get("toolCallId"), block.get("toolName"), arguments, where=place)
        elif kind in ("tool-result", "tool-error"):
            value, error = _result(block)
            builder.add_output(block.get("toolCallId"), value, where=place, error=error)
        elif kind == "tool-invocation" and isinstance(block.get("toolInvocation"), dict):
            builder.drop_answer()
            _add_tool(block["toolInvocation"], builder, place)
        elif (kind == "dynamic-tool" or kind.startswith("tool-")) and "toolCallId" in block:
            builder.drop_answer()
            _add_tool(block, builder, place)


def _add_tool(block: dict[str, Any], builder: Builder, where: str) -> None:
    """A call with its state, and its output once that is there."""
    name = block.get("toolName") or str(block.get("type")).removeprefix("tool-")
    arguments = first_of(block, "input", "args", "rawInput")
    record = builder.add_call(block.get("toolCallId"), name, arguments, where=where)
    state, error = str(block.get("state")), block.get("errorText")
    if state in ("output-denied", "denied"):
        error = error or "the user did not approve the call"
    value = first_of(block, "output", "result")
    if error or value is not None:
        builder.add_output(record, value, where=where, error=error)


def _result(block: dict[str, Any]) -> tuple[Any, str | None]:
    """The value of a tool-result block and its error, in the forms of versions 4 to 7."""
    if "error" in block and block.get("type") == "tool-error":
        return None, text_of(block["error"]) or str(block["error"]) or "error"
    output = first_of(block, "output", "result")
    is_typed = isinstance(output, dict) and set(output) <= {
        "type",
        "value",
        "reason",
        "providerOptions",
    }
    if not is_typed or not isinstance(output.get("type"), str):
        return output, "error" if block.get("isError") else None
    kind, value = output["type"], output.get("value")
    if kind.startswith("error"):
        return value, str(value) or "error"
    if kind == "execution-denied":
        return None, str(output.get("reason") or "the user did not approve the call")
    return value, None


FORMAT = TraceFormat("vercel", "Vercel AI SDK messages", _mismatch, _read)
