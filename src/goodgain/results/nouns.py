"""Counts with their nouns, and what the values of a measure belong to."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def counted(count: int, one: str, several: str = "") -> str:
    """A count with its noun."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def unit_nouns(measure: Any) -> tuple[str, str]:
    """What the values of a measure belong to, singular and plural; queries if there is no measure."""
    if measure is not None and measure.namespace == "agentic":
        return "conversation", "conversations"
    return "query", "queries"
