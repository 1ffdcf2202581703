"""Streams saved as they came: the chunks of a reply, put together into the reply that they make up."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from goodgain.traces.values import dicts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.traces.format import Documents
    from goodgain.traces.ledger import Ledger


class _Stream:
    """Collects the chunks of one reply; `reply` is what they make up, also if the stream was cut off."""

    def add(self, chunk: dict[str, Any]) -> bool:
        """Take a chunk; whether it was the last one of the reply."""
        raise NotImplementedError

    def reply(self) -> Any:
        raise NotImplementedError


class _Chat(_Stream):
    """Chat Completions: pieces of messages by choice, and of tool calls by index."""

    def __init__(self) -> None:
        self.head: dict[str, Any] = {}
        self.messages: dict[int, dict[str, Any]] = {}

    def add(self, chunk: dict[str, Any]) -> bool:
        self.head |= {
            k: v for k, v in chunk.items() if k not in ("choices", "object") and v is not None
        }
        for choice in dicts(chunk.get("choices")):
            message = self.messages.setdefault(choice.get("index") or 0, {"role": "assistant"})
            delta = choice.get("delta") or {}
            for name, piece in delta.items():
                if name == "tool_calls":
                    self._add_calls(message, piece)
                elif name == "function_call" and isinstance(piece, dict):
                    _extend(message.setdefault("function_call", {}), piece)
                elif name != "role" and piece is not None:
                    _extend(message, {name: piece})
        return False  # usage may follow the last choice

    def _add_calls(self, message: dict[str, Any], pieces: Any) -> None:
        calls = message.setdefault("tool_calls", [])
        for piece in dicts(pieces):
            index = piece.get("index", len(calls))
            while len(calls) <= index:
                calls.append({"type": "function", "function": {}})
            _extend(calls[index].setdefault("function", {}), piece.get("function") or {})
            calls[index] |= {
                k: v for k, v in piece.items() if k in ("id", "type") and v is not None
            }

    def reply(self) -> Any:
        choices = [{"index": i, "message": m} for i, m in sorted(self.messages.items())]
        return {**self.head, "object": "chat.completion", "choices": choices}


class _Anthropic(_Stream):
    """Anthropic Messages: blocks that start, grow and stop."""

    def __init__(self) -> None:
        self.message: dict[str, Any] = {"type": "message", "role": "assistant", "content": []}
        self.pieces: dict[int, str] = {}

    def add(self, chunk: dict[str, Any]) -> bool:
        kind, index = chunk["type"], chunk.get("index", 0)
        blocks = self.message["content"]
        if kind == "message_start":
            self.message |= copy.deepcopy(chunk.get("message") or {})
            self.message["content"] = list(self.message.get("content") or [])
        elif kind == "content_block_start":
            while len(blocks) <= index:
                blocks.append({})
            blocks[index] = copy.deepcopy(chunk.get("content_block") or {})
        elif kind == "content_block_delta" and index < len(blocks):
            self._grow(blocks[index], index, chunk.get("delta") or {})
        elif kind == "message_delta":
            self.message |= {k: v for k, v in (chunk.get("delta") or {}).items() if v is not None}
            usage = {**(self.message.get("usage") or {}), **(chunk.get("usage") or {})}
            self.message["usage"] = usage
        return bool(kind == "message_stop")

    def _grow(self, block: dict[str, Any], index: int, delta: dict[str, Any]) -> None:
        if delta.get("type") == "input_json_delta":
            self.pieces[index] = self.pieces.get(index, "") + str(delta.get("partial_json") or "")
        elif delta.get("type") == "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta.get("citation")]
        else:
            _extend(block, {k: v for k, v in delta.items() if k != "type"})

    def reply(self) -> Any:
        for index, text in self.pieces.items():
            if text:
                self.message["content"][index]["input"] = _parsed(text)
        return self.message


class _Responses(_Stream):
    """OpenAI Responses: the last event holds all; without it, the items that were finished."""

    def __init__(self) -> None:
        self.response: dict[str, Any] = {"object": "response"}
        self.items: dict[int, Any] = {}
        self.is_complete = False

    def add(self, chunk: dict[str, Any]) -> bool:
        kind = chunk["type"]
        if isinstance(chunk.get("response"), dict):
            self.response = {**self.response, **chunk["response"]}
        if kind in ("response.output_item.added", "response.output_item.done"):
            self.items[chunk.get("output_index", len(self.items))] = chunk.get("item")
        self.is_complete = kind in (
            "response.completed", "response.incomplete", "response.failed", "response.cancelled",
        )  # fmt: skip
        return self.is_complete

    def reply(self) -> Any:
        if self.is_complete and self.response.get("output"):
            return self.response
        return {**self.response, "output": [self.items[i] for i in sorted(self.items)]}


class _Gemini(_Stream):
    """Gemini: every chunk is a response; the content is what all of them hold."""

    def __init__(self) -> None:
        self.response: dict[str, Any] = {}

    def add(self, chunk: dict[str, Any]) -> bool:
        last = False
        for candidate in dicts(chunk.get("candidates")):
            last = last or bool(candidate.get("finishReason") or candidate.get("finish_reason"))
        if not self.response:
            self.response = copy.deepcopy(chunk)
            return last
        candidates = self.response.setdefault("candidates", [])
        for number, candidate in enumerate(dicts(chunk.get("candidates"))):
            if number >= len(candidates):
                candidates.append({})
            whole = candidates[number]
            blocks = (candidate.get("content") or {}).get("parts") or []
            content = whole.setdefault("content", {"role": "model"}) or {}
            content["parts"] = [*(content.get("parts") or []), *copy.deepcopy(blocks)]
            whole |= {
                "content": content,
                **{k: v for k, v in candidate.items() if k != "content"},
            }
        self.response |= {k: v for k, v in chunk.items() if k != "candidates"}
        return last

    def reply(self) -> Any:
        return self.response


class _Cohere(_Stream):
    """Cohere chat, version 2: deltas of one message."""

    def __init__(self) -> None:
        self.response: dict[str, Any] = {}
        self.message: dict[str, Any] = {"role": "assistant"}

    def add(self, chunk: dict[str, Any]) -> bool:
        kind, delta = chunk["type"], chunk.get("delta") or {}
        message = delta.get("message") or {}
        if kind == "message-start":
            self.response = {"id": chunk.get("id")}
        elif kind == "content-delta":
            text = (message.get("content") or {}).get("text") or ""
            blocks = self.message.setdefault("content", [{"type": "text", "text": ""}])
            blocks[0]["text"] += text
        elif kind == "tool-plan-delta":
            _extend(self.message, {"tool_plan": message.get("tool_plan") or ""})
        elif kind == "tool-call-start":
            self.message.setdefault("tool_calls", []).append(
                copy.deepcopy(message.get("tool_calls"))
            )
        elif kind == "tool-call-delta" and self.message.get("tool_calls"):
            function = (message.get("tool_calls") or {}).get("function") or {}
            _extend(self.message["tool_calls"][-1].setdefault("function", {}), function)
        elif kind == "citation-start":
            self.message.setdefault("citations", []).append(message.get("citations"))
        elif kind == "message-end":
            self.response |= delta
        return bool(kind == "message-end")

    def reply(self) -> Any:
        return {**self.response, "message": self.message}


class _Vercel(_Stream):
    """The UI message stream of the Vercel AI SDK: one message of an assistant."""

    def __init__(self) -> None:
        self.message: dict[str, Any] = {"role": "assistant", "parts": []}
        self.tools: dict[str, dict[str, Any]] = {}
        self.texts: dict[str, dict[str, Any]] = {}

    def add(self, chunk: dict[str, Any]) -> bool:
        kind = chunk["type"]
        blocks = self.message["parts"]
        if kind == "start":
            self.message |= {"id": chunk["messageId"]} if chunk.get("messageId") else {}
        elif kind == "start-step":
            blocks.append({"type": "step-start"})
        elif kind == "text-start":
            self.texts[chunk.get("id", "")] = {"type": "text", "text": ""}
            blocks.append(self.texts[chunk.get("id", "")])
        elif kind == "text-delta" and chunk.get("id", "") in self.texts:
            self.texts[chunk.get("id", "")]["text"] += chunk.get("delta") or ""
        elif kind.startswith("tool-"):
            self._add_tool(kind, chunk)
        elif kind in ("source-url", "source-document", "error"):
            blocks.append(chunk)
        return bool(kind == "finish")

    def _add_tool(self, kind: str, chunk: dict[str, Any]) -> None:
        call = str(chunk.get("toolCallId"))
        if call not in self.tools:
            name = chunk.get("toolName", "unknown")
            dynamic = {"type": "dynamic-tool", "toolName": name}
            block = dynamic if chunk.get("dynamic") else {"type": f"tool-{name}"}
            self.tools[call] = {**block, "toolCallId": call, "state": "input-streaming"}
            self.message["parts"].append(self.tools[call])
        facts = {k: v for k, v in chunk.items() if k in ("input", "output", "errorText")}
        if kind != "tool-input-start" and kind != "tool-input-delta":
            self.tools[call] |= {**facts, "state": kind.removeprefix("tool-")}

    def reply(self) -> Any:
        return self.message


_ANTHROPIC = {
    "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta",
    "message_stop", "ping",
}  # fmt: skip
_COHERE = {
    "message-start", "content-start", "content-delta", "content-end", "tool-plan-delta", "tool-call-start",
    "tool-call-delta", "tool-call-end", "citation-start", "citation-end", "message-end",
}  # fmt: skip
_VERCEL = {
    "start", "start-step", "text-start", "text-delta", "text-end", "reasoning-start", "reasoning-delta",
    "reasoning-end", "tool-input-start", "tool-input-delta", "tool-input-available", "tool-input-error",
    "tool-output-available", "tool-output-error", "tool-output-denied", "source-url", "source-document",
    "finish-step", "finish", "abort", "message-metadata",
}  # fmt: skip


def stream_of(document: Any) -> type[_Stream] | None:
    """The kind of stream that a document is a chunk of; None if it is whole."""
    if not isinstance(document, dict):
        return None
    kind = document.get("type")
    if isinstance(kind, str):
        if kind.startswith("response."):
            return _Responses
        for names, stream in ((_ANTHROPIC, _Anthropic), (_COHERE, _Cohere), (_VERCEL, _Vercel)):
            if kind in names:
                return stream
    choices = document.get("choices")
    if document.get("object") == "chat.completion.chunk" or (
        isinstance(choices, list) and any("delta" in c for c in dicts(choices))
    ):
        return _Chat
    if isinstance(document.get("candidates"), list) and not document.get("contents"):
        return _Gemini
    return None


def replies(documents: Documents, ledger: Ledger | None = None) -> Documents:
    """The documents with the chunks of each stream put together; whole documents pass unchanged."""
    kind: type[_Stream] | None = None
    stream: _Stream | None = None
    name, identity = "", None
    for where, document in documents:
        here = stream_of(document)
        if stream is not None and (here is not kind or _is_other(document, identity)):
            yield name, stream.reply()
            stream = None
        if here is None:
            if document is not None:  # the mark at the end of a stream
                yield where, document
            continue
        if stream is None:
            kind, stream, name, identity = here, here(), where, _identity(document)
        if ledger is not None and here is not _Gemini:  # whose chunks are responses
            ledger.meet("event")
            ledger.enter("event", "read", "a piece of a response", where=where)
        if stream.add(document):
            yield name, stream.reply()
            stream = None
    if stream is not None:
        yield name, stream.reply()


def _identity(chunk: dict[str, Any]) -> Any:
    return chunk.get("responseId") or (chunk.get("id") if "choices" in chunk else None)


def _is_other(document: Any, identity: Any) -> bool:
    """Whether a chunk belongs to another reply than the one that is being put together."""
    other = _identity(document) if isinstance(document, dict) else None
    starts = isinstance(document, dict) and document.get("type") in (
        "message_start", "response.created", "message-start", "start",
    )  # fmt: skip
    return starts or (other is not None and identity is not None and other != identity)


def server_events(text: str) -> Iterator[Any]:
    """The data of server-sent events, parsed; None for the mark at the end of a stream."""
    data: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line.strip() and data:
            yield None if data == ["[DONE]"] else _parsed("\n".join(data))
            data = []


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _extend(whole: dict[str, Any], pieces: dict[str, Any]) -> None:
    """Add pieces of text and of lists to what has come so far; other values replace."""
    for name, piece in pieces.items():
        before: Any = whole.get(name)
        if (type(before), type(piece)) in ((str, str), (list, list)):
            whole[name] = before + piece
        elif piece is not None:
            whole[name] = copy.deepcopy(piece)
