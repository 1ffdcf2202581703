"""The difference of a pair of systems as it stands in tables: coloured by its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.reports.elements import Cell
from goodgain.results.numbers import p_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goodgain.comparison import Comparison, Pair


def difference_cell(comparison: Comparison, pair: Pair) -> Cell:
    """The difference with its interval; coloured if the verdict is better or worse."""
    verdict = comparison.verdict(pair)
    tone = verdict if verdict in ("better", "worse") else ""
    return Cell(value=pair.difference, tone=tone, low=pair.low, high=pair.high)


def p_cell(comparison: Comparison, p: float | None) -> Cell:
    """A p-value, never rounded across the level of the comparison."""
    return Cell(value=p, text=p_text(p, comparison.settings.alpha))


def verdict_note(comparison: Comparison, pairs: Iterable[Pair]) -> str:
    """What the verdicts in a table mean."""
    note = f"Better or worse: the corrected p is below {comparison.settings.alpha:g}."
    if any(comparison.verdict(pair) == "open" for pair in pairs):
        note += " Open: missing labels allow another verdict."
    return note
