"""Limits of a labelling run: rate, retries and budget."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from time import monotonic

from goodgain.errors import UsageError

LONGEST_WAIT = 60.0  # seconds between two tries, unless the server asks for more


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a run; `requests` and `tokens` are per minute."""

    concurrency: int = 32
    requests: float | None = None
    tokens: float | None = None
    budget: float | None = None
    tries: int = 8  # per call, for failures that may be temporary
    readings: int = 2  # per document, for replies that cannot be read
    wait: float = 0.5  # seconds before the second try; doubles with each further one
    failures: int = 20  # consecutive failed calls that stop the run

    def __post_init__(self) -> None:
        for name in ("concurrency", "requests", "tokens", "tries", "readings", "failures"):
            value = getattr(self, name)
            if value is not None and not value >= 1:
                raise UsageError(f"{name} must be at least 1, got {value}")
        if self.budget is not None and not self.budget >= 0:
            raise UsageError(f"budget must not be negative, got {self.budget}")

    def backoff(self, tries: int) -> float:
        """Seconds before the next try: doubling, with jitter so that calls do not return all at once."""
        longest = min(LONGEST_WAIT, self.wait * 2.0 ** (tries - 1))
        return longest * random.uniform(0.5, 1.0)


class RateLimiter:
    """Spaces calls out, and pauses all of them when the server asks for it."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._next_start = 0.0
        self._paused_until = 0.0

    def pause(self, seconds: float) -> None:
        """Start no call for so many seconds."""
        self._paused_until = max(self._paused_until, monotonic() + seconds)

    async def wait(self, tokens: int) -> None:
        """Wait until a call of so many tokens may start."""
        limits = self._limits
        start = max(monotonic(), self._next_start)
        interval = 60 / limits.requests if limits.requests else 0.0
        interval = max(interval, 60 * tokens / limits.tokens) if limits.tokens else interval
        if interval:
            self._next_start = start + interval
            await asyncio.sleep(start - monotonic())
        while (remaining := self._paused_until - monotonic()) > 0:
            await asyncio.sleep(remaining + random.uniform(0, 0.1) * min(remaining, 5.0))


class Budget:
    """The money spent so far, and what the calls in flight may still cost."""

    def __init__(self, limit: float | None, spent: float) -> None:
        self._limit = limit
        self._spent = spent
        self._reserved: list[float] = []
        self._settled = asyncio.Event()

    async def reserve(self, amount: float) -> bool:
        """Reserve money for a call; False if it would exceed the budget whatever calls in flight cost."""
        while self._limit is not None and self._spent + sum(self._reserved) + amount > self._limit:
            if not self._reserved:
                return False
            self._settled.clear()
            await self._settled.wait()
        self._reserved.append(amount)
        return True

    def settle(self, reserved: float, cost: float) -> None:
        """Replace a reservation by the actual cost of its call."""
        self._reserved.remove(reserved)
        self._spent += cost
        self._settled.set()
