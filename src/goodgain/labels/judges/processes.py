"""The calls of a built-in judge spread over processes, where a server answers faster than one can ask.

An official client takes about half a millisecond of processor time a call. Only the calls are spread: plan,
pace, money and store stay with the one runner, so that all it promises holds for any number of processes.
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from goodgain.labels.judges.protocol import Reply, Retry
from goodgain.labels.judges.worker import opened

if TYPE_CHECKING:
    from goodgain.labels.judges.client import ClientJudge
    from goodgain.labels.judges.protocol import Request
    from goodgain.labels.template import Prompt

_BESIDES = 3  # calls of any process: what is done here for all of them is as much as one call
_START = "from goodgain.labels.judges.worker import serve; serve"


class Spread:
    """A judge whose calls are made by several processes, of which this is one."""

    def __init__(self, judge: ClientJudge, processes: int) -> None:
        self.price = judge.price
        self.max_tokens = judge.max_tokens
        self.timeout = judge.timeout
        self._judge = judge
        self._others = processes - 1
        self._workers: list[_Worker] | None = None
        self._here = 0  # calls that this process is making

    async def __call__(self, request: Request) -> Reply:
        """One call, made by the process that has the least to do."""
        if self._workers is None:
            prompt = request.prompt
            self._workers = [_Worker(self._judge, prompt) for _ in range(self._others)]
        ready = [worker for worker in self._workers if worker.ready]
        if ready:
            calls = self._here + sum(map(_busy, ready))
            free = min(ready, key=_busy)
            if _busy(free) <= self._here + calls / _BESIDES:
                return await free.call(request)
        self._here += 1
        try:
            return await self._judge(request)
        finally:
            self._here -= 1

    @property
    def ready(self) -> int:
        """How many of the other processes make calls by now."""
        return sum(worker.ready for worker in self._workers or ())

    async def aclose(self) -> None:
        """End the processes and close the connections."""
        workers, self._workers = self._workers or [], None
        for worker in workers:
            await worker.end()
        await self._judge.aclose()


class _Worker:
    """A process that makes calls. It ends when its socket closes, so none outlives a kill of this one."""

    def __init__(self, judge: ClientJudge, prompt: Prompt) -> None:
        self.ready = False
        self.waiting: dict[int, asyncio.Future[Reply]] = {}
        self._judge = judge
        self._prompt = prompt
        self._calls = 0
        self._ended = asyncio.Event()
        ours, theirs = socket.socketpair()
        with theirs:  # a session of its own: Ctrl-C is for the runner alone
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"{_START}({theirs.fileno()})"],
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._opening = asyncio.create_task(self._open(ours))

    async def call(self, request: Request) -> Reply:
        """The reply, or what was raised over there."""
        if request.prompt != self._prompt:
            self._prompt = request.prompt
            self._channel.send((0, (self._judge, self._prompt)))
        self._calls += 1
        number = self._calls
        answer: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self.waiting[number] = answer
        self._channel.send((number, (request.question, request.documents, request.replicate)))
        try:
            return await answer
        except asyncio.CancelledError:
            self._channel.send((number, None))
            raise
        finally:
            del self.waiting[number]

    async def end(self) -> None:
        """At once: nobody waits for its calls any more."""
        self._process.kill()
        await self._opening
        await self._ended.wait()
        self._process.wait()

    async def _open(self, ours: socket.socket) -> None:
        self._channel = await opened(ours, self._settle, self._end)
        self._channel.send((0, (self._judge, self._prompt)))

    def _settle(self, message: tuple[int, Any]) -> None:
        number, answer = message
        if number == 0:
            self.ready = True
            return
        waiting = self.waiting.get(number)
        if waiting is None or waiting.done():
            return
        if isinstance(answer, Exception):
            waiting.set_exception(answer)
        else:
            waiting.set_result(Reply(*answer))

    def _end(self) -> None:
        self.ready = False
        self._ended.set()
        for number in self.waiting:
            self._settle((number, Retry("the process that made the call has ended")))


def _busy(worker: _Worker) -> int:
    return len(worker.waiting)
