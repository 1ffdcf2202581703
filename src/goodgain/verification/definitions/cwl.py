"""The C/W/L framework: a reader goes on from rank i with probability C(i); every document costs 1."""

from __future__ import annotations

import math
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING

from goodgain.verification.definitions.common import Cutoff, Docs, Judged, measure

if TYPE_CHECKING:
    from collections.abc import Callable

_LONGEST = 1000  # shorter lists go on with documents of no gain


def _shares(docs: Docs, q: Judged, max_grade: float | None) -> list[float]:
    top = max_grade or q.top
    gains = [min(max(q.gains.get(d, 0.0), 0.0), top) / top for d in docs[:_LONGEST]]
    return gains + [0.0] * (_LONGEST - len(gains))


def _expectation(gains: list[float], go_on: list[float], expected: str) -> float:
    """Sums over ranks: W(i) is the share of attention at i, L(i) the probability of ending there."""
    reached = list(accumulate(go_on[:-1], mul, initial=1.0))
    ends = [a * (1 - c) for a, c in zip(reached, go_on, strict=True)]
    items = math.fsum(reached)
    if expected == "items":
        return items
    if expected == "cost":
        return 1.0
    if expected == "total-cost":
        return math.fsum(e * i for i, e in enumerate(ends, 1))
    if expected == "total-utility":
        return math.fsum(e * total for e, total in zip(ends, accumulate(gains), strict=True))
    return math.fsum(a / items * g for a, g in zip(reached, gains, strict=True))


def _model(
    docs: Docs,
    q: Judged,
    max_grade: float | None,
    expected: str,
    go_on: Callable[[int, float, float], float],
) -> float:
    """`go_on(rank, gain, gain so far)`."""
    gains = _shares(docs, q, max_grade)
    total, chances = 0.0, []
    for rank, gain in enumerate(gains, 1):
        total += gain
        chances.append(go_on(rank, gain, total))
    return _expectation(gains, chances, expected)


def _decay(at: float) -> float:
    return ((at - 1) / at) ** 2


@measure
def INST(
    docs: Docs,
    q: Judged,
    _: Cutoff,
    T: float = 1.0,  # noqa: N803
    max_grade: float | None = None,
    expected: str = "utility",
) -> float:
    return _model(docs, q, max_grade, expected, lambda i, _g, total: _decay(i + 2 * T - total))


@measure
def INSQ(
    docs: Docs,
    q: Judged,
    _: Cutoff,
    T: float = 1.0,  # noqa: N803
    max_grade: float | None = None,
    expected: str = "utility",
) -> float:
    return _model(docs, q, max_grade, expected, lambda i, _g, _total: _decay(i + 2 * T))


@measure
def BPM(
    docs: Docs,
    q: Judged,
    k: int,
    T: float = 1.0,  # noqa: N803
    hb: float = 0.0,
    hc: float = 0.0,
    median: float = 0.5,
    max_grade: float | None = None,
    expected: str = "utility",
) -> float:
    gains = _shares(docs, q, max_grade)
    wanted, last, total, chances = T, float(k), 0.0, []
    for rank, gain in enumerate(gains, 1):
        total += gain
        chances.append(1.0 if total < wanted and rank < last else 0.0)
        wanted += hb * (gain - median)
        last += hc * (gain - median)
    return _expectation(gains, chances, expected)


@measure
def SDCG(
    docs: Docs, q: Judged, k: int, max_grade: float | None = None, expected: str = "utility"
) -> float:
    def go_on(i: int, _gain: float, _total: float) -> float:
        return math.log2(i + 1) / math.log2(i + 2) if i < k else 0.0

    return _model(docs, q, max_grade, expected, go_on)


@measure
def NERR8(
    docs: Docs, q: Judged, k: int, max_grade: float | None = None, expected: str = "utility"
) -> float:
    return _model(docs, q, max_grade, expected, lambda i, g, _t: 1 - g if i < k else 0.0)


@measure
def NERR9(
    docs: Docs, q: Judged, k: int, max_grade: float | None = None, expected: str = "utility"
) -> float:
    return _model(
        docs, q, max_grade, expected, lambda i, g, _t: i / (i + 1) * (1 - g) if i < k else 0.0
    )


@measure
def NERR10(
    docs: Docs,
    q: Judged,
    _: Cutoff,
    p: float = 0.9,
    max_grade: float | None = None,
    expected: str = "utility",
) -> float:
    return _model(docs, q, max_grade, expected, lambda _i, g, _t: p * (1 - g))


@measure
def NERR11(
    docs: Docs,
    q: Judged,
    _: Cutoff,
    T: float = 1.0,  # noqa: N803
    max_grade: float | None = None,
    expected: str = "utility",
) -> float:
    return _model(docs, q, max_grade, expected, lambda i, g, _t: _decay(i + 2 * T) * (1 - g))
