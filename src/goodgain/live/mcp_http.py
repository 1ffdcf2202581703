"""A proxy in front of an MCP server that speaks streamable HTTP."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from goodgain.errors import InputError, MissingExtraError, UsageError
from goodgain.live.mcp_messages import MAX_MESSAGE, Lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goodgain.live.mcp_messages import Observer

_CHUNK = 1 << 16
_SESSION = b"mcp-session-id"


class HttpProxy:
    """Passes requests and responses on, connection by connection; bodies pass byte for byte.

    Only the headers that name the server (Host, Origin of the proxy itself) are rewritten. A conversation is
    a session; servers without sessions have one conversation for each run of the proxy.
    """

    def __init__(self, url: str, start: Callable[[], Observer]) -> None:
        """`start` makes the observer of a new session."""
        try:
            import h11
        except ImportError:
            raise MissingExtraError.for_package("h11", "live", "the MCP proxy over HTTP") from None
        address = urlsplit(url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise UsageError(f"'{url}' is not a URL of an MCP server over HTTP")
        self.path = address.path or "/"
        self._h11 = h11
        self._host = address.hostname
        self._port = address.port or (443 if address.scheme == "https" else 80)
        self._tls = ssl.create_default_context() if address.scheme == "https" else None
        self._authority = address.netloc.rpartition("@")[2].encode()
        self._start = start
        self._sessions: dict[bytes, Observer] = {}
        self._numbers = count()
        self._own = b""  # our own host and port, which the client uses

    async def serve(self, port: int, ready: Callable[[str], None]) -> None:
        """Serve on loopback until cancelled; `ready` gets the URL for the client."""
        try:
            server = await asyncio.start_server(self._client, "127.0.0.1", port, limit=_CHUNK)
        except OSError as error:
            raise InputError(f"cannot bind port {port}: {error.strerror}") from None
        number = server.sockets[0].getsockname()[1]
        self._own = f"127.0.0.1:{number}".encode()
        ready(f"http://127.0.0.1:{number}{self.path}")
        try:
            async with server:
                await server.serve_forever()
        finally:
            for observer in self._sessions.values():
                observer.close()

    def observer(self, session: bytes) -> Observer:
        """The one of a session."""
        if session not in self._sessions:
            self._sessions[session] = self._start()
        return self._sessions[session]

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of a client, and the connection to the server that belongs to it."""
        with suppress(OSError, asyncio.IncompleteReadError, self._h11.ProtocolError):
            upstream: _Peer | None = None
            client = _Peer(self._h11, self._h11.SERVER, reader, writer)
            try:
                while True:
                    request = await client.next_event()
                    if not isinstance(request, self._h11.Request):
                        return
                    if upstream is None:
                        upstream = await self._connect(client, request)
                        if upstream is None:
                            return
                    await self._exchange(client, upstream, request)
                    if not (client.start_next() and upstream.start_next()):
                        return
            finally:
                writer.close()
                if upstream is not None:
                    upstream.writer.close()

    async def _connect(self, client: _Peer, request: Any) -> _Peer | None:
        try:
            streams = await asyncio.open_connection(self._host, self._port, ssl=self._tls)
        except OSError as error:
            body = f"goodgain: cannot reach the MCP server: {error.strerror or error}".encode()
            headers = [("content-type", "text/plain"), ("content-length", str(len(body)))]
            await self._refuse(client, request, body.decode())
            client.send(self._h11.Response(status_code=502, headers=headers, reason=b"Bad Gateway"))
            client.send(self._h11.Data(data=body))
            client.send(self._h11.EndOfMessage())
            await client.flush()
            return None
        return _Peer(self._h11, self._h11.CLIENT, *streams)

    async def _refuse(self, client: _Peer, request: Any, reason: str) -> None:
        """Record that the request failed."""
        body = b"".join(
            [bytes(d.data) async for d in client.body() if isinstance(d, self._h11.Data)]
        )
        session = _header(request, _SESSION)
        view = _View(self.observer(session), None if session else next(self._numbers))
        view.send(body)
        view.fail(body, reason)

    async def _exchange(self, client: _Peer, upstream: _Peer, request: Any) -> None:
        """One request and its response."""
        session = _header(request, _SESSION)
        # Without a session the ids of several clients may be equal: a response comes where its request went.
        view = _View(self.observer(session), None if session else next(self._numbers))
        upstream.send(
            self._h11.Request(
                method=request.method, target=request.target, headers=self._headers(request)
            )
        )
        body = bytearray()
        async for piece in client.body():
            if isinstance(piece, self._h11.Data) and len(body) + len(piece.data) <= MAX_MESSAGE:
                body += piece.data
            if isinstance(piece, self._h11.EndOfMessage) and request.method == b"POST":
                view.send(bytes(body))
            upstream.send(piece)
            await upstream.flush()
        answer = asyncio.ensure_future(self._answer(client, upstream, view, bytes(body)))
        gone = asyncio.ensure_future(client.wait_until_gone())
        try:
            await asyncio.wait((answer, gone), return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():  # the client does not wait for the response
                raise ConnectionResetError
            await answer
        finally:
            answer.cancel()
            gone.cancel()
            await asyncio.gather(answer, gone, return_exceptions=True)
            view.end()
        if request.method == b"DELETE" and session in self._sessions:
            self._sessions.pop(session).close()

    async def _answer(self, client: _Peer, upstream: _Peer, view: _View, body: bytes) -> None:
        """Pass the response on; what it says is recorded before its last bytes are passed."""
        response = await upstream.next_event()
        while isinstance(response, self._h11.InformationalResponse):
            client.send(response)
            await client.flush()
            response = await upstream.next_event()
        if not isinstance(response, self._h11.Response):
            raise ConnectionResetError
        if response.status_code >= 400:
            view.fail(body, f"HTTP status {response.status_code}")
        if (session := _header(response, _SESSION)) and view.channel is not None:
            view = _View(self.observer(session), None)  # it starts with this response
            view.send(body)
        client.send(response)
        content = _Content(response, view)
        if content.is_stream:
            await client.flush()
        async for data in upstream.body():
            if isinstance(data, self._h11.Data):
                content.add(bytes(data.data))
            else:
                content.end()
            client.send(data)
            await client.flush()

    def _headers(self, request: Any) -> list[tuple[bytes, bytes]]:
        headers = []
        for name, value in request.headers.raw_items():
            if name.lower() == b"host":
                headers.append((name, self._authority))
            elif name.lower() == b"origin" and value.endswith(self._own):
                headers.append((name, value.replace(self._own, self._authority)))
            else:
                headers.append((name, value))
        return headers


class _Peer:
    """One end of a connection: events of HTTP/1.1 from bytes, and to bytes."""

    def __init__(
        self, h11: Any, role: Any, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._h11 = h11
        self._state = h11.Connection(role, max_incomplete_event_size=1 << 20)
        self.reader = reader
        self.writer = writer
        self._unsent = bytearray()

    async def next_event(self) -> Any:
        """The next event that the other side sends."""
        while (event := self._state.next_event()) is self._h11.NEED_DATA:
            if self._state.they_are_waiting_for_100_continue:
                headers: list[tuple[str, str]] = []
                self.send(self._h11.InformationalResponse(status_code=100, headers=headers))
                await self.flush()
            self._state.receive_data(await self.reader.read(_CHUNK))
        return event

    async def body(self) -> Any:
        """The pieces of a body as they come, and its end."""
        while True:
            event = await self.next_event()
            if not isinstance(event, self._h11.Data | self._h11.EndOfMessage):
                raise ConnectionResetError
            yield event
            if isinstance(event, self._h11.EndOfMessage):
                return

    async def wait_until_gone(self) -> None:
        """Until the other side has closed the connection; what it sends meanwhile is kept for later."""
        while data := await self.reader.read(_CHUNK):
            self._state.receive_data(data)

    def send(self, event: Any) -> None:
        """Send an event, or a part of one, with the next `flush`."""
        self._unsent += self._state.send(event) or b""

    async def flush(self) -> None:
        """Hand over what is to be sent, in one piece: each costs the other side a wake-up."""
        if self._unsent:
            self.writer.write(bytes(self._unsent))
            self._unsent.clear()
            await self.writer.drain()

    def start_next(self) -> bool:
        """Get ready for the next request on the same connection, if it stays open."""
        try:
            self._state.start_next_cycle()
        except self._h11.LocalProtocolError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class _View:
    """What one exchange shows of a session."""

    observer: Observer
    channel: int | None

    def send(self, data: bytes) -> None:
        """A message of the client."""
        self.observer.from_client(data, self.channel)

    def receive(self, data: bytes) -> None:
        """A message of the server."""
        self.observer.from_server(data, self.channel)

    def fail(self, data: bytes, reason: str) -> None:
        """The server refused a message of the client."""
        self.observer.fail(data, self.channel, reason)

    def end(self) -> None:
        """The exchange is over; in a session the response may still come on another connection."""
        if self.channel is not None:
            self.observer.close(self.channel)


class _Content:
    """The messages in a response: one JSON document, or a stream of events."""

    def __init__(self, response: Any, view: _View) -> None:
        kind = _header(response, b"content-type").partition(b";")[0].strip().lower()
        self.is_stream = kind == b"text/event-stream"
        self._is_json = kind == b"application/json"
        length = _header(response, b"content-length")
        self._length = int(length) if length.isdigit() else None
        self._view = view
        self._lines = Lines()
        self._data: list[bytes] = []
        self._body = bytearray()

    def add(self, data: bytes) -> None:
        """Observe bytes before they are passed on."""
        if self.is_stream:
            for line in self._lines.add(data):
                self._line(line.rstrip(b"\r"))
        elif self._is_json and len(self._body) + len(data) <= MAX_MESSAGE:
            self._body += data
            if len(self._body) == self._length:
                self.end()  # the client has it all with these bytes

    def end(self) -> None:
        """The response is complete."""
        if self._is_json:
            self._view.receive(bytes(self._body))
            self._is_json = False
        elif self._data:
            self._line(b"")

    def _line(self, line: bytes) -> None:
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        elif not line and self._data:
            self._view.receive(b"\n".join(self._data))
            self._data.clear()


def _header(message: Any, name: bytes) -> bytes:
    values: Iterator[bytes] = (value for key, value in message.headers if key == name)
    return next(values, b"")
