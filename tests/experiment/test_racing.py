"""The race itself: who is dropped, when, and how often wrongly."""

from __future__ import annotations

import math

import numpy as np
import pytest

from goodgain.errors import UsageError
from goodgain.experiment.racing import NONE_LEFT, ONE_LEFT, TIED, Budget, Race, Rules


def rules(**changes):
    return Rules(**{"low": 0, "high": 1, **changes})


def run(table, names, race, until_over=True):
    """Race rows of values; the number of calls."""
    calls = 0
    for row in table:
        live = race.live
        calls += len(live)
        race.observe({name: row[names.index(name)] for name in live})
        if until_over and race.outcome():
            break
    return calls


def draw(rng, n, effects):
    strength = rng.normal(0, 1, (n, 1)) + rng.normal(0, 0.7, (n, len(effects))) + effects
    return 1 / (1 + np.exp(-2 * strength))


def test_a_clearly_worse_setting_is_dropped_and_the_best_is_left():
    race = Race(["a", "b"], rules())
    calls = run([[0.9, 0.1]] * 50, ["a", "b"], race)
    assert (race.live, race.outcome()) == (["a"], ONE_LEFT)
    assert race.dropped["b"].reason == "worse"
    assert race.dropped["b"].rival == "a"
    assert calls < 30


def test_lower_can_be_better_and_ranges_are_scaled():
    race = Race(["a", "b"], rules(low=-2, high=6, sign=-1))
    run([[-1.0, 5.0]] * 50, ["a", "b"], race)
    assert race.live == ["a"]
    assert race.means()["a"] == pytest.approx(-1)


def test_equal_settings_are_tied_only_after_enough_queries():
    race = Race(["a", "b"], rules(margin=0.05))
    run([[0.5, 0.5]] * 40, ["a", "b"], race)
    assert race.outcome() is None  # a share of unseen queries could still differ
    run([[0.5, 0.5]] * 100, ["a", "b"], race)
    assert race.outcome() == TIED


def test_undefined_values_decide_nothing():
    race = Race(["a", "b"], rules())
    run([[math.nan, 0.0]] * 100, ["a", "b"], race)
    assert race.outcome() is None
    assert race.live == ["a", "b"]


def test_the_best_is_dropped_at_most_alpha_however_often_one_looks():
    """A short form of scripts/racing_rates.py: all settings are the best, looked at after every query."""
    rng = np.random.default_rng(5)
    names = ["a", "b", "c", "d"]
    wrong = 0
    for _ in range(120):
        race = Race(names, rules(alpha=0.1))
        run((rng.random((150, 4)) < 0.5).astype(float), names, race)
        wrong += "a" in race.dropped
    assert wrong <= 18


def test_a_race_saves_calls():
    rng = np.random.default_rng(6)
    names = [f"s{i}" for i in range(6)]
    effects = np.array([0.8, 0, 0, -0.2, -0.4, -0.6])
    race = Race(names, rules())
    calls = run(draw(rng, 200, effects), names, race)
    assert race.leader() == "s0"
    assert calls < 0.5 * 1200


# --- budgets ---


@pytest.mark.parametrize(
    ("text", "limit", "percent"),
    [("50ms", 0.05, 95), ("p99=1.5s", 1.5, 99), ("0.2", 0.2, 95), (0.2, 0.2, 95), ("2 s", 2, 95),
     ("p99.9=800us", 0.0008, 99.9), ("1min", 60, 95)],
)  # fmt: skip
def test_budgets_are_read(text, limit, percent):
    budget = Budget.of("latency", text)
    assert (budget.limit, budget.percent) == (pytest.approx(limit), pytest.approx(percent))


@pytest.mark.parametrize(
    "text", ["50 parsec", "p0=1s", "p100=1s", "-1s", "nan", "", "p95", "p=1s", "0ms", "inf"]
)
def test_bad_budgets_are_refused(text):
    with pytest.raises(UsageError, match=f"invalid latency budget '{text}'"):
        Budget.of("latency", text)


def test_costs_have_no_unit():
    assert Budget.of("cost", "p50=0.002") == Budget("cost", 0.002, 50)
    with pytest.raises(UsageError, match="invalid cost budget '2ms'"):
        Budget.of("cost", "2ms")


def test_a_setting_surely_over_the_budget_is_dropped_for_good():
    race = Race(["slow", "fast"], rules(budgets=(Budget("latency", 0.05),)))
    for i in range(20):
        if "slow" in race.live:
            race.observe_calls("slow", f"q{i}", {"latency": [0.08]})
        race.observe_calls("fast", f"q{i}", {"latency": [0.01]})
        race.observe(dict.fromkeys(race.live, 0.5))
    assert race.dropped["slow"].reason == "latency"
    assert race.dropped["slow"].queries < 5
    assert race.outcome() == ONE_LEFT


def test_a_few_slow_calls_are_no_evidence_of_a_percentile():
    race = Race(["a", "b"], rules(budgets=(Budget("latency", 0.05),)))
    for i in range(100):
        seconds = 0.08 if i % 25 == 0 else 0.01  # 4 % are slow: p95 is within
        race.observe_calls("a", f"q{i}", {"latency": [seconds]})
        race.observe_calls("a", f"q{i}", {"latency": [9.0]})  # the same query counts once
    assert race.live == ["a", "b"]


def test_who_was_beaten_only_by_a_setting_over_the_budget_returns():
    race = Race(["slow", "fast", "bad"], rules(budgets=(Budget("latency", 0.05, 50),)))
    for _ in range(60):
        race.observe({n: {"slow": 0.95, "fast": 0.5, "bad": 0.02}[n] for n in race.live})
    assert race.live == ["slow"]
    before = race.queries
    for i in range(40):
        race.observe_calls("slow", f"q{i}", {"latency": [0.09]})
    assert race.dropped["slow"].reason == "latency"
    assert race.live == ["fast", "bad"] or race.live == ["fast"]
    assert race.dropped.get("bad") is None or race.dropped["bad"].rival == "fast"
    race.catch_up("fast", dict.fromkeys(range(before), 0.5))
    if "bad" in race.live:
        race.catch_up("bad", dict.fromkeys(range(before), 0.02))
    assert race.live == ["fast"]


def test_nobody_within_the_budget():
    race = Race(["a", "b"], rules(budgets=(Budget("latency", 0.05),)))
    for i in range(10):
        for name in race.live:
            race.observe_calls(name, f"q{i}", {"latency": [0.2]})
    assert race.outcome() == NONE_LEFT


def test_the_race_depends_on_the_observations_only():
    rng = np.random.default_rng(8)
    table = draw(rng, 60, np.array([0.6, 0.5, 0]))
    names = ["a", "b", "c"]
    one, other = Race(names, rules()), Race(names, rules())
    run(table, names, one, until_over=False)
    other.observe({"a": table[0][0], "b": table[0][1]})
    other.catch_up("c", {0: table[0][2]})
    run(table[1:], names, other, until_over=False)
    assert one.dropped == other.dropped
    assert one.means() == other.means()
