"""The verdict: exact tests, bounds for what nobody judged, and error rates by simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from load_script import load_script

from goodgain.checks.verdict import _p_above
from goodgain.stats.paired import Resampling

simulation = load_script("check_errors")


@pytest.mark.parametrize("seed", range(20))
def test_p_is_that_of_all_sign_flips(seed):
    draw = np.random.default_rng(seed)
    gains = np.round(draw.normal(0.05, 0.2, int(draw.integers(2, 11))), 2)
    observed = gains.sum()
    sums = [np.dot(gains, signs) for signs in itertools.product((1, -1), repeat=len(gains))]
    expected = np.mean([s >= observed - 1e-12 for s in sums]) if gains.any() else 1.0
    assert _p_above(gains, Resampling()) == pytest.approx(expected)


def test_error_rates():
    """A short form of the table in docs/check.md."""
    calm = simulation.rates(25, 0.33, 0.2, 0.0, 300, 1)
    assert calm["fail"] <= 0.085  # at most 5 %, with room for 300 draws
    loss = simulation.detectable(50, 0.33, 0.2)
    assert simulation.rates(50, 0.33, 0.2, loss, 200, 2)["fail"] >= 0.75
    assert simulation.rates(50, 1.0, 0.01, 0.0, 50, 3)["pass"] == 1.0


def test_a_small_change_within_the_margin_passes_even_where_it_is_significant():
    rates = simulation.rates(50, 1.0, 0.005, 0.005, 50, 4)
    assert rates["pass"] == 1.0
