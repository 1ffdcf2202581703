"""Agentic search: gain by iteration, its cost, and the conversations themselves."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goodgain.agentic.tables import SUMMARY
from goodgain.comparison import compare
from goodgain.comparison.render import header
from goodgain.errors import GoodgainError
from goodgain.reports.charts.agentic import BUDGETS, budget, efficiency, gain, marginal
from goodgain.reports.charts.frame import counted
from goodgain.reports.conversations import page_conversations
from goodgain.reports.differences import difference_cell, p_cell, verdict_note
from goodgain.reports.elements import (
    Cell,
    Column,
    Section,
    Table,
    Text,
    Widget,
    count_columns,
    number_columns,
    text_columns,
)
from goodgain.results.judges import judge_notes
from goodgain.results.numbers import decimals
from goodgain.results.text import number

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodgain.agentic import GoodGain
    from goodgain.agentic.runs import Figure
    from goodgain.measures import Measure
    from goodgain.reports.chart import Chart
    from goodgain.reports.contents import PageContents
    from goodgain.reports.elements import Element


def section(contents: PageContents) -> Section | None:
    """The section; None if no traces were measured."""
    elements: list[Element] = []
    for i, result in enumerate(contents.gains):
        elements += _elements(result, f"-{i + 1}" if len(contents.gains) > 1 else "")
    return Section("agentic", "Agentic search", elements) if elements else None


def _elements(result: GoodGain, suffix: str) -> list[Element]:
    elements: list[Element] = [Text(_description(result)), _summary(result, suffix)]
    elements += [replace(chart, key=f"{chart.key}{suffix}") for chart in _charts(result)]
    if len(result.systems) > 1:
        with suppress(GoodgainError):  # nothing is labelled, or no conversation is shared
            elements.append(_paired(result, suffix))
    elements += _ledger(result, suffix)
    conversations = page_conversations(result)
    key = f"conversations{suffix}"
    data = {
        "note": conversations.note,
        "maxGain": result.settings.max_gain,
        "threshold": result.settings.threshold,
    }
    if conversations.items:
        elements.append(Widget("conversations", key, data, {key: conversations.items}))
    else:
        elements.append(Text([conversations.note], "note"))
    return elements


def _description(result: GoodGain) -> list[str]:
    """What was counted, and how."""
    s = result.settings
    counts = [system.counts() for system in result.systems]
    conversations, searches = (
        int(sum(c[k] for c in counts)) for k in ("conversations", "searches")
    )
    turns = {"last": "only the last turn of each is scored", "all": "all turns are scored"}.get(
        str(s.turn), f"only turn {s.turn} of each is scored"
    )
    align = (
        "that reached it"
        if s.align == "active"
        else "(those that ended earlier keep their last value)"
    )
    return [
        f"{counted(conversations, 'conversation')} with {counted(searches, 'search', 'searches')}; {turns}. "
        f"A result with a gain of at least {s.threshold:g} (of {s.max_gain:g}) is good. A repeated result, "
        f"by the identity rules for a {s.unit}, is a duplicate and adds no gain. Values at an iteration "
        f"are means over the conversations {align}."
    ]


def _summary(result: GoodGain, suffix: str) -> Table:
    """Final values: a row for each measure, a column for each system."""
    names, counts = result.summary(())
    rows: list[list[Any]] = [
        [row[0], *(Cell(value=v, text=number(v)) for v in row[1:])]
        for row in counts
        if row[0] != "labelled"
    ]
    rows += [
        [row[0], *(Cell(value=v, text="–" if v != v else f"{100 * v:.1f}%") for v in row[1:])]
        for row in counts
        if row[0] == "labelled"
    ]
    is_open = False
    for name in SUMMARY:
        figures = [system.figure(name) for system in result.systems]
        if any(f.n for f in figures):
            measure = result.systems[0].measure(name)
            cells = zip(result.systems, figures, strict=True)
            ends = [f.value if f.exact or math.isinf(f.upper) else f.upper for f in figures]
            digits = decimals(*ends)
            rows.append(
                [
                    _title(measure),
                    *(_figure(f, digits, system.is_unknown(name)) for system, f in cells),
                ]
            )
            is_open = is_open or not all(f.exact for f in figures)
    columns = [*text_columns("measure"), *(Column(name=n, interval=True) for n in names[1:])]
    note = "Below each mean: its 95% interval over conversations."
    if is_open:
        note += " In brackets: the bounds that missing labels and unread searches leave open."
    judged = "".join(f" {text[0].upper()}{text[1:]}." for text in judge_notes(result.inputs()))
    return Table(f"agentic{suffix}", "Final values", columns, rows, note + judged)


def _ledger(result: GoodGain, suffix: str) -> list[Element]:
    """What became of every item of the traces."""
    rows = [
        [name, kind, account, Cell(value=n, text=number(n)), rule]
        for name, ledger in result.ledgers.items()
        for (kind, account, rule), n in sorted(ledger.rules.items())
        if n
    ]
    if not rows:
        return []
    columns = [
        *text_columns("source", "item", "account"),
        *count_columns("number"),
        *text_columns("why"),
    ]
    whole = result.ledger
    note = "Every item of the input is counted in exactly one account."
    if whole.unread:
        note = (
            f"{counted(whole.unread, 'search', 'searches')} unread, so figures are bounds. {note}"
        )
    if duplicates := whole.count("result", "duplicate"):
        note += f" {counted(duplicates, 'result')} turned out to be a duplicate of an earlier one."
    return [Table(f"ledger{suffix}", "Ledger of the traces", columns, rows, note)]


def _title(measure: Measure) -> str:
    """The name in the registry, such as CG@i, with an arrow if lower is better."""
    return header(measure.with_label(measure.name))


def _figure(f: Figure, digits: int, is_unknown: bool) -> Cell:
    bounds = "" if f.exact else f" [{number(f.lower, digits)}, {number(f.upper, digits)}]"
    if is_unknown and f.n:
        return Cell(value=None, text=f"unknown{bounds}")
    text = f"{number(f.value, digits)}{bounds}"
    if f.low != f.low:
        return Cell(value=f.value, text=text)
    span = f"{number(f.low, digits)} to {number(f.high, digits)}"
    return Cell(value=f.value, text=text, low=f.low, high=f.high, span=span)


def _charts(result: GoodGain) -> list[Chart]:
    """The charts that the result has values for; some need labels or latencies."""
    makers: list[Callable[[], Chart]] = [
        lambda: gain(result),
        lambda: marginal(result),
        lambda: efficiency(result),
        *(lambda b=b: budget(result, b) for b in BUDGETS),
    ]
    charts = []
    for make in makers:
        with suppress(GoodgainError):
            charts.append(make())
    return charts


def _paired(result: GoodGain, suffix: str) -> Table:
    """Each further system against the first, over the conversations of both."""
    comparison = compare(result)
    columns = [
        *text_columns("system", "baseline", "measure"),
        *number_columns("mean", "baseline mean"),
        Column(name="difference", signed=True, interval=True),
        *number_columns("corrected p"),
        *text_columns("verdict"),
        *count_columns("conversations"),
    ]
    rows = [
        [
            pair.system,
            pair.baseline,
            _title(pair.measure),
            pair.mean,
            pair.baseline_mean,
            difference_cell(comparison, pair),
            p_cell(comparison, pair.p_corrected),
            comparison.verdict(pair),
            pair.queries,
        ]
        for pair in comparison.pairs
    ]
    note = (
        "Over the conversations of both systems. Below each difference: its 95% interval. "
        f"{verdict_note(comparison, comparison.pairs)}"
    )
    return Table(f"agents{suffix}", "System comparison", columns, rows, note)
