"""Corrections, effect sizes, power, margins, Tukey, F test: against statsmodels and scipy."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import DescrStatsW, ttost_paired

from goodgain.errors import UsageError
from goodgain.stats.anova import one_way
from goodgain.stats.corrections import correct
from goodgain.stats.designs import seed_error
from goodgain.stats.effect import (
    effect_interval,
    effect_size,
    minimum_detectable,
    queries_needed,
    t_interval,
)
from goodgain.stats.margin import Margin
from goodgain.stats.paired import run_test
from goodgain.stats.seeds import seed_spread
from goodgain.stats.tukey import Tukey

RNG = np.random.default_rng(4)
D = RNG.normal(0.03, 0.2, 40)


@pytest.mark.parametrize(
    ("ours", "theirs"), [("holm", "holm"), ("bonferroni", "bonferroni"), ("bh", "fdr_bh")]
)
def test_corrections_are_those_of_statsmodels(ours: str, theirs: str) -> None:
    for n in (1, 2, 7, 40):
        p = RNG.uniform(0, 0.3, n).round(2)
        assert correct(list(p), ours) == pytest.approx(
            multipletests(p, method=theirs)[1], rel=1e-12
        )


def test_no_correction_and_an_unknown_one() -> None:
    assert correct([0.3, 0.01], "none") == [0.3, 0.01]
    assert correct([], "holm") == []
    with pytest.raises(UsageError, match="unknown correction 'sidak'"):
        correct([0.1], "sidak")


def test_t_interval_is_that_of_statsmodels() -> None:
    assert t_interval(D) == pytest.approx(DescrStatsW(D).tconfint_mean(), rel=1e-9)
    assert t_interval(D[:1]) is None
    assert t_interval(np.full(3, 0.5)) == (0.5, 0.5)


def test_effect_size_and_the_interval_by_the_noncentral_t() -> None:
    for d in (D, D[:3], D + 1):
        size = effect_size(d)
        assert size == pytest.approx(d.mean() / d.std(ddof=1))
        low, high = effect_interval(size, len(d))
        t, df, root = size * len(d) ** 0.5, len(d) - 1, len(d) ** 0.5
        assert stats.nct.sf(t, df, low * root) == pytest.approx(0.025, abs=1e-9)
        assert stats.nct.sf(t, df, high * root) == pytest.approx(0.975, abs=1e-9)
    assert effect_size(np.zeros(4)) == 0
    assert effect_size(np.ones(4)) is None
    assert effect_size(np.ones(1)) is None


def test_minimum_detectable_effect_is_that_of_statsmodels() -> None:
    for n in (3, 10, 40):
        d = D[:n]
        size = TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8)
        assert minimum_detectable(d) == pytest.approx(size * d.std(ddof=1), rel=1e-6)
    assert minimum_detectable(np.ones(5)) is None
    assert minimum_detectable(D[:1]) is None


def test_queries_needed_gives_the_power() -> None:
    needed = queries_needed(D, 0.05, 0.05)
    assert needed is not None
    power = TTestPower().power(0.05 / D.std(ddof=1), needed, 0.05, alternative="larger")
    assert power == pytest.approx(0.8, abs=0.02)
    assert queries_needed(D, -0.1, 0.05) is None


def test_equivalence_is_that_of_statsmodels() -> None:
    a = RNG.uniform(0, 1, 40)
    p, lower, upper = ttost_paired(a + D, a, -0.1, 0.1)
    ours = run_test("t", D + 0.1, "greater").p, run_test("t", 0.1 - D, "greater").p
    assert ours == pytest.approx((lower[1], upper[1]), rel=1e-9)
    assert max(ours) == pytest.approx(p, rel=1e-9)


def test_margins() -> None:
    assert Margin.of(None) is None
    assert Margin.of(0.01).value("AP", 0.5) == 0.01
    assert Margin.of("2%").value("AP", 0.5) == pytest.approx(0.01)
    mixed = Margin.of({"": 0.02, "AP": "1%"})
    assert mixed.value("AP", 0.5) == pytest.approx(0.005)
    assert mixed.value("RR", 0.5) == 0.02
    assert Margin.of({"AP": 1}).value("RR", 0.5) is None
    assert str(mixed) == "0.02, AP 1%"
    for bad in ("x", -1, "nan", "inf"):
        with pytest.raises(UsageError, match="must be a non-negative number"):
            Margin.of(bad)


def test_tukey_takes_out_the_queries() -> None:
    scores = RNG.uniform(0, 1, 30)[:, None] + RNG.normal(0, 0.1, (30, 4)) + [0, 0.02, 0.05, 0.1]
    tukey = Tukey.of(scores)
    # Two-way table by hand: what is left of the total after systems and queries.
    total = ((scores - scores.mean()) ** 2).sum()
    systems = 30 * ((scores.mean(0) - scores.mean()) ** 2).sum()
    queries = 4 * ((scores.mean(1) - scores.mean()) ** 2).sum()
    error = (total - systems - queries) / (29 * 3)
    assert tukey.error == pytest.approx(error, rel=1e-9)
    difference = scores[:, 3].mean() - scores[:, 0].mean()
    q = difference / np.sqrt(error / 30)
    expected = stats.studentized_range.sf(q, 4, 87)
    assert tukey.test(difference).p == pytest.approx(expected, abs=1e-9)
    assert stats.studentized_range.sf(
        tukey.reach(0.95) / np.sqrt(error / 30), 4, 87
    ) == pytest.approx(0.05)
    # For two systems it is the paired t-test.
    pair = Tukey.of(scores[:, :2])
    t = stats.ttest_rel(scores[:, 1], scores[:, 0])
    assert pair.test(float((scores[:, 1] - scores[:, 0]).mean())).p == pytest.approx(
        t.pvalue, abs=1e-9
    )


def test_tukey_where_its_formula_has_no_value() -> None:
    column = RNG.uniform(0, 1, (6, 1))
    constant = Tukey.of(np.hstack([column, column + 0.1, column]))
    assert constant.test(0.1).p == pytest.approx(3 * 2 / 2**6)
    assert constant.test(0.0).p == 1
    assert constant.reach(0.95) == 0
    one = Tukey.of(np.array([[0.1, 0.2]]))
    assert one.test(0.1).p == 1
    assert one.reach(0.95) is None


def test_interaction_is_scipys_analysis_of_variance() -> None:
    labels = ["a", "b", "c", "a", "b"] * 8
    values = D + [0.1 * (x == "a") for x in labels]
    parts = [[v for v, x in zip(values, labels, strict=True) if x == g] for g in "abc"]
    expected = stats.f_oneway(*parts)
    f, p, note = one_way(values, labels)
    assert (f, p) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)
    assert note == ""
    assert one_way(D[:3], ["a", "a", "a"]) == (None, None, "one group")
    assert one_way(D[:2], ["a", "b"]) == (None, None, "one query a group")
    assert one_way(np.zeros(4), ["a", "a", "b", "b"]) == (0.0, 1.0, "no difference")
    assert one_way(np.array([1.0, 1, 2, 2]), ["a", "a", "b", "b"])[1] is None


def test_seeds_separate_the_two_variances() -> None:
    rng = np.random.default_rng(0)
    queries, seeds = 400, 60
    scores = (
        0.5
        + rng.normal(0, 0.2, (queries, 1))
        + rng.normal(0, 0.03, (1, seeds))
        + rng.normal(0, 0.1, (queries, seeds))
    )
    spread = seed_spread("s", "m", scores)
    assert spread is not None
    assert spread.between_queries == pytest.approx(0.2, rel=0.1)
    assert spread.between_seeds == pytest.approx(0.03, rel=0.25)
    assert spread.rest == pytest.approx(0.1, rel=0.05)
    assert seed_spread("s", "m", scores[:, :1]) is None
    assert seed_spread("s", "m", scores[:1]) is None
    same = seed_spread("s", "m", np.repeat(scores[:, :1], 3, 1))
    assert same is not None
    assert same.between_seeds == same.rest == 0
    # Seeds that do not differ leave the t-test as it is; seeds that do make it more careful.
    d = scores[:40, 0] - 0.45
    t = stats.ttest_1samp(d, 0).pvalue
    identical = np.repeat(d[:, None], 3, 1)
    assert seed_error(identical).p(float(d.mean())) == pytest.approx(t)
    shifted = identical + np.array([-0.03, 0.0, 0.03])
    assert seed_error(shifted).p(float(shifted.mean())) > t
