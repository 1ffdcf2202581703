"""Totals and means from a designed sample, helped by predictions that are known for every unit.

A unit is a query or a pair of a query and a document; the total is the sum of weight x value over all of
them. Values are known for the sampled units only, predictions for all. Three intervals, each for what it
holds for: proportions by class of prediction (two values), a regression estimator with Student's t (any
values), and a martingale (units drawn one by one with unequal probabilities). Which one is used, and when
the sample is too small for any, is decided here, so that `scripts/label_coverage.py` simulates that rule.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from goodgain.stats.distributions import normal_ppf, t_ppf

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]

FEWEST = 10  # sampled units, below which no interval was found to hold
FEWEST_GRADED = 40  # the same for more than two values
IN_CLASS = 10  # sampled units of each class of predictions
_OFF_MODE = (
    10  # sampled units whose value is not the most frequent one, by what the predictions say
)
_FEWEST_OFF_MODE = 2  # the same, by the sample itself
_OFF_MODE_STEPS = 30  # the same of units drawn one by one
_DISAGREE = 30  # sampled units whose error is not the most frequent one; 80 % of a small sample


class Units(NamedTuple):
    """All units that a total is over, those sampled, and the values of these.

    `possible` are the lowest and highest value that a unit can have.
    """

    weights: Floats
    predictions: Floats  # NaN: none
    strata: Ints
    sampled: Ints  # places in the arrays above
    values: Floats
    possible: tuple[float, float] = (-math.inf, math.inf)


class Estimate(NamedTuple):
    """A total with its interval; without one, `more` is about how many more units are needed."""

    value: float
    low: float
    high: float
    method: str  # census, classes, regression, values, steps; or none
    weight: float  # of the predictions
    n: int
    more: int = 0
    reason: str = ""

    def scaled(self, factor: float) -> Estimate:
        """The same of a multiple of the total, such as the mean."""
        low, high = sorted((self.low * factor, self.high * factor))
        return self._replace(value=self.value * factor, low=low, high=high)


def estimate_total(units: Units, confidence: float = 0.95) -> Estimate:
    """The total of a stratified sample, drawn at random and without replacement within strata."""
    estimate = _estimate_total(units, confidence)
    left = len(units.weights) - estimate.n
    return estimate._replace(more=min(estimate.more, left))  # all of them need no interval


def _estimate_total(units: Units, confidence: float) -> Estimate:
    import numpy as np

    n, size = len(units.sampled), len(units.weights)
    weights = units.weights[units.sampled]
    if n == size:
        total = float(weights @ units.values)
        return Estimate(total, total, total, "census", 0.0, n)
    counts = np.bincount(units.strata, minlength=1)
    drawn = np.bincount(units.strata[units.sampled], minlength=len(counts))
    empty = int(((counts > 0) & (drawn == 0)).sum())
    if empty:
        reason = "nothing was judged" if n == 0 else f"{empty} strata have no judged unit"
        return _too_few(math.nan, n, max(FEWEST - n, empty), reason)
    value, weight, halves = _regression(units, counts, drawn, confidence, predicted=True)
    if n < FEWEST:
        return _too_few(value, n, FEWEST - n, f"only {n} were judged")
    if _two_valued(units):
        return _classes(units, counts, drawn, confidence)
    if shortage := _shortage(units):
        return _too_few(value, n, *shortage)
    if bool(((drawn < 2) & (drawn < counts)).any()):
        return _too_few(value, n, 1, "a stratum has only one judged unit")
    differ = off_mode(units.values - np.nan_to_num(units.predictions[units.sampled]))
    if differ >= min(_DISAGREE, math.ceil(0.8 * n)):
        return Estimate(value, value - halves, value + halves, "regression", weight, n)
    return estimate_without_predictions(units, confidence)


def estimate_without_predictions(units: Units, confidence: float = 0.95) -> Estimate:
    """The total of a stratified sample by Student's t, from the sampled values alone."""
    import numpy as np

    counts = np.bincount(units.strata, minlength=1)
    drawn = np.bincount(units.strata[units.sampled], minlength=len(counts))
    value, _, half = _regression(units, counts, drawn, confidence, predicted=False)
    return Estimate(value, value - half, value + half, "values", 0.0, len(units.sampled))


def _shortage(units: Units) -> tuple[int, str] | None:
    """How many more units of more than two values are needed for Student's t, and why; None if none.

    What the sample would show is judged by the predictions of all units where possible. A rule that looks
    at the sample prints intervals for samples in which the rare values are frequent: so it asks for little.
    """
    import numpy as np

    n = len(units.sampled)
    if n < FEWEST_GRADED:
        return FEWEST_GRADED - n, f"only {n} were judged"
    off = off_mode(units.values)
    predictions = units.predictions[~np.isnan(units.predictions)]
    if 2 * len(predictions) < len(units.predictions):  # then the sample says more
        predictions = units.values
    share = off_mode(predictions) / len(predictions)
    if off < _FEWEST_OFF_MODE:
        more = math.ceil(n * _OFF_MODE / max(off, 1)) - n
        return more, f"only {off} of {n} differ from the most frequent value"
    if n * share < _OFF_MODE:
        more = math.ceil(_OFF_MODE / max(share, 1 / len(predictions))) - n
        return more, "most values are the same"
    return None


def _longer(deviations: Floats) -> float:
    """How much longer than Student's t an interval must be to hold with skewed values.

    The first term that the t-interval lacks is about skewness^2 / n (Hall, Annals of Statistics 1988);
    the rest is what `scripts/label_coverage.py` shows to be missing with few units.
    """
    import numpy as np

    spread = math.sqrt(float(np.mean(deviations**2)))
    skewness = float(np.mean(deviations**3)) / spread**3 if spread > 1e-12 else 0.0
    return 1 + (0.5 + skewness**2) / len(deviations)


def _too_few(value: float, n: int, more: int, reason: str) -> Estimate:
    return Estimate(value, math.nan, math.nan, "none", math.nan, n, max(1, more), reason)


def off_mode(values: Floats) -> int:
    """How many values differ from the most frequent one."""
    import numpy as np

    if not len(values):
        return 0
    _, counts = np.unique(np.round(values, 9), return_counts=True)
    return int(len(values) - counts.max())


def _two_valued(units: Units) -> bool:
    import numpy as np

    low, high = units.possible
    if not math.isfinite(low + high):
        return False
    known = units.predictions[~np.isnan(units.predictions)]
    ends = np.array([low, high])
    few_weights = len(np.unique(units.weights)) <= 2
    return few_weights and bool(np.isin(units.values, ends).all() and np.isin(known, ends).all())


def _regression(
    units: Units, counts: Ints, drawn: Ints, confidence: float, *, predicted: bool
) -> tuple[float, float, float]:
    """The generalised regression estimator: total, weight of the predictions, half the interval.

    Residuals are divided by one minus their leverage (HC3), and the interval is the longer the more
    skewed they are: the usual one covers too seldom.
    """
    import numpy as np

    strata = units.strata[units.sampled]
    inverse = counts[strata] / drawn[strata]  # of the inclusion probability
    columns = [units.weights]
    if predicted:
        columns.append(units.weights * np.nan_to_num(units.predictions))
    known = np.stack(columns, 1)
    x, z = known[units.sampled], units.weights[units.sampled] * units.values
    products = np.linalg.pinv((x * inverse[:, None]).T @ x, hermitian=True)
    slopes = products @ ((x * inverse[:, None]).T @ z)
    residuals = z - x @ slopes
    value = float(known.sum(0) @ slopes + inverse @ residuals)
    short = known.sum(0) - inverse @ x
    g = 1 + x @ (products @ short)
    leverage = np.einsum("ij,jk,ik->i", x, products, x) * inverse
    u = g * residuals / np.maximum(1 - leverage, 1e-6)
    variance, deviations = 0.0, np.zeros(len(u))
    for stratum in np.flatnonzero(drawn > 1):
        own = u[strata == stratum]
        size, n = float(counts[stratum]), len(own)
        variance += size**2 * (1 - n / size) * float(own.var(ddof=1)) / n
        deviations[strata == stratum] = size / n * (own - own.mean())
    freedom = max(1, len(z) - len(columns) - (int((counts > 0).sum()) - 1))
    weight = float(slopes[1]) if predicted else 0.0
    quantile = _longer(deviations) * t_ppf(0.5 + confidence / 2, freedom)
    return value, weight, quantile * math.sqrt(variance)


class _Cell(NamedTuple):
    size: int  # units in all
    n: int  # sampled
    successes: int
    weight: float  # of each unit


def _classes(units: Units, counts: Ints, drawn: Ints, confidence: float) -> Estimate:
    """Proportions by stratum, weight and prediction, with Jeffreys intervals added in squares (MOVER).

    With a single class the interval is Wilson's. Both hold with few successes or none, where Student's t
    does not.
    """
    import numpy as np

    n = len(units.sampled)
    low, high = units.possible
    success = units.values == high
    classes = np.where(np.isnan(units.predictions), -1, units.predictions == high)
    cells: list[_Cell] = []
    split = False
    for stratum in np.flatnonzero(counts):
        for weight in np.unique(units.weights[units.strata == stratum]):
            group = (units.strata == stratum) & (units.weights == weight)
            inside = group[units.sampled]
            if not inside.any():
                return _too_few(math.nan, n, IN_CLASS, "a group of documents has no judged one")
            own = [group & (classes == c) for c in np.unique(classes[group])]
            enough = all(m[units.sampled].sum() >= min(IN_CLASS, m.sum()) for m in own)
            split |= enough and len(own) > 1
            for member in own if enough else [group]:
                chosen = member[units.sampled]
                cells.append(
                    _Cell(int(member.sum()), int(chosen.sum()), int(success[chosen].sum()), weight)
                )
    limits = _wilson if len(cells) == 1 else _jeffreys
    value = below = above = 0.0
    for cell in cells:
        p = cell.successes / cell.n
        value += cell.size * cell.weight * (low + (high - low) * p)
        if cell.n == cell.size:
            continue
        n_effective = cell.n / (1 - cell.n / cell.size)
        least, most = limits(p, n_effective, confidence)
        down, up = (cell.size * cell.weight * (high - low) * (p - end) for end in (least, most))
        if cell.weight < 0:
            down, up = up, down
        below, above = below + down**2, above + up**2
    method = "classes" if split or len(cells) > 1 else "values"
    return Estimate(
        value, value - math.sqrt(below), value + math.sqrt(above), method, float(split), n
    )


def _wilson(p: float, n: float, confidence: float) -> tuple[float, float]:
    z2 = normal_ppf(0.5 + confidence / 2) ** 2
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    reach = math.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def _jeffreys(p: float, n: float, confidence: float) -> tuple[float, float]:
    from goodgain.stats.distributions import beta_ppf

    a, b, tail = n * p + 0.5, n * (1 - p) + 0.5, (1 - confidence) / 2
    return (beta_ppf(tail, a, b) if p > 0 else 0.0), (beta_ppf(1 - tail, a, b) if p < 1 else 1.0)


class Steps(NamedTuple):
    """Units drawn one by one: the probability of each among those that were left, in order."""

    weights: Floats  # of all units
    predictions: Floats
    sampled: Ints
    values: Floats
    probabilities: Floats


def estimate_from_steps(steps: Steps, confidence: float = 0.95) -> Estimate:
    """The total of units drawn one by one, with probabilities that may depend on earlier draws.

    Each draw gives an unbiased total: what is known by then, plus the value drawn over its probability.
    Their weighted mean is unbiased, and their squared deviations give its variance (a martingale;
    Kossen et al., Active Testing, ICML 2021). The weight of the predictions uses earlier draws only.
    """
    import numpy as np

    n, size = len(steps.sampled), len(steps.weights)
    weights = steps.weights[steps.sampled]
    z = weights * steps.values
    if n == size:
        total = math.fsum(z)
        return Estimate(total, total, total, "census", 0.0, n)
    if n == 0:
        return _too_few(math.nan, 0, min(size, FEWEST_GRADED), "nothing was judged")
    predicted = steps.weights * np.nan_to_num(steps.predictions)
    x = predicted[steps.sampled]
    slope = _slopes_so_far(z, x, steps.probabilities, float(np.mean(predicted**2)))
    before_z, before_x = (np.concatenate([[0.0], np.cumsum(v)[:-1]]) for v in (z, x))
    totals = slope * (predicted.sum() - before_x) + before_z
    totals = totals + (z - slope * x) / steps.probabilities
    left = size - np.arange(1, n + 1)
    share = 1 / (np.maximum(left, 0.5) * (left + 1.0))
    share /= share.sum()
    value = float(share @ totals)
    inside = weights != 0
    off = off_mode(steps.values[inside])
    if inside.sum() < FEWEST_GRADED or off < _OFF_MODE_STEPS:
        more = max(
            FEWEST_GRADED - int(inside.sum()), math.ceil(n * _OFF_MODE_STEPS / max(off, 1)) - n
        )
        why = f"{off} of {n} differ from the most frequent value"
        return _too_few(value, n, min(more, size - n), why)
    error = math.sqrt(float(share**2 @ (totals - value) ** 2) * n / (n - 1))
    quantile = _longer(share * (totals - value)) * t_ppf(0.5 + confidence / 2, n - 1)
    half = quantile * error
    return Estimate(value, value - half, value + half, "steps", float(slope[-1]), n)


def _slopes_so_far(z: Floats, x: Floats, probabilities: Floats, typical: float) -> Floats:
    """The weight of the predictions at each draw, from the draws before it, starting at one.

    `typical` is the mean square of the predictions; ten draws of it hold the weight at one at first.
    """
    import numpy as np

    base = FEWEST * typical or 1.0
    relative = 1 / (probabilities * len(z))
    above, below = np.cumsum(relative * z * x), np.cumsum(relative * x * x)
    slopes = np.clip((above + base) / (below + base), 0.0, 1.0)
    return np.concatenate([[1.0], slopes[:-1]])
