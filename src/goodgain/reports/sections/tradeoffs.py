"""Trade-offs: quality against time and cost, and which systems no other beats on both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.comparison.scores import is_price
from goodgain.reports.charts.systems import trade_off
from goodgain.reports.elements import Cell, Column, Section, Table
from goodgain.stats.pareto import pareto_front, percentiles

if TYPE_CHECKING:
    from goodgain.reports.contents import Material
    from goodgain.reports.elements import Part


def section(material: Material) -> Section | None:
    """None where nothing was timed or paid for."""
    prices = [m for m in material.measures if is_price(m)]
    parts: list[Part] = []
    if prices and material.quality is not None and len(material.systems) > 1:
        parts += [
            trade_off(material.subject, material.quality, prices[0]),
            _front(material, prices[0]),
        ]
    if prices and material.scores is not None:
        parts.append(_prices(material, prices))
    parts += [_timings(material, i) for i in range(len(material.experiments))]
    return Section("tradeoffs", "Trade-offs", parts) if parts else None


def _front(material: Material, price: str) -> Table:
    quality = str(material.quality)
    means = {
        m: {s: v for s in material.systems if (v := material.mean(s, m)) is not None}
        for m in (quality, price)
    }
    found = pareto_front(means[quality], means[price], material.lower_is_better(quality))
    rows = [
        [t.system, Cell(t.quality, best=t.on_front), t.price, "yes" if t.on_front else "no",
         t.beaten_by or "–"]
        for t in found
    ]  # fmt: skip
    columns = [Column("system", "text"), Column(quality), Column(f"{price} ↓"),
               Column("on the front", "text"), Column("beaten by", "text")]  # fmt: skip
    note = "On the front is a system unless another is at least as good on both and better on one."
    return Table("pareto", "The Pareto front", columns, rows, note)


def _prices(material: Material, prices: list[str]) -> Table:
    """Mean and percentiles of every column of time or cost."""
    assert material.scores is not None
    rows = []
    for label in prices:
        for system in material.systems:
            values = [v for v in material.scores.values(system, label).values() if v == v]
            if values:
                rows.append([system, label, *percentiles(values).values(), len(values)])
    columns = [Column("system", "text"), Column("measure", "text"),
               *(Column(name) for name in ("mean", "p50", "p95", "p99")),
               Column("queries", digits=0)]  # fmt: skip
    return Table("prices", "Time and cost", columns, rows, "Latency is in seconds.")


def _timings(material: Material, number: int) -> Table:
    """What an experiment measured of its calls and of indexing."""
    experiment = material.experiments[number]
    rows = [
        [name, *(1000 * v for v in (t.mean, t.p50, t.p95, t.p99)), t.per_second, t.index_seconds,
         None if t.index_bytes is None else t.index_bytes / 1e6, t.calls, t.failed + t.timed_out]
        for name, t in experiment.timings.items()
    ]  # fmt: skip
    columns = [
        Column("system", "text"),
        *(Column(name, digits=2) for name in ("mean ms", "p50 ms", "p95 ms", "p99 ms")),
        Column("queries/s", digits=1),
        Column("index s", digits=2),
        Column("index MB", digits=1),
        Column("calls", digits=0),
        Column("failed", digits=0),
    ]
    suffix = f"-{number + 1}" if len(material.experiments) > 1 else ""
    return Table(f"timings{suffix}", "Latency of all calls", columns, rows)
