"""Limits of a labelling run: rate, retries, budget, and how many failures are too many."""

from __future__ import annotations

import asyncio
import random
from collections import Counter, deque
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

from goodgain.errors import UsageError

LONGEST_WAIT = 60.0  # seconds between two tries, unless the server asks for more
_RECENT = 200  # labels of which the share of failures is taken


def require_count(name: str, value: object) -> None:
    """Refuse anything but a positive integer."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise UsageError(f"{name} must be a positive integer, got {value!r}")


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
    failure_share: float = 0.5  # a larger share of labels without a gain stops the run
    failure_count: int = 50  # labels before the share counts

    def __post_init__(self) -> None:
        for name in ("concurrency", "tries", "readings", "failures", "failure_count"):
            require_count(name, getattr(self, name))
        for name in ("requests", "tokens"):
            value = getattr(self, name)
            if value is not None and not value >= 1:
                raise UsageError(f"{name} must be at least 1, got {value}")
        if self.budget is not None and not self.budget >= 0:
            raise UsageError(f"budget must not be negative, got {self.budget}")
        if not 0 <= self.failure_share <= 1:
            raise UsageError(f"failure_share must be between 0 and 1, got {self.failure_share}")

    def backoff(self, tries: int) -> float:
        """Seconds before the next try: doubling, with jitter so that calls do not return all at once."""
        longest = min(LONGEST_WAIT, self.wait * 2.0 ** (tries - 1))
        return longest * random.uniform(0.5, 1.0)


class Stop:
    """Whether a run has stopped, for everything in it that waits."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def __bool__(self) -> bool:
        return self._event.is_set()

    def set(self) -> None:
        """End every wait."""
        self._event.set()

    async def sleep(self, seconds: float) -> None:
        """Sleep, but not beyond the end of the run."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._event.wait()


class RateLimiter:
    """Spaces calls out, and pauses all of them when the server asks for it."""

    def __init__(self, limits: Limits, stop: Stop) -> None:
        self._limits = limits
        self._stop = stop
        self._next_start = 0.0
        self._paused_until = 0.0

    def pause(self, seconds: float) -> None:
        """Start no call for so many seconds."""
        self._paused_until = max(self._paused_until, monotonic() + seconds)

    async def wait(self, tokens: int) -> None:
        """Wait until a call of so many tokens may start, or the run has stopped."""
        limits = self._limits
        start = max(monotonic(), self._next_start)
        interval = 60 / limits.requests if limits.requests else 0.0
        interval = max(interval, 60 * tokens / limits.tokens) if limits.tokens else interval
        if interval:
            self._next_start = start + interval
            if start > monotonic():
                await self._stop.sleep(start - monotonic())
        while (remaining := self._paused_until - monotonic()) > 0 and not self._stop:
            await self._stop.sleep(remaining + random.uniform(0, 0.1) * min(remaining, 5.0))


class Trip(NamedTuple):
    """Why a run ends, and what to change."""

    reason: str
    hint: str


class Breaker:
    """Ends a run whose replies are mostly useless, before it has cost much."""

    def __init__(self, limits: Limits, max_tokens: int) -> None:
        self._limits = limits
        self._max_tokens = max_tokens
        self._recent: deque[str] = deque()
        self._failed = 0  # of the recent ones
        self._consecutive_errors = 0

    def add(self, statuses: list[str], detail: str) -> Trip | None:
        """Count the final statuses of a call; returns why the run should end, if it should."""
        for status in statuses:
            self._recent.append(status)
            self._failed += status != "ok"
        while len(self._recent) > max(_RECENT, self._limits.failure_count):
            self._failed -= self._recent.popleft() != "ok"
        failed_call = all(status == "error" for status in statuses)
        self._consecutive_errors = self._consecutive_errors + 1 if failed_call else 0
        if self._consecutive_errors >= self._limits.failures:
            reason = f"{self._consecutive_errors} calls in a row failed, the last with: {detail}"
            return Trip(reason, _error_hint(detail))
        failed, all_labels = self._failed, len(self._recent)
        if (
            all_labels < self._limits.failure_count
            or failed <= self._limits.failure_share * all_labels
        ):
            return None
        counts = Counter(status for status in self._recent if status != "ok")
        listed = ", ".join(f"{count} {status}" for status, count in counts.most_common())
        reason = (
            f"{failed} of the last {all_labels} labels have no gain ({listed}), the last: {detail}"
        )
        return Trip(reason, self._hint(counts.most_common(1)[0][0], detail))

    def _hint(self, status: str, detail: str) -> str:
        accept = "; to continue anyway: failure_share=1 (--failure-share 1)"
        match status:
            case "truncated":
                return (
                    f"replies are cut off: raise max_tokens={self._max_tokens} (--max-tokens), since "
                    "reasoning counts too"
                )
            case "invalid":
                return (
                    "the model does not follow the format: use a model or server with JSON schemas, "
                    f"temperature=0 (--temperature 0), or a larger max_tokens (--max-tokens){accept}"
                )
            case "error":
                return _error_hint(detail)
        return f"the model declines these documents: choose another model or prompt{accept}"


def _error_hint(detail: str) -> str:
    for word, hint in (
        ("temperature", "the model takes no temperature: temperature=None (--temperature none)"),
        ("max_completion_tokens", "change max_tokens (--max-tokens)"),
        ("max_tokens", "change max_tokens (--max-tokens)"),
        ("context length", "lower text_limit (--text-limit)"),
        ("context_length", "lower text_limit (--text-limit)"),
        ("schema", "the server does not accept the JSON schema: choose another server or model"),
    ):
        if word in detail:
            return hint
    return "finished labels are in the store; run the same command again to continue"
