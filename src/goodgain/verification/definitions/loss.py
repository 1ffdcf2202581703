"""Gain and loss: over tables a larger gain is a better true rank."""

from __future__ import annotations

import math
from typing import Any

from goodgain.verification.definitions.common import Cutoff, Docs, Judged, measure


def _groups(worths: list[float]) -> list[int]:
    """The place (from 1) of each position's rank group in the perfect order."""
    distinct = sorted(set(worths), reverse=True)
    return [distinct.index(w) + 1 for w in worths]


def documented(
    docs: Docs,
    worth: dict[str, float],
    k: Cutoff = None,
    fp: float = 1.0,
    fn: float = 1.0,
    punish_max: bool = False,
) -> float:
    """`worth` gives each true item its t; larger is better."""
    perfect = sorted(worth.values(), reverse=True)
    places = _groups(perfect)

    def gain(t: float, a: int) -> float:
        return (2**t - 1) / math.log2(a + 1)

    largest = max(gain(t, a) for t, a in zip(perfect, places, strict=True))
    score = 0.0
    for i, doc in enumerate(docs[:k]):
        at = min(i, len(perfect) - 1)
        if doc in worth:
            score += gain(worth[doc], places[at])
        else:
            score -= fp * (largest if punish_max else gain(perfect[at], places[at]))
    for item, t in worth.items():
        if item not in docs:
            score -= fn * (largest if punish_max else gain(t, places[perfect.index(t)]))
    return score


def published(
    docs: Docs,
    worth: dict[str, float],
    max_rank: float,
    k: Cutoff = None,
    fp: float = 1.0,
    fn: float = 1.0,
    punish_max: bool = False,
    assumed: list[float] | None = None,
) -> float:
    """The reference form; `assumed` are the a' of each position, by default the worths, best first."""
    order = sorted(worth.values(), reverse=True) if assumed is None else assumed
    past = max_rank + 1 if assumed is None else order[-1]
    score, last = 0.0, 1.0
    for i, doc in enumerate(docs[:k]):
        if doc in worth:
            t, a = worth[doc], order[i] if i < len(worth) else past
            score += (2 ** min(t, a) - 1) / math.log2(max(t, a) + 2)
            last = t
        else:
            score -= fp / math.log2(max_rank + 1 if punish_max else last + 2)
    for item, t in worth.items():
        if item not in docs:
            score -= fn if punish_max else fn / math.log2(max_rank + 2 - t)
    return score


@measure
def RDCGL(
    docs: Docs,
    q: Judged,
    k: Cutoff,
    rel: float = 1,
    gain: str = "documented",
    fp: float = 1.0,
    fn: float = 1.0,
    punish_max: bool = False,
) -> float:
    worth = {d: g for d, g in q.gains.items() if g >= rel}
    if not worth:
        return 0.0
    if gain == "documented":
        return documented(docs, worth, k, fp, fn, punish_max)
    return published(docs, worth, max(worth.values()), k, fp, fn, punish_max)


@measure
def NRDCGL(docs: Docs, q: Judged, k: Cutoff, rel: float = 1, **params: Any) -> float:
    perfect = sorted((d for d, g in q.gains.items() if g >= rel), key=lambda d: -q.gains[d])
    best = RDCGL(perfect, q, None, rel, params.get("gain", "documented")) if perfect else 0.0
    return RDCGL(docs, q, k, rel, **params) / best if best else 0.0


@measure
def PNRDCGL(docs: Docs, q: Judged, k: Cutoff, rel: float = 1, **params: Any) -> float:
    return max(0.0, NRDCGL(docs, q, k, rel, **params))
