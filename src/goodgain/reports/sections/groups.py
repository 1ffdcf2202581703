"""Groups: the differences within each group of queries, and whether they depend on the group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.reports.charts.systems import groups
from goodgain.reports.elements import Cell, Column, Section, Table
from goodgain.results.numbers import p_text

if TYPE_CHECKING:
    from goodgain.comparison import Comparison
    from goodgain.reports.contents import Material
    from goodgain.reports.elements import Part


def section(material: Material) -> Section | None:
    """None where queries are in no groups."""
    comparison = material.comparison
    if comparison is None or not comparison.group_pairs:
        return None
    parts: list[Part] = [groups(comparison), _pairs(comparison)]
    if comparison.interactions:
        parts.append(_interactions(comparison))
    return Section("groups", "Groups", parts)


def _pairs(comparison: Comparison) -> Table:
    settings = comparison.settings
    rows = []
    for pair in comparison.group_pairs:
        tone = "" if pair.stars == "ns" else "better" if pair.improvement > 0 else "worse"
        rows.append([
            pair.group or "(no group)",
            pair.system,
            pair.measure + (" ↓" if pair.lower_is_better else ""),
            pair.mean,
            pair.baseline_mean,
            Cell(pair.difference, tone=tone, low=pair.low, high=pair.high),
            Cell(pair.p_corrected, p_text(pair.p_corrected, settings.alpha)),
            pair.stars,
            pair.queries,
        ])  # fmt: skip
    columns = [
        Column(settings.by or "group", "text"),
        Column("system", "text"),
        Column("measure", "text"),
        Column("mean"),
        Column("baseline"),
        Column("difference", signed=True, interval=True),
        Column("corrected p"),
        Column("stars", "text"),
        Column("queries", digits=0),
    ]
    note = f"Below each difference its {100 * settings.confidence:g}% interval."
    return Table("group-differences", "Differences in each group", columns, rows, note)


def _interactions(comparison: Comparison) -> Table:
    alpha = comparison.settings.alpha
    rows = [
        [i.system, i.baseline, i.measure, i.groups, i.f, Cell(i.p, p_text(i.p, alpha)),
         Cell(i.p_corrected, p_text(i.p_corrected, alpha)), i.note or "–"]
        for i in comparison.interactions
    ]  # fmt: skip
    columns = [
        Column("system", "text"), Column("against", "text"), Column("measure", "text"),
        Column("groups", digits=0), Column("F", digits=3), Column("p"), Column("corrected p"),
        Column("note", "text"),
    ]  # fmt: skip
    title = f"Does the difference depend on {comparison.settings.by}?"
    note = "An F test of interaction: a small p says that the difference is not the same in all groups."
    return Table("interactions", title, columns, rows, note)
