"""Agreement of two raters, computed from their confusion matrix.

Matrices may have any number of leading dimensions, so that a bootstrap is one call: `counts[..., i, j]` is
the number of items with grade `grades[i]` from the first rater and `grades[j]` from the second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def within(counts: Floats, grades: Floats, distance: float) -> Floats:
    """The share of items whose grades differ by at most `distance`."""
    import numpy as np

    near = np.abs(grades[:, None] - grades[None, :]) <= distance
    return _ratio((counts * near).sum((-2, -1)), counts.sum((-2, -1)))


def kappa(counts: Floats, grades: Floats, quadratic: bool = False) -> Floats:
    """Cohen's kappa; `quadratic` weights disagreement by the squared difference of the grades."""
    import numpy as np

    difference = grades[:, None] - grades[None, :]
    weights = difference**2 if quadratic else (difference != 0).astype(float)
    total = counts.sum((-2, -1))
    expected = counts.sum(-1)[..., :, None] * counts.sum(-2)[..., None, :]
    observed = (weights * counts).sum((-2, -1)) * total
    return np.asarray(1 - _ratio(observed, (weights * expected).sum((-2, -1))))


def kappa_at(counts: Floats, grades: Floats, threshold: float) -> Floats:
    """Cohen's kappa of good (at or above the threshold) against bad."""
    import numpy as np

    sides = np.stack([grades < threshold, grades >= threshold]).astype(float)
    return kappa(sides @ counts @ sides.T, np.array([0.0, 1.0]))


def alpha(counts: Floats) -> Floats:
    """Krippendorff's alpha with the ordinal metric, for two raters."""
    import numpy as np

    coincidences = counts + np.swapaxes(counts, -1, -2)
    marginals = coincidences.sum(-1)
    middle = np.cumsum(marginals, -1) - marginals / 2
    distance = (middle[..., :, None] - middle[..., None, :]) ** 2
    total = marginals.sum(-1)
    expected = (marginals[..., :, None] * marginals[..., None, :] * distance).sum((-2, -1))
    observed = (coincidences * distance).sum((-2, -1)) * (total - 1)
    return np.asarray(1 - _ratio(observed, expected))


def false_good(counts: Floats, grades: Floats, threshold: float) -> Floats:
    """The share of items below the threshold for the first rater that the second rates at or above it."""
    bad, good = counts[..., grades < threshold, :], grades >= threshold
    return _ratio(bad[..., good].sum((-2, -1)), bad.sum((-2, -1)))


def missed_good(counts: Floats, grades: Floats, threshold: float) -> Floats:
    """The share of items at or above the threshold for the first rater that the second rates below it."""
    good, bad = counts[..., grades >= threshold, :], grades < threshold
    return _ratio(good[..., bad].sum((-2, -1)), good.sum((-2, -1)))


def kendall_tau(x: Floats, y: Floats) -> Floats:
    """Kendall's tau-b over the last dimension; undefined if one side is all ties."""
    import numpy as np

    i, j = np.triu_indices(x.shape[-1], 1)
    a, b = np.sign(x[..., i] - x[..., j]), np.sign(y[..., i] - y[..., j])
    return _ratio((a * b).sum(-1), np.sqrt((a * a).sum(-1) * (b * b).sum(-1)))


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    """A quotient, NaN where it is undefined."""
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator == 0, np.nan, np.asarray(numerator, float) / denominator)
