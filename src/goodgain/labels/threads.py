"""Threads for judges that are not async; unlike an executor's, they do not keep Python from exiting."""

from __future__ import annotations

import asyncio
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from goodgain.threads import NoThreadsError, start_thread

if TYPE_CHECKING:
    from collections.abc import Callable

_Job = tuple["asyncio.Future[Any]", "Callable[[Any], Any]", Any]


class DaemonThreads:
    """At most `size` threads, started when they are needed."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._threads = 0
        self._busy = 0
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()

    async def run(self, function: Callable[[Any], Any], argument: Any) -> Any:
        """Call a function in a thread; if this is cancelled, nobody waits for its result."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._busy += 1
        try:
            if self._busy > self._threads and self._threads < self._size:
                self._start()
            self._jobs.put((future, function, argument))
            return await future
        finally:
            self._busy -= 1

    def _start(self) -> None:
        """Start one more thread; where the system refuses, go on with those that there are."""
        try:
            start_thread(self._work)
        except NoThreadsError:
            if not self._threads:
                raise
            self._size = self._threads
        else:
            self._threads += 1

    def close(self) -> None:
        """End every thread after its current call."""
        for _ in range(self._threads):
            self._jobs.put(None)

    def _work(self) -> None:
        while job := self._jobs.get():
            future, function, argument = job
            result: Any = None
            failure: BaseException | None = None
            try:
                result = function(argument)
            except BaseException as error:
                failure = error
            try:
                future.get_loop().call_soon_threadsafe(_settle, future, result, failure)
            except RuntimeError:  # the loop was closed meanwhile
                return


def _settle(future: asyncio.Future[Any], result: Any, failure: BaseException | None) -> None:
    if future.done():
        return
    if failure is None:
        future.set_result(result)
    elif isinstance(failure, Exception) and not isinstance(failure, StopIteration):
        future.set_exception(failure)
    else:  # a future cannot hold it
        future.set_exception(RuntimeError(f"{type(failure).__name__}: {failure}"))
