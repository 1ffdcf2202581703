"""Corrections of p-values for having tested more than once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

CORRECTIONS = {
    "holm": "Holm: the chance of any false finding, step by step",
    "bonferroni": "Bonferroni: the chance of any false finding, all at once",
    "bh": "Benjamini-Hochberg: the share of false findings",
    "none": "no correction",
}


def correct(p_values: Sequence[float], method: str = "holm") -> list[float]:
    """The corrected p-values, in the order given; the family is all that is handed over."""
    if method not in CORRECTIONS:
        raise UsageError(
            f"there is no correction '{method}'", hint=f"one of: {', '.join(CORRECTIONS)}"
        )
    n = len(p_values)
    if method == "none":
        return list(p_values)
    if method == "bonferroni":
        return [min(1.0, p * n) for p in p_values]
    order = sorted(range(n), key=lambda i: p_values[i])
    corrected = [0.0] * n
    if method == "holm":
        reached = 0.0
        for place, i in enumerate(order):
            reached = max(reached, min(1.0, p_values[i] * (n - place)))
            corrected[i] = reached
        return corrected
    reached = 1.0
    for place in range(n, 0, -1):
        i = order[place - 1]
        reached = min(reached, p_values[i] * n / place)
        corrected[i] = reached
    return corrected
