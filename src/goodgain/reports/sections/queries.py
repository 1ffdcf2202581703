"""Queries: the distribution of differences, a table of all queries, and the ranked lists of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.reports.charts.queries import differences, histogram
from goodgain.reports.elements import Section, Text, Widget, cut, packed
from goodgain.reports.ranked_lists import lists_block

if TYPE_CHECKING:
    from goodgain.reports.contents import PageContents
    from goodgain.reports.elements import Element

MAX_TEXT_CHARACTERS = 300


def section(contents: PageContents) -> Section | None:
    """The section; None if there are no per-query scores."""
    if contents.scores is None:
        if contents.comparison is None:
            return None
        missing = (
            "A saved comparison does not include per-query scores. Report it together with the saved "
            "evaluation to see them here."
        )
        return Section("queries", "Queries", [Text([missing], "note")])
    lists, note = lists_block(contents)
    blocks = {"queries": _table(contents), "lists": lists}
    elements: list[Element] = [
        *_charts(contents),
        Widget("queries", "queries", {"note": note}, blocks),
    ]
    return Section("queries", "Queries", elements)


def _charts(contents: PageContents) -> list[Element]:
    """The differences of the best other system, by query and as a distribution."""
    best = contents.best_other()
    if best is None or contents.baseline is None:
        return []
    arguments = contents.scores, contents.quality, best, contents.baseline
    return [differences(*arguments), histogram(*arguments)]


def _table(contents: PageContents) -> dict[str, Any]:
    """The values of all queries by system and measure, in columns."""
    assert contents.scores is not None
    units = contents.units
    systems = list(contents.systems)
    values = []
    for system in systems:
        columns = [contents.scores.values(system, m) for m in contents.measures]
        values.append([packed("f64", [c.get(u, float("nan")) for u in units]) for c in columns])
    measures = [contents.measure(label) for label in contents.measures]
    return {
        "units": [cut(u) for u in units],
        "texts": [cut(contents.queries.get(u, ""), MAX_TEXT_CHARACTERS) for u in units]
        if contents.queries
        else None,
        "group": _groups(contents, units),
        "systems": [cut(s) for s in systems],
        "baseline": systems.index(contents.baseline) if contents.baseline else None,
        "measures": [
            {
                "name": cut(label),
                "lower": contents.lower_is_better(label),
                "help": measure.definition.summary if measure else None,
            }
            for label, measure in zip(contents.measures, measures, strict=True)
        ],
        "values": values,
    }


def _groups(contents: PageContents, units: list[str]) -> dict[str, Any] | None:
    by = contents.comparison.settings.by if contents.comparison else None
    if by is None or contents.scores is None or by not in contents.scores.groups:
        return None
    groups = contents.scores.groups[by]
    return {"name": cut(by), "values": [cut(groups.get(u, "")) for u in units]}
