"""The latencies of an experiment as tables: call by call, and under load."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goodgain.comparison.render import Block
from goodgain.experiment.timing import PERCENTS
from goodgain.results.text import Cell, number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goodgain.experiment.result import ExperimentResult
    from goodgain.experiment.timing import Latencies


def latency_blocks(result: ExperimentResult) -> list[Block]:
    """Latencies of single calls and, if there was a load, at each rate."""
    return [_calls(result), *([_loads(result)] if result.loads else []), *_costs(result)]


def latency_legend(result: ExperimentResult) -> list[str]:
    """What is to be known about the latencies: the control, and percentiles with an open end."""
    lines = []
    if result.control is not None:
        noisy = " The machine was too noisy to compare latencies." * (
            result.control.is_quiet is False
        )
        lines.append(f"A/A control: {result.control}.{noisy}")
    elif len(result.systems) > 1:
        lines.append(
            "No A/A control: it is unknown how much latencies of one system differ by chance."
        )
    listed = [*result.timings.values(), *(step for own in result.loads.values() for step in own)]
    if open_ends := open_percentiles(listed):
        lines.append(open_ends)
    return lines


def open_percentiles(latencies: Iterable[Latencies]) -> str:
    """Which percentiles had too few calls for an interval with both ends."""
    from goodgain.stats.quantiles import values_needed

    names = [
        f"p{p} {values_needed(p)}"
        for p in PERCENTS
        if any(math.isinf(each.intervals.get(f"p{p}", (0, 0))[1]) for each in latencies)
    ]
    if not names:
        return ""
    return (
        f"Too few calls for the upper end of an interval (…): {', '.join(names)} calls are needed."
    )


def _percentile(latencies: Latencies, name: str) -> str:
    """A percentile in ms with its interval; an open end is written as dots."""
    value = getattr(latencies, name)
    if math.isnan(value):
        return "-"
    low, high = latencies.intervals[name]
    ends = ["…" if math.isinf(end) else number(1000 * end, 2) for end in (low, high)]
    return f"{number(1000 * value, 2)} [{ends[0]}, {ends[1]}]"


def _calls(result: ExperimentResult) -> Block:
    timings = result.timings.values()
    is_repeated = any(t.warm is not None for t in timings)
    columns = ["system", "mean ms", *(f"p{p}" for p in PERCENTS)]
    columns += ["warm p50", "warm p95"] if is_repeated else []
    block = Block("latency", [*columns, "first call", "queries/s", "calls", "failed"])
    for t in timings:
        row: list[str | Cell] = [
            t.system,
            _milliseconds(t.mean),
            *(_percentile(t, f"p{p}") for p in PERCENTS),
        ]
        if is_repeated:
            warm = t.warm
            row += [
                _milliseconds(warm.p50 if warm else None),
                _milliseconds(warm.p95 if warm else None),
            ]
        row += [_milliseconds(t.first_call), number(t.per_second, 1)]
        block.rows.append([*row, f"{t.calls:,}", f"{t.failed + t.timed_out:,}"])
    return block


def _costs(result: ExperimentResult) -> list[Block]:
    """What indexes and calls cost, of systems that have one or report the other."""
    timings = result.timings.values()
    used = [n for n in ("tokens", "cost") if any(getattr(t, n) is not None for t in timings)]
    block = Block("index and cost" if used else "index", ["system", "index s", "index MB", *used])
    for t in timings:
        indexing = "reused" if t.index_reused else "-"
        if t.index_seconds is not None:
            indexing = number(t.index_seconds, 2)
        size = "-" if t.index_bytes is None else number(t.index_bytes / 1e6, 1)
        row: list[str | Cell] = [
            t.system,
            indexing,
            size,
            *(_sum(getattr(t, name)) for name in used),
        ]
        if set(row[1:]) != {"-"}:
            block.rows.append(row)
    return [block] if block.rows else []


def _loads(result: ExperimentResult) -> Block:
    percents = [f"p{p}" for p in PERCENTS]
    block = Block(
        "under load, ms from when a call was due",
        ["system", "calls/s", "answered/s", *percents, "calls", "failed", "saturated"],
    )
    for steps in result.loads.values():
        for step in steps:
            verdict = "yes" if step.saturated else "no"
            if not step.complete:
                verdict = "yes, given up"
            block.rows.append([
                step.system, f"{step.rate:g}", number(step.throughput, 1),
                *(_percentile(step, name) for name in percents), f"{step.calls:,}",
                f"{step.failed:,}", verdict,
            ])  # fmt: skip
    return block


def _milliseconds(seconds: float | None) -> str:
    return "-" if seconds is None or math.isnan(seconds) else number(1000 * seconds, 2)


def _sum(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"
