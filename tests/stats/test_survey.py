"""Totals from designed samples: by hand, against scipy, and by simulation of the whole rule."""

import math

import numpy as np
import pytest

from goodgain.stats.distributions import beta_ppf
from goodgain.stats.survey import (
    Steps,
    Units,
    estimate_from_steps,
    estimate_total,
    off_mode,
)

ONE = np.ones


def units(values, predictions, possible=(0.0, 1.0), strata=None, weights=None, sampled=None):
    size = len(predictions)
    return Units(
        weights=ONE(size) if weights is None else np.array(weights, float),
        predictions=np.array(predictions, float),
        strata=np.zeros(size, int) if strata is None else np.array(strata),
        sampled=np.arange(len(values)) if sampled is None else np.array(sampled),
        values=np.array(values, float),
        possible=possible,
    )


@pytest.mark.parametrize(("p", "a", "b"), [(0.025, 3.5, 20.5), (0.975, 0.5, 40.5), (0.5, 7, 7)])
def test_beta_quantiles_equal_scipy(p, a, b):
    stats = pytest.importorskip("scipy.stats")
    assert beta_ppf(p, a, b) == pytest.approx(stats.beta.ppf(p, a, b), rel=1e-9)


def test_everything_judged_needs_no_interval():
    result = estimate_total(units([0.1, 0.4, 0.9], [0, 0, 0]))
    assert result[:4] == (pytest.approx(1.4), pytest.approx(1.4), pytest.approx(1.4), "census")


def test_the_regression_estimator_equals_least_squares():
    sm = pytest.importorskip("statsmodels.api", reason="statsmodels is not installed")
    rng = np.random.default_rng(0)
    f = rng.uniform(0, 1, 5000)
    y = 0.2 + 0.6 * f + rng.normal(0, 0.1, 5000)
    n = 40
    result = estimate_total(units(y[:n], f, (-math.inf, math.inf)))
    fit = sm.OLS(y[:n], sm.add_constant(f[:n])).fit(cov_type="HC3")
    at = np.array([1.0, f.mean()])
    assert result.method == "regression"
    assert result.value / 5000 == pytest.approx(float(fit.params @ at))
    assert result.weight == pytest.approx(fit.params[1])
    error = math.sqrt(float(at @ fit.cov_params() @ at) * (1 - n / 5000) * n / (n - 1))
    from scipy.stats import skew, t

    half = (result.high - result.low) / 2 / 5000
    residuals = fit.resid / (1 - fit.get_influence().hat_matrix_diag)
    longer = 1 + (0.5 + skew(residuals) ** 2) / n
    assert half == pytest.approx(longer * t.ppf(0.975, n - 2) * error, rel=1e-3)


def test_two_classes_worked_by_hand():
    # judge: 60 of 100 good; 20 judged: 9 of 10 right in either class
    f = [1.0] * 60 + [0.0] * 40
    sampled = [*range(10), *range(60, 70)]
    values = [1.0] * 9 + [0.0] + [0.0] * 9 + [1.0]
    result = estimate_total(units(values, f, sampled=sampled))
    assert (result.method, result.n) == ("classes", 20)
    assert result.value == pytest.approx(60 * 0.9 + 40 * 0.1)
    stats = pytest.importorskip("scipy.stats")
    below = 0.0
    for size, p in ((60, 0.9), (40, 0.1)):
        n = 10 / (1 - 10 / size)
        low = stats.beta.ppf(0.025, n * p + 0.5, n * (1 - p) + 0.5)
        below += (size * (p - low)) ** 2
    assert result.low == pytest.approx(result.value - math.sqrt(below))


def test_one_class_is_wilson():
    result = estimate_total(units([0.0] * 20, [0.0] * 1000))
    z2, n = 1.959963984540054**2, 20 / (1 - 20 / 1000)
    assert result[:2] == (0.0, 0.0)
    assert result.high / 1000 == pytest.approx((z2 / n) / (1 + z2 / n))


def test_strata_have_their_own_probabilities():
    strata = [0] * 100 + [1] * 900
    f = [math.nan] * 1000
    sampled = [*range(50), *range(100, 150)]
    values = [1.0] * 40 + [0.0] * 10 + [1.0] * 5 + [0.0] * 45
    result = estimate_total(units(values, f, strata=strata, sampled=sampled))
    assert result.value == pytest.approx(100 * 0.8 + 900 * 0.1)
    graded = estimate_total(
        units(np.linspace(0, 1, 100), np.linspace(0, 0.9, 1000), strata=strata, sampled=sampled)
    )
    assert graded.low < graded.value < graded.high


@pytest.mark.parametrize(
    ("values", "predictions", "more"),
    [
        ([0.5] * 5, [0.5] * 50, 5),  # five judged
        (np.linspace(0, 1, 15), np.linspace(0, 1, 200), 25),  # graded needs 40
        ([0.0] * 49 + [0.3], [0.0] * 900 + [0.3] * 100, 450),  # one of 50 differs
    ],
)
def test_too_few_says_about_how_many_more(values, predictions, more):
    result = estimate_total(units(values, predictions))
    assert result.method == "none"
    assert math.isnan(result.low)
    assert result.more == more


def test_no_more_are_asked_for_than_there_are():
    result = estimate_total(units([1.0] * 42, [1.0] * 59 + [0.5], (0.0, 2.0)))
    assert (result.method, result.more) == ("none", 18)


def test_a_stratum_without_a_judgment_is_too_few():
    result = estimate_total(units([0.5] * 30, [0.5] * 60, strata=[0] * 30 + [1] * 30))
    assert math.isnan(result.low)
    assert "no judged unit" in result.reason


def test_off_mode():
    assert off_mode(np.array([0.0, 0.0, 1.0, 2.0])) == 2
    assert off_mode(np.array([])) == 0


def test_steps_are_unbiased_whatever_the_probabilities():
    rng = np.random.default_rng(5)
    size, draws = 60, 25
    values = rng.choice([0.0, 0.5, 1.0], size, p=[0.5, 0.3, 0.2])
    predictions = np.clip(values + rng.choice([0, 0, 0.5], size), 0, 1)
    totals = []
    for _ in range(1500):
        left = np.arange(size)
        chosen, probabilities = [], []
        for _ in range(draws):
            score = 0.2 + predictions[left]
            score = score / score.sum()
            k = rng.choice(len(left), p=score)
            chosen.append(left[k])
            probabilities.append(score[k])
            left = np.delete(left, k)
        chosen = np.array(chosen)
        steps = Steps(ONE(size), predictions, chosen, values[chosen], np.array(probabilities))
        totals.append(estimate_from_steps(steps).value)
    error = np.std(totals) / math.sqrt(len(totals))
    assert abs(np.mean(totals) - values.sum()) < 4 * error
    assert error < 0.2


@pytest.mark.parametrize("judge", ["good", "poor"])
@pytest.mark.parametrize("kind", ["graded", "binary", "rare"])
def test_printed_intervals_cover(kind, judge):
    """A short form of scripts/label_coverage.py."""
    rng = np.random.default_rng(11)
    runs, size, n, covered, printed = 400, 300, 50, 0, 0
    for _ in range(runs):
        if kind == "graded":
            y = rng.beta(1.5, 1.5, size)
            f = y + rng.normal(0.05, 0.1, size) if judge == "good" else rng.beta(2, 2, size)
            f = np.clip(f, 0, 1)
        else:
            y = (rng.random(size) < (0.5 if kind == "binary" else 0.04)).astype(float)
            wrong = rng.random(size) < (0.08 if judge == "good" else 0.3)
            f = np.where(wrong, 1 - y, y)
        result = estimate_total(units(y[:n], f))
        if result.method != "none":
            printed += 1
            covered += result.low - 1e-9 <= y.sum() <= result.high + 1e-9
    assert printed > 0.9 * runs
    assert 0.92 <= covered / printed <= 0.985


@pytest.mark.parametrize("blind", [True, False])
@pytest.mark.parametrize("n", [40, 100])
def test_intervals_hold_where_the_judge_does_not_show_the_skewness(blind, n):
    """Values that are nearly always 1, or 0, with judges that know nothing of it, and everything."""
    rng = np.random.default_rng(5)
    covered = printed = 0
    for _ in range(400):
        y = np.where(rng.random(600) < 0.85, 1.0, rng.beta(2, 2, 600))
        f = rng.beta(5, 2, 600) if blind else np.clip(y + rng.normal(0, 0.15, 600), 0, 1)
        result = estimate_total(units(y[:n], f))
        printed += result.low == result.low
        covered += result.low <= y.sum() <= result.high
    assert printed > 200
    assert 0.92 <= covered / printed <= 0.985  # 0.90 with Student's t alone
