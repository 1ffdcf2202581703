"""Ranked evaluation: policies, presets, the evaluator and its results."""

from __future__ import annotations

from goodgain.ranking.evaluator import Evaluator, evaluate
from goodgain.ranking.policy import CHOICES, PRESETS, Policy
from goodgain.ranking.result import Evaluation
from goodgain.ranking.scores import Coverage, RunScores

__all__ = [
    "CHOICES",
    "PRESETS",
    "Coverage",
    "Evaluation",
    "Evaluator",
    "Policy",
    "RunScores",
    "evaluate",
]
