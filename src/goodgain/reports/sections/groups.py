"""Groups: the differences within each group of queries, and whether they depend on the group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.reports.charts.systems import groups
from goodgain.reports.elements import (
    Cell,
    Column,
    Section,
    Table,
    count_columns,
    number_columns,
    text_columns,
)
from goodgain.results.numbers import p_text

if TYPE_CHECKING:
    from goodgain.comparison import Comparison
    from goodgain.reports.contents import PageContents
    from goodgain.reports.elements import Element


def section(contents: PageContents) -> Section | None:
    """The section; None if queries have no groups."""
    comparison = contents.comparison
    if comparison is None or not comparison.group_pairs:
        return None
    elements: list[Element] = [groups(comparison), _differences(comparison)]
    if comparison.interactions:
        elements.append(_interactions(comparison))
    return Section("groups", "Groups", elements)


def _differences(comparison: Comparison) -> Table:
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
            Cell(value=pair.difference, tone=tone, low=pair.low, high=pair.high),
            Cell(value=pair.p_corrected, text=p_text(pair.p_corrected, settings.alpha)),
            pair.stars,
            pair.queries,
        ])  # fmt: skip
    columns = [
        *text_columns(settings.by or "group", "system", "measure"),
        *number_columns("mean", "baseline mean"),
        Column(name="difference", signed=True, interval=True),
        *number_columns("corrected p"),
        *text_columns("stars"),
        *count_columns("queries"),
    ]
    note = f"Below each difference: its {100 * settings.confidence:g}% interval."
    return Table("group-differences", "Differences within each group", columns, rows, note)


def _interactions(comparison: Comparison) -> Table:
    alpha = comparison.settings.alpha
    rows = [
        [i.system, i.baseline, i.measure, i.groups, i.f, Cell(value=i.p, text=p_text(i.p, alpha)),
         Cell(value=i.p_corrected, text=p_text(i.p_corrected, alpha)), i.note or "–"]
        for i in comparison.interactions
    ]  # fmt: skip
    columns = [
        *text_columns("system", "baseline", "measure"),
        *count_columns("groups"),
        Column(name="F", digits=3),
        *number_columns("p", "corrected p"),
        *text_columns("note"),
    ]
    title = f"Does the difference depend on {comparison.settings.by}?"
    note = "F test of interaction: a small p means that the difference varies between groups."
    return Table("interactions", title, columns, rows, note)
