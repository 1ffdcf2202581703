"""Groups: the differences within each group of queries, and whether they depend on the group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.comparison.render import header
from goodgain.reports.charts.frame import unit_nouns
from goodgain.reports.charts.systems import groups
from goodgain.reports.differences import difference_cell, p_cell, verdict_note
from goodgain.reports.elements import (
    Cell,
    Column,
    Section,
    Table,
    count_columns,
    number_columns,
    text_columns,
)
from goodgain.results.numbers import decimals

if TYPE_CHECKING:
    from goodgain.comparison import Comparison
    from goodgain.measures import Measure
    from goodgain.reports.contents import PageContents
    from goodgain.reports.elements import Element


def section(contents: PageContents) -> Section | None:
    """The section; None if queries have no groups."""
    comparison = contents.comparison
    if comparison is None or not comparison.group_pairs:
        return None
    measures = [m for m in comparison.primary if not m.is_cost]
    elements: list[Element] = [_matrix(contents, comparison, m) for m in measures]
    elements += [groups(comparison), _differences(comparison)]
    if comparison.interactions:
        elements.append(_interactions(comparison))
    return Section("groups", "Groups", elements)


def _matrix(contents: PageContents, comparison: Comparison, measure: Measure) -> Table:
    """Systems by groups: the difference from the baseline within each group, with its stars."""
    own = [p for p in comparison.group_pairs if p.measure == measure]
    sizes = dict.fromkeys(comparison.groups, 0)
    for p in own:
        sizes[p.group or ""] = max(sizes[p.group or ""], p.queries)
    digits = decimals(*(p.mean for p in own), *(p.baseline_mean for p in own))
    columns = [
        *text_columns("system"),
        *(
            Column(
                name=f"{group or '(no group)'} ({count:,})", digits=digits, signed=True,
                interval=True, marks=True,
            )
            for group, count in sizes.items()
        ),
    ]  # fmt: skip
    pairs = {(p.system, p.baseline, p.group or ""): p for p in own}
    order = {system: i for i, system in enumerate(contents.order)}
    several, names = len(comparison.baselines) > 1, contents.short_names
    rows: list[list[object]] = []
    duels = dict.fromkeys((p.system, p.baseline) for p in own)
    for system, baseline in sorted(duels, key=lambda duel: order[duel[0]]):
        title = f"{names[system]} - {names[baseline]}" if several else names[system]
        cells = [pairs.get((system, baseline, group)) for group in sizes]
        rows.append([
            Cell(value=system, text=title),
            *(None if p is None else difference_cell(comparison, p, marked=True) for p in cells),
        ])  # fmt: skip
    nouns = unit_nouns(measure)[1]
    note = (
        f"Difference from the baseline within each group, the number of {nouns} in brackets; below, the "
        f"{100 * comparison.settings.confidence:g}% interval."
    )
    number = comparison.measures.index(measure)
    title = f"{header(measure)} by {comparison.settings.by}"
    return Table(f"group-matrix{number or ''}", title, columns, rows, note)


def _differences(comparison: Comparison) -> Table:
    settings = comparison.settings
    rows = [
        [
            pair.group or "(no group)",
            pair.system,
            header(pair.measure),
            pair.mean,
            pair.baseline_mean,
            difference_cell(comparison, pair),
            p_cell(comparison, pair.p_corrected),
            pair.stars,
            comparison.verdict(pair),
            pair.queries,
        ]
        for pair in comparison.group_pairs
    ]
    columns = [
        *text_columns(settings.by or "group", "system", "measure"),
        *number_columns("mean", "baseline mean"),
        Column(name="difference", signed=True, interval=True),
        *number_columns("corrected p"),
        *text_columns("stars", "verdict"),
        *count_columns(unit_nouns(comparison.measures[0])[1]),
    ]
    note = (
        f"Below each difference: its {100 * settings.confidence:g}% interval. "
        f"{verdict_note(comparison, comparison.group_pairs)}"
    )
    return Table("group-differences", "Differences within each group", columns, rows, note)


def _interactions(comparison: Comparison) -> Table:
    rows = [
        [
            i.system,
            i.baseline,
            header(i.measure),
            i.groups,
            i.f,
            p_cell(comparison, i.p),
            p_cell(comparison, i.p_corrected),
            i.note or "–",
        ]
        for i in comparison.interactions
    ]
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
