"""Evaluation: policies, the evaluator, and its results."""

from __future__ import annotations

from goodgain.evaluation.evaluator import Evaluator, evaluate
from goodgain.evaluation.gain_result import GoodGain
from goodgain.evaluation.gain_settings import GainSettings
from goodgain.evaluation.gains import good_gain
from goodgain.evaluation.policy import CHOICES, PRESETS, Policy
from goodgain.evaluation.result import Evaluation
from goodgain.evaluation.scores import Coverage, RunScores

__all__ = [
    "CHOICES",
    "PRESETS",
    "Coverage",
    "Evaluation",
    "Evaluator",
    "GainSettings",
    "GoodGain",
    "Policy",
    "RunScores",
    "evaluate",
    "good_gain",
]
