"""No mean stands outside its own bounds: over repeats, over conversations, at any iteration."""

from __future__ import annotations

import math
import random

import pytest
from gain_reference import draw
from test_gain_reference import measured

import goodgain as gg

SLACK = 1e-9


@pytest.mark.parametrize("unlabelled", ["unknown", "zero"])
@pytest.mark.parametrize("seed", range(6))
def test_every_figure_lies_within_its_bounds(seed, unlabelled):
    chance = random.Random(seed)
    result = measured([draw(chance, n) for n in range(60)], unlabelled=unlabelled)
    checked = 0
    for system in result.systems:
        for measure in system.measures:
            figures = [system.figure(measure)]
            if measure.definition.level != "system":
                figures += [
                    system.figure(measure, i, a) for i in (1, 2, 4) for a in ("active", "carry")
                ]
            for figure in figures:
                if math.isnan(figure.value) or math.isnan(figure.lower):
                    continue
                assert figure.lower - SLACK <= figure.value <= figure.upper + SLACK, measure
                checked += 1
            if measure.definition.level == "system":
                continue
            bounds = system.final_bounds(measure)
            for conversation, value in system.final(measure).items():
                low, high = bounds.get(conversation, (math.nan, math.nan))
                if value == value and low == low:
                    assert low - SLACK <= value <= high + SLACK, (measure, conversation)
                    checked += 1
    assert checked > 500


def run(repeat: str, *iterations: list[dict]) -> dict:
    steps = [{"searches": [{"query": "q", "results": results}]} for results in iterations]
    return {"conversation": "c", "repeat": repeat, "turns": [{"user": "?", "iterations": steps}]}


def test_a_repeat_that_may_have_no_good_result_does_not_move_the_bounds_past_the_mean():
    """The first run needs 1 iteration; the second has no known good result, perhaps one in its third."""
    good = {"id": "a", "gain": 4}
    bad = {"id": "b", "gain": 0}
    result = gg.good_gain([run("1", [good]), run("2", [bad], [bad], [{"id": "u"}])])
    figure = result.figure("IterationsForAllGoodResults")
    assert figure.value == 1
    assert (figure.lower, figure.upper) == (1, 2)  # the second run does not count, or counts with 3


def test_a_conversation_that_may_have_no_good_result_does_not_move_them_either():
    traces = [
        run("1", [{"id": "a", "gain": 4}]),
        {**run("1", [{"id": "b", "gain": 0}], [{"id": "u"}]), "conversation": "d"},
    ]
    figure = gg.good_gain(traces).figure("IterationsForAllGoodResults")
    assert (figure.value, figure.lower, figure.upper, figure.n) == (1, 1, 1.5, 1)
