"""Labelling through a provider's batch API: submit, resume after a kill, collect.

A batch and its calls are written to the store before it is submitted. A process that is killed in between
leaves a batch of which it is not known whether the provider has it: the next run looks it up there before it
submits anything, so that no call is paid for twice. Collecting stores all replies and their costs in one
transaction.
"""

from __future__ import annotations

import json
import uuid
from collections import Counter
from datetime import UTC, datetime
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.errors import JudgeError, UsageError
from goodgain.labels.claims import Claims
from goodgain.labels.judges.batch_apis import UnknownOutcomeError, batch_api
from goodgain.labels.judges.protocol import Price, Reply, Request
from goodgain.labels.judges.replies import read_verdicts
from goodgain.labels.progress import Progress
from goodgain.labels.store import ReplyRow, now
from goodgain.labels.template import tokens_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodgain.labels.judges.batch_apis import Result
    from goodgain.labels.plan import Call, Plan
    from goodgain.labels.store import Setting, Store

DISCOUNT = 0.5  # of both providers, at the time of writing
GRACE = 600.0  # seconds after which a batch that the provider does not list was never accepted
SUBMISSION = (
    3_600.0  # seconds that a submission may take before another process looks for the batch
)
POLL = 60.0  # seconds between looks at the batches


class Batch(NamedTuple):
    """A batch of the store that is not finished."""

    name: str
    calls: int
    reserved: float
    created: str
    remote: str  # empty if it is not known whether the provider has it


def open_batches(store: Store, setting: Setting) -> list[Batch]:
    """The batches of a setting that are neither collected nor abandoned, oldest first."""
    rows = store.db.execute(
        "SELECT b.name, b.calls, b.reserved, b.created, coalesce(s.remote, '') FROM batches b "
        "LEFT JOIN batch_events s ON s.batch = b.name AND s.event = 'submitted' "
        "WHERE b.setting = ? AND NOT EXISTS (SELECT 1 FROM batch_events e WHERE e.batch = b.name "
        "AND e.event IN ('collected', 'abandoned')) ORDER BY b.id",
        (store.find_setting(setting),),
    )
    return [Batch(*row) for row in rows.fetchall()]


def refuse_open_batches(store: Store, setting: Setting) -> None:
    """Refuse to ask one by one what a batch is being paid for."""
    waiting = open_batches(store, setting) if store.path != ":memory:" else []
    if waiting:
        raise UsageError(
            f"{sum(b.calls for b in waiting):,} calls of this judge are in a batch that is not collected",
            where=store.path,
            hint="run the same command with batch_api=True (--batch-api) to collect them first",
        )


class BatchRunner:
    """One run over a plan: collects what has ended, submits what is left, and waits if asked to."""

    def __init__(
        self,
        plan: Plan,
        judge: Any,
        *,
        budget: float | None = None,
        wait: bool = True,
        price: Price | None = None,
        show: Callable[[Progress], None] | None = None,
    ) -> None:
        self.plan, self.judge, self.store = plan, judge, plan.store
        self.api = batch_api(judge)
        self.budget, self.wait, self.show = budget, wait, show
        own: Price | None = judge.price
        self.price = price or (own and Price(own.tokens_in * DISCOUNT, own.tokens_out * DISCOUNT))
        if budget is not None and self.price is None:
            raise UsageError("a budget needs the price of the model", hint="--price IN/OUT")
        self._claims = Claims(
            plan.store, plan.retry
        )  # before the plan: what is stored later is done
        while plan.advance(1.0):
            pass
        self.progress = Progress(
            total=plan.todo + plan.no_text,
            stored=plan.stored,
            stored_failures=plan.failures,
            pairs=plan.pairs,
            unused=plan.unused,
            cost=0.0 if self.price else None,
        )
        if plan.no_text:
            self.progress.statuses["no_text"] = plan.no_text
        self._calls: dict[str, Call] = {
            call.keys[0]: call for call in plan.calls(1) if call is not None
        }

    def run(self) -> Progress:
        """Collect, submit and, with `wait`, collect until nothing is left."""
        try:
            submitted = False
            while True:
                undecided = self._resolve()
                self._collect_ended()
                if not (undecided or submitted):
                    self._submit()
                    submitted = True
                if not self.wait or not open_batches(self.store, self.plan.setting):
                    break
                self._pause(POLL)
        except KeyboardInterrupt:
            self.progress.stopped = "interrupted"
        finally:
            self.api.close()
            self.plan.drop()
            self.progress.ended = monotonic()
        if self.show:
            self.show(self.progress)
        return self.progress

    def _pause(self, seconds: float) -> None:
        end = monotonic() + seconds
        while (left := end - monotonic()) > 0:
            if self.show:
                self.show(self.progress)
            sleep(min(left, 1.0))

    # --- submitting ---

    def _resolve(self) -> bool:
        """Find out what became of batches that a killed run left; True if one is still undecided."""
        undecided = False
        for batch in open_batches(self.store, self.plan.setting):
            if batch.remote:
                continue
            if self._claims.is_held(f"batch/{batch.name}"):  # it is being submitted just now
                undecided = True
                continue
            remote, decided = self.api.find(batch.name, batch.calls, self._known())
            age = (datetime.now(UTC) - datetime.fromisoformat(batch.created)).total_seconds()
            if remote is not None:
                self._event(batch.name, "submitted", remote)
            elif decided and age > GRACE:
                self._event(batch.name, "abandoned", "", "the provider does not have it")
            else:
                undecided = True
        if undecided and not self.wait:
            raise JudgeError(
                "it is not yet known whether a batch of an earlier run was submitted",
                hint=f"run the same command again; after {GRACE / 60:.0f} minutes it is known",
            )
        return undecided

    def _known(self) -> set[str]:
        rows = self.store.db.execute("SELECT remote FROM batch_events WHERE event = 'submitted'")
        return {remote for (remote,) in rows.fetchall()}

    def _submit(self) -> None:
        """Submit what is in no batch yet, as far as the budget reaches."""
        pending = self._claims.in_batches(list(self._calls))
        left = [call for key, call in self._calls.items() if key not in pending]
        while left:
            name = uuid.uuid4().hex[:16]
            chosen, requests, costs = self._next_batch(name, left)
            if not chosen:
                self.progress.stopped = self.progress.stopped or "budget"
                return
            left = left[len(chosen) :]
            try:
                if claimed := self._write(name, chosen, costs):
                    self._create(name, [requests[number] for number in claimed])
            finally:  # a later run may look for the batch at the provider
                self._claims.release([f"batch/{name}"])

    def _next_batch(
        self, name: str, calls: list[Call]
    ) -> tuple[list[Call], list[tuple[str, dict[str, Any]]], list[float]]:
        """The calls that fit into a batch and the budget, their requests, and what they cost at most."""
        room, size = self._room(), 0
        chosen: list[Call] = []
        requests: list[tuple[str, dict[str, Any]]] = []
        costs: list[float] = []
        for call in calls[: self.api.max_calls]:
            request = self._request(call)
            cost = self.price.of(request.tokens(), self.judge.max_tokens) if self.price else 0.0
            body = self.judge.body(request)
            length = len(json.dumps(body))
            if cost > room or (chosen and size + length > self.api.max_bytes):
                break
            requests.append((f"{name}-{len(chosen)}", body))
            chosen.append(call)
            costs.append(cost)
            room -= cost
            size += length
        return chosen, requests, costs

    def _room(self) -> float:
        """What is left of the budget, which all processes of the store share."""
        if self.budget is None:
            return float("inf")
        others = self._claims.reserved_by_others() + self._claims.reserved_by_batches()
        return self.budget - self.store.cost() - others

    def _write(self, name: str, calls: list[Call], costs: list[float]) -> list[int]:
        """Write the batch before it is submitted; returns the calls that no other process has."""
        setting = self.store.setting(self.plan.setting)
        with self._claims.locked():
            taken = self._claims.taken([call.keys[0] for call in calls])
            claimed, room = [], self._room()
            for i, call in enumerate(calls):
                if call.keys[0] in taken:
                    continue
                if costs[i] > room:  # another process has spent it meanwhile
                    self.progress.stopped = self.progress.stopped or "budget"
                    break
                claimed.append(i)
                room -= costs[i]
            if claimed:
                self._claims.hold(f"batch/{name}", SUBMISSION)
                self.store.insert("batches", [{
                    "name": name, "setting": setting, "calls": len(claimed),
                    "reserved": sum(costs[i] for i in claimed), "created": now(),
                }])  # fmt: skip
                self.store.insert("batch_calls", (
                    {"batch": name, "number": i, "key": calls[i].keys[0],
                     "replicate": calls[i].replicate, "cut": calls[i].cuts[0]}
                    for i in claimed
                ))  # fmt: skip
        return claimed

    def _create(self, name: str, requests: list[tuple[str, dict[str, Any]]]) -> None:
        self.progress.calls += len(requests)
        try:
            remote = self.api.create(name, requests)
        except UnknownOutcomeError as error:
            listed, _ = self.api.find(name, len(requests), self._known())
            if listed is None:
                raise JudgeError(
                    f"it is not known whether a batch was submitted: {error}",
                    hint="run the same command again; it looks for the batch before it submits another",
                ) from None
            remote = listed
        except JudgeError as error:
            self._event(name, "abandoned", "", str(error))
            raise
        self._event(name, "submitted", remote)

    def _event(self, batch: str, event: str, remote: str, detail: str = "") -> None:
        self.store.insert("batch_events", [{
            "batch": batch, "event": event, "remote": remote, "detail": detail, "created": now(),
        }])  # fmt: skip

    # --- collecting ---

    def _collect_ended(self) -> None:
        for batch in open_batches(self.store, self.plan.setting):
            if not batch.remote:
                continue
            state = self.api.state(batch.remote)
            if state.failure:
                self._event(batch.name, "abandoned", batch.remote, state.failure)
                raise JudgeError(f"the batch failed: {state.failure}")
            if state.ended:
                self._collect(batch)

    def _collect(self, batch: Batch) -> None:
        """Store all replies and their cost at once; a second process finds it done."""
        results: dict[str, Result] = {}
        for result in self.api.results(batch.remote):
            results.setdefault(result.custom_id, result)
        rows = self.store.db.execute(
            "SELECT number, key, replicate, cut FROM batch_calls WHERE batch = ? ORDER BY number",
            (batch.name,),
        ).fetchall()
        replies, total = [], Counter[str]()
        cost, estimated = 0.0, 0
        for number, key, replicate, cut in rows:
            reply = self._reply(results.get(f"{batch.name}-{number}"))
            call = self._calls.get(key)
            tokens_in, tokens_out = reply.tokens_in, reply.tokens_out
            if tokens_in is None or tokens_out is None:
                estimated += 1
                if tokens_in is None:
                    tokens_in = self._request(call).tokens() if call else 0
                tokens_out = tokens_of(reply.text) if tokens_out is None else tokens_out
            own = self.price.of(tokens_in, tokens_out) if self.price else None
            request = self._request(call) if call else Request("", ("",), self.plan.prompt)
            (verdict,) = read_verdicts(reply, request)
            replies.append(
                ReplyRow(
                    key=key, replicate=replicate, status=verdict.status, gain=verdict.gain,
                    detail=verdict.detail, raw=reply.text, tokens_in=tokens_in,
                    tokens_out=tokens_out, cost=own, seconds=0.0, cut=cut,
                )
            )  # fmt: skip
            total.update(tokens_in=tokens_in, tokens_out=tokens_out)
            cost += own or 0.0
        with self.store.transaction():
            done = self.store.insert("batch_events", [{
                "batch": batch.name, "event": "collected", "remote": batch.remote, "detail": "",
                "created": now(),
            }])  # fmt: skip
            if not done:
                return
            self.store.add_replies(self.plan.setting, replies)
            self.store.insert("spending", [{
                "setting": self.store.setting(self.plan.setting), "calls": len(rows),
                "tokens_in": total["tokens_in"], "tokens_out": total["tokens_out"],
                "cost": cost if self.price else None, "estimated": int(estimated > 0), "created": now(),
            }])  # fmt: skip
        for row in replies:
            self.progress.statuses[row.status] += 1
            self.progress.cut += row.cut is not None
            self._calls.pop(row.key, None)
        self.progress.estimated += estimated
        self.progress.tokens_in += total["tokens_in"]
        self.progress.tokens_out += total["tokens_out"]
        if self.progress.cost is not None:
            self.progress.cost += cost

    def _reply(self, result: Result | None) -> Reply:
        if result is None:
            return Reply("", "error", 0, 0, detail="the batch has no result for the call")
        if not result.status:
            return Reply("", "error", 0, 0, detail=result.text)
        reply: Reply = self.judge.read_result(result.text, result.status)
        return reply

    def _request(self, call: Call) -> Request:
        return Request(
            question=call.question,
            documents=call.texts,
            prompt=self.plan.prompt,
            replicate=call.replicate,
            narrative=call.narrative,
            answer=call.answer,
        )
