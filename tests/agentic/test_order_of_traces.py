"""The order of conversations, of systems and of labels changes no bit of any number."""

from __future__ import annotations

import random

import pytest

import goodgain as gg

GAINS = [0.1, 0.3, 0.7, 1.1, 2.3, 3.7, 1.9, 2.7]


def search(rng, query):
    results = []
    for _ in range(rng.randrange(7)):
        gain = {"gain": rng.choice(GAINS)} if rng.random() < 0.8 else {}
        results.append({"id": f"d{rng.randrange(30)}", **gain})
    return {"query": query, "latency": rng.random(), "cost": rng.random() / 7, "results": results}


def traces(seed, systems=("x", "y", "z"), repeats=("1", "2")):
    rng = random.Random(seed)
    return [
        {
            "conversation": f"c{c}", "system": system, "repeat": repeat,
            "turns": [{"user": "how?", "iterations": [
                {"searches": [search(rng, f"q{i}{j}") for j in range(rng.randint(1, 2))]}
                for i in range(rng.randrange(5))
            ]}],
        }
        for c in range(30) for system in systems for repeat in repeats
    ]  # fmt: skip


def numbers(result):
    """Every mean with its interval and bounds, and every value of a conversation."""
    facts = {}
    for system in result.systems:
        for measure in system.columns:
            for iteration in (None, 1, 2, 4):
                for align in ("active", "carry"):
                    facts[system.name, measure, iteration, align] = repr(
                        system.figure(measure, iteration, align)
                    )
            facts |= {(system.name, measure, c): repr(v) for c, v in system.final(measure).items()}
    return facts


@pytest.mark.parametrize(
    "settings", [{}, {"discount": "geometric"}, {"gain": "exp"}, {"unlabelled": "zero"}], ids=str
)
def test_good_gain(settings):
    ordered = traces(5)
    labels = [(f"c{c}", f"d{d}", (c * d) % 5) for c in range(0, 30, 2) for d in range(0, 30, 3)]
    expected = numbers(gg.good_gain(ordered, labels=gg.Qrels(labels), **settings))
    for seed in range(3):
        rng = random.Random(seed)
        shuffled, shuffled_labels = ordered[:], labels[:]
        rng.shuffle(shuffled)
        rng.shuffle(shuffled_labels)
        result = gg.good_gain(shuffled, labels=gg.Qrels(shuffled_labels), **settings)
        assert numbers(result) == expected


def test_stopping():
    ordered = traces(6, systems=("x",), repeats=("1",))
    rules = ["after 1", "after 2", "quiet 1", "quiet 2"]

    def outcomes(listed):
        return {o.rule: numbers_of(o) for o in gg.stopping(listed, rules).outcomes}

    expected = outcomes(ordered)
    for seed in range(3):
        shuffled = ordered[:]
        random.Random(seed).shuffle(shuffled)
        assert outcomes(shuffled) == expected


def numbers_of(outcome):
    """Without intervals, which resample conversations in their order."""
    figures = [outcome.retained, *outcome.saved.values()]
    exact = [(repr(f.value), repr(f.lower), repr(f.upper), f.n) for f in figures]
    return exact, repr(outcome.best), outcome.early, outcome.losing, outcome.undecided
