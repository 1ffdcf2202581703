"""Per query: how differences are spread, a table of every query, and the ranked lists behind each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.reports.charts.queries import differences, histogram
from goodgain.reports.elements import Section, Text, Widget, cut, packed
from goodgain.reports.ranked_lists import lists_of

if TYPE_CHECKING:
    from goodgain.reports.contents import Material
    from goodgain.reports.elements import Part

LONGEST_TEXT = 300  # characters of a query's text


def section(material: Material) -> Section | None:
    """None where no scores of single queries are known."""
    if material.scores is None:
        if material.comparison is None:
            return None
        missing = (
            "A saved comparison does not keep the scores of single queries. Give the saved evaluation "
            "as well to see them here."
        )
        return Section("queries", "Queries", [Text([missing], "note")])
    lists, note = lists_of(material)
    blocks = {"queries": _table(material), "lists": lists}
    parts: list[Part] = [*_charts(material), Widget("queries", "queries", {"note": note}, blocks)]
    return Section("queries", "Queries", parts)


def _charts(material: Material) -> list[Part]:
    """How the differences of the best other system are spread over queries."""
    best = material.best_other()
    if best is None or material.baseline is None:
        return []
    asked = material.quality, best, material.baseline
    return [differences(material.scores, *asked), histogram(material.scores, *asked)]


def _table(material: Material) -> dict[str, Any]:
    """Every query's values by system and measure, in columns."""
    assert material.scores is not None
    units = material.units
    systems = list(material.systems)
    values = []
    for system in systems:
        columns = [material.scores.values(system, m) for m in material.measures]
        values.append([packed("f64", [c.get(u, float("nan")) for u in units]) for c in columns])
    known = [material.measure(label) for label in material.measures]
    return {
        "units": [cut(u) for u in units],
        "texts": [cut(material.queries.get(u, ""), LONGEST_TEXT) for u in units]
        if material.queries
        else None,
        "group": _groups(material, units),
        "systems": [cut(s) for s in systems],
        "baseline": systems.index(material.baseline) if material.baseline else None,
        "measures": [
            {
                "name": cut(label),
                "lower": material.lower_is_better(label),
                "help": found.definition.summary if found else None,
            }
            for label, found in zip(material.measures, known, strict=True)
        ],
        "values": values,
    }


def _groups(material: Material, units: list[str]) -> dict[str, Any] | None:
    by = material.comparison.settings.by if material.comparison else None
    if by is None or material.scores is None or by not in material.scores.groups:
        return None
    found = material.scores.groups[by]
    return {"name": cut(by), "values": [cut(found.get(u, "")) for u in units]}
