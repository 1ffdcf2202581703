"""Paired tests against scipy, and what they say where formulas have no value."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from goodgain.errors import UsageError
from goodgain.stats.paired import (
    TESTS,
    Resampling,
    bca_interval,
    bca_of,
    bootstrap_means,
    percentile_test,
    randomisation,
    run_test,
    sign_p,
)

SIDES = ("two-sided", "greater")
PLAIN = [name for name in TESTS if name != "tukey"]


def differences(n: int, seed: int = 0, steps: int | None = None) -> np.ndarray:
    d = np.random.default_rng(seed).normal(0.05, 0.2, n)
    return d if steps is None else np.round(d * steps) / steps


@pytest.mark.parametrize("n", [2, 3, 10, 30, 500, 6980])
@pytest.mark.parametrize("side", SIDES)
def test_t_is_scipys(n: int, side: str) -> None:
    d = differences(n)
    expected = stats.ttest_1samp(d, 0, alternative=side)
    found = run_test("t", d, side)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-9)


@pytest.mark.parametrize("n", [2, 5, 10, 13, 14, 30, 50, 51, 400])
@pytest.mark.parametrize("steps", [None, 5])
@pytest.mark.parametrize("side", SIDES)
def test_wilcoxon_is_scipys(n: int, steps: int | None, side: str) -> None:
    for seed in range(1 if n == 13 else 4):
        d = differences(n, seed, steps)
        if not d.any() or (d == d[0]).all():
            continue
        expected = stats.wilcoxon(d, alternative=side)
        found = run_test("wilcoxon", d, side)
        assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
        assert found.statistic == pytest.approx(expected.statistic)


@pytest.mark.parametrize("side", SIDES)
def test_sign_is_scipys(side: str) -> None:
    for wins, losses in ((0, 1), (3, 9), (40, 40), (3500, 3300), (500, 2)):
        expected = stats.binomtest(wins, wins + losses, alternative=side).pvalue
        assert sign_p(wins, losses, side) == pytest.approx(expected, rel=1e-9)
    assert sign_p(0, 0) == 1


@pytest.mark.parametrize("steps", [None, 5])
@pytest.mark.parametrize("side", SIDES)
def test_exact_randomisation_is_scipys(side: str, steps: int | None) -> None:
    for n in (2, 5, 12):
        d = differences(n, 3, steps)
        expected = stats.permutation_test(
            (d,), np.mean, permutation_type="samples", n_resamples=np.inf, alternative=side
        ).pvalue
        assert run_test("randomisation", d, side).p == pytest.approx(expected, rel=1e-9)


def test_monte_carlo_randomisation_is_near_the_exact_one() -> None:
    d = differences(16, 1)
    exact = run_test("randomisation", d, resampling=Resampling(permutations=2**16))
    assert exact.note == "exact"
    sampled = run_test("randomisation", d, resampling=Resampling(permutations=2**16 - 1))
    assert sampled.note != "exact"
    error = 4 * (exact.p * (1 - exact.p) / 2**16) ** 0.5
    assert sampled.p == pytest.approx(exact.p, abs=error)


def test_monte_carlo_never_gives_zero() -> None:
    how = Resampling(permutations=999)
    assert run_test("randomisation", np.linspace(1, 2, 40), resampling=how).p == 1 / 1000


def test_same_p_for_any_number_of_threads_and_another_for_another_seed() -> None:
    columns = [differences(700, seed) / 5 - 0.01 for seed in range(5)]
    one, eight = (randomisation(columns, resampling=Resampling(20_000, threads=t)) for t in (1, 8))
    assert one == eight
    assert one != randomisation(columns, resampling=Resampling(20_000, seed=1, threads=8))
    means = [bootstrap_means(columns, Resampling(threads=t)) for t in (1, 8)]
    assert all((a == b).all() for a, b in zip(*means, strict=True))


def test_columns_share_signs_but_not_results() -> None:
    columns = [differences(100, seed) for seed in range(7)]
    together = randomisation(columns, resampling=Resampling(5_000))
    assert together == [randomisation([c], resampling=Resampling(5_000))[0] for c in columns]


def test_ties_of_sums_are_not_decided_by_rounding() -> None:
    d = np.array([0.1, 0.2, 0.3, 0.1, -0.1, 0.1, 0.2, 0.1, -0.2, 0.1, 0.1, 0.1])
    whole = np.round(d * 10)
    assert run_test("randomisation", d).p == run_test("randomisation", whole).p


def test_bca_is_scipys_for_the_same_resamples() -> None:
    for n in (5, 30, 300):
        d = np.random.default_rng(n).exponential(1, n)
        means = bootstrap_means([d], Resampling())[0]
        expected = stats.bootstrap(
            (d,), np.mean, n_resamples=0, method="BCa",
            bootstrap_result=SimpleNamespace(bootstrap_distribution=means),
        ).confidence_interval  # fmt: skip
        assert bca_of(means, d, 0.95) == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("side", SIDES)
def test_where_formulas_have_no_value(name: str, side: str) -> None:
    assert run_test(name, np.zeros(5), side).p == 1
    assert run_test(name, np.array([0.3]), side).p == 1
    constant = run_test(name, np.array([0.9, 0.6, 0.4]) - np.array([0.8, 0.5, 0.3]), side)
    assert constant.p == pytest.approx((2 if side == "two-sided" else 1) / 2**3)
    assert constant.note == "constant difference"
    two = run_test(name, np.array([0.1, 0.4]), side)
    assert 0 < two.p <= 1
    far = run_test(name, np.full(5000, -1.0), "greater")
    assert far.p == 1


def test_intervals_where_formulas_have_no_value() -> None:
    assert bca_interval(np.array([0.3])) is None
    assert bca_interval(np.full(4, 0.25)) == (0.25, 0.25)
    # Resamples of five values reach at most their range, which covers in 15 of 16 cases only.
    assert all(bca_interval(np.arange(float(n))) is None for n in (2, 3, 4, 5))
    low, high = bca_interval(np.arange(6.0))  # type: ignore[misc]
    assert 0 <= low < 2.5 < high <= 5
    assert bca_interval(np.arange(5.0), 0.9) is not None


def test_a_p_too_small_for_a_number_is_not_zero() -> None:
    assert run_test("t", 1 + differences(6000) / 1e6).p > 0


def test_percentiles_are_tested_by_exchanging_systems() -> None:
    from goodgain.stats.quantiles import percentile

    rng = np.random.default_rng(0)
    a = rng.exponential(1, 400)
    how = Resampling(bootstraps=2_000)
    outcome, span = percentile_test(a, a * 1.5, 95, 0.95, how, percentile)
    assert outcome.p < 0.05
    assert span is not None
    assert span[0] < outcome.statistic < span[1]
    assert outcome.statistic == pytest.approx(np.percentile(a * 1.5, 95) - np.percentile(a, 95))
    assert percentile_test(a, a, 95, 0.95, how, percentile)[0].p == 1
    assert percentile_test(a[:1], a[1:2], 95, 0.95, how, percentile)[0].p == 1


@pytest.mark.parametrize("options", [{"permutations": 0}, {"seed": -1}, {"threads": 0}])
def test_bad_resampling(options: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        Resampling(**options)


def test_unknown_test() -> None:
    with pytest.raises(UsageError, match="unknown test 'z'"):
        run_test("z", differences(5))
