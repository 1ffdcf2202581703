"""One-way analysis of variance."""

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
