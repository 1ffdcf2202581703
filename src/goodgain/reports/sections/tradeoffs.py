"""Trade-offs: quality against time and cost, and the systems on the Pareto front."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goodgain.comparison.comparison import Price
from goodgain.comparison.render import header
from goodgain.reports.charts.tradeoffs import INTERVALS, axis_interval, price_unit, trade_off
from goodgain.reports.elements import (
    Cell,
    Column,
    Section,
    Table,
    count_columns,
    number_columns,
    text_columns,
)
from goodgain.stats.pareto import DOMINATED, OPEN, STANDINGS, percentiles, signed_axes, standings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodgain.measures import Measure
    from goodgain.reports.contents import PageContents
    from goodgain.reports.elements import Element
    from goodgain.stats.pareto import Standing


def section(contents: PageContents) -> Section | None:
    """The section; None if neither time nor cost was measured."""
    costs = [m for m in contents.measures if m.is_cost]
    elements: list[Element] = []
    if costs and contents.quality is not None and len(contents.systems) > 1:
        elements += _front(contents, contents.quality, costs)
    if prices := _prices(contents, costs):
        elements.append(_price_table(contents, prices))
    return Section("tradeoffs", "Trade-offs", elements) if elements else None


def _front(contents: PageContents, quality: Measure, costs: Sequence[Measure]) -> list[Element]:
    """Quality against each of time and cost, and how systems stand on all axes; nothing without both."""
    axes = [quality, *(m for m in costs if _is_axis(contents, m))]
    means = {s: [contents.mean(s, m) for m in axes] for s in contents.systems}
    points = {
        s: tuple(m.sign * v for m, v in zip(axes, own, strict=True) if v is not None)
        for s, own in means.items()
        if None not in own
    }
    if len(axes) < 2 or not points:
        return []
    stands = standings(points, _values(contents, axes, list(points)))
    order = sorted(points, key=lambda s: (-points[s][1], -points[s][0]))
    rows = [
        [s, *(_cell(contents, s, m) for m in axes), _standing(stands[s]), stands[s].rival or "–"]
        for s in order
    ]
    columns = [
        *text_columns("system"),
        *(Column(name=_name(contents, m), digits=4 if m == quality else 3, interval=True) for m in axes),
        *text_columns("standing", "beaten by"),
    ]  # fmt: skip
    present = {stand.name for stand in stands.values()}
    explained = "; ".join(f"{name}: {text}" for name, text in STANDINGS.items() if name in present)
    note = (
        f"{explained[:1].upper()}{explained[1:]} (paired one-sided t-tests at 0.05, Holm's correction over "
        f"all pairs of systems). Below each mean: its 95% confidence interval ({INTERVALS})."
    )
    charts: list[Element] = []
    for place, cost in enumerate(axes[1:]):
        chart = trade_off(contents.chart_source, quality, cost)
        charts.append(replace(chart, key=f"{chart.key}-{place + 1}") if place else chart)
    return [*charts, Table("pareto", "Pareto front", columns, rows, note)]


def _is_axis(contents: PageContents, measure: Measure) -> bool:
    """Whether it is a mean that at least two systems have: percentiles of it are no axis of their own."""
    known = [v for s in contents.systems if (v := contents.mean(s, measure)) is not None]
    return len(known) > 1 and "stat" not in dict(measure.params)


def _values(
    contents: PageContents, axes: Sequence[Measure], systems: list[str]
) -> dict[str, list[dict[str, float]]] | None:
    """The values of each query, higher is better; no latencies of systems timed in other sessions."""
    if contents.scores is None:
        return None
    apart = {name for e in contents.experiments for name in e.timed_apart}
    values = {}
    for s in systems:
        own = [{} if s in apart and m.name == "Latency" else contents.values(s, m) for m in axes]
        values[s] = signed_axes(own, [m.sign for m in axes])
    return values


def _cell(contents: PageContents, system: str, measure: Measure) -> Cell:
    """A mean with its interval, in the unit of the column."""
    mean = contents.mean(system, measure)
    factor, _ = price_unit(measure, _means(contents, measure)) if measure.is_cost else (1, "")
    low, high = axis_interval(contents.scores, system, measure, mean)
    scaled = [None if v is None else factor * v for v in (mean, low, high)]
    return Cell(value=scaled[0], low=scaled[1], high=scaled[2])


def _name(contents: PageContents, measure: Measure) -> str:
    unit = price_unit(measure, _means(contents, measure))[1] if measure.is_cost else ""
    return f"{header(measure)}{unit}"


def _means(contents: PageContents, measure: Measure) -> list[float]:
    return [v for s in contents.systems if (v := contents.mean(s, measure)) is not None]


def _standing(stand: Standing) -> Cell:
    tone = {DOMINATED: "worse", OPEN: "muted"}.get(stand.name, "")
    return Cell(value=stand.name, tone=tone)


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
