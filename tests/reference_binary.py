"""The slow binary and coverage measures; importing it adds them to `reference`."""

from __future__ import annotations

import math

from reference import NAN, measure, measure_named

# --- binary ---


def flags(docs, q, rel):
    return [d in q.gains and q.gains[d] >= rel for d in docs]


def total_relevant(q, rel):
    return sum(g >= rel for g in q.gains.values())


@measure
def P(docs, q, k, rel=1):  # noqa: N802
    return sum(flags(docs[:k], q, rel)) / k


@measure
def R(docs, q, k, rel=1):  # noqa: N802
    n = total_relevant(q, rel)
    return sum(flags(docs[:k], q, rel)) / n if n else 0.0


@measure
def R_cap(docs, q, k, rel=1):  # noqa: N802
    n = total_relevant(q, rel)
    return sum(flags(docs[:k], q, rel)) / min(n, k) if n else 0.0


@measure
def F(docs, q, k, rel=1, beta=1):  # noqa: N802
    hits, n, depth = sum(flags(docs[:k], q, rel)), total_relevant(q, rel), k or len(docs)
    if not hits:
        return 0.0
    precision, recall = hits / depth, hits / n
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


@measure
def AP(docs, q, k, rel=1):  # noqa: N802
    hits, total, n = 0, 0.0, total_relevant(q, rel)
    for i, is_relevant in enumerate(flags(docs[:k], q, rel), 1):
        if is_relevant:
            hits += 1
            total += hits / i
    return total / n if n else 0.0


@measure
def GMAP(docs, q, k, rel=1):  # noqa: N802
    return AP(docs, q, k, rel)


@measure
def RR(docs, q, k, rel=1):  # noqa: N802
    return next((1 / i for i, f in enumerate(flags(docs[:k], q, rel), 1) if f), 0.0)


@measure
def Hit(docs, q, k, rel=1):  # noqa: N802
    return float(any(flags(docs[:k], q, rel)))


@measure
def Rprec(docs, q, _, rel=1):  # noqa: N802
    n = total_relevant(q, rel)
    return sum(flags(docs[:n], q, rel)) / n if n else 0.0


@measure
def IPrec(docs, q, recall, rel=1, rounding="nearest"):  # noqa: N802
    n = total_relevant(q, rel)
    asked = recall * n
    c = math.floor(asked + 0.9) if rounding == "up" else math.floor(asked + 0.5)
    marks = flags(docs, q, rel)
    at = [i for i, f in enumerate(marks, 1) if f]
    if not n or c > len(at):
        return 0.0
    first = at[c - 1] if c else 1
    return max((sum(marks[:i]) / i for i in range(first, len(docs) + 1)), default=0.0)


@measure
def AP11(docs, q, _, rel=1, rounding="nearest"):  # noqa: N802
    points = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    return sum(IPrec(docs, q, r, rel, rounding) for r in points) / 11


@measure
def Bpref(docs, q, _, rel=1):  # noqa: N802
    n, others = total_relevant(q, rel), sum(0 <= g < rel for g in q.gains.values())
    total, above = 0.0, 0
    for doc in docs:
        g = q.gains.get(doc)
        if g is None or g < 0:
            continue
        if g < rel:
            above += 1
        else:
            total += 1 - min(above, n) / min(others, n) if above else 1.0
    return total / n if n else 0.0


@measure
def infAP(docs, q, _, rel=1):  # noqa: N802
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
def SetP(docs, q, _, rel=1):  # noqa: N802
    return sum(flags(docs, q, rel)) / len(docs) if docs else 0.0


@measure
def SetR(docs, q, _, rel=1):  # noqa: N802
    return R(docs, q, None, rel)


@measure
def SetF(docs, q, _, rel=1, beta=1):  # noqa: N802
    return F(docs, q, None, rel, beta)


@measure
def SetAP(docs, q, _, rel=1):  # noqa: N802
    return SetP(docs, q, None, rel) * SetR(docs, q, None, rel)


def rbo(a, b, p, depth=1000):
    """The sum of p^(i-1) x overlap at i / i; lists shorter than i stay as they are."""
    longest = min(depth, max(len(a), len(b)))
    total = math.fsum(
        p ** (i - 1) * len(set(a[:i]) & set(b[:i])) / i for i in range(1, longest + 1)
    )
    return total + len(set(a) & set(b)) * _tail(p, longest, depth)


_TAILS: dict[tuple[float, int, int], float] = {}


def _tail(p, longest, depth):
    key = (p, longest, depth)
    if key not in _TAILS:
        _TAILS[key] = math.fsum(p ** (i - 1) / i for i in range(longest + 1, depth + 1))
    return _TAILS[key]


@measure
def Compat(docs, q, _, p=0.95):  # noqa: N802
    place = {d: i for i, d in enumerate(docs)}
    ideal = [d for d, g in q.gains.items() if g > 0]
    ideal.sort(key=lambda d: (-q.gains[d], place.get(d, math.inf)))
    return rbo(docs, ideal, p) / rbo(ideal, ideal, p) if ideal else 0.0


@measure
def Accuracy(docs, q, k, rel=1):  # noqa: N802
    marks = flags(docs[:k], q, rel)
    pairs = sum(marks) * (len(marks) - sum(marks))
    if not pairs:
        return NAN
    right = sum(a and not b for i, a in enumerate(marks) for b in marks[i + 1 :])
    return right / pairs


# --- coverage ---


@measure_named("Judged")
def share_judged(docs, q, k):
    seen = docs[:k]
    return sum(map(q.is_judged, seen)) / len(seen) if seen else NAN


@measure
def Unjudged(docs, q, k):  # noqa: N802
    depth = k or len(docs)
    return sum(not q.is_judged(d) for d in docs[:k]) / depth if depth else NAN


@measure
def NumRet(docs, q, k):  # noqa: N802
    return len(docs[:k])


@measure
def NumRel(docs, q, _, rel=1):  # noqa: N802
    return total_relevant(q, rel)


@measure
def NumRelRet(docs, q, k, rel=1):  # noqa: N802
    return sum(flags(docs[:k], q, rel))


@measure
def NumQ(docs, q, _):  # noqa: N802
    return 1
