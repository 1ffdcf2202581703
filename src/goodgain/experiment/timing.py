"""Timed calls of retrievers, with a time limit and with errors recorded as outcomes."""

from __future__ import annotations

import inspect
import threading
import time
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from goodgain.experiment.loops import timed_wait
from goodgain.experiment.queries import with_arguments
from goodgain.experiment.retrievers.answers import Extras, split_answer
from goodgain.experiment.retrievers.base import ScoredDocument, check_ranking
from goodgain.redaction import hide_secrets
from goodgain.threads import NoThreadsError, start_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goodgain.experiment.retrievers.base import SearchFunction

TIMEOUT = "timeout"
PERCENTS = (50, 95, 99)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one call returned, or its error, and how long it took in seconds.

    A call that timed out counts with the time that its user waited; one that raised has no latency.
    """

    ranking: list[ScoredDocument]
    start: float
    seconds: float
    error: str = ""
    repeated: int = 0  # documents that the answer held twice
    ascending: bool = False  # its pairs came with rising scores, as distances would
    beside: bool = False  # an earlier call that timed out was still running
    extras: Extras = field(default_factory=Extras)

    @property
    def timed(self) -> bool:
        """Whether its duration is a latency."""
        return not self.error or self.error == TIMEOUT


class Caller:
    """Calls sync and async retrievers.

    With a time limit, sync retrievers run in a worker thread, which is abandoned after a timeout. The next
    call waits for such a runaway as long as the limit; calls beside one that still runs are marked.
    """

    def __init__(
        self,
        depth: int,
        timeout: float | None = None,
        *,
        duplicates: str = "best",
        canonical: Callable[[str], str] | None = None,
    ) -> None:
        self._depth = depth
        self._timeout = timeout
        self._duplicates = duplicates
        self._canonical = canonical
        self._local = threading.local()
        self._lock = threading.Lock()
        self._runaways: list[Future[Any]] = []
        self._functions: dict[int, tuple[SearchFunction, SearchFunction, bool]] = {}

    def call(self, search: SearchFunction, query: str) -> Outcome:
        """Call a retriever and measure the time until it returns."""
        beside = bool(self._runaways) and self._beside_runaway()
        function, is_async = self._prepared(search)
        start = time.perf_counter()
        try:
            if self._timeout is not None and not is_async:
                answer, start, seconds = self._in_thread(function, query)
            else:
                start = time.perf_counter()
                answer = function(query)
                seconds = time.perf_counter() - start
                if inspect.isawaitable(answer):
                    answer, start, seconds = timed_wait(answer, self._timeout)
            if self._timeout is not None and seconds > self._timeout:
                raise TimeoutError  # a busy machine woke this thread late, when the answer was there
            results, extras = split_answer(answer)
            ranking = check_ranking(results, self._depth, self._duplicates, self._canonical)
            return Outcome(
                ranking,
                start,
                seconds,
                repeated=ranking.repeated,
                ascending=ranking.ascending,
                beside=beside,
                extras=extras,
            )
        except NoThreadsError:  # no failure of the retriever: it ends the experiment
            raise
        except TimeoutError:
            limit = self._timeout
            waited = time.perf_counter() - start
            return Outcome([], start, waited if limit is None else limit, TIMEOUT, beside=beside)
        except Exception as error:  # a retriever may raise anything; the experiment continues
            return Outcome([], start, time.perf_counter() - start, error_text(error), beside=beside)

    def _prepared(self, search: SearchFunction) -> tuple[SearchFunction, bool]:
        """A function of the query alone, and whether it is async; looked up once for each retriever."""
        prepared = self._functions.get(id(search))
        if prepared is None:
            prepared = search, with_arguments(search), _is_async(search)
            self._functions[id(search)] = prepared  # with the retriever, so that its id stays taken
        return prepared[1:]

    def _in_thread(self, search: SearchFunction, query: str) -> tuple[Any, float, float]:
        worker = getattr(self._local, "worker", None)
        if worker is None:
            worker = self._local.worker = _Worker()
        future = worker.submit(search, query)
        try:
            answer, start, seconds = future.result(self._timeout)
        except TimeoutError:
            if not future.done():
                self._local.worker = None  # abandon it: it is still busy
                with self._lock:
                    self._runaways.append(future)
            raise
        if inspect.isawaitable(answer):
            return timed_wait(answer, self._timeout)
        return answer, start, seconds

    def _beside_runaway(self) -> bool:
        """Wait for calls that timed out, once for each; whether one is still running."""
        with self._lock:
            for future in list(self._runaways):
                if not getattr(future, "was_awaited", False):
                    future.was_awaited = True  # type: ignore[attr-defined]
                    wait([future], self._timeout)
                if future.done():
                    self._runaways.remove(future)
            return bool(self._runaways)


def error_text(error: Exception) -> str:
    """An error on one line, without the secrets that a service may repeat."""
    text = hide_secrets(f"{type(error).__name__}: {error}")
    return (text.splitlines() or [type(error).__name__])[0][:300]


def _is_async(search: SearchFunction) -> bool:
    return inspect.iscoroutinefunction(search) or inspect.iscoroutinefunction(
        getattr(search, "__call__", None)  # noqa: B004
    )


class _Worker:
    """A daemon thread that makes one call after another."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[tuple[SearchFunction, str, Future[Any]]] = SimpleQueue()
        start_thread(self._work)

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
class Latencies:
    """Latencies in seconds. The interval of a percentile holds for the population, with 95 % confidence.

    With too few calls an interval is open: its end is infinite.
    """

    calls: int
    mean: float
    p50: float
    p95: float
    p99: float
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)  # by p50, p95, p99

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Latencies:
        """The statistics of these latencies; NaN where there are none."""
        import math

        from goodgain.stats.pareto import percentiles
        from goodgain.stats.quantiles import percentile_interval

        if not seconds:
            return cls(calls=0, mean=math.nan, p50=math.nan, p95=math.nan, p99=math.nan)
        intervals = {f"p{p}": percentile_interval(seconds, p) for p in PERCENTS}
        return cls(calls=len(seconds), **percentiles(seconds), intervals=intervals)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing(Latencies):
    """The latencies of one system, and the cost of its index and of its calls.

    They are those of the first call of each query (cold); `warm` are those of repeated calls, which a cache
    may answer, and `first_call` is that of the very first call, which may load or connect something. `calls`
    counts all that are timed.
    """

    system: str
    per_second: float
    warm: Latencies | None = None
    first_call: float | None = None
    index_seconds: float | None = None
    index_bytes: int | None = None
    index_reused: tuple[str, ...] = ()  # stages of an earlier run: the index has no time then
    failed: int = 0
    timed_out: int = 0
    errors: dict[str, str] = field(default_factory=dict)  # query -> its first error
    inconsistent: int = 0  # queries with different results in a repeat
    repeated: int = 0  # answers that held a document twice
    ascending: int = 0  # answers with scores that rise from the first document to the last
    descending: int = 0  # answers with scores that do not
    beside: int = 0  # calls beside a runaway, which are not timed
    tokens: float | None = None  # of all calls that reported them
    cost: float | None = None
    silent: dict[str, int] = field(default_factory=dict)  # answers without tokens or cost, by name


def queries_per_second(seconds: Sequence[float], span: float | None) -> float:
    """Finished calls by their duration; `span` is the duration of all calls where they overlapped."""
    import math

    total = span if span is not None else math.fsum(seconds)
    return len(seconds) / total if total > 0 else math.nan
