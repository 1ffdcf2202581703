"""One event loop for all coroutines of retrievers, in a thread of its own.

A client is bound to the loop that it first ran on, so everything that awaits one must use the same loop,
also a fusion that calls it from inside another search.
"""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

from goodgain.threads import NoThreadsError, start_thread

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def wait_for(awaitable: Any, timeout: float | None = None) -> Any:
    """The result of an awaitable; TimeoutError after `timeout` seconds."""
    return timed_wait(awaitable, timeout)[0]


def timed_wait(awaitable: Any, timeout: float | None = None) -> tuple[Any, float, float]:
    """The result, when the loop began with it, and the seconds it took, without the way to the loop."""
    loop = _running_loop()

    async def wait() -> tuple[Any, float, float]:
        start = time.perf_counter()
        async with asyncio.timeout(timeout):
            answer = await awaitable
        return answer, start, time.perf_counter() - start

    return asyncio.run_coroutine_threadsafe(wait(), loop).result()


def _running_loop() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None:
            loop = asyncio.new_event_loop()
            try:
                start_thread(loop.run_forever, name="goodgain-retrievers")
            except NoThreadsError:
                loop.close()
                raise
            _loop = loop
        return _loop
