"""Threads for calls that may take long."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import ThreadPoolExecutor


@contextmanager
def thread_pool(size: int) -> Iterator[ThreadPoolExecutor]:
    """An executor that an error or Ctrl-C leaves at once, without waiting for calls under way."""
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(size)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
