"""Make the calls of a plan concurrently, retry failures, and store every reply immediately."""

from __future__ import annotations

import asyncio
import inspect
import signal
import threading
from collections import deque
from contextlib import contextmanager, suppress
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

from goodgain.errors import JudgeError
from goodgain.labels.batches import refuse_open_batches
from goodgain.labels.claims import RENEWAL, Claims
from goodgain.labels.judges.protocol import Fatal, Reply, Request, Retry, reply_of
from goodgain.labels.judges.replies import read_verdicts
from goodgain.labels.limits import Breaker, Limits, RateLimiter, Stop
from goodgain.labels.money import Budget, Spending
from goodgain.labels.progress import Progress
from goodgain.labels.store import ReplyRow
from goodgain.labels.template import tokens_of
from goodgain.labels.threads import DaemonThreads
from goodgain.threads import NoThreadsError, start_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

    from goodgain.labels.judges.protocol import Judge, Price
    from goodgain.labels.judges.replies import Verdict
    from goodgain.labels.plan import Call, Plan

_CLAIMED = 64  # calls claimed at once; one by one takes ten times as long
_MAX_DEFERRED = 512  # calls of other processes that are looked at again only later
_POLL = 0.5  # seconds between looks at what other processes are labelling
_SHORTEST_WAIT = 1.0  # seconds before another try, even if the server asks for less
_MAX_INTERRUPTS = 2  # after which nobody waits for a thread that does not end
_DOUBTFUL_TRIES = 2  # of a call that is refused before any other has succeeded

Job = tuple["Call", list[int]]  # a call and the numbers of its documents that need a label


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
        self.show = show
        self.price: Price | None = getattr(judge, "price", None)
        self.max_tokens = int(getattr(judge, "max_tokens", 0))
        self.progress = Progress(
            total=0,
            stored_failures=plan.failures,
            unused=plan.unused,
            cost=0.0 if self.price else None,
        )
        self._done_elsewhere = 0  # labels that other processes have made meanwhile
        self._update_plan()
        self._stop = Stop()
        self._rate = RateLimiter(limits, self._stop)
        self._claims = Claims(plan.store, retry)
        self._budget = Budget(
            limits.budget,
            plan.store,
            self._claims,
            calls=2 * limits.concurrency,
            stop=self._stop,
        )
        self._breaker = Breaker(limits, self.max_tokens)
        self._failure: Exception | None = None
        self._succeeded = False  # whether any call has brought a reply
        self._threads: DaemonThreads | None = None
        self._is_async = _is_async(judge)
        self._deadline: float | None = getattr(judge, "timeout", None)
        self._calls = plan.calls(batch)
        self._ready: deque[Job] = deque()
        self._deferred: deque[Job] = deque()  # another process is labelling them
        self._refilling = asyncio.Lock()
        self._planned = asyncio.Event()  # set whenever there are more calls, or no more to come
        self._is_planning = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None  # that of the loop
        self._interrupts = 0
        self._workers: list[asyncio.Task[None]] = []
        self._unsaved: list[ReplyRow] = []
        self._unpaid: list[Spending] = []
        self._saving: list[asyncio.Future[None]] = []  # resolved by the next commit
        self._commit_planned = False

    def run(self) -> Progress:
        """Run to the end, to the budget or to Ctrl-C; finished labels are in the store in any case."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            asyncio.run(self._run())
        else:  # in a notebook, which has a loop of its own
            self._run_in_thread()
        if self._failure:
            raise self._failure
        return self.progress

    def _run_in_thread(self) -> None:
        """Run in a thread while this one waits, because a thread can only run one loop."""
        ended = threading.Event()
        failures: list[BaseException] = []

        def work() -> None:
            try:
                asyncio.run(self._run())
            except BaseException as error:
                failures.append(error)
            finally:
                ended.set()

        with self._interruptible():
            start_thread(work)
            ended.wait()
        if failures:
            raise failures[0]

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.current_thread()
        if self._interrupts:  # before there was a loop
            self._interrupt()
        count = self.limits.concurrency
        if self.plan.complete:
            count = min(count, max(1, self.plan.todo))
        self._workers = [asyncio.create_task(self._guarded(self._work())) for _ in range(count)]
        planning = asyncio.create_task(self._guarded(self._finish_plan()))
        others = [
            asyncio.create_task(self._guarded(task)) for task in (self._showing(), self._renewing())
        ]
        try:
            with self._interruptible():
                await asyncio.gather(planning, *self._workers, return_exceptions=True)
        finally:
            for task in others:
                task.cancel()
            await self._clean_up()

    async def _clean_up(self) -> None:
        try:
            self._commit()  # after a second Ctrl-C there may be replies left
            self._claims.release_all()
        finally:
            self._calls.close()
            self.plan.drop()
            if hasattr(self.judge, "aclose"):
                await self.judge.aclose()
            if self._threads:
                self._threads.close()
            self.progress.ended = monotonic()
            if self.show:
                self.show(self.progress)

    # --- stopping ---

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Handle Ctrl-C, which only the main thread notices, whatever loop it may be running."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._on_signal)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _on_signal(self, *_: object) -> None:
        self._interrupts += 1
        in_main_thread = self._thread is threading.main_thread()
        if self._is_planning and in_main_thread:  # it may be waiting for input
            raise KeyboardInterrupt
        if self._interrupts > _MAX_INTERRUPTS and not in_main_thread:
            raise KeyboardInterrupt
        if self._loop is not None:
            with suppress(RuntimeError):  # it has just been closed
                self._loop.call_soon_threadsafe(self._interrupt)

    def _interrupt(self) -> None:
        """Let calls in flight finish on the first Ctrl-C, as they are paid for; cancel them on the second."""
        if self.progress.stopped == "interrupted":
            for worker in self._workers:
                worker.cancel()
        self._end("interrupted")

    def _end(self, reason: str) -> None:
        """Start no further call, and end every wait."""
        if reason == "interrupted" or not self.progress.stopped:
            self.progress.stopped = reason
        self._stop.set()
        self._planned.set()

    def _fail(self, error: Exception) -> None:
        """End the run with an error; the first one is raised."""
        self._failure = self._failure or error
        self._end("failed")

    async def _guarded(self, task: Coroutine[Any, Any, None]) -> None:
        try:
            await task
        except Exception as error:
            self._fail(error)

    async def _showing(self) -> None:
        while self.show:
            self.show(self.progress)
            await asyncio.sleep(0.2)

    async def _renewing(self) -> None:
        while True:
            await asyncio.sleep(RENEWAL)
            self._claims.renew()

    # --- the plan ---

    def _update_plan(self) -> None:
        """Count what has been planned so far."""
        plan, progress = self.plan, self.progress
        progress.total = plan.todo + plan.no_text - self._done_elsewhere
        progress.stored = plan.stored + self._done_elsewhere
        progress.pairs = plan.pairs
        progress.planning = not plan.complete
        if plan.no_text:
            progress.statuses["no_text"] = plan.no_text

    async def _finish_plan(self) -> None:
        """Plan the rest batch by batch, between the calls; an error in the input ends the run."""
        todo = self.plan.todo
        try:
            while not self._stop and self._advance():
                if self.plan.todo > todo:
                    todo = self.plan.todo
                    self._planned.set()
                    self._planned.clear()
                await asyncio.sleep(0)
        finally:
            self._update_plan()
            self._planned.set()

    def _advance(self) -> bool:
        """Plan one more batch; False at the end or after Ctrl-C."""
        try:
            self._is_planning = True
            more = self.plan.advance()
        except KeyboardInterrupt:
            self._interrupt()
            return False
        finally:
            self._is_planning = False
        self._update_plan()
        return more

    # --- calls ---

    async def _work(self) -> None:
        while (job := await self._next_job()) is not None:
            await self._finish(*job)

    async def _next_job(self) -> Job | None:
        """The next call that this process has claimed; None in the end."""
        while not self._ready:
            async with self._refilling:
                while not (self._ready or self._stop):
                    match self._refill():
                        case "planning":
                            await self._planned.wait()
                        case "held":
                            await self._stop.sleep(_POLL)
                        case "end":
                            return None
            if self._stop:
                return None
        return None if self._stop else self._ready.popleft()

    def _refill(self) -> Literal["claimed", "planning", "held", "end"]:
        """Claim the next calls, unless none is planned yet, or other processes are making the rest."""
        count = min(self.limits.concurrency, _CLAIMED)
        jobs: list[Job] = []
        planned = True
        if len(self._deferred) < _MAX_DEFERRED:
            for call in islice(self._calls, count):
                if call is None:
                    planned = False
                    break
                jobs.append((call, list(range(len(call.keys)))))
        if not jobs:
            jobs = [self._deferred.popleft() for _ in range(min(count, len(self._deferred)))]
        if not jobs:
            return "end" if planned else "planning"
        keys = [call.keys[i] for call, numbers in jobs for i in numbers]
        done, held = self._claims.take(keys)
        self._done_elsewhere += len(done)
        self._update_plan()
        for call, numbers in jobs:
            left = [i for i in numbers if call.keys[i] not in done and call.keys[i] not in held]
            if left:
                self._ready.append((call, left))
            if later := [i for i in numbers if call.keys[i] in held]:
                self._deferred.append((call, later))
        if len(held) < len(keys):
            return "claimed"
        if planned and self._claims.in_batches(keys):  # it may take a day
            refuse_open_batches(self.plan.store, self.plan.setting)
        return "held"

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
            again = [not last and row.status in ("invalid", "truncated") for row in rows]
            final = [row for row, retried in zip(rows, again, strict=True) if not retried]
            await self._save(rows)
            if final:
                self._count(final)
            left = [i for i, retried in zip(left, again, strict=True) if retried]
            if not left:
                return

    def _count(self, rows: list[ReplyRow]) -> None:
        """Count final labels; too many failures end the run."""
        for row in rows:
            self.progress.statuses[row.status] += 1
            self.progress.cut += row.cut is not None
            if row.status != "ok":
                self.progress.last_failure = row.detail
        trip = self._breaker.add([row.status for row in rows], rows[-1].detail)
        if trip:
            self._fail(JudgeError(trip.reason, hint=trip.hint))

    def _rows(
        self,
        call: Call,
        numbers: list[int],
        reply: Reply,
        verdicts: list[Verdict],
        seconds: float,
    ) -> list[ReplyRow]:
        """The rows to store for a reply, one per document; its tokens are divided evenly."""
        ins = _shares(reply.tokens_in or 0, len(numbers))
        outs = _shares(reply.tokens_out or 0, len(numbers))
        return [
            ReplyRow(
                key=call.keys[i],
                replicate=call.replicate,
                status=verdict.status,
                gain=verdict.gain,
                detail=verdict.detail,
                raw=reply.text,
                tokens_in=tokens_in,
                tokens_out=tokens_out,
                cost=self.price.of(tokens_in, tokens_out) if self.price else None,
                seconds=seconds,
                cut=call.cuts[i],
            )
            for i, verdict, tokens_in, tokens_out in zip(numbers, verdicts, ins, outs, strict=True)
        ]

    # --- saving ---

    async def _save(self, rows: list[ReplyRow]) -> None:
        """Wait until the rows are committed, after which no kill can lose them."""
        assert self._loop is not None
        saved = self._loop.create_future()
        self._saving.append(saved)
        self._unsaved += rows
        self._plan_commit()
        await saved

    def _plan_commit(self) -> None:
        """Commit soon, in one transaction with other replies of the same moment."""
        if not self._commit_planned and self._loop is not None:
            self._commit_planned = True
            self._loop.call_soon(self._commit)

    def _commit(self) -> None:
        self._commit_planned = False
        rows, self._unsaved = self._unsaved, []
        spending, self._unpaid = self._unpaid, []
        saving, self._saving = self._saving, []
        store, setting = self.plan.store, self.plan.setting
        failure = None
        try:
            if rows or spending:
                with store.transaction():
                    store.add_replies(setting, rows)
                    store.add_spending(setting, map(_spending_row, spending))
                    self._budget.settle(spending)
                    self._claims.release(row.key for row in rows)
        except Exception as error:  # calls whose replies cannot be stored must not go on
            failure = error
            self._fail(error)
        for saved in saving:
            if saved.done():  # cancelled by a second Ctrl-C
                continue
            if failure is None:
                saved.set_result(None)
            else:
                saved.set_exception(failure)

    # --- one call ---

    async def _reply(self, request: Request) -> tuple[Reply | None, float]:
        """One reply, after as many tries as permitted; None if the run has stopped."""
        tokens = request.tokens()
        bound = (tokens, self.max_tokens * len(request.documents))
        reserved = self.price.of(*bound) if self.price else 0.0
        tries = 0
        while True:
            await self._rate.wait(tokens)
            if not await self._budget.reserve(reserved):
                self._end("budget")  # unless something else has stopped it
                return None, 0.0
            tries += 1
            self.progress.calls += 1
            start = monotonic()
            spending: Spending | None = None
            try:
                reply = self._counted(await self._call(request), tokens)
                spending = self._spending(reply, reserved)
                self._succeeded = self._succeeded or reply.status != "error"
                return reply, monotonic() - start
            except Fatal as error:
                if not error.unless_others_succeed:
                    return self._give_up(error)
                if self._succeeded:
                    return Reply("", "error", 0, 0, detail=str(error)), monotonic() - start
                if tries >= _DOUBTFUL_TRIES:
                    return self._give_up(error)
                after = None
            except Retry as error:
                if error.paid:
                    spending = self._spending(Reply("", "error"), reserved, bound)
                if tries >= self.limits.tries:
                    detail = f"{error} (after {tries} tries)"
                    return Reply("", "error", 0, 0, detail=detail), monotonic() - start
                after = error.after
            except NoThreadsError:  # no failure of the judge: it ends the run
                raise
            except asyncio.CancelledError:
                spending = self._spending(Reply("", "error"), reserved, bound)
                raise
            except Exception as error:
                detail = f"{type(error).__name__}: {error}"
                return Reply("", "error", 0, 0, detail=detail[:500]), monotonic() - start
            finally:
                if spending is None:
                    self._budget.cancel(reserved)
                else:
                    self._unpaid.append(spending)
                    self._plan_commit()
            self.progress.retries += 1
            await self._back_off(after, tries)

    async def _back_off(self, after: float | None, tries: int) -> None:
        """Wait before the next try: as long as the server says, but never not at all."""
        own = self.limits.backoff(tries)
        if after:
            self._rate.pause(after)
            own = min(own, _SHORTEST_WAIT)
        await self._stop.sleep(own)

    def _counted(self, reply: Reply, tokens: int) -> Reply:
        """A reply with its tokens: those the server did not report are estimated if they may cost money."""
        if reply.tokens_in is not None and reply.tokens_out is not None:
            return reply
        if not (self.price or self.max_tokens):
            return reply
        self.progress.estimated += 1
        return Reply(
            text=reply.text,
            status=reply.status,
            tokens_in=tokens if reply.tokens_in is None else reply.tokens_in,
            tokens_out=tokens_of(reply.text) if reply.tokens_out is None else reply.tokens_out,
            detail=reply.detail,
            estimated=True,
        )

    def _spending(
        self, reply: Reply, reserved: float, bound: tuple[int, int] | None = None
    ) -> Spending | None:
        """What a call has cost, at most `bound` if its reply was lost; None for one that is free."""
        tokens = bound or (reply.tokens_in or 0, reply.tokens_out or 0)
        if not any(tokens) or (bound and not (self.price or self.max_tokens)):
            return None
        cost = self.price.of(*tokens) if self.price else None
        self.progress.tokens_in += tokens[0]
        self.progress.tokens_out += tokens[1]
        self.progress.estimated += bound is not None
        if cost is not None and self.progress.cost is not None:
            self.progress.cost += cost
        return Spending(*tokens, cost, bound is not None or reply.estimated, reserved)

    async def _call(self, request: Request) -> Reply:
        """Call the judge; its timeout covers the entire reply, however slowly it arrives."""
        try:
            async with asyncio.timeout(self._deadline):
                answer: Any
                if self._is_async:
                    answer = self.judge(request)
                else:
                    if self._threads is None:
                        self._threads = DaemonThreads(self.limits.concurrency)
                    answer = await self._threads.run(self.judge, request)
                if inspect.isawaitable(answer):
                    answer = await answer
        except TimeoutError:
            raise Retry(f"no reply in {self._deadline or 0:g} seconds", paid=True) from None
        return reply_of(answer)

    def _give_up(self, error: Fatal) -> tuple[None, float]:
        hint = (
            error.hint or "finished labels are in the store; run the same command again to continue"
        )
        self._fail(JudgeError(str(error), hint=hint))
        return None, 0.0


def _is_async(judge: Any) -> bool:
    call = judge if inspect.isroutine(judge) else type(judge).__call__
    return inspect.iscoroutinefunction(call)


def _shares(total: int, count: int) -> list[int]:
    """A total divided into `count` integers that differ by at most one."""
    each, left = divmod(total, count)
    return [each + 1] * left + [each] * (count - left)


def _spending_row(spending: Spending) -> dict[str, Any]:
    return {
        "calls": 1,
        "tokens_in": spending.tokens_in,
        "tokens_out": spending.tokens_out,
        "cost": spending.cost,
        "estimated": int(spending.estimated),
    }
