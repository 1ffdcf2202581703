"""Putting a plan's calls to a judge: many at once, each retried or reported, each reply kept at once."""

from __future__ import annotations

import asyncio
import inspect
import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Any

from goodgain.errors import JudgeError
from goodgain.labels.judges.protocol import Fatal, Reply, Request, Retry, verdicts
from goodgain.labels.limits import Limits, Pace, Purse
from goodgain.labels.store import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goodgain.labels.judges.protocol import Judge, Price, Verdict
    from goodgain.labels.plan import Call, Plan

_LOOK_UP = 64  # calls


@dataclass(slots=True)
class Progress:
    """How far a run is: what the bar shows, and in the end the summary."""

    total: int
    known: int = 0
    pairs: int = 0
    statuses: Counter[str] = field(
        default_factory=Counter
    )  # of this run's documents, as they ended
    calls: int = 0
    retries: int = 0
    cut: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    started: float = field(default_factory=monotonic)
    ended: float | None = None
    stopped: str = ""  # "budget", "interrupted", or empty

    @property
    def done(self) -> int:
        """Labels that this run has finished, well or not."""
        return sum(self.statuses.values())

    @property
    def seconds(self) -> float:
        """Since the run began, or that it took."""
        return (self.ended or monotonic()) - self.started

    @property
    def rate(self) -> float:
        """Labels a second."""
        return self.done / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Seconds to go, or None while that cannot be told."""
        return (self.total - self.done) / self.rate if self.done else None


class Runner:
    """One run over a plan."""

    def __init__(
        self,
        plan: Plan,
        judge: Judge,
        limits: Limits,
        batch: int,
        again: tuple[str, ...],
        show: Callable[[Progress], None] | None = None,
    ) -> None:
        self.plan = plan
        self.judge = judge
        self.limits = limits
        self.batch = batch
        self.again = again
        self.show = show
        self.price: Price | None = getattr(judge, "price", None)
        self.most_out = int(getattr(judge, "max_tokens", 0))
        self.progress = Progress(plan.todo + plan.no_text, plan.known, plan.pairs)
        self.progress.cost = 0.0 if self.price else None
        if plan.no_text:
            self.progress.statuses["no_text"] = plan.no_text
        self._pace = Pace(limits)
        self._purse = Purse(limits.budget, plan.store.cost())
        self._failed_in_a_row = 0
        self._fatal: JudgeError | None = None
        self._threads: ThreadPoolExecutor | None = None
        self._is_async = _is_async(judge)
        self._deadline: float | None = getattr(judge, "timeout", None)
        self._unsaved: list[Row] = []
        self._saving: list[asyncio.Future[None]] = []  # who waits for the commit that is to come

    def run(self) -> Progress:
        """To the end, to the budget, or to Ctrl-C; what is finished is in the store in any case."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            asyncio.run(self._run())
        else:  # inside a notebook's loop
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
            self._commit()  # what a second Ctrl-C left
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
        """The first Ctrl-C lets the calls in flight finish, which are paid for; the second ends them."""

        def stop() -> None:
            if self.progress.stopped == "interrupted":
                for worker in workers:
                    worker.cancel()
            self.progress.stopped = "interrupted"

        here = threading.current_thread() is threading.main_thread()
        loop = asyncio.get_running_loop()
        if here:
            try:
                loop.add_signal_handler(signal.SIGINT, stop)
            except (NotImplementedError, RuntimeError):
                here = False
        try:
            yield
        finally:
            if here:
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

        Looked up for as many calls at once as are made at once: one by one it takes ten times as long.
        """
        while some := list(islice(calls, min(self.limits.concurrency, _LOOK_UP))):
            keys = [key for call in some for key in call.keys]
            done = self.plan.store.done(keys, self.again)
            self.progress.known += len(done)
            self.progress.total -= len(done)
            for call in some:
                yield call, [i for i, key in enumerate(call.keys) if key not in done]

    async def _finish(self, call: Call, left: list[int]) -> None:
        """Documents of a call, each to a gain or to the last failure that is allowed."""
        for reading in range(1, self.limits.readings + 1):
            request = Request(
                call.question, tuple(call.texts[i] for i in left), self.plan.prompt, call.replicate
            )
            reply, seconds = await self._reply(request)
            if reply is None:
                return
            found = verdicts(reply, request)
            last = reading == self.limits.readings
            await self._keep(call, left, reply, found, seconds, last)
            if last:
                return
            left = [
                i for i, v in zip(left, found, strict=True) if v.status in ("invalid", "truncated")
            ]
            if not left:
                return

    async def _keep(
        self,
        call: Call,
        numbers: list[int],
        reply: Reply,
        found: list[Verdict],
        seconds: float,
        last: bool,
    ) -> None:
        """Into the store: after this no kill can lose it. Tokens are shared out evenly."""
        rows = []
        ins, outs = (_shares(total, len(numbers)) for total in (reply.tokens_in, reply.tokens_out))
        for i, verdict, tokens_in, tokens_out in zip(numbers, found, ins, outs, strict=True):
            cost = self.price.of(tokens_in, tokens_out) if self.price else None
            rows.append(
                Row(call.keys[i], call.replicate, verdict.status, verdict.gain, verdict.detail,
                    reply.text, tokens_in, tokens_out, cost, seconds, call.cuts[i])
            )  # fmt: skip
            if last or verdict.status not in ("invalid", "truncated"):
                self.progress.statuses[verdict.status] += 1
                self.progress.cut += call.cuts[i] is not None
        await self._save(rows)
        self.progress.tokens_in += reply.tokens_in
        self.progress.tokens_out += reply.tokens_out
        failed = all(row.status == "error" for row in rows)
        self._failed_in_a_row = self._failed_in_a_row + 1 if failed else 0
        if self._failed_in_a_row >= self.limits.failures:
            self._end(
                f"{self._failed_in_a_row} calls in a row failed, the last with: {reply.detail}"
            )

    async def _save(self, rows: list[Row]) -> None:
        """Until they are committed, together with all that came in at the same moment."""
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
                self.plan.store.add(self.plan.setting, rows)
        except Exception as error:
            failed = error
        for saved in saving:
            if saved.done():  # nobody waits any more, as after a second Ctrl-C
                continue
            if failed is None:
                saved.set_result(None)
            else:
                saved.set_exception(failed)

    async def _reply(self, request: Request) -> tuple[Reply | None, float]:
        """One reply, after as many tries as are allowed; None where the run has stopped."""
        tokens = request.prompt.tokens(request.question, request.documents)
        most_out = self.most_out * len(request.documents)
        held = self.price.of(tokens, most_out) if self.price else 0.0
        tried = 0
        while True:
            await self._pace.wait(tokens)
            if self.progress.stopped:
                return None, 0.0
            if not await self._purse.hold(held):
                self.progress.stopped = self.progress.stopped or "budget"
                return None, 0.0
            if self.progress.stopped:  # while waiting for money
                self._purse.pay(held, 0.0)
                return None, 0.0
            tried += 1
            self.progress.calls += 1
            start, reply = monotonic(), Reply("", "error")
            try:
                reply = await self._call(request)
            except Fatal as error:
                self._end(str(error), error.hint)
                return None, 0.0
            except Retry as error:
                if tried >= self.limits.tries:
                    detail = f"{error} (after {tried} tries)"
                    return Reply("", "error", detail=detail), monotonic() - start
                self.progress.retries += 1
                await self._back_off(error.after, tried)
                continue
            except Exception as error:
                detail = f"{type(error).__name__}: {error}"
                return Reply("", "error", detail=detail[:500]), monotonic() - start
            finally:
                cost = self.price.of(reply.tokens_in, reply.tokens_out) if self.price else 0.0
                self._purse.pay(held, cost)
                if self.progress.cost is not None:
                    self.progress.cost += cost
            return reply, monotonic() - start

    async def _back_off(self, after: float | None, tried: int) -> None:
        if after is None:
            await asyncio.sleep(self.limits.backoff(tried))
        elif after > 0:
            self._pace.pause(after)

    async def _call(self, request: Request) -> Reply:
        """The judge's answer as a reply; a deadline holds for the whole of it, however it drips in."""
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
        if isinstance(answer, Reply):
            return answer
        if answer is None:
            return Reply("", "refused", detail="the judge gave no gain")
        import json

        return Reply(json.dumps({"gain": answer}, default=str))

    def _end(self, message: str, hint: str = "") -> None:
        self.progress.stopped = "failed"
        self._fatal = self._fatal or JudgeError(
            message,
            hint=hint or "what was finished is in the store; the same command goes on from there",
        )


def _is_async(judge: Any) -> bool:
    call = judge if inspect.isroutine(judge) else type(judge).__call__
    return inspect.iscoroutinefunction(call)


def _shares(total: int, count: int) -> list[int]:
    """A number as the sum of so many that differ by one at most."""
    each, left = divmod(total, count)
    return [each + 1] * left + [each] * (count - left)
