"""Labels: how much of what was retrieved is judged, and how a judge agrees with people."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goodgain.reports.charts.labels import confusion, corrected, reliability
from goodgain.reports.elements import Column, Section, Table, Text

if TYPE_CHECKING:
    from goodgain.labels.calibration import Calibration
    from goodgain.reports.chart import Chart
    from goodgain.reports.contents import Material
    from goodgain.reports.elements import Part


def section(material: Material) -> Section | None:
    """None where there are neither judgements nor labels."""
    parts: list[Part] = []
    if material.evaluations:
        parts.append(_coverage(material))
    for number, calibration in enumerate(material.calibrations):
        parts += _calibrated(calibration, f"-{number + 1}" if number else "")
    return Section("labels", "Labels", parts) if parts else None


def _coverage(material: Material) -> Table:
    """How well judgements and runs meet: numbers rest on what is judged."""
    rows = []
    for evaluation in material.evaluations:
        for run in evaluation:
            c = run.coverage
            share = c.unjudged_documents / c.documents if c.documents else None
            rows.append([
                run.name, c.judged_queries, c.missing_queries, c.unjudged_queries, c.documents,
                c.unjudged_documents, None if share is None else 100 * share,
                None if c.judged_at_10 != c.judged_at_10 else 100 * c.judged_at_10,
            ])  # fmt: skip
    columns = [
        Column("run", "text"),
        Column("judged queries", digits=0),
        Column("not in the run", digits=0, help="judged queries that the run lacks"),
        Column("not judged", digits=0, help="queries of the run that nobody judged: left out"),
        Column("documents", digits=0, help="retrieved for judged queries"),
        Column("unjudged", digits=0, help="of these documents"),
        Column("unjudged %", digits=1),
        Column("judged in the first ten %", digits=1),
    ]
    note = (
        "An unjudged document may be good: where many are, a system that finds other documents than "
        "those that were judged looks worse than it is."
    )
    return Table("coverage", "Coverage", columns, rows, note)


def _calibrated(calibration: Calibration, suffix: str) -> list[Part]:
    """The judge against people: who said what, the figures, and corrected means."""
    parts: list[Part] = [
        _renamed(confusion(calibration), suffix),
        _renamed(reliability(calibration), suffix),
        _matrix(calibration, suffix),
        _figures(calibration, suffix),
    ]
    if calibration.canaries:
        columns = [
            Column("canary", "text"),
            Column("labelled", digits=0),
            Column("found good", digits=0),
        ]
        note = "Documents without worth that a judge should not call good."
        parts.append(Table(f"canaries{suffix}", "Canaries", columns, calibration.canaries, note))
    if calibration.corrected:
        parts += [_renamed(corrected(calibration), suffix), _corrected(calibration, suffix)]
    missing = calibration.failed + calibration.not_labelled
    if missing:
        parts.append(
            Text([f"{missing:,} pairs with a human label have none of the judge."], "note")
        )
    return parts


def _renamed(chart: Chart, suffix: str) -> Chart:
    """Keys are unique on a page, also with several calibrations."""
    return replace(chart, key=f"{chart.key}{suffix}")


def _matrix(calibration: Calibration, suffix: str) -> Table:
    names = [f"{g:g}" for g in calibration.grades]
    columns = [Column("human", "text"), *(Column(f"judge {n}", digits=0) for n in names)]
    rows = [[f"human {n}", *row] for n, row in zip(names, calibration.matrix, strict=True)]
    note = f"{calibration.pairs:,} pairs of a query and a document."
    return Table(f"matrix{suffix}", "Who said what how often", columns, rows, note)


def _figures(calibration: Calibration, suffix: str) -> Table:
    level = f"{100 * calibration.confidence:g}%"
    columns = [Column("figure", "text"), Column("value"), Column(f"{level} low"),
               Column(f"{level} high"), Column("n", digits=0)]  # fmt: skip
    rows = [[f.name, f.value, f.low, f.high, f.n] for f in calibration.figures]
    note = (
        f"Good is a gain from {calibration.threshold:g} on; intervals come from resampling queries."
    )
    return Table(f"agreement{suffix}", "Agreement", columns, rows, note)


def _corrected(calibration: Calibration, suffix: str) -> Table:
    columns = [
        Column("run", "text"), Column("measure", "text"), Column("by the judge"),
        Column("by people"), Column("corrected"), Column("low"), Column("high"), Column("weight"),
        Column("human queries", digits=0), Column("other queries", digits=0),
    ]  # fmt: skip
    rows = [
        [c.run, c.measure, c.labels, c.human, c.corrected, c.low, c.high, c.weight,
         c.human_queries, c.other_queries]
        for c in calibration.corrected
    ]  # fmt: skip
    note = "Means corrected by prediction-powered inference."
    return Table(f"corrected-means{suffix}", "Corrected means", columns, rows, note)
