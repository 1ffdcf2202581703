"""Agentic search: gain by iteration, what it cost, and the conversations themselves."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goodgain.agentic.result import SUMMARY
from goodgain.errors import GoodgainError
from goodgain.measures.table.agentic import BY_COLUMN
from goodgain.reports.charts.agentic import BUDGETS, budget, efficiency, gain, marginal
from goodgain.reports.conversations import told
from goodgain.reports.elements import Cell, Column, Section, Table, Text, Widget
from goodgain.results.text import number

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodgain.agentic import GoodGain
    from goodgain.reports.chart import Chart
    from goodgain.reports.contents import Material
    from goodgain.reports.elements import Part


def section(material: Material) -> Section | None:
    """None where no traces were measured."""
    parts: list[Part] = []
    for i, result in enumerate(material.gains):
        parts += _parts(result, f"-{i + 1}" if len(material.gains) > 1 else "")
    return Section("agentic", "Agentic search", parts) if parts else None


def _parts(result: GoodGain, suffix: str) -> list[Part]:
    parts: list[Part] = [Text(_what(result)), _summary(result, suffix)]
    parts += [replace(chart, key=f"{chart.key}{suffix}") for chart in _charts(result)]
    if len(result) > 1:
        parts += _paired(result, suffix)
    found = told(result)
    key = f"conversations{suffix}"
    widget = {
        "note": found.note,
        "top": result.settings.max_gain,
        "threshold": result.settings.threshold,
    }
    if found.items:
        parts.append(Widget("conversations", key, widget, {key: found.items}))
    else:
        parts.append(Text([found.note], "note"))
    return parts


def _what(result: GoodGain) -> list[str]:
    """What was counted, and how."""
    s = result.settings
    counts = [system.counts() for system in result]
    conversations, searches = (
        int(sum(c[k] for c in counts)) for k in ("conversations", "searches")
    )
    turns = {"last": "the last turn of each", "all": "all turns"}.get(str(s.turn), f"turn {s.turn}")
    align = "that reached it" if s.align == "active" else "with the last value carried on"
    return [
        f"{conversations:,} conversations with {searches:,} searches; {turns} counts. A result is good "
        f"from a gain of {s.threshold:g} on (of {s.max_gain:g}); one that came before, by the rules of "
        f"identity for a {s.unit}, is a duplicate and earns nothing. At an iteration stand the means of "
        f"the conversations {align}."
    ]


def _summary(result: GoodGain, suffix: str) -> Table:
    """What conversations come to in the end: a row for each measure, a column for each system."""
    header, counts = result.summary(())
    rows: list[list[Any]] = [
        [row[0], *(Cell(v, number(v)) for v in row[1:])] for row in counts if row[0] != "labelled"
    ]
    rows += [
        [row[0], *(Cell(v, "–" if v != v else f"{100 * v:.1f}%") for v in row[1:])]
        for row in counts
        if row[0] == "labelled"
    ]
    for measure in SUMMARY:
        figures = [system.figure(measure) for system in result]
        if any(f.n for f in figures):
            arrow = " ↓" if BY_COLUMN[measure].lower_is_better else ""
            rows.append([f"{BY_COLUMN[measure].name}{arrow}", *(_figure(f) for f in figures)])
    columns = [Column("at the end", "text"), *(Column(n, interval=True) for n in header[1:])]
    note = "Below each mean its 95% interval over conversations; in brackets what missing labels leave open."
    return Table(f"agentic{suffix}", "In the end", columns, rows, note)


def _figure(f: Any) -> Cell:
    open_ = "" if f.exact else f" [{number(f.lower)}, {number(f.upper)}]"
    low, high = (None, None) if f.low != f.low else (f.low, f.high)
    return Cell(f.value, f"{number(f.value)}{open_}", low=low, high=high)


def _charts(result: GoodGain) -> list[Chart]:
    """Those that the result has the values for: without labels, or seconds, some have none."""
    makers: list[Callable[[], Chart]] = [
        lambda: gain(result),
        lambda: marginal(result),
        lambda: efficiency(result),
        *(lambda b=b: budget(result, b) for b in BUDGETS),
    ]
    found = []
    for make in makers:
        with suppress(GoodgainError):
            found.append(make())
    return found


def _paired(result: GoodGain, suffix: str) -> list[Part]:
    """Each further system against the first, over the conversations that both have."""
    _, rows = result.paired()
    if not rows:
        return []
    columns = [
        Column("system", "text"),
        Column("against", "text"),
        Column("measure", "text"),
        Column("mean"),
        Column("its mean"),
        Column("difference", signed=True, interval=True),
        Column("conversations", digits=0),
    ]
    shown = []
    for system, other, measure, mean, base, difference, low, high, n, lower in rows:
        sure = low == low and (low > 0 or high < 0)
        tone = "" if not sure else "better" if (difference < 0) == lower else "worse"
        span = {} if low != low else {"low": low, "high": high}
        name = f"{BY_COLUMN[measure].name}{' ↓' if lower else ''}"
        shown.append([system, other, name, mean, base, Cell(difference, tone=tone, **span), n])
    note = "Over the conversations of both; below each difference its 95% interval."
    return [Table(f"agents{suffix}", "Systems side by side", columns, shown, note)]
