"""Trade-offs: quality against time and cost, and the systems on the Pareto front."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.comparison.scores import is_price
from goodgain.reports.charts.systems import trade_off
from goodgain.reports.elements import (
    Cell,
    Section,
    Table,
    count_columns,
    number_columns,
    text_columns,
)
from goodgain.stats.pareto import pareto_front, percentiles

if TYPE_CHECKING:
    from goodgain.reports.contents import PageContents
    from goodgain.reports.elements import Element


def section(contents: PageContents) -> Section | None:
    """The section; None if neither time nor cost was measured."""
    prices = [m for m in contents.measures if is_price(m)]
    elements: list[Element] = []
    if prices and contents.quality is not None and len(contents.systems) > 1:
        elements += [
            trade_off(contents.chart_source, contents.quality, prices[0]),
            _front(contents, prices[0]),
        ]
    if prices and contents.scores is not None:
        elements.append(_prices(contents, prices))
    elements += [_timings(contents, i) for i in range(len(contents.experiments))]
    return Section("tradeoffs", "Trade-offs", elements) if elements else None


def _front(contents: PageContents, price: str) -> Table:
    quality = str(contents.quality)
    means = {
        m: {s: v for s in contents.systems if (v := contents.mean(s, m)) is not None}
        for m in (quality, price)
    }
    trade_offs = pareto_front(means[quality], means[price], contents.lower_is_better(quality))
    rows = [
        [t.system, Cell(value=t.quality, best=t.on_front), t.price, "yes" if t.on_front else "no",
         t.beaten_by or "–"]
        for t in trade_offs
    ]  # fmt: skip
    columns = [
        *text_columns("system"),
        *number_columns(quality, f"{price} ↓"),
        *text_columns("on the front", "beaten by"),
    ]
    note = (
        "A system is on the front unless another one is at least as good on both measures and better "
        "on one."
    )
    return Table("pareto", "Pareto front", columns, rows, note)


def _prices(contents: PageContents, prices: list[str]) -> Table:
    """Mean and percentiles of time and cost."""
    assert contents.scores is not None
    rows = []
    for label in prices:
        for system in contents.systems:
            values = [v for v in contents.scores.values(system, label).values() if v == v]
            if values:
                rows.append([system, label, *percentiles(values).values(), len(values)])
    columns = [
        *text_columns("system", "measure"),
        *number_columns("mean", "p50", "p95", "p99"),
        *count_columns("queries"),
    ]
    return Table("prices", "Time and cost", columns, rows, "Latency in seconds.")


def _timings(contents: PageContents, number: int) -> Table:
    """The timings of an experiment's calls and of its indexing."""
    experiment = contents.experiments[number]
    rows = [
        [name, *(1000 * v for v in (t.mean, t.p50, t.p95, t.p99)), t.per_second, t.index_seconds,
         None if t.index_bytes is None else t.index_bytes / 1e6, t.calls, t.failed + t.timed_out]
        for name, t in experiment.timings.items()
    ]  # fmt: skip
    columns = [
        *text_columns("system"),
        *number_columns("mean ms", "p50 ms", "p95 ms", "p99 ms", digits=2),
        *number_columns("queries/s", digits=1),
        *number_columns("index s", digits=2),
        *number_columns("index MB", digits=1),
        *count_columns("calls", "failed"),
    ]
    suffix = f"-{number + 1}" if len(contents.experiments) > 1 else ""
    return Table(f"timings{suffix}", "Latency of all calls", columns, rows)
