"""The slow measures over targets, aspects, and gain and loss; importing it adds them to `reference`."""

from __future__ import annotations

import math

from reference import measure

# --- targets and aspects ---


def links(q, label, rel):
    """{document: labels that it is relevant to}; without labels all is one aspect, or each its own target."""
    column = 2 if label == "target" else 3
    labelled = any(row[column] is not None for row in q.rows)
    found: dict[str, set[str]] = {}
    for row in q.rows:
        if row[1] < rel:
            continue
        name = row[column]
        if name is None:
            if labelled and label == "aspect":
                continue
            name = f"doc {row[0]}" if label == "target" else "the one"
        found.setdefault(row[0], set()).add(name)
    return found


def _all(found):
    return set().union(*found.values())


def _met(docs, found):
    return set().union(*(found.get(d, set()) for d in docs))


@measure
def DR(docs, q, k, rel=1):  # noqa: N802
    found = links(q, "target", rel)
    return len(_met(docs[:k], found)) / len(_all(found)) if found else 0.0


@measure
def Diversity(docs, q, k, rel=1):  # noqa: N802
    return len(_met(docs[:k], links(q, "target", rel)))


@measure
def StRecall(docs, q, k, rel=1):  # noqa: N802
    found = links(q, "aspect", rel)
    return len(_met(docs[:k], found)) / len(_all(found)) if found else 0.0


def novelty(docs, found, alpha):
    times: dict[str, int] = {}
    gains = []
    for doc in docs:
        gains.append(math.fsum((1 - alpha) ** times.get(a, 0) for a in found.get(doc, ())))
        for a in found.get(doc, ()):
            times[a] = times.get(a, 0) + 1
    return gains


def greedy(q, found, alpha):
    """At each rank the unused judged document of the largest gain; equal: the larger id."""
    left, ideal = set(q.gains), []
    while left:
        best = max(
            left, key=lambda d: (round(novelty([*ideal, d], found, alpha)[-1], 12), d.encode())
        )
        ideal.append(best)
        left.remove(best)
    return ideal


def log_discount(i):
    return 1 / math.log2(i + 1)


def reciprocal(i):
    return 1 / i


def discounted(gains, discount):
    return math.fsum(g * discount(i) for i, g in enumerate(gains, 1))


def _over_full(docs, q, k, rel, alpha, discount):
    found = links(q, "aspect", rel)
    if not found:
        return 0.0
    depth = k or len(q.gains)  # without a cut-off: as far as judged documents could go
    full = len(_all(found)) * discounted([(1 - alpha) ** i for i in range(depth)], discount)
    return discounted(novelty(docs[:k], found, alpha), discount) / full


def _over_ideal(docs, q, k, rel, alpha, discount):
    found = links(q, "aspect", rel)
    if not found:
        return 0.0
    ideal = discounted(novelty(greedy(q, found, alpha)[:k], found, alpha), discount)
    return discounted(novelty(docs[:k], found, alpha), discount) / ideal


@measure
def alpha_DCG(docs, q, k, rel=1, alpha=0.5):  # noqa: N802
    return _over_full(docs, q, k, rel, alpha, log_discount)


@measure
def alpha_nDCG(docs, q, k, rel=1, alpha=0.5):  # noqa: N802
    return _over_ideal(docs, q, k, rel, alpha, log_discount)


@measure
def ERR_IA(docs, q, k, rel=1, alpha=0.5):  # noqa: N802
    return _over_full(docs, q, k, rel, alpha, reciprocal)


@measure
def nERR_IA(docs, q, k, rel=1, alpha=0.5):  # noqa: N802
    return _over_ideal(docs, q, k, rel, alpha, reciprocal)


@measure
def AP_IA(docs, q, k, rel=1):  # noqa: N802
    found = links(q, "aspect", rel)
    values = []
    for aspect in _all(found) if found else ():
        hits, total = 0, 0.0
        for i, doc in enumerate(docs[:k], 1):
            if aspect in found.get(doc, ()):
                hits += 1
                total += hits / i
        values.append(total / sum(aspect in own for own in found.values()))
    return sum(values) / len(values) if values else 0.0


@measure
def P_IA(docs, q, k, rel=1):  # noqa: N802
    found = links(q, "aspect", rel)
    return sum(len(found.get(d, ())) for d in docs[:k]) / (k * len(_all(found))) if found else 0.0


@measure
def NRBP(docs, q, _, rel=1, alpha=0.5, beta=0.5):  # noqa: N802
    found = links(q, "aspect", rel)
    if not found:
        return 0.0
    total = math.fsum(g * beta**i for i, g in enumerate(novelty(docs, found, alpha)))
    return (1 - (1 - alpha) * beta) / len(_all(found)) * total


# --- gain and loss: over tables a larger gain is a better true rank ---


def _groups(worths):
    """The place (from 1) of each position's rank group in the perfect order."""
    distinct = sorted(set(worths), reverse=True)
    return [distinct.index(w) + 1 for w in worths]


def documented(docs, worth, k=None, fp=1.0, fn=1.0, punish_max=False):
    """`worth` gives each true item its t; larger is better."""
    perfect = sorted(worth.values(), reverse=True)
    places = _groups(perfect)

    def gain(t, a):
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


def published(docs, worth, max_rank, k=None, fp=1.0, fn=1.0, punish_max=False, assumed=None):
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
def RDCGL(docs, q, k, rel=1, gain="documented", fp=1.0, fn=1.0, punish_max=False):  # noqa: N802
    worth = {d: g for d, g in q.gains.items() if g >= rel}
    if not worth:
        return 0.0
    if gain == "documented":
        return documented(docs, worth, k, fp, fn, punish_max)
    return published(docs, worth, max(worth.values()), k, fp, fn, punish_max)


@measure
def NRDCGL(docs, q, k, rel=1, **params):  # noqa: N802
    perfect = sorted((d for d, g in q.gains.items() if g >= rel), key=lambda d: -q.gains[d])
    best = RDCGL(perfect, q, None, rel, params.get("gain", "documented")) if perfect else 0.0
    return RDCGL(docs, q, k, rel, **params) / best if best else 0.0


@measure
def PNRDCGL(docs, q, k, rel=1, **params):  # noqa: N802
    return max(0.0, NRDCGL(docs, q, k, rel, **params))
