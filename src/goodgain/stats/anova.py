"""One-way analysis of variance, of queries or of queries x seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.stats.distributions import f_sf
from goodgain.stats.paired import at_least_smallest

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def one_way(values: Floats, labels: Sequence[str]) -> tuple[float | None, float | None, str]:
    """F, p and a note: one-way analysis of variance of values over their labels."""
    import numpy as np

    order = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    places = np.array([order[label] for label in labels])
    counts = np.bincount(places)
    k, n = len(counts), len(values)
    if k < 2:
        return None, None, "one group"
    if n <= k:
        return None, None, "one query a group"
    means = np.bincount(places, values) / counts
    within = float(((values - means[places]) ** 2).sum()) / (n - k)
    between = float((counts * (means - values.mean()) ** 2).sum()) / (k - 1)
    scale = float((values**2).sum()) or 1.0
    if within <= 1e-24 * scale:
        if between <= 1e-24 * scale:
            return 0.0, 1.0, "no difference"
        return None, None, "constant within groups"
    return between / within, at_least_smallest(f_sf(between / within, k - 1, n - k)), ""


def one_way_over_seeds(
    values: Floats, labels: Sequence[str]
) -> tuple[float | None, float | None, str]:
    """F, p and a note: whether the mean of queries x seeds depends on the label, for new seeds too.

    Groups differ by their queries, and by how seeds affect each group; the error is the sum of both
    mean squares without the residual that both contain, never less than either (a quasi-F, with
    Satterthwaite's degrees of freedom). A query counts with the mean of the seeds that have it.
    """
    import numpy as np

    f, p, note = one_way(np.nanmean(values, 1), labels)
    seeds = values.shape[1]
    if f is None or note or seeds < 2 or np.isnan(values).any():
        return (f, p, note) if not np.isnan(values).any() else (None, None, "seeds lack queries")
    order = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    places = np.array([order[label] for label in labels])
    counts = np.bincount(places)
    k, n = len(counts), len(values)
    cells = np.stack([values[places == g].mean(0) for g in range(k)])  # groups x seeds
    weights = counts / n
    by_group = cells.mean(1, keepdims=True)
    bent = cells - by_group - weights @ cells + float((weights @ by_group)[0])
    group_seed = float((counts[:, None] * bent**2).sum()) / ((k - 1) * (seeds - 1))
    inner = values - cells[places]
    inner_means = inner.mean(1, keepdims=True)
    query = seeds * float((inner_means**2).sum()) / (n - k)
    rest = float(((inner - inner_means) ** 2).sum()) / ((n - k) * (seeds - 1))
    between = f * query
    error = max(query, group_seed, query + group_seed - rest)
    terms = [(query, n - k), (group_seed, (k - 1) * (seeds - 1))]
    freedom = error**2 / sum(square**2 / df for square, df in terms)
    quasi = between / error
    return quasi, at_least_smallest(f_sf(quasi, k - 1, freedom)), ""
