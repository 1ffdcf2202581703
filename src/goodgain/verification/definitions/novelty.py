"""Measures of distinct targets and aspects."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from goodgain.verification.definitions.common import Cutoff, Docs, Judged, measure

Links = dict[str, set[str]]  # document: the labels that it is relevant to
Discount = Callable[[int], float]


def links(q: Judged, label: str, rel: float) -> Links:
    """{document: labels that it is relevant to}; without labels all is one aspect, or each its own target."""
    column = 2 if label == "target" else 3
    labelled = any(row[column] is not None for row in q.rows)
    links_of: dict[str, set[str]] = {}
    for row in q.rows:
        if row[1] < rel:
            continue
        name = row[2] if label == "target" else row[3]
        if name is None:
            if labelled and label == "aspect":
                continue
            name = f"doc {row[0]}" if label == "target" else "the one"
        links_of.setdefault(row[0], set()).add(name)
    return links_of


def _all(links_of: Links) -> set[str]:
    return set[str]().union(*links_of.values())


def _met(docs: Docs, links_of: Links) -> set[str]:
    return set[str]().union(*(links_of.get(d, set()) for d in docs))


@measure
def DR(docs: Docs, q: Judged, k: Cutoff, rel: float = 1) -> float:
    links_of = links(q, "target", rel)
    return len(_met(docs[:k], links_of)) / len(_all(links_of)) if links_of else 0.0


@measure
def Diversity(docs: Docs, q: Judged, k: Cutoff, rel: float = 1) -> float:
    return len(_met(docs[:k], links(q, "target", rel)))


@measure
def StRecall(docs: Docs, q: Judged, k: Cutoff, rel: float = 1) -> float:
    links_of = links(q, "aspect", rel)
    return len(_met(docs[:k], links_of)) / len(_all(links_of)) if links_of else 0.0


def novelty(docs: Docs, links_of: Links, alpha: float) -> list[float]:
    times: dict[str, int] = {}
    gains = []
    for doc in docs:
        gains.append(math.fsum((1 - alpha) ** times.get(a, 0) for a in links_of.get(doc, ())))
        for a in links_of.get(doc, ()):
            times[a] = times.get(a, 0) + 1
    return gains


def greedy(q: Judged, links_of: Links, alpha: float) -> Docs:
    """At each rank the unused judged document of the largest gain; equal: the larger id."""
    left, ideal = set(links_of), list[str]()  # the others gain nothing and come last
    times: dict[str, int] = {}
    while left:
        gains = {
            d: math.fsum((1 - alpha) ** times.get(a, 0) for a in links_of.get(d, ())) for d in left
        }
        best = max(left, key=lambda d: (round(gains[d], 12), d.encode()))
        ideal.append(best)
        left.remove(best)
        for aspect in links_of[best]:
            times[aspect] = times.get(aspect, 0) + 1
    return ideal


def log_discount(i: int) -> float:
    return 1 / math.log2(i + 1)


def reciprocal(i: int) -> float:
    return 1 / i


def discounted(gains: Sequence[float], discount: Discount) -> float:
    return math.fsum(g * discount(i) for i, g in enumerate(gains, 1))


def _over_full(
    docs: Docs, q: Judged, k: Cutoff, rel: float, alpha: float, discount: Discount
) -> float:
    links_of = links(q, "aspect", rel)
    if not links_of:
        return 0.0
    depth = k or len(q.gains)  # without a cut-off: as far as judged documents could go
    full = len(_all(links_of)) * discounted([(1 - alpha) ** i for i in range(depth)], discount)
    return discounted(novelty(docs[:k], links_of, alpha), discount) / full


def _over_ideal(
    docs: Docs, q: Judged, k: Cutoff, rel: float, alpha: float, discount: Discount
) -> float:
    links_of = links(q, "aspect", rel)
    if not links_of:
        return 0.0
    ideal = discounted(novelty(greedy(q, links_of, alpha)[:k], links_of, alpha), discount)
    return discounted(novelty(docs[:k], links_of, alpha), discount) / ideal


@measure
def alpha_DCG(docs: Docs, q: Judged, k: Cutoff, rel: float = 1, alpha: float = 0.5) -> float:
    return _over_full(docs, q, k, rel, alpha, log_discount)


@measure
def alpha_nDCG(docs: Docs, q: Judged, k: Cutoff, rel: float = 1, alpha: float = 0.5) -> float:
    return _over_ideal(docs, q, k, rel, alpha, log_discount)


@measure
def ERR_IA(docs: Docs, q: Judged, k: Cutoff, rel: float = 1, alpha: float = 0.5) -> float:
    return _over_full(docs, q, k, rel, alpha, reciprocal)


@measure
def nERR_IA(docs: Docs, q: Judged, k: Cutoff, rel: float = 1, alpha: float = 0.5) -> float:
    return _over_ideal(docs, q, k, rel, alpha, reciprocal)


@measure
def AP_IA(docs: Docs, q: Judged, k: Cutoff, rel: float = 1) -> float:
    links_of = links(q, "aspect", rel)
    values = []
    for aspect in _all(links_of) if links_of else ():
        hits, total = 0, 0.0
        for i, doc in enumerate(docs[:k], 1):
            if aspect in links_of.get(doc, ()):
                hits += 1
                total += hits / i
        values.append(total / sum(aspect in own for own in links_of.values()))
    return sum(values) / len(values) if values else 0.0


@measure
def P_IA(docs: Docs, q: Judged, k: int, rel: float = 1) -> float:
    links_of = links(q, "aspect", rel)
    return (
        sum(len(links_of.get(d, ())) for d in docs[:k]) / (k * len(_all(links_of)))
        if links_of
        else 0.0
    )


@measure
def NRBP(
    docs: Docs, q: Judged, _: Cutoff, rel: float = 1, alpha: float = 0.5, beta: float = 0.5
) -> float:
    links_of = links(q, "aspect", rel)
    if not links_of:
        return 0.0
    total = math.fsum(g * beta**i for i, g in enumerate(novelty(docs, links_of, alpha)))
    return (1 - (1 - alpha) * beta) / len(_all(links_of)) * total


@measure
def nNRBP(
    docs: Docs, q: Judged, _: Cutoff, rel: float = 1, alpha: float = 0.5, beta: float = 0.5
) -> float:
    def geometric(i: int) -> float:
        return beta ** (i - 1)

    return _over_ideal(docs, q, None, rel, alpha, geometric)
