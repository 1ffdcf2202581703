"""A measure over time: the rows of saved results that match a search, as a chart and a table."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import GoodgainError
from goodgain.reports.elements import Cell, Section, Table, Text, number_columns, text_columns
from goodgain.reports.page import page_html

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goodgain.reports.chart import Chart
    from goodgain.reports.elements import Element
    from goodgain.reports.view.library import Entry
    from goodgain.reports.view.summaries import Row

MAX_LINES = 12  # systems in the chart


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A value of a system at a time, and the result that has it."""

    time: float
    result: str
    system: str
    value: float
    note: str


def points(
    results: Iterable[tuple[Entry, Iterable[Row]]], measure: str, search: str
) -> list[Point]:
    """The values of a measure in all rows that have every word of the search, oldest first."""
    words = search.lower().split()
    listed = []
    for entry, rows in results:
        for row in rows:
            text = f"{entry.name}\n{row.system}\n{entry.kind}\n{row.note}".lower()
            if measure in row.values and all(word in text for word in words):
                when = entry.changed if row.created is None else row.created
                point = Point(
                    time=when, result=entry.name, system=row.system,
                    value=row.values[measure], note=row.note,
                )  # fmt: skip
                listed.append(point)
    return sorted(listed, key=lambda p: p.time)


def history_page(listed: list[Point], measure: str, search: str) -> str:
    """The page of these points; it says what it leaves out."""
    matching = f" that match “{search}”" if search else ""
    if not listed:
        text = f"No saved results{matching} have the measure."
        return page_html(f"History of {measure}", [Section("history", "History", [Text([text])])])
    counts: dict[str, int] = {}
    for point in listed:
        counts[point.system] = counts.get(point.system, 0) + 1
    drawn = sorted(counts, key=lambda s: -counts[s])[:MAX_LINES]
    elements: list[Element] = []
    if len(drawn) < len(counts):
        note = f"The chart has the {MAX_LINES} systems with the most results, of {len(counts):,}."
        elements.append(Text([note], "note"))
    try:
        elements.append(_chart([p for p in listed if p.system in drawn], drawn, measure))
    except GoodgainError as error:
        elements.append(Text([f"No chart: {error.message}."], "note"))
    rows = [
        [Cell(value=p.time, text=_date(p.time)), p.system, p.value, p.note, p.result]
        for p in reversed(listed)
    ]
    columns = [
        *text_columns("time", "system"),
        *number_columns(measure),
        *text_columns("verdict", "result"),
    ]
    elements.append(Table("history", f"{measure} of saved results{matching}", columns, rows))
    return page_html(f"History of {measure}", [Section("history", "History", elements)])


def _date(seconds: float) -> str:
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return moment.strftime("%Y-%m-%d %H:%M UTC")


def _time_axis(listed: list[Point]) -> Any:
    """Dates where results are days apart, else times of the day."""
    from goodgain.reports.charts.frame import altair

    days = (listed[-1].time - listed[0].time) / 86_400
    if days < 2:
        return altair().Axis(format="%b %-d, %H:%M", tickCount=5, labelOverlap=True)
    unit, size, text = ("month", 30, "%b %Y") if days > 300 else ("day", 1, "%b %-d")
    step = max(1, math.ceil(days / size / 10))
    return altair().Axis(format=text, tickCount={"interval": unit, "step": step}, labelOverlap=True)


def _chart(listed: list[Point], systems: list[str], measure: str) -> Chart:
    from goodgain.reports.charts.frame import (
        NUMBER,
        altair,
        by_system,
        data,
        display_names,
        make_chart,
    )

    alt = altair()
    names = display_names(systems)
    rows = [
        {"time": _date(p.time)[:16], "milliseconds": round(p.time * 1000), "value": p.value,
         "system": names[p.system], "result": p.result}
        for p in listed
    ]  # fmt: skip
    view = (
        alt.Chart(data(rows))
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "milliseconds:T", title="UTC", scale=alt.Scale(type="utc"), axis=_time_axis(listed)
            ),
            y=alt.Y(
                "value:Q", title=measure, scale=alt.Scale(zero=False), axis=alt.Axis(format=NUMBER)
            ),
            tooltip=["time:N", "system:N", alt.Tooltip("value:Q", format=NUMBER), "result:N"],
            **by_system([names[s] for s in systems], lines=True),
        )
        .properties(height=300)
    )
    count = f"{len(listed):,} value{'s' * (len(listed) != 1)}"
    return make_chart(
        key="history-chart",
        title=f"{measure} over time",
        description=f"{count} of {measure} by the time of each result, a line for each system.",
        view=view,
        columns=["time", "system", measure, "result"],
        rows=[[_date(p.time), names[p.system], p.value, p.result] for p in listed],
    )
