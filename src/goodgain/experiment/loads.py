"""Calls that arrive at a rate, whether or not earlier ones have been answered (open loop).

Latency counts from the moment at which a call was due, not from when a thread was free to make it. A system
that stalls for a second thereby delays all calls that were due in that second, as it would delay its users; a
client that waits for each answer before the next call would note one slow call (coordinated omission).
"""

from __future__ import annotations

import math
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError
from goodgain.experiment.timing import PERCENTS, Latencies

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goodgain.experiment.folder import Folder
    from goodgain.experiment.timing import Outcome

SATURATION = "saturation"
ARRIVALS = ("poisson", "fixed")
SUSTAINED = 0.9  # of the rate: calls that are answered more slowly than they arrive pile up
FAILING = 0.05  # of the calls: a system that sheds this many is saturated, too
FEWEST = 10  # calls at a rate
HIGHEST = 5000.0  # calls a second that this generator offers at most
LATE = 0.001  # seconds that a call may begin late while a thread is free


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How calls arrive: at which `rates` a second, as a Poisson process or at fixed intervals, for how long.

    `rates` may be "saturation": 1, 2, 5, 10, 20, ... until a system answers more slowly than calls arrive.
    At most `workers` calls are in flight.
    """

    rates: tuple[float, ...] | str = ()
    arrivals: str = "poisson"
    seconds: float = 10.0
    workers: int = 32

    def __post_init__(self) -> None:
        if isinstance(self.rates, str):
            if self.rates != SATURATION:
                raise UsageError(
                    f"invalid rates='{self.rates}'",
                    hint=f'a list of calls per second, or "{SATURATION}"',
                )
        elif len(set(self.rates)) != len(self.rates) or not all(
            isinstance(rate, int | float) and 0 < rate <= HIGHEST for rate in self.rates
        ):
            raise UsageError(
                f"rates must be different numbers above 0 and up to {HIGHEST:g}, got {list(self.rates)}"
            )
        if self.arrivals not in ARRIVALS:
            raise UsageError(
                f"invalid arrivals='{self.arrivals}'", hint=f"available: {', '.join(ARRIVALS)}"
            )
        if not 0 < self.seconds < math.inf:
            raise UsageError(f"load_seconds must be a positive number, got {self.seconds}")
        if not isinstance(self.workers, int) or self.workers < 1:
            raise UsageError(f"workers must be a positive integer, got {self.workers}")

    def times(self, rate: float) -> list[float]:
        """When calls are due, in seconds from the start; the same for every system."""
        count = max(FEWEST, math.ceil(rate * self.seconds))
        if self.arrivals == "fixed":
            return [i / rate for i in range(count)]
        rng, now, times = random.Random(f"arrivals {rate:g}"), 0.0, []
        for _ in range(count):
            times.append(now)
            now += rng.expovariate(rate)
        return times

    def next_rate(self, steps: Sequence[LoadStep], latency: float) -> float | None:
        """The rate at which a system is called next, after these steps; None when it is done.

        `latency` is its latency without load, by which the first rate before saturation is chosen.
        """
        if not isinstance(self.rates, str):
            done = {step.rate for step in steps}
            return next((rate for rate in sorted(self.rates) if rate not in done), None)
        if not steps:
            low = [rate for rate in _ladder() if not rate * latency > 0.5]
            return max(low, default=1.0)
        if any(step.saturated for step in steps):
            return None
        highest = max(step.rate for step in steps)
        return next((rate for rate in _ladder() if rate > highest), None)


def _ladder() -> list[float]:
    return [factor * 10.0**power for power in range(4) for factor in (1, 2, 5)]


@dataclass(frozen=True, slots=True)
class Arrival:
    """One call: when it was due, began and ended, from the start of its step; and its error."""

    query: str
    due: float
    start: float
    end: float
    error: str = ""
    waited: bool = False  # a thread was free when it was due


class OpenLoop:
    """Makes calls when they are due, with as many threads as it may have in flight."""

    def __init__(
        self,
        call: Callable[[str], Outcome],
        due: Sequence[float],
        queries: Sequence[str],
        patience: float,
        clock: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._call, self._due, self._queries = call, due, queries
        self._patience, self._clock, self._sleep = patience, clock, sleep
        self._next = 0
        self._lock = threading.Lock()
        self.calls: list[Arrival] = []
        self._start = clock()

    def begin(self) -> None:
        """Start the clock."""
        self._start = self._clock()

    def work(self) -> None:
        """Take the next call, wait until it is due, make it; until none is left.

        Calls that would begin later than `patience` allows are not made: the system is saturated.
        """
        while True:
            with self._lock:
                number = self._next
                if number >= len(self._due):
                    return
                self._next += 1
            due = self._due[number]
            early = due - (self._clock() - self._start)
            if early > 0:
                self._sleep(early)
            start = self._clock() - self._start
            if start - due > self._patience:
                self._next = len(self._due)
                return
            query = self._queries[number]
            outcome = self._call(query)
            end = outcome.start + outcome.seconds - self._start
            self.calls.append(Arrival(query, due, start, end, outcome.error, early > 0))


class LoadGenerator:
    """Runs steps of load with threads that stay, so that their connections do."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._pool = ThreadPoolExecutor(load.workers, thread_name_prefix="goodgain-load")

    def warm_up(self, call: Callable[[], Any]) -> None:
        """Let every thread make one call, to connect."""
        barrier = threading.Barrier(self._load.workers)

        def first() -> None:
            barrier.wait()
            call()

        try:
            tasks = [self._pool.submit(first) for _ in range(self._load.workers)]
        except RuntimeError:  # the system refuses to start a thread; the others wait for it
            barrier.abort()
            raise
        for task in tasks:
            task.result()

    def run(
        self, rate: float, call: Callable[[str], Outcome], queries: Sequence[str]
    ) -> dict[str, Any]:
        """One step: the record of its calls."""
        due = self._load.times(rate)
        rng = random.Random(f"queries {rate:g}")
        chosen: list[str] = []
        while len(chosen) < len(due):
            chosen += rng.sample(queries, len(queries))
        loop = OpenLoop(call, due, chosen, patience=max(self._load.seconds, 1.0))
        loop.begin()
        for task in [self._pool.submit(loop.work) for _ in range(self._load.workers)]:
            task.result()
        return {
            "rate": rate,
            "arrivals": self._load.arrivals,
            "seconds": self._load.seconds,
            "workers": self._load.workers,
            "planned": len(due),
            "calls": [
                [a.query, round(a.due, 6), round(a.start, 6), round(a.end, 6), a.error, a.waited]
                for a in sorted(loop.calls, key=lambda a: a.due)
            ],
        }

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadStep(Latencies):
    """One system at one rate. Latencies are of the answered calls, from when they were due.

    `throughput` is the rate at which calls were answered. `complete` is False if calls were given up because
    they piled up: then latencies would have grown further.
    """

    system: str
    rate: float
    arrivals: str
    throughput: float
    saturated: bool
    complete: bool = True
    failed: int = 0
    lag: float = 0.0  # p99 of how late calls began although a thread was free
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def is_late(self) -> bool:
        """Whether the machine was too slow to make the calls when they were due."""
        return self.lag > max(LATE, 0.5 * self.p50)


def step_of(system: str, record: dict[str, Any]) -> LoadStep:
    """The statistics of one step."""
    from dataclasses import fields

    from goodgain.stats.quantiles import percentile

    calls = [Arrival(*call) for call in record["calls"]]
    answered = [call for call in calls if not call.error]
    failed = len(calls) - len(answered)
    latencies = Latencies.of([call.end - call.due for call in answered])
    share = _sustained(calls)
    complete = len(calls) == record["planned"]
    lags = [call.start - call.due for call in calls if call.waited]
    errors: dict[str, str] = {}
    for call in calls:
        if call.error:
            errors.setdefault(call.query, call.error)
    return LoadStep(
        **{f.name: getattr(latencies, f.name) for f in fields(Latencies)},
        system=system,
        rate=record["rate"],
        arrivals=record["arrivals"],
        throughput=share * record["rate"] * (len(answered) / len(calls) if calls else 0.0),
        saturated=not complete or share < SUSTAINED or failed > FAILING * len(calls),
        complete=complete,
        failed=failed,
        lag=percentile(lags, 99) if lags else 0.0,
        errors=errors,
    )


def _sustained(calls: Sequence[Arrival]) -> float:
    """How fast calls ended, relative to how fast they arrived; about 1 if the system keeps up.

    Over the middle 80 % of the arrivals and of the ends: a constant latency shifts both alike, and one slow
    call at the end is no pile of calls.
    """
    if len(calls) < 2:
        return 1.0 if calls else 0.0
    cut = len(calls) // 10
    due = sorted(call.due for call in calls)
    ends = sorted(call.end for call in calls)
    arriving, ending = due[-1 - cut] - due[cut], ends[-1 - cut] - ends[cut]
    return min(1.0, arriving / ending) if ending > 0 else 1.0


def load_steps(folder: Folder) -> dict[str, tuple[LoadStep, ...]]:
    """The steps of each system as it is now, the last of each rate, by rising rate."""
    steps: dict[str, dict[float, LoadStep]] = {}
    for record in folder.calls:
        system = record.get("load")
        if system is not None and (
            folder.settings["systems"].get(system, {}).get("address") == record["address"]
        ):
            steps.setdefault(system, {})[record["rate"]] = step_of(system, record)
    return {
        system: tuple(steps[system][rate] for rate in sorted(steps[system]))
        for system in folder.settings["systems"]
        if system in steps
    }


LOAD_COLUMNS = (
    "system", "rate", "arrivals", "calls", "failed", "throughput", "saturated", "mean",
    *(f"p{p}{end}" for p in PERCENTS for end in ("", "_low", "_high")),
)  # fmt: skip


def load_rows(steps: Sequence[LoadStep]) -> list[list[Any]]:
    """The steps as rows of `LOAD_COLUMNS`; an end that is not known is empty."""
    rows = []
    for step in steps:
        row = [getattr(step, name) for name in LOAD_COLUMNS[:8]]
        for p in PERCENTS:
            ends = step.intervals.get(f"p{p}", (math.nan, math.nan))
            row += [getattr(step, f"p{p}"), *(e if math.isfinite(e) else None for e in ends)]
        rows.append(row)
    return rows
