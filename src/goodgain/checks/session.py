"""The calls of a check: warm-up, rate limit, retries, time limits, and what each call came to."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from goodgain.errors import GoodgainError, UsageError
from goodgain.redaction import hide_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goodgain.checks.golden import Case
    from goodgain.checks.matching import Answer
    from goodgain.checks.targets import Target

Status = Literal["ok", "empty", "error", "timeout"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What the target answered for one case; `seconds` is the time of the successful try."""

    status: Status
    answers: tuple[Answer, ...] = ()
    seconds: float | None = None
    tries: int = 1
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSettings:
    """How the target is called."""

    depth: int = 10
    retries: int = 2
    rate: float | None = None  # calls per second
    concurrency: int = 1
    warm_up: int = 1

    def __post_init__(self) -> None:
        for name in ("depth", "concurrency"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be a positive integer, got {getattr(self, name)}")
        for name in ("retries", "warm_up"):
            if getattr(self, name) < 0:
                raise UsageError(f"{name} must not be negative, got {getattr(self, name)}")
        if self.rate is not None and not self.rate > 0:
            raise UsageError(f"rate must be positive, got {self.rate}")


def call_target(
    target: Target,
    cases: Sequence[Case],
    settings: CallSettings,
    progress: Callable[[int, int], None] | None = None,
) -> list[Call]:
    """One call a case, in their order; a failed call is tried again and never raises."""
    from goodgain.threads import thread_pool

    pace = _Pace(settings.rate)
    for case in cases[
        : settings.warm_up
    ]:  # connections, caches and models; not timed, errors come again
        pace.wait()
        _try(target, case, settings.depth)
    done = 0
    lock = threading.Lock()

    def one(case: Case) -> Call:
        nonlocal done
        call = _call(target, case, settings, pace)
        with lock:
            done += 1
            if progress:
                progress(done, len(cases))
        return call

    if settings.concurrency == 1:
        return [one(case) for case in cases]
    with thread_pool(settings.concurrency) as pool:
        return list(pool.map(one, cases))


def _call(target: Target, case: Case, settings: CallSettings, pace: _Pace) -> Call:
    call = Call(status="error")
    for attempt in range(1, settings.retries + 2):
        pace.wait()
        call, again = _try(target, case, settings.depth)
        call = Call(
            status=call.status, answers=call.answers, seconds=call.seconds, tries=attempt,
            problem=call.problem,
        )  # fmt: skip
        if call.status in ("ok", "empty") or again is None or attempt > settings.retries:
            break
        time.sleep(max(again, min(0.2 * 2 ** (attempt - 1), 5.0)))
    return call


def _try(target: Target, case: Case, depth: int) -> tuple[Call, float | None]:
    """The outcome of one try, and after how many seconds another may be worth it (None: not at all)."""
    from goodgain.checks.targets import RunFile

    query = case.id if isinstance(target, RunFile) and target.knows(case.id) else case.query
    start = time.perf_counter()
    try:
        answers = target.search(query, depth)
    except TimeoutError as error:
        return Call(status="timeout", problem=str(error) or "time-out"), 0.0
    except Exception as error:
        return Call(status="error", problem=_sentence(error)), _wait_of(error)
    seconds = time.perf_counter() - start
    status: Status = "ok" if answers else "empty"
    return Call(status=status, answers=tuple(answers), seconds=seconds), None


def _wait_of(error: Exception) -> float | None:
    from goodgain.experiment.services import ServiceError

    if isinstance(error, ServiceError):
        return min(error.after or 0.0, 30.0) if error.may_pass else None
    return None if isinstance(error, UsageError) else 0.0


def _sentence(error: Exception) -> str:
    if isinstance(error, GoodgainError):
        return hide_secrets(error.message)
    text = hide_secrets(" ".join(str(error).split()))
    return f"{type(error).__name__}: {text}"[:300] if text else type(error).__name__


class _Pace:
    """At most so many calls a second, over all threads."""

    def __init__(self, rate: float | None) -> None:
        self._gap = 1 / rate if rate else 0.0
        self._next = 0.0
        self._lock = threading.Lock()

    def wait(self) -> None:
        if not self._gap:
            return
        with self._lock:
            now = time.monotonic()
            at = max(now, self._next)
            self._next = at + self._gap
        if at > now:
            time.sleep(at - now)


def percentile(seconds: Sequence[float], percent: int) -> float | None:
    """The percentile; None without values."""
    from goodgain.stats import quantiles

    return quantiles.percentile(seconds, percent) if seconds else None


def latency_of(calls: Sequence[Call]) -> dict[str, Any]:
    """p50 and p95 of the calls that answered, in seconds."""
    seconds = [call.seconds for call in calls if call.seconds is not None]
    return {"p50": percentile(seconds, 50), "p95": percentile(seconds, 95), "n": len(seconds)}
