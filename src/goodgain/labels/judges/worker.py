"""A process that makes the calls of a judge, for `Spread`.

Messages are pickles after their length. In come the judge, then (number, request), or (number, None) for a
call that nobody waits for any more; out go (0, None) when the judge is ready, then (number, answer).
"""

from __future__ import annotations

import asyncio
import pickle
import socket
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goodgain.labels.judges.client import ClientJudge
    from goodgain.labels.judges.protocol import Request

_LENGTH = 8


def send(writer: asyncio.StreamWriter, message: Any) -> None:
    """Write a message; one to a process that has ended is lost, which its reader finds out."""
    if not writer.is_closing():
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        writer.write(len(data).to_bytes(_LENGTH, "little") + data)


async def receive(reader: asyncio.StreamReader) -> Any:
    """The next message, or None at the end."""
    try:
        length = await reader.readexactly(_LENGTH)
        return pickle.loads(await reader.readexactly(int.from_bytes(length, "little")))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


def serve(descriptor: int) -> None:
    """Make calls until the other end of the socket closes."""
    asyncio.run(_serve(socket.socket(fileno=descriptor)))


async def _serve(connection: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=connection)
    judge = await receive(reader)
    if judge is None:
        return
    judge.prepare()
    send(writer, (0, None))
    calls: dict[int, asyncio.Task[None]] = {}
    while (message := await receive(reader)) is not None:
        number, request = message
        if request is not None:
            calls[number] = asyncio.create_task(_answer(judge, number, request, writer))
            calls[number].add_done_callback(partial(_forget, calls, number))
        elif number in calls:
            calls[number].cancel()
    for call in calls.values():
        call.cancel()
    await judge.aclose()


def _forget(calls: dict[int, asyncio.Task[None]], number: int, _: asyncio.Task[None]) -> None:
    del calls[number]


async def _answer(
    judge: ClientJudge, number: int, request: Request, writer: asyncio.StreamWriter
) -> None:
    from goodgain.labels.judges.protocol import Fatal, Retry

    answer: Any
    try:
        answer = await judge(request)
    except (Retry, Fatal) as error:
        answer = error
    except Exception as error:  # which need not be one that can be pickled
        answer = RuntimeError(f"{type(error).__name__}: {error}")
    send(writer, (number, answer))
