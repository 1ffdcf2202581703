"""Trade-offs: quality against time and cost, and the systems on the Pareto front."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.comparison.comparison import Price
from goodgain.comparison.render import header
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
    from goodgain.measures import Measure
    from goodgain.reports.contents import PageContents
    from goodgain.reports.elements import Element


def section(contents: PageContents) -> Section | None:
    """The section; None if neither time nor cost was measured."""
    costs = [m for m in contents.measures if m.is_cost]
    elements: list[Element] = []
    if costs and contents.quality is not None and len(contents.systems) > 1:
        elements += _front(contents, contents.quality, costs[0])
    if prices := _prices(contents, costs):
        elements.append(_price_table(contents, prices))
    return Section("tradeoffs", "Trade-offs", elements) if elements else None


def _front(contents: PageContents, quality: Measure, cost: Measure) -> list[Element]:
    """The systems that no other beats on both measures; nothing if no system has both."""
    means = {
        m.label: {s: v for s in contents.systems if (v := contents.mean(s, m)) is not None}
        for m in (quality, cost)
    }
    trade_offs = pareto_front(
        means[quality.label], means[cost.label], quality.lower_is_better, cost.lower_is_better
    )
    if not trade_offs:
        return []
    rows = [
        [t.system, Cell(value=t.quality, best=t.on_front), t.price, "yes" if t.on_front else "no",
         t.beaten_by or "–"]
        for t in trade_offs
    ]  # fmt: skip
    columns = [
        *text_columns("system"),
        *number_columns(header(quality), header(cost)),
        *text_columns("on the front", "beaten by"),
    ]
    note = (
        "A system is on the front unless another one is at least as good on both measures and better "
        "on one."
    )
    return [
        trade_off(contents.chart_source, quality, cost),
        Table("pareto", "Pareto front", columns, rows, note),
    ]


def _prices(contents: PageContents, costs: list[Measure]) -> list[Price]:
    """Mean and percentiles of time and cost, as the comparison has them."""
    if contents.comparison is not None:
        return list(contents.comparison.prices)
    prices = []
    for measure in costs:
        for system in contents.systems:
            values = [v for v in contents.values(system, measure).values() if v == v]
            if values:
                prices.append(
                    Price(
                        system=system, measure=measure, **percentiles(values), queries=len(values)
                    )
                )
    return prices


def _price_table(contents: PageContents, prices: list[Price]) -> Table:
    rows = [
        [p.system, header(p.measure), p.measure.unit or "–", p.mean, p.p50, p.p95, p.p99, p.queries]
        for p in prices
    ]
    columns = [
        *text_columns("system", "measure", "unit"),
        *number_columns("mean", "p50", "p95", "p99"),
        *count_columns(contents.unit_nouns[1]),
    ]
    return Table("prices", "Time and cost", columns, rows)
