"""Comparison: systems against baselines, the gate, GSB, and labels against human ones."""

from __future__ import annotations

from goodgain.comparison.comparer import compare
from goodgain.comparison.comparison import Comparison, Pair
from goodgain.comparison.gates import Gate, gate
from goodgain.comparison.gsb import GSB, gsb_counts, gsb_differences, gsb_labels
from goodgain.comparison.power_analysis import Power, power
from goodgain.comparison.scores import HasUnitScores

__all__ = [
    "GSB",
    "Comparison",
    "Gate",
    "HasUnitScores",
    "Pair",
    "Power",
    "compare",
    "gate",
    "gsb_counts",
    "gsb_differences",
    "gsb_labels",
    "power",
]
