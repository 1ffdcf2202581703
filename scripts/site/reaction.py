"""How a measure reacts: what every example has in common."""

from __future__ import annotations

from dataclasses import dataclass

Lines = dict[str, list[tuple[float, float]]]


@dataclass(frozen=True)
class Reaction:
    """Lines over one thing that varies: (x, value) of each; undefined values are left out."""

    axis: str
    text: str
    lines: Lines
