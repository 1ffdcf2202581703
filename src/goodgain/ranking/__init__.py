"""Ranked evaluation: policies, presets, the evaluator and its results."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from goodgain.ranking.evaluator import Evaluator, evaluate
    from goodgain.ranking.policy import CHOICES, PRESETS, Policy
    from goodgain.ranking.result import Evaluation
    from goodgain.ranking.scores import Coverage, RunScores

# Imported when first used: the build reads the presets before the core exists.
_LAZY = {
    **dict.fromkeys(("Evaluator", "evaluate"), "evaluator"),
    **dict.fromkeys(("CHOICES", "PRESETS", "Policy"), "policy"),
    "Evaluation": "result",
    **dict.fromkeys(("Coverage", "RunScores"), "scores"),
}

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


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'goodgain.ranking' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
