"""From evidence to answer: the funnel, evidence against answers, citations, and hops."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goodgain.comparison.render import header
from goodgain.errors import GoodgainError
from goodgain.reports.charts.frame import counted
from goodgain.reports.charts.funnel import square, steps
from goodgain.reports.elements import (
    Cell,
    Column,
    Section,
    Table,
    Text,
    UserText,
    count_columns,
    text_columns,
)
from goodgain.results.numbers import hundredths
from goodgain.results.text import number

if TYPE_CHECKING:
    from goodgain.agentic import GoodGain
    from goodgain.agentic.funnel import SystemFunnel
    from goodgain.agentic.runs import Figure
    from goodgain.reports.chart import Chart
    from goodgain.reports.contents import PageContents
    from goodgain.reports.elements import Element, Span

MAX_SQUARES = 6  # systems that have a chart of answers
_MEASURES = (
    "Answer", "EvidenceRecall", "Searches", "CalibrationError", "OpenedRecall", "CitedRecall",
    "CitedOfReturned", "CitationPrecision", "UnsupportedCitations", "DryIterations",
)  # fmt: skip


def section(contents: PageContents) -> Section | None:
    """The section; None if no trace records an open, a citation or an answer that was checked."""
    elements: list[Element] = []
    recorded = [gain for gain in contents.gains if gain.funnel.recorded]
    for i, result in enumerate(recorded):
        elements += _elements(result, f"-{i + 1}" if len(recorded) > 1 else "")
    return Section("funnel", "From evidence to answer", elements) if elements else None


def _elements(result: GoodGain, suffix: str) -> list[Element]:
    elements: list[Element] = [Text(_sentence(system)) for system in result.funnel.systems]
    elements += [replace(chart, key=f"{chart.key}{suffix}") for chart in _charts(result)]
    elements.append(_figures(result, suffix))
    elements += _answers(result, suffix)
    elements += _citations(result, suffix)
    elements += _hops(result, suffix)
    return elements


def _sentence(system: SystemFunnel) -> list[Span]:
    """Where the evidence of a system was lost, and how many of its answers are right."""
    first, *rest = system.steps
    spans: list[Span] = [UserText(system.name)]
    if first.evidence:
        reached = ", ".join(f"{step.evidence:,} {step.name}" for step in rest)
        spans.append(f": of {counted(first.evidence, 'known good result')} {reached}. ")
    else:
        spans.append(": no good result is known, so there is nothing to follow. ")
    if (answers := system.answers) is not None:
        checked = answers["right"] + answers["wrong"]
        open_answers = answers["unanswered"] + answers["unknown"]
        missing = f"; {open_answers:,} more missing or not judged" if open_answers else ""
        spans.append(
            f"{answers['right']:,} of {counted(checked, 'checked answer')} right{missing}. "
        )
    if turned := system.turned["conversations"]:
        spans.append(
            f"In {counted(turned, 'conversation')} evidence was missing, and the last iterations "
            f"({system.turned['iterations']:,} in all) found none of it."
        )
    return spans


def _charts(result: GoodGain) -> list[Chart]:
    charts: list[Chart] = []
    with suppress(GoodgainError):  # no evidence is known
        charts.append(steps(result))
    checked = [system.name for system in result.funnel.systems if system.is_checked]
    for i, name in enumerate(checked[:MAX_SQUARES]):
        chart = square(result, "any", name)
        charts.append(replace(chart, key=f"answers-{i + 1}" if len(checked) > 1 else "answers"))
    return charts


def _figures(result: GoodGain, suffix: str) -> Table:
    """Means over conversations: a row for each measure, a column for each system."""
    rows: list[list[Any]] = []
    for name in _MEASURES:
        figures = [system.figure(name) for system in result.systems]
        if any(f.n for f in figures):
            rows.append([header(result.systems[0].measure(name)), *(_cell(f) for f in figures)])
    columns = [
        *text_columns("measure"),
        *(Column(name=name, interval=True) for name in result.names),
    ]
    note = (
        "Means over conversations; below each its 95% interval, in brackets the bounds that missing labels "
        "and unread searches leave. Answer is the accuracy."
    )
    return Table(f"evidence{suffix}", "Evidence and answers", columns, rows, note)


def _cell(f: Figure) -> Cell:
    bounds = f" [{number(f.lower)}, {number(f.upper)}]" if f.is_open else ""
    low, high = (None, None) if f.low != f.low else (f.low, f.high)
    value = "–" if f.value != f.value else number(f.value)
    return Cell(value=f.value, text=f"{value}{bounds}", low=low, high=high)


def _answers(result: GoodGain, suffix: str) -> list[Element]:
    """The four cells: a row each, for any and for all of the evidence of each system."""
    columns = text_columns("evidence and answer")
    places = [
        f"{has}, {answer}" for has in ("returned", "not returned") for answer in ("right", "wrong")
    ]
    rows: list[list[Any]] = [[place] for place in (*places, "not known")]
    for system in result.funnel.systems:
        for which in ("any", "all"):
            cells = system.square(which)
            if cells is None:
                continue
            own = f"{which} evidence" if len(result.names) == 1 else f"{system.name}, {which}"
            columns += [
                Column(name=own, digits=0),
                Column(name=f"{own}, %", digits=1, interval=True),
            ]
            for row, cell in zip(rows, cells.cells, strict=False):
                row += [cell.count, _share(cell.share, cell.low, cell.high)]
            rows[-1] += [cells.unknown, None]
    if len(columns) == 1:
        return []
    note = (
        "Conversations. Any: at least one known good result was returned; all: each of them. Not known: the "
        "evidence or the answer is missing, unread or not judged; those conversations are left "
        "out of the shares."
    )
    return [Table(f"square{suffix}", "Evidence against answers", columns, rows, note)]


def _share(share: float, low: float, high: float) -> Cell:
    ends = (None, None) if low != low else (100 * low, 100 * high)
    text = "–" if share != share else hundredths(share)
    return Cell(value=100 * share, text=text, low=ends[0], high=ends[1])


def _citations(result: GoodGain, suffix: str) -> list[Element]:
    citing = [system for system in result.funnel.systems if system.citations["citing"]]
    if not citing:
        return []
    names = list(citing[0].citations)
    meanings = {
        "answers": "answers whose citations are recorded",
        "citing": "answers that cite something",
        "cited": "documents cited, each once an answer",
        "unlabelled": "cited documents without a label",
        "unsupported": "cited documents that no search or open of the conversation returned",
        "unresolved": "markers that could not be matched with a document",
    }
    rows = [
        [name, *(system.citations[name] for system in citing), meanings.get(name, f"cited, {name}")]
        for name in names
    ]
    columns = [
        *text_columns("citations"),
        *count_columns(*(system.name for system in citing)),
        *text_columns("meaning"),
    ]
    return [Table(f"citations{suffix}", "Citations", columns, rows)]


def _hops(result: GoodGain, suffix: str) -> list[Element]:
    """Gold evidence by hop."""
    names = ("hop", "evidence", "returned", "opened", "cited")
    rows = [
        [system.name, *(hop[name] for name in names), hop["iteration"]]
        for system in result.funnel.systems
        for hop in system.hops
    ]
    if not rows:
        return []
    columns = [
        *text_columns("system", "hop"),
        *count_columns(*names[1:]),
        Column(name="mean iteration of the first return", digits=2),
    ]
    return [Table(f"hops{suffix}", "Hops", columns, rows, "Evidence whose labels name a hop.")]
