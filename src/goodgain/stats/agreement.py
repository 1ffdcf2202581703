"""Agreement of two sets of labels, all of it from the matrix of how often which met which.

The functions take matrices with any number of leading dimensions, so that a bootstrap is one call:
`counts[..., i, j]` is how often the first rater said `grades[i]` and the second `grades[j]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def within(counts: Floats, grades: Floats, distance: float) -> Floats:
    """The share of pairs whose grades differ by no more than that."""
    import numpy as np

    near = np.abs(grades[:, None] - grades[None, :]) <= distance
    return _ratio((counts * near).sum((-2, -1)), counts.sum((-2, -1)))


def kappa(counts: Floats, grades: Floats, quadratic: bool = False) -> Floats:
    """Cohen's kappa; quadratic weights disagreement by the squared difference of the grades."""
    import numpy as np

    difference = grades[:, None] - grades[None, :]
    weights = difference**2 if quadratic else (difference != 0).astype(float)
    total = counts.sum((-2, -1))
    expected = counts.sum(-1)[..., :, None] * counts.sum(-2)[..., None, :]
    observed = (weights * counts).sum((-2, -1)) * total
    return np.asarray(1 - _ratio(observed, (weights * expected).sum((-2, -1))))


def alpha(counts: Floats) -> Floats:
    """Krippendorff's alpha with the ordinal metric, for two raters."""
    import numpy as np

    coincidences = counts + np.swapaxes(counts, -1, -2)
    seen = coincidences.sum(-1)
    middle = np.cumsum(seen, -1) - seen / 2
    distance = (middle[..., :, None] - middle[..., None, :]) ** 2
    total = seen.sum(-1)
    expected = (seen[..., :, None] * seen[..., None, :] * distance).sum((-2, -1))
    observed = (coincidences * distance).sum((-2, -1)) * (total - 1)
    return np.asarray(1 - _ratio(observed, expected))


def false_good(counts: Floats, grades: Floats, threshold: float) -> Floats:
    """Of what the first rater finds below the threshold, the share that the second finds good."""
    bad, good = counts[..., grades < threshold, :], grades >= threshold
    return _ratio(bad[..., good].sum((-2, -1)), bad.sum((-2, -1)))


def missed_good(counts: Floats, grades: Floats, threshold: float) -> Floats:
    """Of what the first rater finds good, the share that the second finds below the threshold."""
    good, bad = counts[..., grades >= threshold, :], grades < threshold
    return _ratio(good[..., bad].sum((-2, -1)), good.sum((-2, -1)))


def kendall_tau(x: Floats, y: Floats) -> Floats:
    """Kendall's tau-b of the last dimension; undefined where one side is all ties."""
    import numpy as np

    i, j = np.triu_indices(x.shape[-1], 1)
    a, b = np.sign(x[..., i] - x[..., j]), np.sign(y[..., i] - y[..., j])
    return _ratio((a * b).sum(-1), np.sqrt((a * a).sum(-1) * (b * b).sum(-1)))


def ppi_mean(human: Floats, predicted: Floats, unlabelled: Floats) -> tuple[float, float, float]:
    """The mean of a measure by prediction-powered inference: value, standard error, weight.

    `human` and `predicted` are the same queries under human labels and under the judge's, and
    `unlabelled` the other queries, under the judge's alone. The weight of the judge is the one that
    makes the error smallest (PPI++, Angelopoulos, Duchi and Zrnic 2023): a useless judge gets 0, which
    gives the plain human mean.
    """
    import numpy as np

    n, m = len(human), len(unlabelled)
    if n < 2:
        return (float(np.mean(human)) if n else np.nan), np.nan, 0.0
    weight = 0.0
    if m:
        both = np.concatenate([predicted, unlabelled])
        spread = float(np.var(both, ddof=1))
        shared = float(np.cov(human, predicted, ddof=1)[0, 1])
        weight = min(1.0, max(0.0, shared / ((1 + n / m) * spread))) if spread > 0 else 0.0
    mean, error = float(np.mean(human)), float(np.var(human - weight * predicted, ddof=1)) / n
    if weight:
        mean += weight * float(np.mean(unlabelled) - np.mean(predicted))
        error += weight**2 * (float(np.var(unlabelled, ddof=1)) / m if m > 1 else np.inf)
    return mean, float(np.sqrt(error)), weight


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Undefined is NaN."""
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole == 0, np.nan, np.asarray(part, float) / whole)
