"""How fast and how far a run may go: pace, pauses, waiting times, money."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from time import monotonic

from goodgain.errors import UsageError

LONGEST_WAIT = 60.0  # seconds between two tries where the server did not say how long


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may do; `requests` and `tokens` are per minute."""

    concurrency: int = 32
    requests: float | None = None
    tokens: float | None = None
    budget: float | None = None
    tries: int = 8  # of one call, where the failure may pass
    readings: int = 2  # of one document, where the reply cannot be read
    wait: float = 0.5  # seconds before the second try; doubles with each
    failures: int = 20  # in a row, after which the run stops

    def __post_init__(self) -> None:
        for name in ("concurrency", "requests", "tokens", "tries", "readings", "failures"):
            value = getattr(self, name)
            if value is not None and not value >= 1:
                raise UsageError(f"{name}={value} is not a number from 1 on")
        if self.budget is not None and not self.budget >= 0:
            raise UsageError(f"budget={self.budget} is not an amount of money")

    def backoff(self, tries: int) -> float:
        """Seconds before the next try: doubling, and spread so that calls do not come back as one."""
        longest = min(LONGEST_WAIT, self.wait * 2.0 ** (tries - 1))
        return longest * random.uniform(0.5, 1.0)


class Pace:
    """Spaces the calls out, and holds all of them back while the server wants to be left alone."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._next = 0.0
        self._until = 0.0

    def pause(self, seconds: float) -> None:
        """No call starts before then."""
        self._until = max(self._until, monotonic() + seconds)

    async def wait(self, tokens: int) -> None:
        """Until a call of so many tokens may start."""
        limits = self._limits
        start = max(monotonic(), self._next)
        step = 60 / limits.requests if limits.requests else 0.0
        step = max(step, 60 * tokens / limits.tokens) if limits.tokens else step
        if step:
            self._next = start + step
            await asyncio.sleep(start - monotonic())
        while (left := self._until - monotonic()) > 0:
            await asyncio.sleep(left + random.uniform(0, 0.1) * min(left, 5.0))


class Purse:
    """The budget: what is spent, and what calls in flight may still cost."""

    def __init__(self, budget: float | None, spent: float) -> None:
        self._budget = budget
        self._spent = spent
        self._held: list[float] = []
        self._paid = asyncio.Event()

    async def hold(self, most: float) -> bool:
        """Set money aside for a call; False where there is not enough, whatever calls in flight cost."""
        while self._budget is not None and self._spent + sum(self._held) + most > self._budget:
            if not self._held:
                return False
            self._paid.clear()
            await self._paid.wait()
        self._held.append(most)
        return True

    def pay(self, held: float, cost: float) -> None:
        """What a call did cost, in place of what was set aside for it."""
        self._held.remove(held)
        self._spent += cost
        self._paid.set()
