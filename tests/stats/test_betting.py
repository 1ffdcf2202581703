"""Bets: evidence that holds at every moment, against simulation and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from goodgain.stats.betting import (
    STAKES,
    Bets,
    evidence_about_share,
    log_evidence,
    mean_bounds,
    percentile_bounds,
)
from goodgain.stats.quantiles import percentile_interval


def test_the_money_is_the_mean_over_stakes():
    x = np.array([0.5, -0.25, 1.0])
    by_hand = np.mean([np.prod([1 + s * v for v in x]) for s in STAKES])
    assert log_evidence(x, 1.0) == pytest.approx(math.log(by_hand))
    bets = Bets((2,), 1.0)
    for v in x:
        bets.add(np.array([v, -v]))
    assert bets.log_money()[0] == pytest.approx(math.log(by_hand))


def test_undefined_observations_are_no_bets():
    with_gaps, without = Bets((1,), 1.0), Bets((1,), 1.0)
    for v in (0.5, math.nan, 0.25):
        with_gaps.add(np.array([v]))
    for v in (0.5, 0.25):
        without.add(np.array([v]))
    assert with_gaps.log_money() == without.log_money()
    assert log_evidence(np.array([0.5, math.nan, 0.25]), 1.0) == without.log_money()[0]


def test_money_does_not_grow_when_the_hypothesis_holds():
    """Exact: the mean over all outcomes of three fair bets is 1, of unfair ones less."""
    for p, fair in ((0.5, True), (0.4, False)):
        outcomes = np.array(np.meshgrid([1, -1], [1, -1], [1, -1])).reshape(3, -1).T
        chances = np.prod(np.where(outcomes > 0, p, 1 - p), axis=1)
        money = sum(
            c * math.exp(log_evidence(o.astype(float), 1.0))
            for c, o in zip(chances, outcomes, strict=True)
        )
        assert money == pytest.approx(1) if fair else money < 1


def test_looking_after_every_observation_rejects_a_true_hypothesis_at_most_alpha():
    rng = np.random.default_rng(7)
    rejected = 0
    for _ in range(1_000):
        x = rng.choice([-1.0, 0.0, 1.0], 200, p=[0.2, 0.6, 0.2])
        logs = np.cumsum(np.log1p(np.outer(x, STAKES)), 0)
        money = np.exp(logs).mean(1)
        rejected += bool((money >= 20).any())
    assert rejected <= 60  # 5 %, and a tail of the binomial


def test_mean_bounds_hold_at_every_moment():
    rng = np.random.default_rng(1)
    misses = 0
    for _ in range(150):
        values = rng.beta(0.5, 0.3, 60)
        bounds = [mean_bounds(values[:n], 0.05) for n in range(5, 61, 5)]
        misses += any(not low <= 0.625 <= high for low, high in bounds)
    assert misses <= 15


def test_mean_bounds_of_constants_and_of_nothing():
    low, high = mean_bounds(np.ones(50), 0.05)
    assert 0.85 < low < 0.95
    assert high == 1
    assert mean_bounds(np.array([]), 0.05) == (0, 1)
    assert mean_bounds(np.array([]), 0.05, -1, 3) == (-1, 3)
    a, b = mean_bounds(np.array([0.2, 0.4] * 30), 0.05)
    c, d = mean_bounds(-1 + 4 * np.array([0.2, 0.4] * 30), 0.05, -1, 3)
    assert (c, d) == (pytest.approx(-1 + 4 * a), pytest.approx(-1 + 4 * b))


def test_percentile_bounds_hold_at_every_moment():
    rng = np.random.default_rng(2)
    truth = math.exp(1.6448536)  # the 95th percentile of a log-normal distribution
    misses = 0
    for _ in range(80):
        values = rng.lognormal(0, 1, 200)
        for n in (20, 60, 120, 200):
            low, high = percentile_bounds([[v] for v in values[:n]], 95, 0.05)
            if not low <= truth <= high:
                misses += 1
                break
    assert misses <= 8
    assert math.isfinite(high)  # 200 calls bound the 95th percentile


def test_few_calls_leave_a_percentile_unbounded():
    low, high = percentile_bounds([[v] for v in np.arange(1.0, 31)], 95, 0.05)
    assert (low > 0, high) == (True, math.inf)
    assert evidence_about_share(np.zeros(30), 95, -1) < math.log(20)
    assert evidence_about_share(np.ones(5), 95, 1) > math.log(20)


def test_exact_interval_of_a_percentile():
    values = list(range(1, 101))
    assert percentile_interval(values, 50) == (40, 61)  # the textbook's for a median of 100
    assert percentile_interval(values[:72], 95) == (64, 72)
    assert percentile_interval(values[:71], 95)[1] == math.inf
    assert percentile_interval([], 95) == (-math.inf, math.inf)


def test_exact_interval_of_a_percentile_covers():
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(1_000):
        low, high = percentile_interval(rng.exponential(1, 100).tolist(), 90)
        covered += low <= math.log(10) <= high
    assert covered >= 930
