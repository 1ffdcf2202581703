"""Timed calls of retrievers, with a time limit and with errors recorded as outcomes."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from goodgain.experiment.retrievers.base import ScoredDocument, check_ranking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodgain.experiment.retrievers.base import SearchFunction

TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one call returned, or its error, and how long it took in seconds.

    A call that timed out counts with the time that its user waited; one that raised has no latency.
    """

    ranking: list[ScoredDocument]
    start: float
    seconds: float
    error: str = ""

    @property
    def timed(self) -> bool:
        """Whether its duration is a latency."""
        return not self.error or self.error == TIMEOUT


class Caller:
    """Calls sync and async retrievers.

    Coroutines run on one event loop in a thread of its own, so that a client can reuse its connections.
    With a time limit, sync retrievers run in a worker thread, which is abandoned after a timeout.
    """

    def __init__(self, depth: int, timeout: float | None = None) -> None:
        self._depth = depth
        self._timeout = timeout
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._local = threading.local()
        self._lock = threading.Lock()

    def call(self, search: SearchFunction, query: str) -> Outcome:
        """Call a retriever and measure the time until it returns."""
        start = time.perf_counter()
        try:
            if self._timeout is not None and not _is_async(search):
                answer, start, seconds = self._in_thread(search, query)
            else:
                start = time.perf_counter()
                answer = search(query)
                seconds = time.perf_counter() - start
                if inspect.isawaitable(answer):
                    answer, start, seconds = self._awaited(answer)
            return Outcome(check_ranking(answer, self._depth), start, seconds)
        except TimeoutError:
            limit = self._timeout
            waited = time.perf_counter() - start
            return Outcome([], start, waited if limit is None else limit, TIMEOUT)
        except Exception as error:  # a retriever may raise anything; the experiment continues
            text = f"{type(error).__name__}: {error}".splitlines()[0]
            return Outcome([], start, time.perf_counter() - start, text[:300])

    def _in_thread(self, search: SearchFunction, query: str) -> tuple[Any, float, float]:
        worker = getattr(self._local, "worker", None)
        if worker is None:
            worker = self._local.worker = _Worker()
        try:
            answer, start, seconds = worker.submit(search, query).result(self._timeout)
        except TimeoutError:
            self._local.worker = None  # abandon it: it is still busy
            raise
        if inspect.isawaitable(answer):
            return self._awaited(answer)
        return answer, start, seconds

    def _awaited(self, answer: Any) -> tuple[Any, float, float]:
        async def timed() -> tuple[Any, float, float]:
            start = time.perf_counter()
            result = await asyncio.wait_for(answer, self._timeout)
            return result, start, time.perf_counter() - start

        return asyncio.run_coroutine_threadsafe(timed(), self._running_loop()).result()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
                self._thread.start()
            return self._loop

    def close(self) -> None:
        """Stop the event loop."""
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


def _is_async(search: SearchFunction) -> bool:
    return inspect.iscoroutinefunction(search) or inspect.iscoroutinefunction(
        getattr(search, "__call__", None)  # noqa: B004
    )


class _Worker:
    """A daemon thread that makes one call after another."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[tuple[SearchFunction, str, Future[Any]]] = SimpleQueue()
        threading.Thread(target=self._work, daemon=True).start()

    def submit(self, search: SearchFunction, query: str) -> Future[Any]:
        future: Future[Any] = Future()
        self._tasks.put((search, query, future))
        return future

    def _work(self) -> None:
        while True:
            search, query, future = self._tasks.get()
            start = time.perf_counter()
            try:
                answer = search(query)
                future.set_result((answer, start, time.perf_counter() - start))
            except BaseException as error:  # raised again where the future is awaited
                future.set_exception(error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The latencies of one system in seconds, and the cost of its index."""

    system: str
    calls: int
    mean: float
    p50: float
    p95: float
    p99: float
    per_second: float
    index_seconds: float | None = None
    index_bytes: int | None = None
    failed: int = 0
    timed_out: int = 0
    errors: dict[str, str] = field(default_factory=dict)  # query -> its first error
    inconsistent: int = 0  # queries with different results in a repeat


def latency_statistics(seconds: Sequence[float], span: float | None) -> dict[str, Any]:
    """The statistics of latencies; `span` is the duration of all calls where they overlapped."""
    import math

    from goodgain.stats.pareto import percentiles

    if not seconds:
        names = ("mean", "p50", "p95", "p99", "per_second")
        return {"calls": 0, **dict.fromkeys(names, math.nan)}
    total = span if span is not None else math.fsum(seconds)
    rate = len(seconds) / total if total > 0 else math.nan
    return {"calls": len(seconds), **percentiles(seconds), "per_second": rate}
