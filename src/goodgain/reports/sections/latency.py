"""Latency: the calls of an experiment with intervals, under load, and the baseline against itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goodgain.experiment.latency_tables import open_percentiles
from goodgain.experiment.timing import PERCENTS
from goodgain.reports.elements import (
    Cell,
    Column,
    Section,
    Table,
    Text,
    count_columns,
    number_columns,
    text_columns,
)

if TYPE_CHECKING:
    from goodgain.experiment import ExperimentResult
    from goodgain.experiment.timing import Latencies
    from goodgain.reports.contents import PageContents
    from goodgain.reports.elements import Element


def section(contents: PageContents) -> Section | None:
    """The section; None without an experiment."""
    elements: list[Element] = []
    for number, experiment in enumerate(contents.experiments, 1):
        suffix = f"-{number}" if len(contents.experiments) > 1 else ""
        elements += _control(experiment)
        elements.append(_timings(experiment, f"timings{suffix}"))
        if experiment.loads:
            elements.append(_loads(experiment, f"loads{suffix}"))
    return Section("latency", "Latency", elements) if elements else None


def _control(experiment: ExperimentResult) -> list[Element]:
    """What the baseline against itself says of the machine."""
    control = experiment.control
    if control is None:
        return []
    if control.is_quiet is False:
        text = f"The machine was too noisy to compare latencies: {control}."
        return [Text([text], "warning")]
    return [Text([f"A/A control: {control}."], "note")]


def _percentile_columns() -> list[Column]:
    return [Column(name=f"p{p} ms", digits=2, interval=True) for p in PERCENTS]


def _percentile_cells(latencies: Latencies) -> list[Cell]:
    """The percentiles in ms with their intervals; an end that is not known is left out."""
    cells = []
    for p in PERCENTS:
        low, high = latencies.intervals.get(f"p{p}", (math.nan, math.nan))
        value = 1000 * getattr(latencies, f"p{p}")
        cells.append(Cell(value=value, low=_known(low), high=_known(high)))
    return cells


def _known(end: float) -> float | None:
    return 1000 * end if math.isfinite(end) else None


def _timings(experiment: ExperimentResult, key: str) -> Table:
    """The timings of the calls and of the indexes."""
    timings = experiment.timings
    used = [
        n for n in ("tokens", "cost") if any(getattr(t, n) is not None for t in timings.values())
    ]
    rows: list[list[Any]] = [
        [name, 1000 * t.mean, *_percentile_cells(t),
         None if t.warm is None else 1000 * t.warm.p50,
         None if t.first_call is None else 1000 * t.first_call,
         t.per_second, t.index_seconds, None if t.index_bytes is None else t.index_bytes / 1e6,
         *(getattr(t, unit) for unit in used), t.calls, t.failed + t.timed_out]
        for name, t in timings.items()
    ]  # fmt: skip
    columns = [
        *text_columns("system"),
        *number_columns("mean ms", digits=2),
        *_percentile_columns(),
        *number_columns("warm p50 ms", "first call ms", digits=2),
        *number_columns("queries/s", digits=1),
        *number_columns("index s", digits=2),
        *number_columns("index MB", digits=1),
        *number_columns(*used, digits=2),
        *count_columns("calls", "failed"),
    ]
    return Table(key, "Latency of all calls", columns, rows, open_percentiles(timings.values()))


def _loads(experiment: ExperimentResult, key: str) -> Table:
    """What happened at each rate of calls."""
    steps = [step for own in experiment.loads.values() for step in own]
    rows: list[list[Any]] = [
        [s.system, s.rate, s.throughput, *_percentile_cells(s), s.calls, s.failed,
         ("yes" if s.complete else "yes, given up") if s.saturated else "no"]
        for s in steps
    ]  # fmt: skip
    columns = [
        *text_columns("system"),
        *number_columns("calls/s", "answered/s", digits=1),
        *_percentile_columns(),
        *count_columns("calls", "failed"),
        *text_columns("saturated"),
    ]
    note = "Latency counts from when a call was due, so it includes waiting for earlier calls."
    return Table(key, "Under load", columns, rows, f"{note} {open_percentiles(steps)}".rstrip())
