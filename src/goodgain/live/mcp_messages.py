"""What passes between an MCP client and a server, seen from the side: calls of tools, and their outputs."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.live.positions import new_id
from goodgain.traces.spans import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.live.capturing import Capture

_METHODS = ("tools/call", "resources/read", "tools/list", "initialize", "server/discover")
_SERVER_INFO = "io.modelcontextprotocol/serverInfo"  # in the protocol without a handshake
Key = tuple[int | None, type, Any]  # channel, and the id: 1 and "1" differ
MAX_MESSAGE = 64 << 20  # bytes; longer ones pass, but their content is not recorded


class Request(NamedTuple):
    """A request that waits for its response."""

    method: str
    params: dict[str, Any]
    started: int


class Observer:
    """Captures the calls of one session. Nothing that it meets is raised: that must not stop a message."""

    def __init__(self, capture: Capture, *, system: str | None, conversation: str | None) -> None:
        self._capture = capture
        self._system = system
        self._conversation = conversation or new_id()
        self._pending: dict[Key, Request] = {}
        self._descriptions: dict[str, str] = {}
        self._server: str | None = None
        self._lock = threading.Lock()

    @contextmanager
    def _safe(self) -> Iterator[None]:
        try:
            with self._lock:
                yield
        except Exception as error:
            self._capture.report(error)

    def from_client(self, data: bytes, channel: int | None = None) -> None:
        """A message, or a batch of them, on its way to the server.

        Ids are those of the session, or of a `channel` of it where several clients share it.
        """
        with self._safe():
            for message in _messages(data):
                method, number, params = (message.get(k) for k in ("method", "id", "params"))
                params = params if isinstance(params, dict) else {}
                if isinstance(method, str) and _is_id(number):
                    self._request(method, _key(channel, number), params)
                elif method == "notifications/cancelled" and _is_id(params.get("requestId")):
                    self._give_up(_key(channel, params["requestId"]), time.time_ns())

    def from_server(self, data: bytes, channel: int | None = None) -> None:
        """A message, or a batch of them, on its way to the client."""
        with self._safe():
            for message in _messages(data):
                number = message.get("id")
                if "method" not in message and _is_id(number):
                    request = self._pending.pop(_key(channel, number), None)
                    self._response(request, message)

    def fail(self, data: bytes, channel: int | None, reason: str) -> None:
        """The server refused a message of the client without a response to it."""
        with self._safe():
            for message in _messages(data):
                if _is_id(number := message.get("id")):
                    request = self._pending.pop(_key(channel, number), None)
                    self._response(request, {"error": reason})

    def close(self, channel: int | None = None) -> None:
        """The session, or a channel of it, has ended: calls without a response are recorded as such."""
        with self._safe():
            for key in list(self._pending):
                if channel in (None, key[0]):
                    self._give_up(key, None)  # nobody knows when it was given up

    def _give_up(self, key: Key, end: int | None) -> None:
        """Nobody waits for this response any more."""
        request = self._pending.pop(key, None)
        if request is not None and request.method == "tools/call":
            self._add(request, None, "no response", end)

    def _request(self, method: str, key: Key, params: dict[str, Any]) -> None:
        if method in _METHODS:
            self._pending[key] = Request(method, params, time.time_ns())

    def _response(self, request: Request | None, message: dict[str, Any]) -> None:
        result = message.get("result")
        if request is None or _needs_input(result):  # then the client calls again
            return
        if request.method in ("tools/call", "resources/read"):
            self._add(request, *_outcome(message), time.time_ns())
        elif request.method == "tools/list" and isinstance(result, dict):
            for tool in result.get("tools") or ():
                self._descriptions[str(tool["name"])] = str(tool.get("description") or "")
        elif isinstance(result, dict):
            meta = result.get("_meta")
            server = result.get("serverInfo") or (meta or {}).get(_SERVER_INFO)
            name = server.get("name") if isinstance(server, dict) else None
            self._server = str(name) if name else None

    def _add(self, request: Request, output: Any, error: str | None, end: int | None) -> None:
        is_read = request.method == "resources/read"
        tool = request.method if is_read else str(request.params.get("name", ""))
        self._capture.add(
            Span(
                kind="tool",
                trace=self._conversation,
                session=self._conversation,
                system=self._system or self._server,
                start=request.started,
                end=end,
                where="",
                id=new_id(),
                name=tool,
                description=self._descriptions.get(tool) or None,
                query={"uri": request.params.get("uri")}
                if is_read
                else request.params.get("arguments"),
                output=None if is_read else output,
                error=error,
                said="open" if is_read and error is None else None,
            )
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


def _needs_input(result: Any) -> bool:
    return isinstance(result, dict) and result.get("resultType") == "input_required"


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _key(channel: int | None, number: Any) -> Key:
    return channel, type(number), number
