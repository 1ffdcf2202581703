"""Per-query scores of a result, and the measure and systems that a chart is about."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goodgain.comparison import Comparison
from goodgain.comparison.scores import ScoreSet, collect, is_price
from goodgain.errors import InputError, UsageError
from goodgain.experiment import ExperimentResult
from goodgain.ranking import Evaluation

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


def scores_of(result: Any) -> ScoreSet:
    """The per-query scores of a result; a saved comparison has none."""
    if isinstance(result, ScoreSet):
        return result
    if isinstance(result, ExperimentResult):
        return scores_of(result.comparison or result.scores)
    if isinstance(result, Comparison):
        if result.scores is None:
            raise InputError(
                "a saved comparison has no per-query scores",
                hint="use the saved evaluation",
            )
        return result.scores
    scores = ScoreSet()
    collect(result, scores)
    return scores


def choose_measure(available: Sequence[str], measure: str | None, price: bool = False) -> str:
    """The given measure, or the first one that is (or is not) time or cost."""
    if measure is None:
        candidates = [m for m in available if is_price(m) == price]
        if not candidates:
            kind = "time or cost" if price else "quality"
            raise InputError(
                f"no measure of {kind} to plot", hint=_available("measures", available)
            )
        return candidates[0]
    if measure not in available:
        raise UsageError(f"measure '{measure}' not found", hint=_available("measures", available))
    return measure


def choose_system(available: Sequence[str], system: str | None, role: str) -> str:
    """The given system, or the first."""
    if not available:
        raise InputError(f"no systems to use as {role}")
    if system is not None and system not in available:
        raise UsageError(f"{role} '{system}' not found", hint=_available("systems", available))
    return system or available[0]


def _available(noun: str, names: Sequence[str]) -> str:
    return f"available {noun}: {', '.join(names)}"


def values_of(scores: ScoreSet, system: str, measure: str) -> NDArray[np.float64]:
    """The defined values of a system."""
    import numpy as np

    values = scores.values(system, measure).values()
    return np.array([v for v in values if not math.isnan(v)])


def means_of(result: Any) -> dict[str, dict[str, float]]:
    """{system: {measure: mean over all queries, as the result reports it}}."""
    if isinstance(result, Evaluation | Comparison):
        return result.means
    if isinstance(result, ExperimentResult):
        return means_of(result.comparison or result.scores)
    scores = scores_of(result)
    return {
        system: {m: _mean(values_of(scores, system, m)) for m in scores.measures}
        for system in scores.systems
    }


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else math.nan
