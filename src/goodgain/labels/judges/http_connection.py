"""One HTTP/1.1 connection: send a request, read its complete response, repeat."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

import httptools

_BUFFER_SIZE = 1 << 14
_IDLE_SECONDS = (
    4.0  # how long an idle connection stays usable; many servers close theirs after five
)


class RawResponse(NamedTuple):
    """A response that has been read completely."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


class Connection(asyncio.BufferedProtocol):
    """An open connection; the parser calls its `on_` methods.

    It reads into a buffer of its own: otherwise asyncio allocates 256 KB before every read.
    """

    def __init__(self) -> None:
        self._buffer = memoryview(bytearray(_BUFFER_SIZE))
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpResponseParser(self)
        self._response: asyncio.Future[RawResponse] | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._headers: list[tuple[bytes, bytes]] = []
        self._body: list[bytes] = []
        self._ends_with_connection = False  # the response does not state its length
        self._reusable = False
        self._usable_until = 0.0

    def request(self, head: bytes, body: bytes, seconds: float) -> asyncio.Future[RawResponse]:
        """Send a request; `head` ends where the value of its content-length header goes."""
        self._headers, self._body = [], []
        self._ends_with_connection = self._reusable = False
        self._response = self._loop.create_future()
        self._deadline = self._loop.call_later(seconds, self._fail, TimeoutError())
        self._transport.write(b"%b%d\r\n\r\n%b" % (head, len(body), body))
        return self._response

    def release(self) -> None:
        """Stop waiting for the response; unless all of it was read, the connection is closed."""
        self._response = None
        if self._deadline is not None:
            self._deadline.cancel()
        self._usable_until = self._loop.time() + _IDLE_SECONDS
        if not self._reusable or self._transport.get_write_buffer_size():
            self.close()

    @property
    def usable(self) -> bool:
        """Whether another request can be sent."""
        return not self._transport.is_closing() and self._loop.time() < self._usable_until

    def close(self) -> None:
        """Close immediately."""
        self._transport.abort()

    def connection_made(self, transport: Any) -> None:
        """Called by the loop."""
        self._transport: asyncio.Transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        """Called by the loop."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Called by the loop when a piece of the response has arrived."""
        if self._response is None:
            self.close()  # the server sent data nobody requested
            return
        try:
            self._parser.feed_data(self._buffer[:nbytes])
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._fail(ConnectionError(f"the response is not valid HTTP: {error}"))

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
        names = {name.lower() for name, _ in self._headers}
        self._ends_with_connection = not names & {b"content-length", b"transfer-encoding"}

    def on_body(self, body: bytes) -> None:
        """Called by the parser."""
        self._body.append(body)

    def on_message_complete(self) -> None:
        """Called by the parser."""
        if self._parser.get_status_code() < 200:  # informational; the final response follows
            self._headers = []
            return
        self._reusable = self._parser.should_keep_alive()
        self._finish()

    def _finish(self) -> None:
        if self._response is not None and not self._response.done():
            status = self._parser.get_status_code()
            self._response.set_result(RawResponse(status, self._headers, b"".join(self._body)))

    def _fail(self, error: Exception) -> None:
        if self._response is not None and not self._response.done():
            self._response.set_exception(error)
