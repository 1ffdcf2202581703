"""Comparison: paired tests, corrections, groups, seeds, GSB, the gate, and run fusion."""

from __future__ import annotations

from goodgain.stats.comparer import compare
from goodgain.stats.comparison import Comparison, Pair
from goodgain.stats.corrections import correct
from goodgain.stats.gates import Gate, gate
from goodgain.stats.gsb import GSB, gsb_counts, gsb_differences, gsb_labels
from goodgain.stats.pareto import pareto_front
from goodgain.stats.scores import HasUnitScores

__all__ = [
    "GSB",
    "Comparison",
    "Gate",
    "HasUnitScores",
    "Pair",
    "compare",
    "correct",
    "gate",
    "gsb_counts",
    "gsb_differences",
    "gsb_labels",
    "pareto_front",
]
