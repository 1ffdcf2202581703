"""HTTP/1.1 on one connection: a request, the whole of its reply, and the next request."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

import httptools

_BUFFER = 1 << 14
_UNUSED = 4.0  # seconds that a connection is kept; many servers close theirs after five


class Answer(NamedTuple):
    """A reply that has come in whole."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


class Connection(asyncio.BufferedProtocol):
    """An open connection; the parser calls its `on_` methods.

    It reads into a buffer of its own: without one, asyncio asks the system for 256 KB before every read.
    """

    def __init__(self) -> None:
        self._buffer = memoryview(bytearray(_BUFFER))
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpResponseParser(self)
        self._reply: asyncio.Future[Answer] | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._headers: list[tuple[bytes, bytes]] = []
        self._body: list[bytes] = []
        self._ends_with_connection = False  # a reply that does not say how long it is
        self._again = False
        self._until = 0.0

    def ask(self, head: bytes, body: bytes, seconds: float) -> asyncio.Future[Answer]:
        """Send a request, whose head ends where the length of its body is to stand."""
        self._headers, self._body = [], []
        self._ends_with_connection = self._again = False
        self._reply = self._loop.create_future()
        self._deadline = self._loop.call_later(seconds, self._fail, TimeoutError())
        self._transport.write(b"%b%d\r\n\r\n%b" % (head, len(body), body))
        return self._reply

    def rest(self) -> None:
        """No more of the reply is wanted; without all of it the connection cannot be used again."""
        self._reply = None
        if self._deadline is not None:
            self._deadline.cancel()
        self._until = self._loop.time() + _UNUSED
        if not self._again or self._transport.get_write_buffer_size():
            self.close()

    @property
    def usable(self) -> bool:
        """Whether another request can be sent."""
        return not self._transport.is_closing() and self._loop.time() < self._until

    def close(self) -> None:
        """At once."""
        self._transport.abort()

    def connection_made(self, transport: Any) -> None:
        """Called by the loop."""
        self._transport: asyncio.Transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        """Called by the loop."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Called by the loop: a part of the reply."""
        if self._reply is None:
            self.close()  # it speaks without being asked
            return
        try:
            self._parser.feed_data(self._buffer[:nbytes])
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._fail(ConnectionError(f"the reply is not HTTP: {error}"))

    def connection_lost(self, error: Exception | None) -> None:
        """Called by the loop."""
        if error is None and self._ends_with_connection:
            self._finish()
        else:
            self._fail(error or ConnectionError("the server closed the connection"))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Called by the parser."""
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Called by the parser."""
        said = {name.lower() for name, _ in self._headers}
        self._ends_with_connection = not said & {b"content-length", b"transfer-encoding"}

    def on_body(self, body: bytes) -> None:
        """Called by the parser."""
        self._body.append(body)

    def on_message_complete(self) -> None:
        """Called by the parser."""
        if self._parser.get_status_code() < 200:  # the reply is still to come
            self._headers = []
            return
        self._again = self._parser.should_keep_alive()
        self._finish()

    def _finish(self) -> None:
        if self._reply is not None and not self._reply.done():
            status = self._parser.get_status_code()
            self._reply.set_result(Answer(status, self._headers, b"".join(self._body)))

    def _fail(self, error: Exception) -> None:
        if self._reply is not None and not self._reply.done():
            self._reply.set_exception(error)
