"""Make the calls of a plan concurrently, retry failures, and store every reply immediately."""

from __future__ import annotations

import asyncio
import inspect
import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import FrozenInstanceError, dataclass, field
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Any

from goodgain.errors import JudgeError
from goodgain.labels.judges.protocol import Fatal, Reply, Request, Retry, reply_of
from goodgain.labels.judges.replies import clean, read_verdicts
from goodgain.labels.limits import Budget, Limits, RateLimiter
from goodgain.labels.store import ReplyRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goodgain.labels.judges.protocol import Judge, Price
    from goodgain.labels.judges.replies import Verdict
    from goodgain.labels.plan import Call, Plan

_LOOK_UP = 64  # calls looked up in the store at once


@dataclass(slots=True, kw_only=True)
class Progress:
    """The progress of a run, and its summary in the end; read-only once the run has ended."""

    total: int
    stored: int = 0  # labels that the store had already
    pairs: int = 0
    statuses: Counter[str] = field(default_factory=Counter)  # final ones, of this run's labels
    calls: int = 0
    retries: int = 0
    cut: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    started: float = field(default_factory=monotonic)
    stopped: str = ""  # "budget", "interrupted", "failed", or empty
    ended: float | None = None

    def __setattr__(self, name: str, value: Any) -> None:
        if getattr(self, "ended", None) is not None:
            raise FrozenInstanceError(f"cannot assign to '{name}': the run has ended")
        object.__setattr__(self, name, value)

    @property
    def done(self) -> int:
        """Labels that this run has finished, including failures."""
        return sum(self.statuses.values())

    @property
    def seconds(self) -> float:
        """The time since the run started, or its duration."""
        return (self.ended or monotonic()) - self.started

    @property
    def rate(self) -> float:
        """Labels per second."""
        return self.done / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Estimated seconds left, or None if there is no estimate yet."""
        return (self.total - self.done) / self.rate if self.done else None


class Runner:
    """One run over a plan."""

    def __init__(
        self,
        plan: Plan,
        judge: Judge,
        *,
        limits: Limits,
        batch: int,
        retry: tuple[str, ...],
        show: Callable[[Progress], None] | None = None,
    ) -> None:
        self.plan = plan
        self.judge = judge
        self.limits = limits
        self.batch = batch
        self.retry = retry
        self.show = show
        self.price: Price | None = getattr(judge, "price", None)
        self.max_tokens = int(getattr(judge, "max_tokens", 0))
        self.progress = Progress(
            total=plan.todo + plan.no_text,
            stored=plan.stored,
            pairs=plan.pairs,
            cost=0.0 if self.price else None,
        )
        if plan.no_text:
            self.progress.statuses["no_text"] = plan.no_text
        self._rate = RateLimiter(limits)
        self._budget = Budget(limits.budget, plan.store.cost())
        self._consecutive_failures = 0
        self._fatal: JudgeError | None = None
        self._threads: ThreadPoolExecutor | None = None
        self._is_async = _is_async(judge)
        self._deadline: float | None = getattr(judge, "timeout", None)
        self._unsaved: list[ReplyRow] = []
        self._saving: list[asyncio.Future[None]] = []  # resolved by the next commit

    def run(self) -> Progress:
        """Run to the end, to the budget or to Ctrl-C; finished labels are in the store in any case."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            asyncio.run(self._run())
        else:  # in a notebook, which has a loop of its own
            thread = threading.Thread(target=lambda: asyncio.run(self._run()))
            thread.start()
            thread.join()
        if self._fatal:
            raise self._fatal
        return self.progress

    async def _run(self) -> None:
        calls = self.plan.calls(self.batch)
        unfinished = self._unfinished(calls)
        workers = [
            asyncio.create_task(self._worker(unfinished))
            for _ in range(min(self.limits.concurrency, max(1, self.plan.todo)))
        ]
        showing = asyncio.create_task(self._showing())
        try:
            with self._interruptible(workers):
                results = await asyncio.gather(*workers, return_exceptions=True)
            for result in results:
                if isinstance(result, Exception):
                    raise result
        finally:
            self._commit()  # after a second Ctrl-C there may be replies left
            showing.cancel()
            calls.close()
            self.plan.drop()
            if hasattr(self.judge, "aclose"):
                await self.judge.aclose()
            if self._threads:
                self._threads.shutdown(wait=False, cancel_futures=True)
            self.progress.ended = monotonic()
            if self.show:
                self.show(self.progress)

    @contextmanager
    def _interruptible(self, workers: list[asyncio.Task[None]]) -> Iterator[None]:
        """Let calls in flight finish on the first Ctrl-C, as they are paid for; cancel them on the second."""

        def stop() -> None:
            if self.progress.stopped == "interrupted":
                for worker in workers:
                    worker.cancel()
            self.progress.stopped = "interrupted"

        handled = threading.current_thread() is threading.main_thread()
        loop = asyncio.get_running_loop()
        if handled:
            try:
                loop.add_signal_handler(signal.SIGINT, stop)
            except (NotImplementedError, RuntimeError):
                handled = False
        try:
            yield
        finally:
            if handled:
                loop.remove_signal_handler(signal.SIGINT)

    async def _showing(self) -> None:
        while self.show:
            self.show(self.progress)
            await asyncio.sleep(0.2)

    async def _worker(self, calls: Iterator[tuple[Call, list[int]]]) -> None:
        for call, left in calls:
            if self.progress.stopped:
                return
            if left:
                await self._finish(call, left)

    def _unfinished(self, calls: Iterator[Call]) -> Iterator[tuple[Call, list[int]]]:
        """Each call with the documents that no other process has labelled meanwhile.

        They are looked up for many calls at once: one by one takes ten times as long.
        """
        while batch := list(islice(calls, min(self.limits.concurrency, _LOOK_UP))):
            keys = [key for call in batch for key in call.keys]
            done = self.plan.store.done(keys, self.retry)
            self.progress.stored += len(done)
            self.progress.total -= len(done)
            for call in batch:
                yield call, [i for i, key in enumerate(call.keys) if key not in done]

    async def _finish(self, call: Call, left: list[int]) -> None:
        """Make a call until each of its documents has a gain or its last permitted failure."""
        for reading in range(1, self.limits.readings + 1):
            request = Request(
                question=call.question,
                documents=tuple(call.texts[i] for i in left),
                prompt=self.plan.prompt,
                replicate=call.replicate,
                narrative=call.narrative,
                answer=call.answer,
            )
            reply, seconds = await self._reply(request)
            if reply is None:
                return
            verdicts = read_verdicts(reply, request)
            last = reading == self.limits.readings
            rows = self._rows(call, left, reply, verdicts, seconds)
            unreadable = [row.status in ("invalid", "truncated") for row in rows]
            for row, retried in zip(rows, unreadable, strict=True):
                if last or not retried:
                    self.progress.statuses[row.status] += 1
                    self.progress.cut += row.cut is not None
            await self._record(rows, reply)
            if last:
                return
            left = [i for i, retried in zip(left, unreadable, strict=True) if retried]
            if not left:
                return

    def _rows(
        self,
        call: Call,
        numbers: list[int],
        reply: Reply,
        verdicts: list[Verdict],
        seconds: float,
    ) -> list[ReplyRow]:
        """The rows to store for a reply, one per document; its tokens are divided evenly."""
        ins, outs = (
            _shares(total or 0, len(numbers)) for total in (reply.tokens_in, reply.tokens_out)
        )
        return [
            ReplyRow(
                key=call.keys[i],
                replicate=call.replicate,
                status=verdict.status,
                gain=verdict.gain,
                detail=clean(verdict.detail),
                raw=clean(reply.text),
                tokens_in=tokens_in,
                tokens_out=tokens_out,
                cost=self.price.of(tokens_in, tokens_out) if self.price else None,
                seconds=seconds,
                cut=call.cuts[i],
            )
            for i, verdict, tokens_in, tokens_out in zip(numbers, verdicts, ins, outs, strict=True)
        ]

    async def _record(self, rows: list[ReplyRow], reply: Reply) -> None:
        """Store the rows, after which no kill can lose them; too many failures in a row end the run."""
        await self._save(rows)
        self.progress.tokens_in += reply.tokens_in or 0
        self.progress.tokens_out += reply.tokens_out or 0
        failed = all(row.status == "error" for row in rows)
        self._consecutive_failures = self._consecutive_failures + 1 if failed else 0
        if self._consecutive_failures >= self.limits.failures:
            self._end(
                f"{self._consecutive_failures} calls in a row failed, the last with: {reply.detail}"
            )

    async def _save(self, rows: list[ReplyRow]) -> None:
        """Wait until the rows are committed, in one transaction with others of the same moment."""
        loop = asyncio.get_running_loop()
        if not self._saving:
            loop.call_soon(self._commit)
        saved = loop.create_future()
        self._saving.append(saved)
        self._unsaved += rows
        await saved

    def _commit(self) -> None:
        rows, self._unsaved = self._unsaved, []
        saving, self._saving = self._saving, []
        failed = None
        try:
            if rows:
                self.plan.store.add_replies(self.plan.setting, rows)
        except Exception as error:
            failed = error
        for saved in saving:
            if saved.done():  # cancelled by a second Ctrl-C
                continue
            if failed is None:
                saved.set_result(None)
            else:
                saved.set_exception(failed)

    async def _reply(self, request: Request) -> tuple[Reply | None, float]:
        """One reply, after as many tries as permitted; None if the run has stopped."""
        tokens = request.tokens()
        max_tokens = self.max_tokens * len(request.documents)
        reserved = self.price.of(tokens, max_tokens) if self.price else 0.0
        tries = 0
        while True:
            await self._rate.wait(tokens)
            if self.progress.stopped:
                return None, 0.0
            if not await self._budget.reserve(reserved):
                self.progress.stopped = self.progress.stopped or "budget"
                return None, 0.0
            if self.progress.stopped:  # while waiting for money
                self._budget.settle(reserved, 0.0)
                return None, 0.0
            tries += 1
            self.progress.calls += 1
            start, reply = monotonic(), Reply("", "error")
            try:
                reply = await self._call(request)
            except Fatal as error:
                self._end(str(error), error.hint)
                return None, 0.0
            except Retry as error:
                if tries >= self.limits.tries:
                    detail = f"{error} (after {tries} tries)"
                    return Reply("", "error", detail=detail), monotonic() - start
                self.progress.retries += 1
                await self._back_off(error.after, tries)
                continue
            except Exception as error:
                detail = f"{type(error).__name__}: {error}"
                return Reply("", "error", detail=detail[:500]), monotonic() - start
            finally:
                cost = (
                    self.price.of(reply.tokens_in or 0, reply.tokens_out or 0)
                    if self.price
                    else 0.0
                )
                self._budget.settle(reserved, cost)
                if self.progress.cost is not None:
                    self.progress.cost += cost
            return reply, monotonic() - start

    async def _back_off(self, after: float | None, tries: int) -> None:
        if after is None:
            await asyncio.sleep(self.limits.backoff(tries))
        elif after > 0:
            self._rate.pause(after)

    async def _call(self, request: Request) -> Reply:
        """Call the judge; its timeout covers the entire reply, however slowly it arrives."""
        try:
            async with asyncio.timeout(self._deadline):
                answer: Any
                if self._is_async:
                    answer = self.judge(request)
                else:
                    loop = asyncio.get_running_loop()
                    if self._threads is None:
                        self._threads = ThreadPoolExecutor(self.limits.concurrency)
                    answer = await loop.run_in_executor(self._threads, self.judge, request)
                if inspect.isawaitable(answer):
                    answer = await answer
        except TimeoutError:
            raise Retry(f"no reply in {self._deadline:g} seconds") from None
        return reply_of(answer)

    def _end(self, message: str, hint: str = "") -> None:
        self.progress.stopped = "failed"
        self._fatal = self._fatal or JudgeError(
            message,
            hint=hint or "finished labels are in the store; run the same command again to continue",
        )


def _is_async(judge: Any) -> bool:
    call = judge if inspect.isroutine(judge) else type(judge).__call__
    return inspect.iscoroutinefunction(call)


def _shares(total: int, count: int) -> list[int]:
    """A total divided into `count` integers that differ by at most one."""
    each, left = divmod(total, count)
    return [each + 1] * left + [each] * (count - left)
