"""Distribution functions against scipy."""

import math

import numpy as np
import pytest
from scipy import stats

from goodgain.stats.distributions import (
    binomial_cdf,
    f_sf,
    noncentral_t_sf,
    noncentral_t_shift,
    normal_ppf,
    normal_sf,
    studentised_range_ppf,
    studentised_range_sf,
    t_ppf,
    t_sf,
)


def close(value: float, expected: float) -> None:
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_t() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        t, df = rng.normal() * 10 ** rng.uniform(-2, 1.3), int(rng.integers(1, 100_000))
        close(t_sf(t, df), stats.t.sf(t, df))
    for p in (0.0001, 0.1, 0.8, 0.95, 0.975, 0.9999):
        for df in (1, 2, 29, 6979, 12.7):
            close(t_ppf(p, df), stats.t.ppf(p, df))
    assert t_sf(math.inf, 3) == 0
    assert t_sf(-math.inf, 3) == 1


def test_normal() -> None:
    for x in (-30.0, -1.96, 0.0, 2.5, 35.0):
        close(normal_sf(x), stats.norm.sf(x))
    for p in (1e-12, 0.025, 0.5, 0.999):
        close(normal_ppf(p), stats.norm.ppf(p))
    assert normal_ppf(0) == -math.inf
    assert normal_ppf(1) == math.inf


def test_f_and_binomial() -> None:
    for f in (0.1, 1.0, 3.0, 30.0):
        for df1, df2 in ((1, 5), (4, 60), (12, 6000)):
            close(f_sf(f, df1, df2), stats.f.sf(f, df1, df2))
    assert f_sf(0, 2, 3) == 1
    for n, k in ((1, 0), (10, 3), (100, 40), (7000, 3400), (100_000, 49_000)):
        close(binomial_cdf(k, n), stats.binom.cdf(k, n, 0.5))
    assert binomial_cdf(-1, 5) == 0
    assert binomial_cdf(5, 5) == 1


def test_noncentral_t() -> None:
    for t in (-1.3, 0.0, 0.5, 3.0, 30.0):
        for df in (1, 2, 29, 6979):
            for shift in (-2.0, 0.0, 1.0, 5.0, 31.0):
                expected = stats.nct.sf(t, df, shift)
                assert noncentral_t_sf(t, df, shift) == pytest.approx(expected, abs=1e-9)


def test_the_shift_of_a_noncentral_t() -> None:
    for df in (1, 2, 5, 49, 999):
        for t in (-300.0, -8.0, -0.3, 0.0, 0.001, 4.0, 60.0, 1000.0):
            for probability in (0.025, 0.975, 0.0005, 0.9995):
                shift = noncentral_t_shift(t, df, probability)
                assert noncentral_t_sf(t, df, shift) == pytest.approx(probability, abs=1e-9)


def test_the_shift_is_found_with_one_degree_of_freedom() -> None:
    """There the quantile is nearly flat, and a step of Newton's method can go anywhere."""
    for t in np.concatenate([-np.geomspace(0.01, 1e4, 150), np.geomspace(0.01, 1e4, 150)]).tolist():
        for probability in (0.025, 0.975):
            shift = noncentral_t_shift(t, 1, probability)
            assert noncentral_t_sf(t, 1, shift) == pytest.approx(probability, abs=1e-9)


def test_studentised_range() -> None:
    for q in (0.5, 2.0, 3.5, 5.0, 8.0):
        for groups, df in ((2, 1), (2, 30), (3, 5), (5, 116), (10, 99), (15, 406), (20, 9_000)):
            expected = stats.studentized_range.sf(q, groups, df)
            assert studentised_range_sf(q, groups, df) == pytest.approx(expected, abs=1e-9)
    assert studentised_range_sf(0, 3, 10) == 1
    q = studentised_range_ppf(0.95, 4, 87)
    assert stats.studentized_range.sf(q, 4, 87) == pytest.approx(0.05, abs=1e-9)
