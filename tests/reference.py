"""The measures once more, slowly: plain Python written from the definitions, for comparison only.

`value(name, ranking, query, cutoff, **params)` takes the retrieved documents in rank order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import groupby, permutations, product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

NAN = math.nan
Row = tuple[str, float, "str | None", "str | None"]


@dataclass
class Judged:
    """The judgements of one query; `top` is the highest gain of the collection, at least 1."""

    gains: dict[str, float]
    top: float
    rows: list[Row] = field(default_factory=list)
    coverage: frozenset[str] | None = None  # documents really judged, where gains are supposed

    def is_judged(self, doc: str) -> bool:
        return doc in (self.gains if self.coverage is None else self.coverage)


def judged_from(rows: Sequence[Row], top: float | None = None) -> Judged:
    gains: dict[str, float] = {}
    for doc, gain, _, _ in rows:
        gains[doc] = max(gain, gains.get(doc, gain))
    highest = max([1.0, *gains.values()]) if top is None else top
    return Judged(gains, highest, list(rows))


_TABLE: dict[str, Callable[..., float]] = {}


def measure(function: Callable[..., float]) -> Callable[..., float]:
    _TABLE[function.__name__] = function
    return function


def measure_named(name: str) -> Callable[[Callable[..., float]], Callable[..., float]]:
    def add(function: Callable[..., float]) -> Callable[..., float]:
        _TABLE[name] = function
        return function

    return add


def names() -> set[str]:
    return set(_TABLE)


def value(
    name: str, ranking: Sequence[str], q: Judged, cutoff: float | None = None, **params
) -> float:
    return _TABLE[name](list(ranking), q, cutoff, **params)


# --- gain ---


def graded(g: float | None, gain: str) -> float:
    if g is None or g <= 0:
        return 0.0
    return 2**g - 1 if gain == "exp" else g


def dcg_of(gains: Sequence[float]) -> float:
    return math.fsum(g / math.log2(i + 1) for i, g in enumerate(gains, 1))


@measure
def CG(docs, q, k, gain="linear"):  # noqa: N802
    return math.fsum(graded(q.gains.get(d), gain) for d in docs[:k])


@measure
def DCG(docs, q, k, gain="linear"):  # noqa: N802
    return dcg_of([graded(q.gains.get(d), gain) for d in docs[:k]])


@measure
def nDCG(docs, q, k, gain="linear", ideal="judged"):  # noqa: N802
    pool = q.gains.values() if ideal == "judged" else [q.gains.get(d) for d in docs]
    best = dcg_of(sorted((graded(g, gain) for g in pool), reverse=True)[:k])
    return DCG(docs, q, k, gain) / best if best else 0.0


@measure
def Rndcg(docs, q, _, gain="linear"):  # noqa: N802
    ideal = sorted((g for g in q.gains.values() if g > 0), reverse=True)
    if not ideal:
        return 0.0
    ends = [i for i in range(1, len(ideal) + 1) if i == len(ideal) or ideal[i] != ideal[i - 1]]
    worth = [graded(g, gain) for g in ideal]
    points = [DCG(docs, q, b, gain) / dcg_of(worth[:b]) for b in ends]
    if len(docs) > len(ideal) + 1:
        points.append(DCG(docs, q, None, gain) / dcg_of(worth))
    return sum(points) / len(points)


def err_of(gains: Sequence[float | None], top: float) -> float:
    total, reading = 0.0, 1.0
    for i, g in enumerate(gains, 1):
        stop = (2 ** min(g, top) - 1) / 2**top if g is not None and g > 0 else 0.0
        total += reading * stop / i
        reading *= 1 - stop
    return total


@measure
def ERR(docs, q, k, max_grade=None):  # noqa: N802
    return err_of([q.gains.get(d) for d in docs[:k]], max_grade or q.top)


@measure
def nERR(docs, q, k, max_grade=None):  # noqa: N802
    best = err_of(sorted(q.gains.values(), reverse=True)[:k], max_grade or q.top)
    return ERR(docs, q, k, max_grade) / best if best else 0.0


@measure
def RBP(docs, q, k, p=0.8, rel=None, max_grade=None):  # noqa: N802
    def worth(g):
        if g is None or g <= 0:
            return 0.0
        return float(g >= rel) if rel else min(1.0, g / (max_grade or q.top))

    return (1 - p) * math.fsum(worth(q.gains.get(d)) * p**i for i, d in enumerate(docs[:k]))


@measure
def RBP_resid(docs, q, k, p=0.8):  # noqa: N802
    seen = docs[:k]
    open_ranks = math.fsum((1 - p) * p**i for i, d in enumerate(seen) if not q.is_judged(d))
    return open_ranks + p ** len(seen)


# --- over all orders ---


def orders(run: Sequence[tuple[str, float]]) -> Iterator[list[str]]:
    """Every ranking that the scores allow, each equally likely."""
    ranked = sorted(run, key=lambda item: -item[1])
    blocks = [[doc for doc, _ in block] for _, block in groupby(ranked, key=lambda item: item[1])]
    for choice in product(*(permutations(block) for block in blocks)):
        yield [doc for block in choice for doc in block]


def by_docid(run: Sequence[tuple[str, float]]) -> list[str]:
    """Score descending, then document id descending in byte order."""
    by_id = sorted(run, key=lambda item: item[0].encode(), reverse=True)
    return [doc for doc, _ in sorted(by_id, key=lambda item: -item[1])]


def supposed(ranking: Sequence[str], q: Judged) -> Iterator[Judged]:
    """The query with every choice of gains for the unjudged documents retrieved."""
    unknown = [d for d in ranking if d not in q.gains]
    grades = sorted({0.0, q.top, *(g for g in q.gains.values() if g > 0)})
    for choice in product(grades, repeat=len(unknown)):
        gains = {**q.gains, **dict(zip(unknown, choice, strict=True))}
        yield Judged(gains, q.top, q.rows, frozenset(q.gains))
