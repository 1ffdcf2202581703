"""Queries: the distribution of differences, a table of all queries, and the ranked lists of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.comparison.render import header
from goodgain.reports.addresses import MAX_SYSTEMS
from goodgain.reports.charts.queries import differences, histogram
from goodgain.reports.elements import Section, Text, Widget, cut, packed
from goodgain.reports.ranked_lists import lists_block

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    note = " ".join(text for text in (_texts_note(contents), note) if text)
    blocks = {"queries": _table(contents), "lists": lists}
    elements: list[Element] = [
        *_charts(contents),
        Widget("queries", "queries", {"note": note, "hasLists": lists is not None}, blocks),
    ]
    return Section("queries", title, elements)


def _texts_note(contents: PageContents) -> str:
    """How many queries have a text, if not all of them do."""
    units = contents.units
    known = sum(unit in contents.queries for unit in units)
    if not contents.queries or known == len(units):
        return ""
    return f"The table of queries has the texts of {known:,} of {len(units):,} {contents.unit_nouns[1]}."


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
        "facts": _facts(contents, units, systems),
        "systems": [cut(s) for s in systems],
        "shorts": [cut(contents.short_names[s]) for s in systems],
        "selected": [systems.index(s) for s in _selected(contents)],
        "baseline": systems.index(contents.baseline) if contents.baseline else None,
        "best": systems.index(best) if (best := contents.best_other()) in systems else None,
        "measures": [
            {
                "name": cut(measure.label),
                "title": cut(header(measure)),
                "lower": measure.lower_is_better,
                "unit": measure.unit if measure.is_cost else None,
                "help": measure.definition.summary,
            }
            for measure in contents.measures
        ],
        "values": values,
    }


def _selected(contents: PageContents) -> list[str]:
    """The systems that are side by side at first: all if they are few, else the best beside its reference."""
    reference = contents.baseline or next(iter(contents.systems))
    others = [s for s in contents.systems if s != reference]
    if len(others) < MAX_SYSTEMS:
        return [reference, *others]
    best = contents.best_other()
    return [reference, best if best in others else others[0]]


def _facts(contents: PageContents, units: list[str], systems: list[str]) -> dict[str, Any]:
    """Columns to filter by: null where nothing is known, NaN where it is not known of a query."""
    facts = contents.facts
    nan = float("nan")

    def column(values: Mapping[str, float]) -> dict[str, str] | None:
        return packed("f32", [values.get(unit, nan) for unit in units]) if values else None

    return {
        "words": column(facts.words),
        "relevant": column(facts.relevant),
        "unjudged": [column(facts.unjudged.get(system, {})) for system in systems],
        "top": [column(facts.top.get(system, {})) for system in systems],
        "repeated": [column(facts.repeated.get(system, {})) for system in systems],
    }


def _groups(contents: PageContents, units: list[str]) -> dict[str, Any] | None:
    by = contents.comparison.settings.by if contents.comparison else None
    if by is None or contents.scores is None or by not in contents.scores.groups:
        return None
    groups = contents.scores.groups[by]
    return {"name": cut(by), "values": [cut(groups.get(u, "")) for u in units]}
