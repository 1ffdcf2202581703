"""Under the null hypothesis each test rejects five in a hundred, and intervals hold what they promise."""

import math

import numpy as np
import pytest

from goodgain.comparison.groups import one_way
from goodgain.comparison.gsb import gsb_counts
from goodgain.stats.effect import effect_interval, effect_size, t_interval
from goodgain.stats.paired import Resampling, bca_interval, run_test
from goodgain.stats.tukey import Tukey

pytestmark = pytest.mark.slow

RUNS = 2_000
HOW = Resampling(permutations=999, bootstraps=499)


def within(rate: float, promised: float, runs: int = RUNS, bias: float = 0.0) -> None:
    """Four standard errors of a simulation, and a known bias where a method has one."""
    error = 4 * math.sqrt(promised * (1 - promised) / runs) + bias
    assert abs(rate - promised) < error, (rate, promised, error)


@pytest.mark.parametrize(
    ("name", "n", "bias"),
    [("t", 20, 0), ("wilcoxon", 60, 0.002), ("randomisation", 30, 0), ("bootstrap", 60, 0.015)],
)
def test_tests_reject_five_in_a_hundred(name: str, n: int, bias: float) -> None:
    rng = np.random.default_rng(11)
    rejected = [run_test(name, rng.normal(0, 1, n), resampling=HOW).p < 0.05 for _ in range(RUNS)]
    within(float(np.mean(rejected)), 0.05, bias=bias)


def test_the_sign_test_rejects_at_most_what_its_steps_allow() -> None:
    rng = np.random.default_rng(12)
    rejected = [run_test("sign", rng.normal(0, 1, 40)).p < 0.05 for _ in range(RUNS)]
    within(float(np.mean(rejected)), 0.0385)  # of 40 throws: P(at most 13) + P(at least 27)


def test_exact_randomisation_of_steps_is_not_too_bold() -> None:
    rng = np.random.default_rng(13)
    rejected = [
        run_test("randomisation", rng.choice([-0.5, 0, 0.5], 9)).p < 0.05 for _ in range(RUNS)
    ]
    assert np.mean(rejected) < 0.05 + 4 * math.sqrt(0.05 * 0.95 / RUNS)


def test_tukey_errs_in_five_of_a_hundred_families() -> None:
    rng = np.random.default_rng(14)
    runs, errors = 400, 0
    for _ in range(runs):
        scores = rng.normal(0, 1, (25, 1)) + rng.normal(0, 1, (25, 4))
        means = scores.mean(0)
        errors += Tukey.of(scores).test(float(means.max() - means.min())).p < 0.05
    within(errors / runs, 0.05, runs)


def test_noninferiority_errs_in_five_of_a_hundred_at_the_margin() -> None:
    rng = np.random.default_rng(15)
    rejected = [
        run_test("t", rng.normal(-0.1, 0.3, 40) + 0.1, "greater").p < 0.05 for _ in range(RUNS)
    ]
    within(float(np.mean(rejected)), 0.05)


def test_interaction_rejects_five_in_a_hundred() -> None:
    rng = np.random.default_rng(16)
    labels = list("aabbbcccc") * 4
    rejected = [(one_way(rng.normal(0.3, 1, 36), labels)[1] or 1) < 0.05 for _ in range(RUNS)]
    within(float(np.mean(rejected)), 0.05)


def test_intervals_cover_the_truth() -> None:
    rng = np.random.default_rng(17)
    covered = {"t": 0, "bca": 0, "effect": 0}
    runs = 250
    for _ in range(runs):
        d = rng.normal(0.2, 1, 50)
        for name, span, truth in (
            ("t", t_interval(d), 0.2),
            ("bca", bca_interval(d, resampling=HOW), 0.2),
            ("effect", effect_interval(effect_size(d), 50), 0.2),  # type: ignore[arg-type]
        ):
            assert span is not None
            covered[name] += span[0] <= truth <= span[1]
    within(covered["t"] / runs, 0.95, runs)
    within(covered["effect"] / runs, 0.95, runs)
    within(
        covered["bca"] / runs, 0.95, runs, bias=0.015
    )  # bootstraps of few queries are a little short


@pytest.mark.parametrize("chances", [(0.4, 0.3, 0.3), (0.1, 0.85, 0.05)])
def test_gsb_intervals_cover_the_truth(chances: tuple[float, float, float]) -> None:
    rng = np.random.default_rng(18)
    truth = chances[0] - chances[2]
    covered = 0
    for good, same, bad in rng.multinomial(60, chances, RUNS):
        gsb = gsb_counts(int(good), int(same), int(bad))
        covered += gsb.low <= truth <= gsb.high
    within(covered / RUNS, 0.95, bias=0.02)
