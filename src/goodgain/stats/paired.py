"""Tests of paired differences.

Degenerate cases, the same for every test:

- all differences 0: p is 1;
- one query: p is 1;
- the same difference for every query: the spread is 0, and p is that of the exact randomisation test,
  2/2^n two-sided, the smallest that n pairs can give.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from goodgain.errors import UsageError
from goodgain.stats.distributions import binomial_cdf, normal_sf, t_sf

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Alternative = Literal["two-sided", "greater"]

PERMUTATIONS = 100_000
BOOTSTRAPS = 10_000
TESTS = {
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "sign": "sign test",
    "randomisation": "paired randomisation test",
    "bootstrap": "paired studentised bootstrap test with BCa interval",
    "tukey": "paired Tukey HSD",
}


@dataclass(frozen=True, slots=True)
class Resampling:
    """Settings of tests that draw at random; a seed gives the same p for any number of threads."""

    permutations: int = PERMUTATIONS
    bootstraps: int = BOOTSTRAPS
    seed: int = 0
    threads: int = 1

    def __post_init__(self) -> None:
        for name in ("permutations", "bootstraps", "threads"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be a positive integer, got {getattr(self, name)}")
        if not 0 <= self.seed < 2**64:
            raise UsageError(f"the seed must be between 0 and 2^64, got {self.seed}")


@dataclass(frozen=True, slots=True)
class Outcome:
    """A statistic, its p-value, and a note on special cases."""

    statistic: float | None
    p: float
    note: str = ""


def run_test(
    name: str,
    differences: Floats,
    alternative: Alternative = "two-sided",
    resampling: Resampling | None = None,
    tie: float = 0.0,
    draws: Draws | None = None,
) -> Outcome:
    """Run a test by its name (all but Tukey's, which needs every system).

    `draws` are those of the bootstrap, if they are already made.
    """
    resampling = resampling or Resampling()
    special = _degenerate(differences, alternative)
    if special is not None:
        return special
    match name:
        case "t":
            outcome = t_test(differences, alternative)
        case "wilcoxon":
            outcome = wilcoxon(differences, alternative)
        case "sign":
            outcome = sign_test(differences, alternative, tie)
        case "randomisation":
            return randomisation([differences], alternative, resampling)[0]
        case "bootstrap":
            return bootstrap_test(differences, alternative, resampling, draws)
        case _:
            raise UsageError(f"unknown test '{name}'", hint=f"one of: {', '.join(TESTS)}")
    return Outcome(outcome.statistic, at_least_smallest(outcome.p), outcome.note)


def at_least_smallest(p: float) -> float:
    """A p-value is never 0: it is at least the smallest positive number."""
    return min(1.0, max(p, sys.float_info.min))


def is_constant(differences: Floats) -> bool:
    """Whether all differences are equal up to rounding."""
    spread = float(differences.max() - differences.min())
    return spread <= 1e-12 * max(1e-300, float(abs(differences).max()))


def _degenerate(differences: Floats, alternative: Alternative) -> Outcome | None:
    n = len(differences)
    if not differences.any():
        return Outcome(0.0, 1.0, "no difference")
    if n == 1:
        return Outcome(None, 1.0, "one query")
    if is_constant(differences):
        sides = 2.0 if alternative == "two-sided" else 1.0
        p = sides / 2.0 ** min(n, 1000) if alternative == "two-sided" or differences[0] > 0 else 1.0
        return Outcome(None, at_least_smallest(p), "constant difference")
    return None


def t_test(differences: Floats, alternative: Alternative = "two-sided") -> Outcome:
    """Student's paired t-test."""
    n = len(differences)
    t = float(differences.mean() / (differences.std(ddof=1) / math.sqrt(n)))
    p = 2 * t_sf(abs(t), n - 1) if alternative == "two-sided" else t_sf(t, n - 1)
    return Outcome(t, p)


def sign_test(
    differences: Floats, alternative: Alternative = "two-sided", tie: float = 0.0
) -> Outcome:
    """The exact binomial test of wins against losses; differences up to `tie` are ignored."""
    wins, losses = int((differences > tie).sum()), int((differences < -tie).sum())
    return Outcome(float(wins), sign_p(wins, losses, alternative))


def sign_p(wins: int, losses: int, alternative: Alternative = "two-sided") -> float:
    """The p-value of wins against losses if both were equally likely."""
    n = wins + losses
    if n == 0:
        return 1.0
    if alternative == "greater":
        return at_least_smallest(binomial_cdf(losses, n))
    return at_least_smallest(2 * binomial_cdf(min(wins, losses), n))


def wilcoxon(differences: Floats, alternative: Alternative = "two-sided") -> Outcome:
    """Wilcoxon's signed-rank test without the zeros, exact or by the normal, chosen as scipy does.

    Exact for up to 50 queries without ties and zeros, and for up to 13 with them; else the normal
    approximation, corrected for ties.
    """
    import numpy as np

    d = differences[differences != 0]
    n = len(d)
    ranks, tie_sizes = midranks(np.abs(d))
    plus, minus = float(ranks[d > 0].sum()), float(ranks[d < 0].sum())
    plain = n == len(differences) and max(tie_sizes) == 1
    statistic = min(plus, minus) if alternative == "two-sided" else plus
    if len(differences) <= 50 and (plain or len(differences) <= 13):
        upper, lower = _rank_sum_tails(ranks, plus)
        p = min(1.0, 2 * min(upper, lower)) if alternative == "two-sided" else upper
        return Outcome(statistic, p)
    spread = n * (n + 1) * (2 * n + 1) - sum(t**3 - t for t in tie_sizes) / 2
    z = (plus - n * (n + 1) / 4) / math.sqrt(spread / 24)
    p = 2 * normal_sf(abs(z)) if alternative == "two-sided" else normal_sf(z)
    return Outcome(statistic, p)


def midranks(sizes: Floats) -> tuple[Floats, list[int]]:
    """Ranks from 1, equal values sharing their mean; and how many share each."""
    import numpy as np

    _, place, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[place], [int(c) for c in counts]


def _rank_sum_tails(ranks: Floats, plus: float) -> tuple[float, float]:
    """P(sum >= plus) and P(sum <= plus) if each rank counts with probability one half."""
    doubled = [round(2 * r) for r in ranks]
    ways = [1] + [0] * sum(doubled)
    for rank in doubled:
        for total in range(len(ways) - 1, rank - 1, -1):
            ways[total] += ways[total - rank]
    at, all_ways = round(2 * plus), 2 ** len(doubled)
    return sum(ways[at:]) / all_ways, sum(ways[: at + 1]) / all_ways


def randomisation(
    columns: Sequence[Floats],
    alternative: Alternative = "two-sided",
    resampling: Resampling | None = None,
) -> list[Outcome]:
    """Fisher's test: how often random signs give a mean at least as far from 0; one outcome a column.

    All 2^n assignments of signs where they are no more than the permutations asked for, else that
    many at random, with the observed one counted among them. Columns of the same length share their
    signs.
    """
    import numpy as np

    from goodgain._core import all_flips, random_flips

    how = resampling or Resampling()
    outcomes: dict[int, Outcome] = {}
    by_length: dict[int, list[int]] = {}
    for i, column in enumerate(columns):
        special = _degenerate(column, alternative)
        moved = column[column != 0]  # a flipped 0 is still 0
        if special is not None:
            outcomes[i] = special
        elif len(moved) <= 30 and 2 ** len(moved) <= how.permutations:
            counts = all_flips(np.ascontiguousarray(moved), how.threads)
            count = counts[2][0] if alternative == "two-sided" else counts[0][0]
            outcomes[i] = Outcome(float(column.mean()), count / counts[3], "exact")
        else:
            by_length.setdefault(len(column), []).append(i)
    for places in by_length.values():
        rows = np.ascontiguousarray(np.column_stack([columns[i] for i in places]))
        counts = random_flips(rows, how.permutations, how.seed, how.threads)
        for place, i in enumerate(places):
            count = counts[2][place] if alternative == "two-sided" else counts[0][place]
            p = (count + 1) / (how.permutations + 1)
            outcomes[i] = Outcome(float(columns[i].mean()), p, f"{how.permutations:,} permutations")
    return [outcomes[i] for i in range(len(columns))]


# --- bootstrap ---


class Draws(NamedTuple):
    """Of each resample the mean of the differences, and of their squared distances from the observed mean."""

    means: Floats
    squares: Floats


def bootstrap_test(
    differences: Floats,
    alternative: Alternative = "two-sided",
    resampling: Resampling | None = None,
    draws: Draws | None = None,
) -> Outcome:
    """How often resamples are at least as many of their own standard errors away from the observed mean.

    A resample without spread counts as infinitely far. p is never below the smallest that an exact test
    of as many queries can give, 2/2^n.
    """
    import numpy as np

    draws = draws or moments([differences], resampling or Resampling())[0]
    n, observed = len(differences), float(differences.mean())
    spread = float(differences.var())
    moved = draws.means - observed
    spreads = draws.squares - moved**2
    spreads = np.where(spreads > 1e-12 * spread, spreads, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.nan_to_num(moved / np.sqrt(spreads), nan=0.0, posinf=math.inf, neginf=-math.inf)
    reached = observed / math.sqrt(spread) * (1 - 1e-12)
    if alternative == "two-sided":
        count, least = int((abs(t) >= abs(reached)).sum()), 2.0 ** (1 - min(n, 1000))
    else:
        count, least = int((t >= reached).sum()), 0.5 ** min(n, 1000)
    p = max((count + 1) / (len(t) + 1), least)
    return Outcome(observed / math.sqrt(spread / (n - 1)), p, f"{len(t):,} samples")


def moments(columns: Sequence[Floats], resampling: Resampling) -> list[Draws]:
    """The draws of a studentised bootstrap, for columns of any lengths."""
    squares = [(column - column.mean()) ** 2 for column in columns]
    means = resampled([*columns, *squares], resampling)
    return [Draws(*pair) for pair in zip(means[: len(columns)], means[len(columns) :], strict=True)]


def bootstrap_means(columns: Sequence[Floats], resampling: Resampling) -> list[Floats]:
    """The means of resamples of the same queries, for each of several columns of one length."""
    import numpy as np

    from goodgain._core import bootstrap_means as means_of

    rows = np.ascontiguousarray(np.column_stack(columns))
    drawn = means_of(rows, resampling.bootstraps, resampling.seed, resampling.threads)
    means: Floats = drawn.reshape(-1, len(columns))
    return [means[:, i] for i in range(len(columns))]


def resampled(columns: Sequence[Floats], resampling: Resampling) -> list[Floats]:
    """`bootstrap_means` of columns of any lengths; those of one length share their draws."""
    drawn: dict[int, Floats] = {}
    for length in {len(column) for column in columns}:
        places = [i for i, column in enumerate(columns) if len(column) == length]
        means = bootstrap_means([columns[i] for i in places], resampling)
        drawn |= dict(zip(places, means, strict=True))
    return [drawn[i] for i in range(len(columns))]


def enough_to_resample(n: int, confidence: float) -> bool:
    """Whether resamples of n values can cover: even their whole range misses a median in 2 of 2^n cases."""
    return 2.0 ** (1 - min(n, 1000)) <= 1 - confidence + 1e-12


def bca_interval(
    differences: Floats,
    confidence: float = 0.95,
    resampling: Resampling | None = None,
    means: Floats | None = None,
) -> tuple[float, float] | None:
    """The bias-corrected and accelerated interval of the mean (Efron 1987); None for too few queries.

    Its percentiles are moved out as far as Student's t lies outside the normal (Hesterberg 2015): a
    bootstrap of few queries is too narrow without it.
    """
    n = len(differences)
    if n > 1 and is_constant(differences):
        value = float(differences.mean())
        return value, value
    if not enough_to_resample(n, confidence):
        return None
    if means is None:
        means = bootstrap_means([differences], resampling or Resampling())[0]
    return bca_of(means, differences, widened(confidence, n))


def widened(confidence: float, n: int) -> float:
    """The level whose normal quantile is Student's t of n values (Hesterberg 2015)."""
    from goodgain.stats.distributions import t_ppf

    wide = math.sqrt(n / (n - 1)) * t_ppf((1 + confidence) / 2, n - 1)
    return 1 - 2 * normal_sf(wide)


def bca_of(means: Floats, differences: Floats, confidence: float) -> tuple[float, float]:
    """The interval from means already drawn; plain percentiles if BCa is undefined."""
    left_out = (differences.sum() - differences) / (len(differences) - 1)
    return bca_percentiles(means, float(differences.mean()), left_out, confidence)


def bca_percentiles(
    draws: Floats, observed: float, left_out: Floats, confidence: float
) -> tuple[float, float]:
    """The BCa interval of any statistic from its draws, and from its values without each unit."""
    import numpy as np

    from goodgain.stats.distributions import normal_ppf

    below = (int((draws < observed).sum()) + int((draws <= observed).sum())) / (2 * len(draws))
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    bias = normal_ppf(below)
    pull = left_out.mean() - left_out
    spread = float((pull**2).sum())
    if math.isfinite(bias) and spread > 0:
        acceleration = float((pull**3).sum() / (6 * spread**1.5))
        tails = [_bca_tail(bias, acceleration, tail) for tail in tails]
    low, high = np.percentile(draws, [100 * tail for tail in tails])
    return float(low), float(high)


def _bca_tail(bias: float, acceleration: float, tail: float) -> float:
    from goodgain.stats.distributions import normal_ppf

    z = bias + normal_ppf(tail)
    return 1 - normal_sf(bias + z / (1 - acceleration * z))


def percentile_test(
    a: Floats,
    b: Floats,
    percent: float,
    confidence: float,
    resampling: Resampling,
    statistic: Callable[[Sequence[float], int], float],
) -> tuple[Outcome, tuple[float, float] | None]:
    """Of a percentile of b minus that of a: randomisation for p, bootstrap for the interval.

    No interval where too few queries lie beyond the percentile to resample it.
    """
    import numpy as np

    from goodgain._core import percentile_differences

    if len(a) < 2 or not (a != b).any():
        value = None if len(a) < 2 else (0.0, 0.0)
        return Outcome(None, 1.0, "one query" if len(a) < 2 else "no difference"), value
    observed = statistic(b.tolist(), int(percent)) - statistic(a.tolist(), int(percent))
    how = resampling
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    flips, samples = (
        percentile_differences(a, b, percent, swap, how.bootstraps, how.seed, how.threads)
        for swap in (True, False)
    )
    slack = 1e-12 * float(abs(a).max() + abs(b).max())
    count = int((abs(flips) >= abs(observed) - slack).sum())
    p = (count + 1) / (how.bootstraps + 1)
    outcome = Outcome(observed, p, "randomisation of the percentile")
    if not enough_to_resample(len(a), confidence) or len(a) * min(percent, 100 - percent) < 100:
        return outcome, None
    low, high = np.percentile(samples, [50 * (1 - confidence), 50 * (1 + confidence)])
    return outcome, (float(low), float(high))
