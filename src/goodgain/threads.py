"""Threads for calls that may take long, and what to do where the system refuses to start them."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from goodgain.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import ThreadPoolExecutor
    from types import TracebackType


class NoThreadsError(InputError):
    """The system refuses to start another thread."""

    def __init__(self) -> None:
        super().__init__(
            "the system refuses to start another thread",
            hint="raise the limit on processes: ulimit -u, or the limit on PIDs of a container",
        )

    def __reduce__(self) -> tuple[object, ...]:
        return (NoThreadsError, ())


def start_thread(work: Callable[[], object], name: str | None = None) -> threading.Thread:
    """Start a thread that does not keep Python from exiting."""
    thread = threading.Thread(target=work, name=name, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        raise NoThreadsError from None
    return thread


def require_threads(count: int) -> None:
    """Refuse to go on without so many more threads: some libraries end the process without them."""
    ended = threading.Event()
    try:
        threads = [start_thread(ended.wait) for _ in range(count)]
    finally:
        ended.set()
    for thread in threads:
        thread.join()


def lacks_threads(error: BaseException) -> bool:
    """Whether an error is of a thread that could not be started.

    Without threads, the OpenBLAS of numpy sends SIGINT to its own process.
    """
    if isinstance(error, RuntimeError):
        return "can't start new thread" in str(error)
    if not isinstance(error, KeyboardInterrupt) or not _is_of_numpy(error.__traceback__):
        return False
    try:
        require_threads(1)
    except NoThreadsError:
        return True
    return False


def _is_of_numpy(traceback: TracebackType | None) -> bool:
    while traceback is not None:
        if traceback.tb_frame.f_globals.get("__name__", "").partition(".")[0] == "numpy":
            return True
        traceback = traceback.tb_next
    return False


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
