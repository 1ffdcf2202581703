"""What passes between an MCP client and a server, seen from the side: calls of tools, and their outputs."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goodgain.traces.recorder import Conversation, Iteration, Recorder

_SERVER_INFO = "io.modelcontextprotocol/serverInfo"  # in the protocol without a handshake
Key = tuple[int | None, type, Any]  # channel, and the id: 1 and "1" differ
MAX_MESSAGE = 64 << 20  # bytes; longer ones pass, but their content is not recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request that waits for its response."""

    method: str
    params: dict[str, Any]
    iteration: Iteration
    started: float


class Observer:
    """Records the calls of one session. Nothing that it meets is raised: recording must not stop a message.

    Calls that overlap in time belong to one iteration; a call that starts when none is under way starts
    the next one.
    """

    def __init__(self, start: Callable[[str | None], Conversation], recorder: Recorder) -> None:
        """`start` starts the conversation, for a server of this name."""
        self._start = start
        self._recorder = recorder
        self._conversation: Conversation | None = None
        self._iteration: Iteration | None = None
        self._pending: dict[Key, Request | str] = {}
        self._descriptions: dict[str, str] = {}
        self._server: str | None = None
        self._lock = threading.Lock()

    def from_client(self, data: bytes, channel: int | None = None) -> None:
        """A message, or a batch of them, on its way to the server.

        Ids are those of the session, or of a `channel` of it where several clients share it.
        """
        with self._recorder.writer.problems(), self._lock:
            for message in _messages(data):
                method, number, params = (message.get(k) for k in ("method", "id", "params"))
                params = params if isinstance(params, dict) else {}
                if isinstance(method, str) and _is_id(number):
                    self._request(method, _key(channel, number), params)
                elif method == "notifications/cancelled" and _is_id(params.get("requestId")):
                    self._give_up(_key(channel, params["requestId"]))

    def from_server(self, data: bytes, channel: int | None = None) -> None:
        """A message, or a batch of them, on its way to the client."""
        with self._recorder.writer.problems(), self._lock:
            for message in _messages(data):
                number = message.get("id")
                if "method" not in message and _is_id(number):
                    request = self._pending.pop(_key(channel, number), None)
                    self._response(request, message)

    def fail(self, data: bytes, channel: int | None, reason: str) -> None:
        """The server refused a message of the client without a response to it."""
        with self._recorder.writer.problems(), self._lock:
            for message in _messages(data):
                if _is_id(number := message.get("id")):
                    request = self._pending.pop(_key(channel, number), None)
                    self._response(request, {"error": reason})

    def close(self, channel: int | None = None) -> None:
        """The session, or a channel of it, has ended: calls without a response are recorded as such."""
        with self._recorder.writer.problems(), self._lock:
            for key in list(self._pending):
                if channel in (None, key[0]):
                    self._give_up(key)

    def _give_up(self, key: Key) -> None:
        """Nobody waits for this response any more."""
        request = self._pending.pop(key, None)
        if isinstance(request, Request):
            self._record(request, {})

    def _request(self, method: str, key: Key, params: dict[str, Any]) -> None:
        if method in ("tools/call", "resources/read"):
            is_first = not any(isinstance(r, Request) for r in self._pending.values())
            if is_first or self._iteration is None:
                if self._conversation is None:
                    self._conversation = self._start(self._server)
                self._iteration = self._conversation.iteration()
            self._pending[key] = Request(
                method=method, params=params, iteration=self._iteration, started=monotonic()
            )
        elif method in ("tools/list", "initialize", "server/discover"):
            self._pending[key] = method

    def _response(self, request: Request | str | None, message: dict[str, Any]) -> None:
        result = message.get("result")
        if isinstance(request, Request):
            if not (isinstance(result, dict) and result.get("resultType") == "input_required"):
                self._record(request, message)  # else the client calls again
        elif request == "tools/list" and isinstance(result, dict):
            for tool in result.get("tools") or ():
                self._descriptions[str(tool["name"])] = str(tool.get("description") or "")
        elif request and isinstance(result, dict):
            meta = result.get("_meta")
            server = result.get("serverInfo") or (meta or {}).get(_SERVER_INFO)
            name = server.get("name") if isinstance(server, dict) else None
            self._server = str(name) if name else None

    def _record(self, request: Request, message: dict[str, Any]) -> None:
        output, error = _outcome(message)
        if request.method == "resources/read":
            if message and error is None and request.params.get("uri"):
                request.iteration.open({"url": str(request.params["uri"])}, tool="resources/read")
            return
        tool = str(request.params.get("name", ""))
        request.iteration.call(
            tool,
            request.params.get("arguments"),
            output,
            description=self._descriptions.get(tool) or None,
            latency=round(monotonic() - request.started, 6) if message else None,
            error=error,
        )


class Lines:
    """The lines of a stream of bytes; one that is too long is left out."""

    def __init__(self) -> None:
        self._start = bytearray()
        self._is_too_long = False

    def add(self, data: bytes) -> Iterator[bytes]:
        """Add bytes as they come; returns the lines that are complete now."""
        *ends, rest = data.split(b"\n")
        for end in ends:
            self._extend(end)
            if not self._is_too_long:
                yield bytes(self._start)
            self._start.clear()
            self._is_too_long = False
        self._extend(rest)

    def _extend(self, data: bytes) -> None:
        if self._is_too_long or len(self._start) + len(data) > MAX_MESSAGE:
            self._is_too_long = True
            self._start.clear()
        else:
            self._start += data


def _messages(data: bytes) -> Iterator[dict[str, Any]]:
    if not data.strip():
        return
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):  # not for us to complain about
        return
    for message in content if isinstance(content, list) else [content]:
        if isinstance(message, dict):
            yield message


def _outcome(message: dict[str, Any]) -> tuple[Any, str | None]:
    """What a tool returned, and its error; neither if there was no response."""
    if "error" in message:
        problem = message["error"]
        return None, str(problem.get("message", problem) if isinstance(problem, dict) else problem)
    result = message.get("result")
    if not isinstance(result, dict):
        return result, None
    content = result.get("structuredContent") or result.get("content")
    if result.get("isError"):
        texts = [b.get("text", "") for b in result.get("content") or () if isinstance(b, dict)]
        return content, " ".join(filter(None, map(str, texts))) or "the tool reported an error"
    return content, None


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _key(channel: int | None, number: Any) -> Key:
    return channel, type(number), number
