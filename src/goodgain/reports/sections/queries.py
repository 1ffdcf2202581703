"""Queries: the distribution of differences, a table of all queries, and the ranked lists of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.comparison.render import header
from goodgain.reports.charts.queries import differences, histogram
from goodgain.reports.elements import Section, Text, Widget, cut, packed
from goodgain.reports.ranked_lists import lists_block

if TYPE_CHECKING:
    from goodgain.reports.contents import PageContents
    from goodgain.reports.elements import Element

MAX_TEXT_CHARACTERS = 300


def section(contents: PageContents) -> Section | None:
    """The section; None if there are no per-query scores."""
    one, several = contents.unit_nouns
    title = several.capitalize()
    if contents.scores is None:
        if contents.comparison is None:
            return None
        missing = (
            f"A saved comparison does not include the scores of each {one}. Report it together with "
            "the saved evaluation to see them here."
        )
        return Section("queries", title, [Text([missing], "note")])
    lists, note = lists_block(contents)
    blocks = {"queries": _table(contents), "lists": lists}
    elements: list[Element] = [
        *_charts(contents),
        Widget("queries", "queries", {"note": note, "hasLists": lists is not None}, blocks),
    ]
    return Section("queries", title, elements)


def _charts(contents: PageContents) -> list[Element]:
    """The differences of the best other system, by query and as a distribution."""
    best = contents.best_other()
    if best is None or contents.baseline is None:
        return []
    arguments = contents.comparison, contents.quality, best, contents.baseline
    return [differences(*arguments), histogram(*arguments)]


def _table(contents: PageContents) -> dict[str, Any]:
    """The values of all queries by system and measure, in columns."""
    units = contents.units
    systems = list(contents.systems)
    values = []
    for system in systems:
        columns = [contents.values(system, m) for m in contents.measures]
        values.append([packed("f64", [c.get(u, float("nan")) for u in units]) for c in columns])
    return {
        "nouns": contents.unit_nouns,
        "units": [cut(u) for u in units],
        "texts": [cut(contents.queries.get(u, ""), MAX_TEXT_CHARACTERS) for u in units]
        if contents.queries
        else None,
        "group": _groups(contents, units),
        "systems": [cut(s) for s in systems],
        "baseline": systems.index(contents.baseline) if contents.baseline else None,
        "measures": [
            {
                "name": cut(measure.label),
                "title": cut(header(measure)),
                "lower": measure.lower_is_better,
                "help": measure.definition.summary,
            }
            for measure in contents.measures
        ],
        "values": values,
    }


def _groups(contents: PageContents, units: list[str]) -> dict[str, Any] | None:
    by = contents.comparison.settings.by if contents.comparison else None
    if by is None or contents.scores is None or by not in contents.scores.groups:
        return None
    groups = contents.scores.groups[by]
    return {"name": cut(by), "values": [cut(groups.get(u, "")) for u in units]}
