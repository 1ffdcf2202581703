"""Binary and coverage measures."""

from __future__ import annotations

import math
from itertools import accumulate

from goodgain.verification.definitions.common import (
    NAN,
    Cutoff,
    Docs,
    Judged,
    measure,
    measure_named,
)

# --- binary ---


def flags(docs: Docs, q: Judged, rel: float) -> list[bool]:
    return [d in q.gains and q.gains[d] >= rel for d in docs]


def total_relevant(q: Judged, rel: float) -> int:
    return sum(g >= rel for g in q.gains.values())


@measure
def P(docs: Docs, q: Judged, k: Cutoff, rel: float = 1, denominator: str = "k") -> float:
    depth = len(docs) if k is None or (denominator == "returned" and len(docs) < k) else k
    return sum(flags(docs[:k], q, rel)) / depth if depth else 0.0


@measure
def R(docs: Docs, q: Judged, k: Cutoff, rel: float = 1) -> float:
    n = total_relevant(q, rel)
    return sum(flags(docs[:k], q, rel)) / n if n else 0.0


@measure
def R_cap(docs: Docs, q: Judged, k: int, rel: float = 1) -> float:
    n = total_relevant(q, rel)
    return sum(flags(docs[:k], q, rel)) / min(n, k) if n else 0.0


@measure
def F(docs: Docs, q: Judged, k: Cutoff, rel: float = 1, beta: float = 1) -> float:
    hits, n, depth = sum(flags(docs[:k], q, rel)), total_relevant(q, rel), k or len(docs)
    if not hits:
        return 0.0
    precision, recall = hits / depth, hits / n
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


@measure
def AP(docs: Docs, q: Judged, k: Cutoff, rel: float = 1) -> float:
    hits, total, n = 0, 0.0, total_relevant(q, rel)
    for i, is_relevant in enumerate(flags(docs[:k], q, rel), 1):
        if is_relevant:
            hits += 1
            total += hits / i
    return total / n if n else 0.0


@measure
def GMAP(docs: Docs, q: Judged, k: Cutoff, rel: float = 1) -> float:
    return AP(docs, q, k, rel)


@measure
def RR(docs: Docs, q: Judged, k: Cutoff, rel: float = 1) -> float:
    return next((1 / i for i, f in enumerate(flags(docs[:k], q, rel), 1) if f), 0.0)


@measure
def Hit(docs: Docs, q: Judged, k: Cutoff, rel: float = 1) -> float:
    return float(any(flags(docs[:k], q, rel)))


@measure
def Rprec(docs: Docs, q: Judged, _: Cutoff, rel: float = 1) -> float:
    n = total_relevant(q, rel)
    return sum(flags(docs[:n], q, rel)) / n if n else 0.0


@measure
def IPrec(docs: Docs, q: Judged, recall: float, rel: float = 1, rounding: str = "nearest") -> float:
    n = total_relevant(q, rel)
    wanted = recall * n
    c = math.floor(wanted + 0.9) if rounding == "up" else math.floor(wanted + 0.5)
    marks = flags(docs, q, rel)
    at = [i for i, f in enumerate(marks, 1) if f]
    if not n or c > len(at):
        return 0.0
    first = at[c - 1] if c else 1
    relevant = list(accumulate(marks))
    return max((relevant[i - 1] / i for i in range(first, len(docs) + 1)), default=0.0)


@measure
def AP11(docs: Docs, q: Judged, _: Cutoff, rel: float = 1, rounding: str = "nearest") -> float:
    points = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    return sum(IPrec(docs, q, r, rel, rounding) for r in points) / 11


@measure
def Bpref(docs: Docs, q: Judged, _: Cutoff, rel: float = 1, negative: str = "unjudged") -> float:
    lowest = 0.0 if negative == "unjudged" else -math.inf
    n, others = total_relevant(q, rel), sum(lowest <= g < rel for g in q.gains.values())
    if negative == "nonrelevant" and n and not others:
        return NAN if any(flags(docs, q, rel)) else 0.0
    total, above = 0.0, 0
    for doc in docs:
        g = q.gains.get(doc)
        if g is None or g < lowest:
            continue
        if g < rel:
            above += 1
        else:
            total += 1 - min(above, n) / min(others, n) if above else 1.0
    return total / n if n else 0.0


@measure
def infAP(docs: Docs, q: Judged, _: Cutoff, rel: float = 1) -> float:
    e, total, n = 0.00001, 0.0, total_relevant(q, rel)
    relevant = nonrelevant = pooled_only = 0
    for i, doc in enumerate(docs, 1):
        g = q.gains.get(doc)
        if g is None:
            continue
        if g < 0:
            pooled_only += 1
        elif g < rel:
            nonrelevant += 1
        else:
            if i == 1:
                total += 1
            else:
                pool = (relevant + nonrelevant + pooled_only) / (i - 1)
                share = (relevant + e) / (relevant + nonrelevant + 2 * e)
                total += 1 / i + (i - 1) / i * pool * share
            relevant += 1
    return total / n if n else 0.0


@measure
def SetP(docs: Docs, q: Judged, _: Cutoff, rel: float = 1) -> float:
    return sum(flags(docs, q, rel)) / len(docs) if docs else 0.0


@measure
def SetR(docs: Docs, q: Judged, _: Cutoff, rel: float = 1) -> float:
    return R(docs, q, None, rel)


@measure
def SetF(docs: Docs, q: Judged, _: Cutoff, rel: float = 1, beta: float = 1) -> float:
    return F(docs, q, None, rel, beta)


@measure
def SetAP(docs: Docs, q: Judged, _: Cutoff, rel: float = 1) -> float:
    return SetP(docs, q, None, rel) * SetR(docs, q, None, rel)


def rbo(a: Docs, b: Docs, p: float, depth: int = 1000) -> float:
    """The sum of p^(i-1) x overlap at i / i; lists shorter than i stay as they are."""
    longest = min(depth, max(len(a), len(b)))
    ours: set[str] = set()
    theirs: set[str] = set()
    terms = []
    for i in range(1, longest + 1):
        ours.update(a[i - 1 : i])
        theirs.update(b[i - 1 : i])
        terms.append(p ** (i - 1) * len(ours & theirs) / i)
    return math.fsum(terms) + len(ours & theirs) * _tail(p, longest, depth)


_TAILS: dict[tuple[float, int, int], float] = {}


def _tail(p: float, longest: int, depth: int) -> float:
    key = (p, longest, depth)
    if key not in _TAILS:
        _TAILS[key] = math.fsum(p ** (i - 1) / i for i in range(longest + 1, depth + 1))
    return _TAILS[key]


@measure
def Compat(
    docs: Docs, q: Judged, _: Cutoff, p: float = 0.95, depth: float = 1000, normalize: bool = True
) -> float:
    place = {d: i for i, d in enumerate(docs)}
    ideal = [d for d, g in q.gains.items() if g > 0]
    ideal.sort(key=lambda d: (-q.gains[d], place.get(d, math.inf)))
    end = int(depth) or max(len(docs), len(ideal))
    if not ideal:
        return 0.0
    best = rbo(ideal, ideal, p, end) if normalize else math.fsum(p**i for i in range(end))
    return rbo(docs, ideal, p, end) / best


@measure
def Accuracy(docs: Docs, q: Judged, k: Cutoff, rel: float = 1) -> float:
    marks = flags(docs[:k], q, rel)
    pairs = sum(marks) * (len(marks) - sum(marks))
    if not pairs:
        return NAN
    right = sum(marks[i + 1 :].count(False) for i, mark in enumerate(marks) if mark)
    return right / pairs


# --- coverage ---


@measure_named("Judged")
def share_judged(docs: Docs, q: Judged, k: Cutoff) -> float:
    seen = docs[:k]
    return sum(map(q.is_judged, seen)) / len(seen) if seen else NAN


@measure
def Unjudged(docs: Docs, q: Judged, k: Cutoff) -> float:
    depth = k or len(docs)
    return sum(not q.is_judged(d) for d in docs[:k]) / depth if depth else NAN


@measure
def NumRet(docs: Docs, q: Judged, k: Cutoff) -> float:
    return len(docs[:k])


@measure
def NumRel(docs: Docs, q: Judged, _: Cutoff, rel: float = 1) -> float:
    return total_relevant(q, rel)


@measure
def NumRelRet(docs: Docs, q: Judged, k: Cutoff, rel: float = 1) -> float:
    return sum(flags(docs[:k], q, rel))


@measure
def NumQ(docs: Docs, q: Judged, _: Cutoff) -> float:
    return 1
