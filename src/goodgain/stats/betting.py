"""Tests and intervals that hold however often one looks: bets against hypotheses.

A bettor starts with 1 and stakes a share of it on every observation X >= -w of mean at most 0, which
multiplies the money by 1 + s X / w. If the hypothesis "the mean is at most 0" holds, the money does not
grow on average, so it ever reaches 1 / alpha with probability at most alpha (Ville 1939). The money is
therefore evidence against the hypothesis at any moment, also one that was chosen after looking (Waudby-Smith
and Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86, 2024). Several bettors with
different stakes share the first 1, so nobody has to guess the right stake.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Of the money that the worst outcome would leave; the ends serve rare and frequent differences.
STAKES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 0.98)
_HALVINGS = 40  # of the range, when the end of an interval is searched for


class Bets:
    """Bets against many hypotheses at once, each "the mean of X is at most 0" with X >= -worst."""

    def __init__(self, shape: tuple[int, ...], worst: float) -> None:
        import numpy as np

        self._stakes = np.array(STAKES) / worst
        self._logs = np.zeros((*shape, len(STAKES)))

    def add(self, observations: Floats) -> None:
        """One observation for each hypothesis; NaN is none."""
        import numpy as np

        growth = np.log1p(self._stakes * np.nan_to_num(observations)[..., None])
        self._logs += growth

    def log_money(self) -> Floats:
        """The logarithm of the money won against each hypothesis."""
        return _log_mean(self._logs)


def log_evidence(observations: Floats, worst: float) -> float:
    """The logarithm of the evidence of all observations against "the mean is at most 0"."""
    import numpy as np

    stakes = np.array(STAKES) / worst
    logs = np.log1p(np.multiply.outer(observations[~np.isnan(observations)], stakes)).sum(0)
    return float(_log_mean(logs))


def mean_bounds(
    values: Floats, alpha: float, low: float = 0.0, high: float = 1.0
) -> tuple[float, float]:
    """The interval of the mean of values between low and high, at any moment one stops: 1 - alpha."""
    import numpy as np

    scaled = (values[~np.isnan(values)] - low) / (high - low)
    if not len(scaled):
        return low, high
    needed = math.log(2 / alpha)
    mean = float(scaled.mean())

    def is_above(m: float) -> bool:  # shown that the mean is above m
        return m <= 0 or log_evidence(scaled - m, m) >= needed

    def is_below(m: float) -> bool:
        return m >= 1 or log_evidence(m - scaled, 1 - m) >= needed

    lower = _edge(is_above, 0.0, mean)
    upper = _edge(is_below, 1.0, mean)
    return low + lower * (high - low), low + upper * (high - low)


def percentile_bounds(
    groups: Sequence[Sequence[float]], percent: float, alpha: float
) -> tuple[float, float]:
    """The interval of a percentile at any moment one stops: 1 - alpha.

    `groups` are the values of independent units, such as the latencies of one query with several seeds. An
    end that the values do not determine is 0 or infinite.
    """
    import numpy as np

    candidates = sorted({value for group in groups for value in group})
    needed = math.log(2 / alpha)

    def evidence(limit: float, sign: int) -> float:
        shares = np.array([share_above(group, limit) for group in groups])
        return evidence_about_share(shares, percent, sign)

    lowest, highest = 0.0, math.inf
    below = [0, len(candidates)]  # the percentile is shown to lie above candidates[:below[0]]
    while below[0] < below[1]:
        middle = sum(below) // 2
        if evidence(candidates[middle], 1) >= needed:
            lowest = candidates[middle]
            below[0] = middle + 1
        else:
            below[1] = middle
    above = [0, len(candidates)]
    while above[0] < above[1]:
        middle = sum(above) // 2
        if evidence(candidates[middle], -1) >= needed:
            highest = candidates[middle]
            above[1] = middle
        else:
            above[0] = middle + 1
    return lowest, highest


def share_above(values: Sequence[float], limit: float) -> float:
    """The share of values above a limit; NaN if there are none."""
    return sum(v > limit for v in values) / len(values) if len(values) else math.nan


def share_bet(share: Floats | float, percent: float, sign: int) -> tuple[Floats | float, float]:
    """A share of values above a limit as an observation, and its worst value.

    With sign 1 the hypothesis is that the percentile is at most the limit, with -1 that it is above it.
    """
    allowed = 1 - percent / 100
    return sign * (share - allowed), allowed if sign > 0 else 1 - allowed


def evidence_about_share(shares: Floats, percent: float, sign: int) -> float:
    """The logarithm of the evidence that the percentile is above (1) or not above (-1) the limit."""
    observations, worst = share_bet(shares, percent, sign)
    return log_evidence(observations, worst)  # type: ignore[arg-type]


def _edge(holds: Callable[[float], bool], outside: float, inside: float) -> float:
    """Where a statement that holds at `outside` ends to hold on the way to `inside`."""
    for _ in range(_HALVINGS):
        middle = (outside + inside) / 2
        if holds(middle):
            outside = middle
        else:
            inside = middle
    return outside


def _log_mean(logs: Floats) -> Floats:
    """The logarithm of the mean of exponentials over the last axis."""
    import numpy as np

    most = logs.max(-1, keepdims=True)
    mean: Floats = most[..., 0] + np.log(np.exp(logs - most).mean(-1))
    return mean
