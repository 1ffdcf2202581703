"""The race of settings: the answer, quality against latency with intervals, and every setting's fate."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goodgain.comparison.render import header
from goodgain.reports.charts.frame import direction_note
from goodgain.reports.charts.tradeoffs import Point, points_chart
from goodgain.reports.elements import (
    Cell,
    Column,
    Section,
    Table,
    Text,
    UserText,
    count_columns,
    number_columns,
    text_columns,
)
from goodgain.stats.pareto import standings

if TYPE_CHECKING:
    from goodgain.experiment.optimisation import Optimisation, SettingResult
    from goodgain.reports.chart import Chart
    from goodgain.reports.contents import PageContents
    from goodgain.reports.elements import Element


def section(contents: PageContents) -> Section | None:
    """The section; None if nothing was raced."""
    elements: list[Element] = []
    for place, result in enumerate(contents.optimisations):
        elements += _elements(result, f"-{place + 1}" if len(contents.optimisations) > 1 else "")
    return Section("optimise", "Optimisation", elements) if elements else None


def _elements(result: Optimisation, suffix: str) -> list[Element]:
    sentences = [Text([UserText(sentence)]) for sentence in result.sentences()[1:]]
    elements: list[Element] = [*sentences, *_chart(result, suffix), _table(result, suffix)]
    return [*elements, *(Text([UserText(warning)], "warning") for warning in result.warnings())]


def _percent(result: Optimisation) -> float:
    return next((b.percent for b in result.rules.budgets if b.quantity == "latency"), 95.0)


def _chart(result: Optimisation, suffix: str) -> list[Chart]:
    timed = [s for s in result.ordered() if not math.isnan(s.latency + s.mean)]
    if len(timed) < 2:
        return []
    sign = result.measure.sign
    stands = standings({s.name: (sign * s.mean, -s.latency) for s in timed})
    own = {s.name: s for s in timed}
    points = []
    for s in timed:
        sure = [o.name for o in timed if _is_better(o, s, sign)]
        rival = sure[0] if sure else stands[s.name].rival
        points.append(
            Point(
                system=s.name,
                quality=s.mean,
                quality_low=s.low,
                quality_high=s.high,
                price=1000 * own[s.name].latency,
                price_low=1000 * s.latency_low,
                price_high=1000 * s.latency_high,
                standing=stands[s.name]._replace(rival=rival, is_proven=bool(sure)).name,
                rival=rival,
            )
        )
    level = f"{100 * (1 - result.rules.alpha):g}%"
    name = f"p{_percent(result):g} of latency (ms)"
    chart = points_chart(
        points,
        quality=result.measure.label,
        price=name,
        quality_title=f"{result.measure}{direction_note(result.measure)}",
        price_title=f"{name}, lower is better",
        note=f"Lines show {level} intervals in the race, which are valid whenever it stops; a line that "
        "reaches the right edge is not bounded.",
    )
    return [replace(chart, key=f"race{suffix}")]


def _is_better(one: SettingResult, other: SettingResult, sign: int) -> bool:
    """Whether intervals show it on both axes."""
    is_above = one.low > other.high if sign > 0 else one.high < other.low
    return is_above and one.latency_high < other.latency_low


def _table(result: Optimisation, suffix: str) -> Table:
    has_cost = any(not math.isnan(s.cost) for s in result.settings)
    rows: list[list[Any]] = []
    for s in result.ordered():
        latency = [1000 * v for v in (s.latency, s.latency_low, s.latency_high)]
        high = latency[2] if math.isfinite(latency[2]) else None
        tone = {"worse": "worse", "latency": "worse", "cost": "worse", "open": "muted"}
        rows.append(
            [s.name, Cell(value=s.mean, low=s.low, high=s.high),
             Cell(value=latency[0], low=None if high is None else latency[1], high=high),
             *([s.cost] if has_cost else []), s.queries,
             Cell(value=s.verdict, tone=tone.get(s.outcome, ""))]
        )  # fmt: skip
    columns = [
        *text_columns("setting"),
        Column(name=header(result.measure), interval=True),
        Column(name=f"p{_percent(result):g} ms", digits=2, interval=True),
        *(number_columns("cost", digits=6) if has_cost else []),
        *count_columns("queries"),
        *text_columns("outcome"),
    ]
    note = " ".join(result.legend()) + (
        " A percentile without an interval has too few calls to be bounded from above."
    )
    return Table(f"race{suffix}-settings", "Settings", columns, rows, note)
