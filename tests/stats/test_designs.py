"""Errors over queries and seeds, held against analyses of variance, mixed models and plain t-tests."""

import math
import warnings

import numpy as np
import pytest
from load_script import load_script
from scipy import stats

from goodgain.stats.anova import one_way_over_seeds
from goodgain.stats.designs import (
    MeanError,
    Term,
    apart_error,
    components,
    is_crossed,
    nested_error,
    seed_error,
)

RNG = np.random.default_rng(3)
TABLE = RNG.normal(0.1, 0.2, (12, 1)) + RNG.normal(0, 0.3, (1, 4)) + RNG.normal(0, 0.15, (12, 4))


def test_mean_squares_are_those_of_an_analysis_of_variance() -> None:
    import pandas as pd
    import statsmodels.formula.api as smf
    from statsmodels.stats.anova import anova_lm

    frame = pd.DataFrame(
        [{"q": f"q{q}", "s": f"s{s}", "x": TABLE[q, s]} for q in range(12) for s in range(4)]
    )
    table = anova_lm(smf.ols("x ~ C(q) + C(s)", frame).fit())
    squares = table["sum_sq"] / table["df"]
    own = components(TABLE)
    assert own.by_query.variance * 48 == pytest.approx(squares["C(q)"])
    assert own.by_seed.variance * 48 == pytest.approx(squares["C(s)"])
    assert own.rest * 48 == pytest.approx(squares["Residual"])
    assert own.seed == pytest.approx((squares["C(s)"] - squares["Residual"]) / 12)


def test_components_are_those_of_a_mixed_model() -> None:
    """Restricted maximum likelihood gives the same for a full table if no component is 0."""
    import pandas as pd
    import statsmodels.formula.api as smf

    frame = pd.DataFrame(
        [{"q": q, "s": s, "x": TABLE[q, s], "all": 1} for q in range(12) for s in range(4)]
    )
    model = smf.mixedlm("x ~ 1", frame, groups="all", vc_formula={"q": "0 + C(q)", "s": "0 + C(s)"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the gradient at the optimum that it reaches
        fit = model.fit(method="powell")
    own = components(TABLE)
    assert fit.vcomp == pytest.approx([own.query, own.seed], rel=1e-2)
    assert fit.scale == pytest.approx(own.residual, rel=1e-2)
    full = own.query / 12 + own.seed / 4 + own.residual / 48
    assert fit.bse["Intercept"] ** 2 == pytest.approx(full, rel=2e-2)
    assert seed_error(TABLE).variance == pytest.approx(full)


def test_one_source_of_variance_gives_the_plain_t_test() -> None:
    by_query = np.repeat(TABLE[:, :1], 5, 1)
    by_seed = np.repeat(TABLE[:1, :], 9, 0)
    for table, values in ((by_query, TABLE[:, 0]), (by_seed, TABLE[0])):
        error, expected = seed_error(table), stats.ttest_1samp(values, 0)
        mean = float(table.mean())
        assert error.p(mean) == pytest.approx(expected.pvalue, rel=1e-9)
        one_sided = stats.ttest_1samp(values, 0, alternative="greater").pvalue
        assert error.p(mean, "greater") == pytest.approx(one_sided, rel=1e-9)
        low, high = expected.confidence_interval()
        assert error.reach(0.95) == pytest.approx((high - low) / 2, rel=1e-9)


def test_queries_nested_in_seeds_are_tested_over_seeds() -> None:
    drawn = RNG.normal(0.1, 0.2, (5, 8)) + RNG.normal(0, 0.1, (5, 1))
    table = np.full((40, 5), np.nan)
    for seed in range(5):
        table[8 * seed : 8 * seed + 8, seed] = drawn[seed]
    assert not is_crossed(table)
    expected = stats.ttest_1samp(drawn.mean(1), 0).pvalue
    assert seed_error(table).p(float(drawn.mean())) == pytest.approx(expected, rel=1e-9)
    assert nested_error(table).terms[0].freedom == pytest.approx(4)


def test_missing_cells_leave_the_fit_by_least_squares() -> None:
    table = TABLE.copy()
    table[[0, 3, 7], [1, 2, 0]] = np.nan
    rows, columns = np.nonzero(~np.isnan(table))
    design = np.zeros((len(rows), 16))
    design[np.arange(len(rows)), rows] = 1
    design[np.arange(len(rows)), 12 + columns] = 1
    fit, *_ = np.linalg.lstsq(design, table[rows, columns])
    own = components(table)
    rest = table[rows, columns] - design @ fit
    assert own.residual == pytest.approx(float(rest @ rest) / (len(rows) - 15))
    assert own.by_query.variance == pytest.approx(fit[:12].var(ddof=1) / 12)
    weights = (~np.isnan(table) / (~np.isnan(table)).sum(1, keepdims=True)).sum(0) / 12
    assert own.by_seed.variance == pytest.approx(fit[12:].var(ddof=1) * (weights**2).sum())


@pytest.mark.parametrize("sizes", [(0.4, 0.6), (0.01, 1.0), (1.0, 0.0)])
def test_p_is_the_level_at_which_the_critical_value_is_reached(sizes: tuple[float, float]) -> None:
    error = MeanError((Term(sizes[0], 2), Term(sizes[1], 29)))
    for level in (0.9, 0.3, 0.05, 1e-3, 1e-6):
        mean = error.critical(level / 2) * math.sqrt(error.variance)
        assert error.p(mean) == pytest.approx(level, rel=1e-6)
        assert error.p(-mean) == pytest.approx(level, rel=1e-6)
        assert error.p(mean, "greater") == pytest.approx(level / 2, rel=1e-6)
        assert error.p(-mean, "greater") == pytest.approx(1 - level / 2, rel=1e-6)
    assert error.p(0.0) == 1
    assert 0 < error.p(1e12) < 1e-3


def test_the_critical_value_lies_between_those_of_the_terms() -> None:
    error = MeanError((Term(0.5, 2), Term(0.5, 29)))
    low, high = stats.t.ppf(0.975, 29), stats.t.ppf(0.975, 2)
    assert low < error.critical(0.025) < high
    assert stats.t.ppf(0.975, error.range_freedom()) == pytest.approx(error.critical(0.025))


def test_seeds_of_each_system_add_up() -> None:
    a, b = TABLE[:, :3], TABLE[:, 1:] + RNG.normal(0, 0.1, (12, 3))
    error, sides = apart_error(a, b), (components(a), components(b))
    assert error.terms[0].variance == pytest.approx(sum(s.by_seed.variance for s in sides))
    by_query = (b.mean(1) - a.mean(1)).var(ddof=1) / 12
    assert error.terms[1].variance == pytest.approx(max(0, by_query - sum(s.rest for s in sides)))
    assert 2 <= error.terms[0].freedom <= 4


@pytest.mark.slow
@pytest.mark.parametrize("design", ["shared", "fixed", "own"])
@pytest.mark.parametrize("seed_sd", [0.0, 0.02, 0.1])
def test_equal_systems_get_stars_in_five_of_a_hundred(design: str, seed_sd: float) -> None:
    """A short form of scripts/error_rates.py, which also holds every cell against `compare`."""
    script = load_script("error_rates")
    rng = np.random.default_rng(5)
    for queries, seeds in ((10, 3), (30, 3), (30, 5), (100, 10)):
        level, power, coverage = script.cell(design, queries, seeds, seed_sd, 4000, 0.0, rng)
        slack = 400 * math.sqrt(0.05 * 0.95 / 4000)
        assert script.LEAST[design] - slack / 2 < level < 6 + slack / 2
        assert coverage == pytest.approx(100 - level)
        assert power > 30


@pytest.mark.slow
@pytest.mark.parametrize("group_seed_sd", [0.0, 0.1])
def test_the_interaction_with_groups_rejects_five_in_a_hundred(group_seed_sd: float) -> None:
    rng = np.random.default_rng(9)
    labels = [*"aaaaaaaaaa", *"bbbbbbbbbbbbbb", *"cccccc"]
    group = np.array([ord(label) - ord("a") for label in labels])
    runs, rejected = 2000, 0
    for _ in range(runs):
        values = rng.normal(0, 0.1, (30, 1)) + rng.normal(0, 0.2, (1, 4))
        values = values + rng.normal(0, group_seed_sd, (3, 4))[group] + rng.normal(0, 0.1, (30, 4))
        rejected += (one_way_over_seeds(values, labels)[1] or 1) < 0.05
    assert 0.02 < rejected / runs < 0.07
