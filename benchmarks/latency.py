"""Timing of retrievers: what the harness adds to a call, and retrievers of known cost under load."""

import random
import statistics
import threading
import time
from collections.abc import Callable
from typing import Any

from subject import Bar, Context, Section, Subject

LIMIT = 20  # microseconds
DOCUMENTS = {f"d{i}": f"word{i}" for i in range(50)}
QUERIES = {f"q{i}": f"word{i}" for i in range(50)}
RANKING = [(f"d{i}", 50.0 - i) for i in range(10)]


def run(context: Context) -> Section:
    """Overheads of functions that do nothing, and percentiles of functions that sleep."""
    overheads = _overheads(2_000 if context.quick else 20_000)
    rows = [
        [name, f"{recorded:.2f} us in the latency", f"{whole:.1f} us in all"]
        for name, recorded, whole in overheads
    ]
    steps = _under_load(2 if context.quick else 10)
    rows += [
        [f"{name}, 50 calls/s", f"p50 {1000 * s.p50:.1f}, p95 {1000 * s.p95:.1f}, p99 {1000 * s.p99:.1f} ms",
         f"{s.throughput:.1f} answered/s"]
        for name, s in steps.items()
    ]  # fmt: skip
    stall = steps["a stall of 1 s"]
    bars = [
        Bar(
            f"added to the latency of a call, {name}", f"<= {LIMIT} us", f"{us:.2f} us", us <= LIMIT
        )
        for name, us, _ in overheads
    ]
    bars.append(
        Bar(
            "p99 at 50 calls/s with a stall of 1 s",
            ">= 0.8 s",
            f"{stall.p99:.2f} s",
            stall.p99 >= 0.8,
        )
    )
    return Section(
        columns=["retriever", "latency", "throughput, or cost of a call"],
        rows=rows,
        text="A function that returns ten results, called as an experiment calls it; and functions of "
        "known cost under an open loop at fixed intervals.",
        bars=bars,
    )


def _overheads(calls: int) -> list[tuple[str, float, float]]:
    """Medians in microseconds: what is recorded, and what a call costs with reading its answer."""
    from goodgain.experiment.timing import Caller

    def sync(query: str) -> Any:
        return RANKING

    async def later(query: str) -> Any:
        return RANKING

    rows = []
    for name, search, timeout in (
        ("sync", sync, None), ("sync with a time limit", sync, 10.0),
        ("async", later, None), ("async with a time limit", later, 10.0),
    ):  # fmt: skip
        caller = Caller(100, timeout)
        caller.call(search, "x")
        recorded, whole = [], []
        for _ in range(calls):
            start = time.perf_counter()
            outcome = caller.call(search, "x")
            whole.append(time.perf_counter() - start)
            recorded.append(outcome.seconds)
        rows.append((name, 1e6 * statistics.median(recorded), 1e6 * statistics.median(whole)))
    return rows


def _under_load(seconds: float) -> dict[str, Any]:
    import goodgain as gg

    rng, lock, count = random.Random(1), threading.Lock(), [0]

    def sleeping(cost: Callable[[], float]) -> Callable[[str], Any]:
        def search(query: str) -> Any:
            time.sleep(cost())
            return RANKING

        return search

    def works(query: str) -> Any:
        end = time.thread_time() + 0.005
        while time.thread_time() < end:
            sum(range(100))
        return RANKING

    def stalls(query: str) -> Any:
        with lock:
            count[0] += 1
            if count[0] == 50 * seconds:
                time.sleep(1)
        return RANKING

    systems = {
        "sleep of 10 ms": sleeping(lambda: 0.01),
        "jitter of 5 to 15 ms": sleeping(lambda: rng.uniform(0.005, 0.015)),
        "2 ms, 100 ms for every tenth": sleeping(lambda: 0.1 if rng.random() < 0.1 else 0.002),
        "5 ms of processor": works,
        "a stall of 1 s": stalls,
    }
    qrels = {query: {"d1": 1} for query in QUERIES}
    result = gg.Experiment(
        DOCUMENTS, QUERIES, qrels, systems, measures="RR", warmup=0, control=False, rates=[50],
        arrivals="fixed", load_seconds=seconds,
    ).run()  # fmt: skip
    return {name: steps[0] for name, steps in result.loads.items()}


SUBJECT = Subject("latency", "Timing of retrievers", 96, run)
