"""How far several people agree: Cohen's kappa of two, Krippendorff's alpha of all, with intervals."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any

from goodgain.stats import agreement
from goodgain.stats.paired import enough_to_resample

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RESAMPLES = 2000
LEAST_QUERIES = 10  # for an interval
Gains = dict[tuple[str, str], dict[str, float]]  # {(query, item): {annotator: gain}}


def figures(gains: Gains, *, confidence: float = 0.95, seed: int = 0) -> list[dict[str, Any]]:
    """Alpha over everyone, and quadratic kappa for each two; queries are the units of the intervals."""
    several = {place: own for place, own in gains.items() if len(own) > 1}
    if not several:
        return []
    queries = sorted({query for query, _ in several})
    grades = sorted({gain for own in several.values() for gain in own.values()})
    rows = [
        _figure(
            "Krippendorff's alpha (ordinal), everyone",
            _coincidences(several, queries, grades), len(several), agreement.alpha,
            confidence, seed,
        )
    ]  # fmt: skip
    names = sorted({name for own in several.values() for name in own})
    for first, second in combinations(names, 2):
        common = {
            place: (own[first], own[second])
            for place, own in several.items()
            if first in own and second in own
        }
        if common:
            counts = _confusion(common, grades)
            for name, quadratic in (("kappa", False), ("quadratic kappa", True)):
                rows.append(
                    _figure(
                        f"{name}, {first} and {second}", counts, len(common),
                        _kappa(grades, quadratic), confidence, seed,
                    )
                )  # fmt: skip
    return rows


def _kappa(grades: list[float], quadratic: bool) -> Callable[[Floats], Floats]:
    import numpy as np

    return lambda counts: agreement.kappa(counts, np.array(grades), quadratic=quadratic)


def _coincidences(several: Gains, queries: list[str], grades: list[float]) -> Floats:
    """Per query, half of Krippendorff's coincidences: each pair of n labels weighs 1 / (n - 1)."""
    import numpy as np

    counts = np.zeros((len(queries), len(grades), len(grades)))
    place_of = {query: i for i, query in enumerate(queries)}
    grade_of = {grade: i for i, grade in enumerate(grades)}
    for (query, _), own in several.items():
        for a, b in combinations(own.values(), 2):
            counts[place_of[query], grade_of[a], grade_of[b]] += 1 / (len(own) - 1)
    return counts


def _confusion(
    common: Mapping[tuple[str, str], tuple[float, float]], grades: list[float]
) -> Floats:
    import numpy as np

    queries = sorted({query for query, _ in common})
    counts = np.zeros((len(queries), len(grades), len(grades)))
    for (query, _), (a, b) in common.items():
        counts[queries.index(query), grades.index(a), grades.index(b)] += 1
    return counts


def _figure(
    name: str, per_query: Floats, pairs: int, statistic: Callable[[Floats], Floats],
    confidence: float, seed: int,
) -> dict[str, Any]:  # fmt: skip
    import numpy as np

    value = float(statistic(per_query.sum(0)))
    low = high = None
    why = ""
    queries = len(per_query)
    if math.isnan(value):
        why = "all labels are equal"
    elif queries < LEAST_QUERIES or not enough_to_resample(queries, confidence):
        why = f"{queries} queries are too few, about {LEAST_QUERIES} are needed"
    else:
        generator = np.random.default_rng(seed)
        weights = generator.multinomial(queries, np.full(queries, 1 / queries), size=RESAMPLES)
        values = statistic(np.tensordot(weights.astype(float), per_query, 1))
        values = values[~np.isnan(values)]
        ends = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
        low, high = float(ends[0]), float(ends[1])
        if low == high:
            low = high = None
            why = "no disagreement to estimate it from"
    return {
        "name": name,
        "value": None if math.isnan(value) else value,
        "low": low,
        "high": high,
        "why": why,
        "pairs": pairs,
        "queries": queries,
    }
