"""Per-query scores of anything that has them, and the measure or system that a chart is about."""

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
    """The values of every query; a loaded comparison has none."""
    if isinstance(result, ScoreSet):
        return result
    if isinstance(result, ExperimentResult):
        return scores_of(result.comparison or result.scores)
    if isinstance(result, Comparison):
        if result.scores is None:
            raise InputError(
                "a saved comparison does not have the values of single queries",
                hint="give the saved evaluation",
            )
        return result.scores
    found = ScoreSet()
    collect(result, found)
    return found


def chosen_measure(available: Sequence[str], wanted: str | None, price: bool = False) -> str:
    """The measure that was asked for, or the first that is (or is not) time or cost."""
    if wanted is None:
        fitting = [m for m in available if is_price(m) == price]
        if not fitting:
            kind = "time or cost" if price else "quality"
            raise InputError(f"there is no measure of {kind} to show", hint=_there_is(available))
        return fitting[0]
    if wanted not in available:
        raise UsageError(f"there is no measure '{wanted}' to show", hint=_there_is(available))
    return wanted


def chosen_system(available: Sequence[str], wanted: str | None, role: str) -> str:
    """The system that was asked for, or the first."""
    if not available:
        raise InputError(f"there is no system to be the {role}")
    if wanted is not None and wanted not in available:
        raise UsageError(
            f"there is no system '{wanted}' to be the {role}", hint=_there_is(available)
        )
    return wanted or available[0]


def _there_is(available: Sequence[str]) -> str:
    return f"there is: {', '.join(available)}"


def values_of(scores: ScoreSet, system: str, measure: str) -> NDArray[np.float64]:
    """The defined values of a system."""
    import numpy as np

    found = scores.values(system, measure).values()
    return np.array([v for v in found if not math.isnan(v)])


def means_of(result: Any) -> dict[str, dict[str, float]]:
    """{system: {measure: the result's own value over all queries}}."""
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
