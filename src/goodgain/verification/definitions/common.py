"""What the definitions share: the judgments of a query, their table, the orders of tied documents."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations, groupby, permutations, product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

NAN = math.nan
Row = tuple[str, float, "str | None", "str | None"]  # document, gain, target, aspect
Docs = list[str]
Cutoff = int | None


@dataclass
class Judged:
    """The judgments of one query; `top` is the highest gain of the collection, at least 1."""

    gains: dict[str, float]
    top: float
    rows: list[Row] = field(default_factory=list)
    coverage: frozenset[str] | None = None  # documents really judged, where gains are supposed

    def is_judged(self, doc: str) -> bool:
        """Whether somebody judged the document."""
        return doc in (self.gains if self.coverage is None else self.coverage)


def judged_from(rows: Sequence[Row], top: float | None = None) -> Judged:
    """The judgments of one query from its rows; of several gains of a document the highest counts."""
    gains: dict[str, float] = {}
    for doc, gain, _, _ in rows:
        gains[doc] = max(gain, gains.get(doc, gain))
    highest = max([1.0, *gains.values()]) if top is None else top
    return Judged(gains, highest, list(rows))


_TABLE: dict[str, Callable[..., float]] = {}


def measure(function: Callable[..., float]) -> Callable[..., float]:
    """Add a definition under the name of its function."""
    _TABLE[function.__name__] = function
    return function


def measure_named(name: str) -> Callable[[Callable[..., float]], Callable[..., float]]:
    """Add a definition under a name."""

    def add(function: Callable[..., float]) -> Callable[..., float]:
        _TABLE[name] = function
        return function

    return add


def names() -> set[str]:
    """The measures that have a definition."""
    return set(_TABLE)


def value(
    name: str, ranking: Sequence[str], q: Judged, cutoff: float | None = None, **params: Any
) -> float:
    """A measure of documents in rank order."""
    return _TABLE[name](list(ranking), q, cutoff, **params)


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


def supposed(ranking: Sequence[str], q: Judged, rel: float = 1) -> Iterator[Judged]:
    """The query with every choice of gains for the unjudged documents retrieved.

    Where judgments are by aspect, also with every choice of the aspects, of those that count, that such a
    document is relevant to. Where they are by target, with every choice of known targets and of a new one:
    the document itself.
    """
    unknown = [d for d in ranking if d not in q.gains]
    grades = sorted({0.0, q.top, *(g for g in q.gains.values() if g > 0)})
    labels: list[tuple[str | None, str | None]] = [
        (None, aspect)
        for aspect in sorted({row[3] for row in q.rows if row[3] is not None and row[1] >= rel})
    ]
    if not any(row[3] is not None for row in q.rows):
        targets = sorted({row[2] for row in q.rows if row[2] is not None and row[1] >= rel})
        labels = [(target, None) for target in targets]
        labels += [(None, None)] * bool(targets)
    if labels:
        subsets = [s for n in range(len(labels) + 1) for s in combinations(labels, n)]
        for choice in product(subsets, repeat=len(unknown)):
            rows = list(q.rows)
            for doc, own in zip(unknown, choice, strict=True):
                rows += [(doc, q.top, *label) for label in own] or [(doc, 0.0, None, None)]
            yield Judged(judged_from(rows).gains, q.top, rows, frozenset(q.gains))
        return
    for choice_of_gains in product(grades, repeat=len(unknown)):
        new = dict(zip(unknown, choice_of_gains, strict=True))
        rows = [*q.rows, *((doc, gain, None, None) for doc, gain in new.items())]
        yield Judged({**q.gains, **new}, q.top, rows, frozenset(q.gains))
