"""Corrections of p-values for multiple tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

CORRECTIONS = {
    "holm": "Holm: family-wise error rate, step-down",
    "bonferroni": "Bonferroni: family-wise error rate",
    "bh": "Benjamini-Hochberg: false discovery rate",
    "none": "no correction",
}


def correct(p_values: Sequence[float], method: str = "holm") -> list[float]:
    """The corrected p-values, in the same order; the family is the whole sequence."""
    if method not in CORRECTIONS:
        raise UsageError(f"unknown correction '{method}'", hint=f"one of: {', '.join(CORRECTIONS)}")
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
