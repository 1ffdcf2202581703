"""Which measures are weighted sums of labels: found out by trying them, so that new ones need no entry."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

from goodgain.ranking import Evaluator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodgain.measures import Measure

LONGEST = 100  # documents of a list without a cut-off
_TRIALS = 40
_CLOSE = 1e-9


class Reach(NamedTuple):
    """What the value of a measure depends on.

    `weights[i]` is what the document at rank i + 1 contributes with the highest grade, and `shares` what
    each grade is of that; both are empty if the measure is not a weighted sum of labels with weights that
    are fixed beforehand. `local` says that only retrieved documents count, within the cut-off.
    """

    weights: tuple[float, ...]
    shares: dict[float, float]
    local: bool

    @property
    def linear(self) -> bool:
        """Whether it is a weighted sum of labels."""
        return bool(self.weights)


def reach_of(measure: Measure, length: int, grades: Sequence[float]) -> Reach:
    """How a measure depends on the labels of a ranked list of `length` documents with these grades."""
    own = sorted({0.0, *map(float, grades)})
    if len(own) == 1:
        own.append(1.0)
    rng = random.Random(1)
    lists = [[0.0] * length]
    lists += [
        [grade if i == rank else 0.0 for i in range(length)]
        for rank in range(length)
        for grade in own
        if grade
    ]
    trials = [[rng.choice(own) for _ in range(length)] for _ in range(_TRIALS)]
    elsewhere = [[rng.choice(own) for _ in range(4)] for _ in trials]
    values = _values(
        measure, [*lists, *trials, *trials], [[]] * len(lists) + elsewhere + [[]] * len(trials)
    )
    base, single = values[0], values[1 : len(lists)]
    with_others, alone = values[len(lists) : len(lists) + _TRIALS], values[-_TRIALS:]
    local = all(_same(a, b) for a, b in zip(with_others, alone, strict=True))
    nothing = Reach((), {}, local)
    if not local or not _same(base, 0.0):
        return nothing
    steps = [grade for grade in own if grade]
    table = [
        dict(zip(steps, single[i * len(steps) : (i + 1) * len(steps)], strict=True)) | {0.0: 0.0}
        for i in range(length)
    ]
    for trial, value in zip(trials, alone, strict=True):
        if not _same(value, sum(row[grade] for row, grade in zip(table, trial, strict=True))):
            return nothing
    lower = [own[-2]] + [0.0] * (length - 1)  # in a collection without the highest grade
    if not _same(_values(measure, [lower], [[]])[0], table[0][own[-2]]):
        return nothing
    top = own[-1] if own[-1] > 0 else own[0]
    weights = tuple(row[top] for row in table)
    first = next((i for i, weight in enumerate(weights) if weight), None)
    if first is None:
        return nothing
    shares = {grade: table[first][grade] / weights[first] for grade in own}
    fits = all(
        _same(row[grade], weight * shares[grade])
        for row, weight in zip(table, weights, strict=True)
        for grade in own
    )
    return Reach(weights, shares, local) if fits else nothing


def _values(
    measure: Measure, lists: list[list[float]], elsewhere: list[list[float]]
) -> list[float]:
    qrels = {
        f"{number:06d}": {
            **{f"d{i}": grade for i, grade in enumerate(grades)},
            **{f"other{i}": grade for i, grade in enumerate(others)},
        }
        for number, (grades, others) in enumerate(zip(lists, elsewhere, strict=True))
    }
    run = {
        query: {f"d{i}": float(len(lists[0]) - i) for i in range(len(lists[0]))} for query in qrels
    }
    scores = Evaluator(qrels, measure).evaluate({"probe": run}).runs[0]
    by_query = dict(zip(scores.queries, scores.column(measure), strict=True))
    return [by_query[query] for query in qrels]


def _same(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= _CLOSE * max(1.0, abs(a), abs(b))
