"""Distribute the calls of a built-in judge over several processes.

An official client needs about half a millisecond of processor time per call, so a fast server outpaces a
single process. Only the calls are distributed: plan, rate limits, budget and store stay with the one runner,
so its guarantees hold for any number of processes.
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from goodgain.labels.judges.protocol import Reply, Retry
from goodgain.labels.judges.worker import open_channel

if TYPE_CHECKING:
    from goodgain.labels.judges.client import ClientJudge
    from goodgain.labels.judges.protocol import Request
    from goodgain.labels.template import Prompt

_OVERHEAD = 3  # three calls made elsewhere cost this process as much time as one of its own
_START = "from goodgain.labels.judges.worker import serve; serve"


class JudgeProcesses:
    """A judge whose calls are made by several processes, this one included."""

    def __init__(self, judge: ClientJudge, processes: int) -> None:
        self.price = judge.price
        self.max_tokens = judge.max_tokens
        self.timeout = judge.timeout
        self._judge = judge
        self._worker_count = processes - 1
        self._workers: list[_Worker] | None = None
        self._own_calls = 0  # calls that this process is making

    async def __call__(self, request: Request) -> Reply:
        """Make one call in the least busy process."""
        if self._workers is None:
            prompt = request.prompt
            self._workers = [_Worker(self._judge, prompt) for _ in range(self._worker_count)]
        ready = [worker for worker in self._workers if worker.ready]
        if ready:
            calls = self._own_calls + sum(map(_load, ready))
            idlest = min(ready, key=_load)
            if _load(idlest) <= self._own_calls + calls / _OVERHEAD:
                return await idlest.call(request)
        self._own_calls += 1
        try:
            return await self._judge(request)
        finally:
            self._own_calls -= 1

    @property
    def ready(self) -> int:
        """How many of the other processes are making calls by now."""
        return sum(worker.ready for worker in self._workers or ())

    async def aclose(self) -> None:
        """End the processes and close the connections."""
        workers, self._workers = self._workers or [], None
        for worker in workers:
            await worker.end()
        await self._judge.aclose()


class _Worker:
    """A process that makes calls; it ends when its socket closes, so it cannot outlive this process."""

    def __init__(self, judge: ClientJudge, prompt: Prompt) -> None:
        self.ready = False
        self.pending: dict[int, asyncio.Future[Reply]] = {}
        self._judge = judge
        self._prompt = prompt
        self._calls = 0
        self._ended = asyncio.Event()
        ours, theirs = socket.socketpair()
        with theirs:  # in a session of its own, so that Ctrl-C reaches the runner alone
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"{_START}({theirs.fileno()})"],
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._opening = asyncio.create_task(self._open(ours))

    async def call(self, request: Request) -> Reply:
        """Return the reply, or raise what the call raised in the other process."""
        if request.prompt != self._prompt:
            self._prompt = request.prompt
            self._channel.send((0, (self._judge, self._prompt)))
        self._calls += 1
        number = self._calls
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self.pending[number] = reply
        fields = (request.question, request.documents, request.replicate)
        self._channel.send((number, (*fields, request.narrative, request.answer)))
        try:
            return await reply
        except asyncio.CancelledError:
            self._channel.send((number, None))
            raise
        finally:
            del self.pending[number]

    async def end(self) -> None:
        """Kill the process: nobody waits for its calls any longer."""
        self._process.kill()
        await self._opening
        await self._ended.wait()
        self._process.wait()

    async def _open(self, ours: socket.socket) -> None:
        self._channel = await open_channel(ours, self._settle, self._close)
        self._channel.send((0, (self._judge, self._prompt)))

    def _settle(self, message: tuple[int, Any]) -> None:
        number, outcome = message
        if number == 0:
            self.ready = True
            return
        reply = self.pending.get(number)
        if reply is None or reply.done():
            return
        if isinstance(outcome, Exception):
            reply.set_exception(outcome)
        else:
            reply.set_result(Reply(*outcome))

    def _close(self) -> None:
        self.ready = False
        self._ended.set()
        for number in self.pending:
            self._settle((number, Retry("the process that made the call has ended")))


def _load(worker: _Worker) -> int:
    return len(worker.pending)
