"""Tests of two unpaired samples, against scipy's."""

import numpy as np
import pytest
from scipy import stats

from goodgain.stats.two_samples import rank_sum_p, welch_p


@pytest.mark.parametrize("seed", range(20))
def test_welch_agrees_with_scipy(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0, 1, rng.integers(2, 40)), rng.normal(0.4, 2, rng.integers(2, 40))
    assert welch_p(a, b) == pytest.approx(stats.ttest_ind(a, b, equal_var=False).pvalue, rel=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_ranks_agree_with_scipy_with_ties(seed):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 6, rng.integers(5, 40)).astype(float)
    b = rng.integers(1, 8, rng.integers(5, 40)).astype(float)
    expected = stats.mannwhitneyu(a, b, method="asymptotic").pvalue
    assert rank_sum_p(a, b) == pytest.approx(expected, rel=1e-9)


def test_what_does_not_vary_shows_nothing():
    same = np.full(8, 0.5)
    assert welch_p(same, same) == rank_sum_p(same, same) == 1.0
    assert welch_p(np.array([1.0]), same) == 1.0


def test_constants_that_differ_are_as_good_as_a_division_can_show():
    low, high = np.zeros(5), np.full(7, 0.25)
    assert welch_p(low, high) == 2 / 792  # 12 values, 5 of them chosen
    assert rank_sum_p(low, high) < 0.01
