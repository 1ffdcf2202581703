"""Stopping: what the agent would have kept and saved, had it stopped by a rule."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goodgain.agentic.rules import RULES
from goodgain.agentic.stopping import stopping
from goodgain.errors import GoodgainError
from goodgain.reports.charts.frame import counted
from goodgain.reports.charts.stopping import trade_off
from goodgain.reports.elements import Cell, Column, Section, Table, Text, text_columns
from goodgain.results.numbers import hundredths

if TYPE_CHECKING:
    from goodgain.agentic import GoodGain
    from goodgain.agentic.runs import Figure
    from goodgain.agentic.stopping import Stopping
    from goodgain.reports.chart import Chart
    from goodgain.reports.contents import PageContents
    from goodgain.reports.elements import Element

MAX_SYSTEMS = 6  # that have a chart


def section(contents: PageContents) -> Section | None:
    """The section: the rules that were chosen, or the usual ones for traces where something can be lost."""
    replays = contents.stoppings or tuple(
        stopping(gain) for gain in contents.gains if _can_stop(gain)
    )
    elements: list[Element] = []
    for i, result in enumerate(replays):
        elements += _elements(result, f"-{i + 1}" if len(replays) > 1 else "")
    return Section("stopping", "Stopping", elements) if elements else None


def _can_stop(gain: GoodGain) -> bool:
    return gain.labelled and any(s.iterations > 1 for s in gain.systems)


def _elements(result: Stopping, suffix: str) -> list[Element]:
    rules = "; ".join(f"{name} N: {meaning}" for name, meaning in RULES.items())
    elements: list[Element] = [
        Text([
            "What if the agent had stopped earlier? Each conversation is replayed and ended after "
            "the first iteration at which the rule fires. Kept: the gain by then as a share of "
            "the gain of the whole conversations. Saved: a share of the cost up to the last "
            "search."
        ]),
        Text([f"{rules}."], "note"),
    ]  # fmt: skip
    elements += _charts(result, suffix)
    elements.append(_table(result, suffix))
    elements += [Text([warning], "note") for warning in result.warnings()]
    return elements


def _charts(result: Stopping, suffix: str) -> list[Chart]:
    """The leading cost and searches of one system, or the leading cost of several."""
    if len(result.names) == 1:
        costs = dict.fromkeys((result.leading_cost(), "searches"))
        wanted = [(cost, result.names[0]) for cost in costs]
    else:
        wanted = [(result.leading_cost(name), name) for name in result.names[:MAX_SYSTEMS]]
    charts = []
    for i, (cost, name) in enumerate(wanted):
        with suppress(GoodgainError):  # no gain is known
            chart = trade_off(result, cost, name)
            place = f"-{i + 1}" if len(result.names) > 1 else ""
            charts.append(replace(chart, key=f"{chart.key}{place}{suffix}"))
    return charts


def _table(result: Stopping, suffix: str) -> Table:
    costs, lead = result.costs(), result.leading_cost()
    several = len(result.names) > 1
    columns = [
        *text_columns(*(["system"] if several else []), "rule"),
        Column(name="stopped early", kind="text"),
        *(
            Column(name=f"{name}, %", digits=1, interval=True)
            for name in ("gain kept", *(f"{cost} saved" for cost in costs))
        ),
        Column(
            name=f"best gain for its {lead}, %", digits=1,
            help=f"the highest gain that any choice of stops keeps for the same {lead}",
        ),
    ]  # fmt: skip
    rows: list[list[Any]] = [
        [
            *([o.system] if several else []),
            f"{o.rule} (oracle)" if o.is_oracle else o.rule,
            f"{o.early:,} of {counted(len(o.stops), 'conversation')}",
            _cell(o.retained),
            *(_cell(o.saved[cost]) for cost in costs),
            100 * o.best[lead],
        ]
        for o in result.outcomes
    ]
    level = f"{100 * result.settings['confidence']:g}%"
    note = (
        f"Below each share: its {level} interval, by bootstrap over conversations. In brackets: the bounds "
        "that missing labels, unread searches and unknown costs leave. An oracle needs labels, so "
        "no agent can follow it. The same is true of the best gain, which is chosen in hindsight."
    )
    return Table(f"stopping{suffix}", "Stopping rules", columns, rows, note)


def _cell(f: Figure) -> Cell:
    """A share in percent, with its interval and bounds."""
    bounds = f" [{hundredths(f.lower)}, {hundredths(f.upper)}]" if f.is_open else ""
    low, high = (None, None) if math.isnan(f.low) else (100 * f.low, 100 * f.high)
    value = hundredths(f.value) if f.value == f.value else "–"
    return Cell(value=100 * f.value, text=f"{value}{bounds}", low=low, high=high)
