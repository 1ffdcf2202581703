"""Per-query scores of a result, and the measure and systems that a chart is about."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goodgain.comparison import Comparison
from goodgain.comparison.pairing import choose_columns
from goodgain.comparison.scores import ScoreSet, collect, other_spellings
from goodgain.errors import InputError, UsageError
from goodgain.experiment import ExperimentResult
from goodgain.ranking import Evaluation
from goodgain.stats.intervals import mean_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.measures import Measure


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


def measures_of(result: Any) -> tuple[Measure, ...]:
    """The measures that `means_of` has means of."""
    if isinstance(result, Evaluation | Comparison):
        return result.measures
    if isinstance(result, ExperimentResult):
        return measures_of(result.comparison or result.scores)
    return tuple(scores_of(result).measures.values())


def choose_measure(
    available: Sequence[Measure], measure: str | Measure | None, cost: bool = False
) -> Measure:
    """The named measure, or the first one that is (or is not) time or cost."""
    labels = [m.label for m in available]
    if measure is None:
        candidates = [m for m in available if m.is_cost == cost]
        if not candidates:
            kind = "time or cost" if cost else "quality"
            raise InputError(f"no measure of {kind} to plot", hint=_available("measures", labels))
        return candidates[0]
    name = str(measure)
    matches = [m for m in available if m.label == name]
    matches += [m for m in available if name in other_spellings(m)]
    if not matches:
        raise UsageError(f"measure '{name}' not found", hint=_available("measures", labels))
    return matches[0]


def choose_system(available: Sequence[str], system: str | None, role: str) -> str:
    """The given system, or the first."""
    if not available:
        raise InputError(f"no systems to use as {role}")
    if system is not None and system not in available:
        raise UsageError(f"{role} '{system}' not found", hint=_available("systems", available))
    return system or available[0]


def _available(noun: str, names: Sequence[str]) -> str:
    return f"available {noun}: {', '.join(names)}"


def unit_values(scores: ScoreSet, system: str, measure: Measure) -> dict[str, float]:
    """The value of each query, also if the scores hold the measure under another label."""
    try:
        (column,) = choose_columns(scores, measure)
    except UsageError:
        return {}
    return scores.values(system, column.key)


def values_of(scores: ScoreSet, system: str, measure: Measure) -> NDArray[np.float64]:
    """The defined values of a system."""
    import numpy as np

    values = unit_values(scores, system, measure).values()
    return np.array([v for v in values if not math.isnan(v)], dtype=np.float64)


def interval_of(
    scores: ScoreSet, system: str, measure: Measure, mean: float | None
) -> tuple[float | None, float | None, int]:
    """Student's t interval of a mean, and the number of queries; sums and percentiles have none."""
    own_mean, low, high, n = mean_interval(values_of(scores, system, measure))
    if mean is None or n < 2 or not math.isclose(own_mean, mean, rel_tol=1e-9, abs_tol=1e-12):
        return None, None, n
    return *measure.definition.range.within(low, high), n


def means_of(result: Any) -> dict[str, dict[str, float]]:
    """{system: {measure: mean over all queries, as the result reports it}}."""
    if isinstance(result, Evaluation | Comparison):
        return result.means
    if isinstance(result, ExperimentResult):
        return means_of(result.comparison or result.scores)
    scores = scores_of(result)
    return {
        system: {
            label: _mean(values_of(scores, system, measure))
            for label, measure in scores.measures.items()
        }
        for system in scores.systems
    }


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else math.nan
