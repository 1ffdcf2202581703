"""One event loop for all coroutines of retrievers, in a thread of its own.

A client is bound to the loop that it first ran on, so everything that awaits one must use the same loop,
also a fusion that calls it from inside another search.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def wait_for(awaitable: Any, timeout: float | None = None) -> Any:
    """The result of an awaitable; TimeoutError after `timeout` seconds."""

    async def wait() -> Any:
        return await asyncio.wait_for(awaitable, timeout)

    return asyncio.run_coroutine_threadsafe(wait(), _running_loop()).result()


def _running_loop() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(
                target=_loop.run_forever, name="goodgain-retrievers", daemon=True
            ).start()
        return _loop
