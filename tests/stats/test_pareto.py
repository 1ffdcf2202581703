"""Standings: on the front by the means, dominated only where every axis shows it."""

from __future__ import annotations

import numpy as np
import pytest

from goodgain.stats.pareto import DOMINATED, ON_FRONT, OPEN, pareto_front, standings


def axes(rng, n, *means, spread=0.1):
    return [{f"q{i}": float(v) for i, v in enumerate(rng.normal(m, spread, n))} for m in means]


def points(values):
    return {s: tuple(float(np.mean(list(a.values()))) for a in own) for s, own in values.items()}


def test_a_system_shown_to_be_worse_on_every_axis_is_dominated():
    rng = np.random.default_rng(0)
    values = {"good": axes(rng, 60, 0.8, -1.0), "bad": axes(rng, 60, 0.5, -2.0)}
    stands = standings(points(values), values)
    assert {s: stand.name for s, stand in stands.items()} == {"good": ON_FRONT, "bad": DOMINATED}
    assert stands["bad"].rival == "good"


def test_better_means_on_one_axis_only_are_not_separable():
    rng = np.random.default_rng(0)
    noise = axes(rng, 60, 0.0)[0]
    values = {
        "good": [{q: 0.5 + v for q, v in noise.items()}, axes(rng, 60, -1.0)[0]],
        "slow": [{q: 0.4999 + v * 1.01 for q, v in noise.items()}, axes(rng, 60, -2.0)[0]],
    }
    means = {"good": (0.5, -1.0), "slow": (0.4999, -2.0)}
    assert standings(means, values)["slow"] == ("good", False)
    assert standings(means, values)["slow"].name == OPEN


def test_an_axis_without_any_difference_is_no_obstacle():
    rng = np.random.default_rng(0)
    same = axes(rng, 40, 0.5)[0]
    values = {"a": [same, axes(rng, 40, -1.0)[0]], "b": [same, axes(rng, 40, -2.0)[0]]}
    assert standings(points(values), values)["b"].name == DOMINATED


def test_nothing_is_shown_without_values():
    assert standings({"a": (1.0, 1.0), "b": (0.0, 0.0)})["b"].name == OPEN
    (a, b) = pareto_front({"a": 1.0, "b": 0.5}, {"a": 1.0, "b": 2.0})
    assert (a.standing, b.standing, b.beaten_by) == (ON_FRONT, OPEN, "a")
    empty = {"a": [{}, {}], "b": [{}, {}]}
    assert standings({"a": (1.0, 1.0), "b": (0.0, 0.0)}, empty)["b"].name == OPEN


@pytest.mark.parametrize("count", [4, 8])
def test_equal_systems_are_rarely_called_dominated(count):
    rng = np.random.default_rng(count)
    wrong = 0
    for _ in range(100):
        values = {f"s{i}": axes(rng, 30, 0.5, -1.0) for i in range(count)}
        stands = standings(points(values), values)
        wrong += any(stand.name == DOMINATED for stand in stands.values())
    assert wrong <= 10


def test_constant_differences_and_single_queries():
    queries = [f"q{i}" for i in range(12)]
    constant = {"a": [dict.fromkeys(queries, 1.0)] * 2, "b": [dict.fromkeys(queries, 0.0)] * 2}
    assert standings({"a": (1.0, 1.0), "b": (0.0, 0.0)}, constant)["b"].name == DOMINATED
    single = {"a": [{"q": 1.0}] * 2, "b": [{"q": 0.0}] * 2}
    assert standings({"a": (1.0, 1.0), "b": (0.0, 0.0)}, single)["b"].name == OPEN


def test_directions_are_turned():
    rng = np.random.default_rng(1)
    values = {"a": axes(rng, 50, 0.2, 3.0), "b": axes(rng, 50, 0.6, 1.0)}
    means = {s: points(values)[s] for s in values}
    front = pareto_front(
        {s: m[0] for s, m in means.items()},
        {s: m[1] for s, m in means.items()},
        lower_is_better=True,
        price_lower_is_better=False,
        values=values,
    )
    assert {t.system: t.standing for t in front} == {"a": ON_FRONT, "b": DOMINATED}
