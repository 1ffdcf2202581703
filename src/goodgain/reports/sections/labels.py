"""Labels: how much of the retrieved documents is judged, and how well a judge agrees with people."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goodgain.labels.calibration import name
from goodgain.labels.canaries import KNOWN_GOOD
from goodgain.labels.designs import refusal
from goodgain.reports.charts.frame import counted
from goodgain.reports.charts.labels import confusion, corrected, reliability
from goodgain.reports.elements import (
    Cell,
    Column,
    Section,
    Table,
    Text,
    count_columns,
    number_columns,
    text_columns,
)

if TYPE_CHECKING:
    from goodgain.labels.calibration import Calibration
    from goodgain.reports.chart import Chart
    from goodgain.reports.contents import PageContents
    from goodgain.reports.elements import Element


def section(contents: PageContents) -> Section | None:
    """The section; None if there are neither judgments nor labels."""
    elements: list[Element] = []
    if contents.evaluations:
        elements.append(_coverage(contents))
    if contents.judges:
        elements.append(_judges(contents))
    for number, calibration in enumerate(contents.calibrations):
        elements += _calibration(calibration, f"-{number + 1}" if number else "")
    return Section("labels", "Labels", elements) if elements else None


def _coverage(contents: PageContents) -> Table:
    """How many queries and documents are judged."""
    rows = []
    for evaluation in contents.evaluations:
        for run in evaluation.runs:
            c = run.coverage
            share = c.unjudged_documents / c.documents if c.documents else None
            rows.append([
                run.name, c.judged_queries, c.missing_queries, c.unjudged_queries, c.documents,
                c.unjudged_documents, None if share is None else 100 * share,
                None if c.judged_at_10 != c.judged_at_10 else 100 * c.judged_at_10,
            ])  # fmt: skip
    columns = [
        *text_columns("run"),
        *count_columns("judged queries"),
        Column(name="missing queries", digits=0, help="judged queries that are not in the run"),
        Column(
            name="unjudged queries", digits=0, help="queries of the run without judgments: ignored"
        ),
        Column(name="documents", digits=0, help="retrieved for judged queries"),
        Column(name="unjudged documents", digits=0, help="of the retrieved documents"),
        *number_columns("% unjudged", "% judged in top 10", digits=1),
    ]
    note = (
        "Unjudged documents may be relevant: if there are many, a system that retrieves documents "
        "outside the judged pool looks worse than it is."
    )
    return Table("coverage", "Coverage", columns, rows, note)


def _judges(contents: PageContents) -> Table:
    """Who judged, and what its passport says; a judge without one is marked."""
    rows = []
    for judge in contents.judges:
        passport = judge.get("passport") or {}
        figure = passport.get("agreement") or {}
        canaries = [
            f"{c['kind']} {c['right']} of {c['labelled']}" for c in passport.get("canaries", ())
        ]
        rows.append([
            judge["model"], judge["prompt"], passport.get("created", "")[:10] or "no passport",
            Cell(value=figure.get("value"), low=figure.get("low"), high=figure.get("high")),
            figure.get("n"), ", ".join(canaries) or "–", passport.get("drift") or "–",
        ])  # fmt: skip
    columns = [
        *text_columns("judge", "prompt", "passport"),
        Column(name="quadratic kappa", digits=2, help="with people", interval=True),
        *count_columns("pairs"),
        *text_columns("canaries labelled right", "drift"),
    ]
    note = "Numbers on this page depend on these judges' labels." + (
        ""
        if all(judge.get("passport") for judge in contents.judges)
        else " How far a judge without a passport agrees with people is unknown."
    )
    return Table("judges", "Judges", columns, rows, note)


def _calibration(calibration: Calibration, suffix: str) -> list[Element]:
    """The judge against people: confusion matrix, agreement, and corrected means."""
    elements: list[Element] = [
        _with_suffix(confusion(calibration), suffix),
        _with_suffix(reliability(calibration), suffix),
        _matrix(calibration, suffix),
        _agreement(calibration, suffix),
    ]
    if calibration.canaries:
        columns = [
            *text_columns("canary", "should be"),
            *count_columns("labelled", "labelled good"),
        ]
        rows = [
            [kind, "good" if kind in KNOWN_GOOD else "not good", labelled, good]
            for kind, labelled, good in calibration.canaries
        ]
        note = (
            "Decoy documents that a judge should not label good, and known answers that it should."
        )
        elements.append(Table(f"canaries{suffix}", "Canaries", columns, rows, note))
    if any(c.corrected == c.corrected for c in calibration.corrected):
        elements.append(_with_suffix(corrected(calibration), suffix))
    if calibration.corrected:
        elements.append(_corrected(calibration, suffix))
    if calibration.differences:
        elements.append(_corrected(calibration, suffix, differences=True))
    uncorrected = any(c.corrected != c.corrected for c in calibration.corrected)
    if uncorrected and (why := refusal(calibration.design)):
        elements.append(Text([f"{why[0].upper()}{why[1:]}."], "note"))
    missing = calibration.failed + calibration.not_labelled
    if missing:
        noun = "pair has" if missing == 1 else "pairs have"
        elements.append(Text([f"{missing:,} {noun} a human label but no judge label."], "note"))
    return elements


def _with_suffix(chart: Chart, suffix: str) -> Chart:
    """Keys must be unique on a page, even with several calibrations."""
    return replace(chart, key=f"{chart.key}{suffix}")


def _matrix(calibration: Calibration, suffix: str) -> Table:
    names = [f"{g:g}" for g in calibration.grades]
    columns = [*text_columns("human"), *count_columns(*(f"judge {n}" for n in names))]
    rows = [[f"human {n}", *row] for n, row in zip(names, calibration.matrix, strict=True)]
    note = f"{counted(calibration.pairs, 'pair')} of a query and a document."
    return Table(f"matrix{suffix}", "Confusion matrix", columns, rows, note)


def _agreement(calibration: Calibration, suffix: str) -> Table:
    level = f"{100 * calibration.confidence:g}%"
    columns = [
        *text_columns("statistic"),
        *number_columns("value", f"{level} low", f"{level} high"),
        *count_columns("n"),
    ]
    rows = [[f.name, f.value, f.low, f.high, f.n] for f in calibration.figures]
    note = (
        f"Good means a gain of at least {calibration.threshold:g}. Intervals come from resampling "
        "queries."
    )
    return Table(f"agreement{suffix}", "Agreement", columns, rows, note)


def _corrected(calibration: Calibration, suffix: str, differences: bool = False) -> Table:
    records = calibration.differences if differences else calibration.corrected
    columns = [
        *text_columns("systems" if differences else "run", "measure"),
        *number_columns("judge", "people", "corrected", "low", "high"),
        *count_columns("judged"),
        *text_columns("of", "remark"),
    ]
    rows = [
        [
            name(c),
            c.measure,
            c.labels,
            c.human,
            c.corrected,
            c.low,
            c.high,
            c.judged,
            c.units,
            c.status,
        ]
        for c in records
    ]
    over = "queries like these" if calibration.generalise else "these queries"
    note = (
        f"{'Differences' if differences else 'Means'} over {over}, as people would have judged them. "
        f"People's labels: {calibration.design or 'version 0.1, design unknown'}. The column "
        "people covers the queries that they judged completely. If too few were judged for a "
        "reliable interval, there is none."
    )
    key, title = ("differences", "differences") if differences else ("means", "means")
    return Table(f"corrected-{key}{suffix}", f"Corrected {title}", columns, rows, note)
