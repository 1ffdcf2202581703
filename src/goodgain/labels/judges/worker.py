"""A process that makes the calls of a judge, for `Spread`.

In come (0, (judge, prompt)), once and before calls with another prompt, then (number, the rest of a request),
or (number, None) for a call that nobody waits for any more; out go (0, None) when the judge is ready, then
(number, answer), where a reply is the tuple of its fields.
"""

from __future__ import annotations

import asyncio
import pickle
import socket
from typing import TYPE_CHECKING, Any

from goodgain.labels.judges.protocol import Fatal, Reply, Request, Retry

if TYPE_CHECKING:
    from collections.abc import Callable

_LENGTH = 8
_BUFFER = 1 << 16


class Channel(asyncio.BufferedProtocol):
    """One end of a socket for messages. Those of one moment travel together: as a pickle after its length."""

    def __init__(self, take: Callable[[Any], None], end: Callable[[], None]) -> None:
        self._take = take
        self._end = end
        self._unsent: list[Any] = []
        self._unread = bytearray()
        self._buffer = memoryview(bytearray(_BUFFER))

    def send(self, message: Any) -> None:
        """One to a process that has ended is lost, which this end finds out."""
        if not self._unsent:
            asyncio.get_running_loop().call_soon(self._flush)
        self._unsent.append(message)

    def close(self) -> None:
        """Without another message."""
        self._transport.abort()

    def connection_made(self, transport: Any) -> None:
        """Called by the loop."""
        self._transport: asyncio.Transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        """Called by the loop."""
        self._end()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Called by the loop."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Called by the loop."""
        self._unread += self._buffer[:nbytes]
        while len(self._unread) >= _LENGTH:
            end = _LENGTH + int.from_bytes(self._unread[:_LENGTH], "little")
            if len(self._unread) < end:
                return
            messages = pickle.loads(self._unread[_LENGTH:end])
            del self._unread[:end]
            for message in messages:
                self._take(message)

    def _flush(self) -> None:
        data = pickle.dumps(self._unsent, pickle.HIGHEST_PROTOCOL)
        self._unsent.clear()
        if not self._transport.is_closing():
            self._transport.write(len(data).to_bytes(_LENGTH, "little") + data)


async def opened(
    connection: socket.socket, take: Callable[[Any], None], end: Callable[[], None]
) -> Channel:
    """A channel whose messages go to `take`, and its end to `end`."""
    _, channel = await asyncio.get_running_loop().create_connection(
        lambda: Channel(take, end), sock=connection
    )
    return channel


def serve(descriptor: int) -> None:
    """Make calls until the other end of the socket closes."""
    asyncio.run(_Calls().make(socket.socket(fileno=descriptor)))


class _Calls:
    """The calls that are being made."""

    def __init__(self) -> None:
        self._judge: Any = None
        self._prompt: Any = None
        self._told = asyncio.Event()
        self._ended = asyncio.Event()
        self._calls: dict[int, asyncio.Task[None]] = {}

    async def make(self, connection: socket.socket) -> None:
        """As they are asked for, to the end."""
        self._channel = await opened(connection, self._take, self._end)
        await self._told.wait()
        if self._judge is None:
            return
        self._judge.prepare()
        self._channel.send((0, None))
        await self._ended.wait()
        for call in self._calls.values():
            call.cancel()
        await self._judge.aclose()

    def _take(self, message: tuple[int, Any]) -> None:
        number, asked = message
        if number == 0:
            judge, self._prompt = asked
            self._judge = self._judge or judge
            self._told.set()
        elif asked is not None:
            question, documents, replicate = asked
            call = self._answer(number, Request(question, documents, self._prompt, replicate))
            self._calls[number] = asyncio.create_task(call)
        elif number in self._calls:
            self._calls[number].cancel()

    def _end(self) -> None:
        self._told.set()
        self._ended.set()

    async def _answer(self, number: int, request: Request) -> None:
        answer: Any
        try:
            answer = _fields(await self._judge(request))
        except (Retry, Fatal) as error:
            answer = error
        except Exception as error:  # which need not be one that can be pickled
            answer = RuntimeError(f"{type(error).__name__}: {error}")
        finally:
            del self._calls[number]
        self._channel.send((number, answer))


def _fields(reply: Reply) -> tuple[Any, ...]:
    return reply.text, reply.status, reply.tokens_in, reply.tokens_out, reply.detail
