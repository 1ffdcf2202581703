"""The best of several settings: the winner's curse, intervals, and too few queries."""

from __future__ import annotations

import math

import numpy as np
import pytest

import goodgain as gg
from goodgain.errors import GoodgainError, UsageError
from goodgain.experiment.choice import LEAST_QUERIES, choose, choose_by_family, estimate
from goodgain.measures.grammar import parse


def values_of(table):
    columns = enumerate(table.T)
    return {f"s{k}": {f"q{i}": float(v) for i, v in enumerate(own)} for k, own in columns}


def test_the_estimate_of_equal_settings_is_not_optimistic():
    """20 settings of the same mean: in sample the best is above it, held out it is not."""
    rng = np.random.default_rng(4)
    held_out, in_sample, covered = [], [], 0
    for seed in range(60):
        table = np.clip(rng.normal(0.5, 0.15, (60, 1)) + rng.normal(0, 0.15, (60, 20)), 0, 1)
        choice = choose(values_of(table), seed=seed)
        held_out.append(choice.estimate.mean)
        in_sample.append(choice.in_sample)
        covered += choice.estimate.low <= 0.5 <= choice.estimate.high
    assert np.mean(in_sample) > 0.52
    assert abs(np.mean(held_out) - 0.5) < 0.01
    assert covered >= 53


def test_the_choice_is_the_best_on_all_queries():
    rng = np.random.default_rng(0)
    table = rng.random((50, 4)) * 0.5
    table[:, 2] += 0.4
    choice = choose(values_of(table))
    assert choice.setting == "s2"
    assert choice.picks == (("s2", 200),)
    assert choice.in_sample == pytest.approx(table[:, 2].mean())
    assert choice.estimate.mean == pytest.approx(choice.in_sample)
    assert choice.method.startswith("chosen on 40 queries, measured on the other 10 (5-fold")


def test_lower_is_better():
    rng = np.random.default_rng(0)
    table = rng.random((40, 3))
    table[:, 1] *= 0.3
    choice = choose(values_of(table), sign=-1)
    assert choice.setting == "s1"
    assert choice.estimate.mean == pytest.approx(table[:, 1].mean())


def test_a_seed_gives_the_same_numbers():
    table = np.random.default_rng(1).random((40, 5))
    assert choose(values_of(table), seed=3) == choose(values_of(table), seed=3)
    assert choose(values_of(table), seed=3).estimate != choose(values_of(table), seed=4).estimate


def test_too_few_queries_have_no_interval():
    table = np.random.default_rng(1).random((LEAST_QUERIES - 1, 3))
    measured = choose(values_of(table)).estimate
    assert (measured.low, measured.high) == (None, None)
    assert measured.too_few == f"too few queries, {LEAST_QUERIES - 1} of at least {LEAST_QUERIES}"
    assert "no interval: too few" in str(measured)
    same = estimate([1.0] * 60 + [0.0] * 3)
    assert same.too_few == "too few queries differ, 3 of at least 5"
    assert same.low is None
    assert estimate([math.nan] * 9 + [0.1 * i for i in range(21)]).queries == 21


def test_undefined_queries_count_for_no_setting():
    table = np.random.default_rng(1).random((40, 2))
    values = values_of(table)
    values["s0"]["q3"] = math.nan
    del values["s1"]["q4"]
    choice = choose(values)
    assert choice.estimate.queries == 38


def test_families():
    table = np.random.default_rng(1).random((40, 4))
    choices = choose_by_family(
        values_of(table), {"a": ["s0", "s1"], "b": ["s2"]}, parse("nDCG@10"), seed=1
    )
    assert [c.family for c in choices.choices] == ["a", "all systems"]
    assert choices.best.settings == 4
    assert "on held-out queries" in str(choices)
    assert "in sample" in choices.render("markdown")
    assert '"too_few"' in choices.render("json")


def test_too_many_folds():
    with pytest.raises(UsageError, match="cannot split 3 queries into 5 folds"):
        choose(values_of(np.ones((3, 2))))


def test_an_experiment_chooses(tmp_path):
    documents = {f"d{i}": f"text {i}" for i in range(30)}
    queries = {f"q{i}": f"text {i}" for i in range(30)}
    qrels = {f"q{i}": {f"d{i}": 1} for i in range(30)}

    def right(query):
        return [f"d{query.split()[1]}"]

    def half(query):
        return right(query) if int(query.split()[1]) % 2 else ["d-none"]

    systems = {"half": half, "right": right}
    experiment = gg.Experiment(documents, queries, qrels, systems, measures="RR P@1", warmup=0)
    result = experiment.run(tmp_path)
    assert result.choose().best.setting == "right"
    assert gg.ExperimentResult.open(tmp_path).choose("P@1").best.in_sample == 1
    assert "too few queries differ" in str(result.choose())
    with pytest.raises(GoodgainError, match="has no measure 'nDCG@10'"):
        result.choose("nDCG@10")
    with pytest.raises(GoodgainError, match="one measure decides, got RR, P@1"):
        result.choose("RR P@1")
