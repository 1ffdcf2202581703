"""Measures of graded gain."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goodgain.verification.definitions.common import Cutoff, Docs, Judged, measure

if TYPE_CHECKING:
    from collections.abc import Sequence


def graded(g: float | None, gain: str, rel: float | None = None) -> float:
    if g is None or g <= 0 or (rel is not None and g < rel):
        return 0.0
    return 2**g - 1 if gain == "exp" else g


def dcg_of(gains: Sequence[float]) -> float:
    return math.fsum(g / math.log2(i + 1) for i, g in enumerate(gains, 1))


@measure
def CG(docs: Docs, q: Judged, k: Cutoff, gain: str = "linear") -> float:
    return math.fsum(graded(q.gains.get(d), gain) for d in docs[:k])


@measure
def DCG(docs: Docs, q: Judged, k: Cutoff, gain: str = "linear", rel: float | None = None) -> float:
    return dcg_of([graded(q.gains.get(d), gain, rel) for d in docs[:k]])


@measure
def nDCG(
    docs: Docs,
    q: Judged,
    k: Cutoff,
    gain: str = "linear",
    ideal: str = "judged",
    rel: float | None = None,
) -> float:
    pool = [q.gains.get(d) for d in docs] if ideal == "retrieved" else q.gains.values()
    length = min(k or len(docs), len(docs)) if ideal == "length" else k
    best = dcg_of(sorted((graded(g, gain, rel) for g in pool), reverse=True)[:length])
    return DCG(docs, q, k, gain, rel) / best if best else 0.0


@measure
def Rndcg(docs: Docs, q: Judged, _: Cutoff, gain: str = "linear") -> float:
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
def ERR(docs: Docs, q: Judged, k: Cutoff, max_grade: float | None = None) -> float:
    return err_of([q.gains.get(d) for d in docs[:k]], max_grade or q.top)


@measure
def nERR(docs: Docs, q: Judged, k: Cutoff, max_grade: float | None = None) -> float:
    best = err_of(sorted(q.gains.values(), reverse=True)[:k], max_grade or q.top)
    return ERR(docs, q, k, max_grade) / best if best else 0.0


@measure
def RBP(
    docs: Docs,
    q: Judged,
    k: Cutoff,
    p: float = 0.8,
    rel: float | None = None,
    max_grade: float | None = None,
    scale: str = "collection",
) -> float:
    def worth(g: float | None) -> float:
        if g is None or g <= 0:
            return 0.0
        if rel:
            return float(g >= rel)
        if scale == "none":
            return g
        top = q.top if scale == "collection" else max(1.0, *q.gains.values())
        return min(1.0, g / (max_grade or top))

    return (1 - p) * math.fsum(worth(q.gains.get(d)) * p**i for i, d in enumerate(docs[:k]))


@measure
def RBP_resid(docs: Docs, q: Judged, k: Cutoff, p: float = 0.8) -> float:
    seen = docs[:k]
    open_ranks = math.fsum((1 - p) * p**i for i, d in enumerate(seen) if not q.is_judged(d))
    return open_ranks + p ** len(seen)
