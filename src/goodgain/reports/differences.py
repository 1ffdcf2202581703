"""The difference of a pair of systems as it stands in tables: coloured by its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.reports.elements import Cell
from goodgain.results.numbers import amount, p_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodgain.comparison import Comparison, Pair


def difference_cell(comparison: Comparison, pair: Pair, *, marked: bool = False) -> Cell:
    """The difference with its interval; coloured if the verdict is better or worse."""
    verdict = comparison.verdict(pair)
    tone = verdict if verdict in ("better", "worse") else ""
    unit = pair.measure.unit if pair.measure.is_cost else ""
    return Cell(
        value=pair.difference,
        text=_signed_amount(pair.difference, unit) if unit else None,
        span=f"{_signed_amount(pair.low, unit)} to {_signed_amount(pair.high, unit)}"
        if unit and pair.low is not None and pair.high is not None
        else "",
        mark=pair.mark if marked else "",
        tone=tone,
        low=pair.low,
        high=pair.high,
    )


def _signed_amount(value: float, unit: str) -> str:
    return f"{'+' if value > 0 else ''}{amount(value, unit)}"


def p_cell(comparison: Comparison, p: float | None) -> Cell:
    """A p-value, never rounded across the level of the comparison."""
    return Cell(value=p, text=p_text(p, comparison.settings.alpha))


def verdict_note(comparison: Comparison, pairs: Sequence[Pair]) -> str:
    """What the verdicts in a table mean."""
    note = f"Better or worse: the corrected p is below {comparison.settings.alpha:g}."
    if margins := {p.tied_within for p in pairs if comparison.verdict(p) == "tied"}:
        within = ", ".join(f"{m:.3g}" for m in sorted(m for m in margins if m))
        note += f" Tied: shown to differ by less than {within}, by two one-sided tests."
    if any(comparison.verdict(pair) == "open" for pair in pairs):
        note += " Open: missing labels allow another verdict."
    return note
