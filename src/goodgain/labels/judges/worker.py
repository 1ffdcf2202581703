"""A process that makes calls for `JudgeProcesses`.

It receives (0, (judge, prompt)) first and whenever the prompt changes, then (number, fields of a request),
or (number, None) to cancel that call. It sends (0, None) once the judge is ready, then (number, outcome),
where the outcome is an exception or the fields of a reply.
"""

from __future__ import annotations

import asyncio
import pickle
import socket
from typing import TYPE_CHECKING, Any

from goodgain.labels.judges.protocol import Fatal, Reply, Request, Retry

if TYPE_CHECKING:
    from collections.abc import Callable

_LENGTH_BYTES = 8
_BUFFER_SIZE = 1 << 16


class Channel(asyncio.BufferedProtocol):
    """One end of a socket for messages, sent in batches: a length, then a pickled list."""

    def __init__(self, on_message: Callable[[Any], None], on_close: Callable[[], None]) -> None:
        self._on_message = on_message
        self._on_close = on_close
        self._unsent: list[Any] = []
        self._unread = bytearray()
        self._buffer = memoryview(bytearray(_BUFFER_SIZE))

    def send(self, message: Any) -> None:
        """Send a message; if the other process has ended it is lost, and `on_close` is called."""
        if not self._unsent:
            asyncio.get_running_loop().call_soon(self._flush)
        self._unsent.append(message)

    def connection_made(self, transport: Any) -> None:
        """Called by the loop."""
        self._transport: asyncio.Transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        """Called by the loop."""
        self._on_close()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Called by the loop."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Called by the loop."""
        self._unread += self._buffer[:nbytes]
        while len(self._unread) >= _LENGTH_BYTES:
            end = _LENGTH_BYTES + int.from_bytes(self._unread[:_LENGTH_BYTES], "little")
            if len(self._unread) < end:
                return
            messages = pickle.loads(self._unread[_LENGTH_BYTES:end])
            del self._unread[:end]
            for message in messages:
                self._on_message(message)

    def _flush(self) -> None:
        data = pickle.dumps(self._unsent, pickle.HIGHEST_PROTOCOL)
        self._unsent.clear()
        if not self._transport.is_closing():
            self._transport.write(len(data).to_bytes(_LENGTH_BYTES, "little") + data)


async def open_channel(
    connection: socket.socket, on_message: Callable[[Any], None], on_close: Callable[[], None]
) -> Channel:
    """Open a channel over a connected socket."""
    _, channel = await asyncio.get_running_loop().create_connection(
        lambda: Channel(on_message, on_close), sock=connection
    )
    return channel


def serve(descriptor: int) -> None:
    """Make calls until the other end of the socket closes."""
    asyncio.run(_Calls().serve(socket.socket(fileno=descriptor)))


class _Calls:
    """The calls in progress."""

    def __init__(self) -> None:
        self._judge: Any = None
        self._prompt: Any = None
        self._configured = asyncio.Event()
        self._closed = asyncio.Event()
        self._calls: dict[int, asyncio.Task[None]] = {}

    async def serve(self, connection: socket.socket) -> None:
        """Make calls as they are requested, until the channel closes."""
        self._channel = await open_channel(connection, self._receive, self._close)
        await self._configured.wait()
        if self._judge is None:
            return
        self._judge.prepare()
        self._channel.send((0, None))
        await self._closed.wait()
        for call in self._calls.values():
            call.cancel()
        await self._judge.aclose()

    def _receive(self, message: tuple[int, Any]) -> None:
        number, content = message
        if number == 0:
            judge, self._prompt = content
            self._judge = self._judge or judge
            self._configured.set()
        elif content is not None:
            question, documents, *rest = content
            call = self._answer(number, Request(question, documents, self._prompt, *rest))
            self._calls[number] = asyncio.create_task(call)
        elif number in self._calls:
            self._calls[number].cancel()

    def _close(self) -> None:
        self._configured.set()
        self._closed.set()

    async def _answer(self, number: int, request: Request) -> None:
        outcome: Any
        try:
            outcome = _fields(await self._judge(request))
        except (Retry, Fatal) as error:
            outcome = error
        except Exception as error:  # it may not be picklable
            outcome = RuntimeError(f"{type(error).__name__}: {error}")
        finally:
            del self._calls[number]
        self._channel.send((number, outcome))


def _fields(reply: Reply) -> tuple[Any, ...]:
    return reply.text, reply.status, reply.tokens_in, reply.tokens_out, reply.detail
