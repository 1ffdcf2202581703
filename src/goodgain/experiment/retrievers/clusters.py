"""Approximate nearest neighbours: vectors in clusters, of which only the nearest are searched.

Clusters are found by spherical k-means. Every sum is made by one thread in one order, and cosines are rounded
before they are compared, so that the index does not depend on the number of threads. How many clusters are
searched is chosen on one sample of the vectors, and the share of the exact neighbours that this finds is
estimated on another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.cores import available_cores
from goodgain.experiment.retrievers.embed import one_thread
from goodgain.experiment.retrievers.vectors import unit
from goodgain.threads import thread_pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Numbers = NDArray[np.int64]
    Floats = NDArray[np.float64]

DIGITS = 5  # of cosines: what 32-bit sums have in common on all processors
ROUNDS = 8  # of k-means
PER_CLUSTER = 40  # vectors that k-means looks at, for each cluster
ROWS = 2048  # vectors in one product of matrices
SAMPLE = 200  # vectors to choose the number of clusters on, and as many to estimate the recall on
NEAREST = 10  # of each of these
TARGET = 0.95  # share of the exact neighbours


@dataclass(frozen=True, slots=True)
class Recall:
    """The share of the exact nearest neighbours that approximate search finds, with its interval."""

    share: float
    low: float
    high: float
    sample: int
    nearest: int

    def __str__(self) -> str:
        return (
            f"{100 * self.share:.1f}% of the {self.nearest} nearest by exact search "
            f"(95% interval {100 * self.low:.1f} to {100 * self.high:.1f}, {self.sample:,} documents)"
        )


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Edges from vectors to their nearest others, with cosines; `recall` if they are approximate."""

    starts: Numbers
    ends: Numbers
    cosines: Floats
    recall: Recall | None = None


def rounded(cosines: Any) -> Floats:
    """Cosines that are the same whatever computed them."""
    import numpy as np

    return np.asarray(cosines, dtype=np.float64).round(DIGITS)


def nearest_first(scores: Floats, ranks: Numbers, count: int) -> Numbers:
    """The places of the `count` highest scores; of equal scores the one with the higher rank is first."""
    import numpy as np

    places = np.arange(len(scores))
    if 0 < count < len(scores):
        least = np.partition(scores, len(scores) - count)[len(scores) - count]
        places = np.flatnonzero(scores >= least)
    order: Numbers = places[np.lexsort((-ranks[places], -scores[places]))]
    return order[:count]


class Clusters:
    """An index of unit vectors. `ranks` decides between equal cosines; the highest comes first."""

    def __init__(self, vectors: Vectors, ranks: Numbers) -> None:
        import numpy as np

        self._rank = ranks
        with one_thread():
            self.centres = _centres(vectors)
            cluster = _nearest_centre(vectors, self.centres)
            self._members = np.argsort(cluster, kind="stable")
            self._starts = np.searchsorted(cluster[self._members], np.arange(len(self.centres) + 1))
            self._vectors = vectors[self._members]
            self._cluster = cluster
            around = rounded(self.centres @ self.centres.T)
            np.fill_diagonal(around, 2)  # every cluster is nearest to itself
            self._around = np.argsort(-around, axis=1, kind="stable")
            chosen = _sample(len(vectors), 2 * SAMPLE)
            exact = _exact(vectors, chosen, NEAREST, ranks)
            half = (len(chosen) + 1) // 2
            self.probes, self.recall = self._choose(
                lambda i, probes: self._search(vectors[chosen[i]], NEAREST, probes, chosen[i])[0],
                exact,
                half,
            )

    def search(self, vector: Vectors, count: int) -> tuple[Numbers, Floats]:
        """The nearest vectors and their cosines, nearest first."""
        return self._search(vector, count, self.probes)

    def _search(
        self, vector: Vectors, count: int, probes: int, without: int = -1
    ) -> tuple[Numbers, Floats]:
        import numpy as np

        to_centres = rounded(self.centres @ vector)
        places = [*_slices(self._starts, np.argsort(-to_centres, kind="stable"), probes, count + 1)]
        docs = np.concatenate([self._members[place] for place in places])
        scores = rounded(np.concatenate([self._vectors[place] @ vector for place in places]))
        scores[docs == without] = -2
        best = nearest_first(scores, self._rank[docs], min(count, len(docs) - (without >= 0)))
        return docs[best], scores[best]

    def neighbours(self, count: int) -> Neighbours:
        """The nearest others of every vector, and how many of the exact ones they are."""
        import numpy as np

        with one_thread():
            chosen = _sample(len(self._cluster), 2 * SAMPLE)
            vectors = np.empty_like(self._vectors)
            vectors[self._members] = self._vectors
            exact = _exact(vectors, chosen, count, self._rank)
            half = (len(chosen) + 1) // 2
            probes, recall = self._choose(
                lambda i, probes: self._beside(np.array([chosen[i]]), vectors, count, probes)[1],
                exact,
                half,
            )
            groups = [
                self._members[self._starts[c] : self._starts[c + 1]]
                for c in range(len(self.centres))
            ]
            rows = _in_threads(
                lambda group: self._beside(group, vectors, count, probes),
                (group for group in groups if len(group)),
            )
            starts, ends, weights = (np.concatenate(c) for c in zip(*rows, strict=True))
        return Neighbours(starts, ends, weights, recall)

    def _beside(
        self, group: Numbers, vectors: Vectors, count: int, probes: int
    ) -> tuple[Numbers, Numbers, Floats]:
        """The neighbours of vectors of one cluster among those of the clusters around it."""
        import numpy as np

        around = self._around[self._cluster[group[0]]]
        places = [*_slices(self._starts, around, probes, count + 1)]
        docs = np.concatenate([self._members[place] for place in places])
        others = np.concatenate([self._vectors[place] for place in places])
        cosines = rounded(vectors[group] @ others.T)
        return _nearest_others(cosines, group, docs, self._rank[docs], count)

    def _choose(
        self, find: Callable[[int, int], Numbers], exact: list[Numbers], half: int
    ) -> tuple[int, Recall]:
        """The number of clusters that finds enough in the first half, and the recall in the second."""
        import numpy as np

        def shares(which: range, probes: int) -> Floats:
            return np.array(
                [np.isin(exact[i], find(i, probes)).mean() for i in which if len(exact[i])] or [1.0]
            )

        probes = 1
        while probes < len(self.centres) and shares(range(half), probes).mean() < TARGET:
            probes = min(2 * probes, len(self.centres))
        rest = range(half, len(exact)) if len(exact) > half else range(half)
        values = shares(rest, probes)
        mean = float(values.mean())
        reach = 1.96 * float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else 0.0
        low, high = max(0.0, mean - reach), min(1.0, mean + reach)
        return probes, Recall(mean, low, high, len(values), len(exact[0]))


def exact_neighbours(vectors: Vectors, count: int, ranks: Numbers) -> Neighbours:
    """The nearest others of every vector."""
    import numpy as np

    everything = np.arange(len(vectors))

    def nearest(start: int) -> tuple[Numbers, Numbers, Floats]:
        rows = everything[start : start + 256]
        cosines = rounded(vectors[start : start + 256] @ vectors.T)
        return _nearest_others(cosines, rows, everything, ranks, count)

    with one_thread():
        rows = [*_in_threads(nearest, range(0, len(vectors), 256))]
    starts, ends, weights = (np.concatenate(column) for column in zip(*rows, strict=True))
    return Neighbours(starts, ends, weights)


def _nearest_others(
    cosines: Floats, rows: Numbers, docs: Numbers, ranks: Numbers, count: int
) -> tuple[Numbers, Numbers, Floats]:
    """The best of `docs` for each of `rows`, without itself."""
    import numpy as np

    count = min(count, len(docs) - 1)
    ends = np.empty((len(rows), count), dtype=np.int64)
    weights = np.empty((len(rows), count))
    for i, (row, own) in enumerate(zip(cosines, rows.tolist(), strict=True)):
        row[docs == own] = -2
        best = nearest_first(row, ranks, count)
        ends[i], weights[i] = docs[best], row[best]
    return np.repeat(rows, count), ends.ravel(), weights.ravel()


def _slices(starts: Numbers, order: Numbers, probes: int, least: int) -> Iterator[slice]:
    """Where the vectors of the first clusters are: `probes` of them, or more if they hold too few."""
    total = 0
    for i, cluster in enumerate(order.tolist()):
        if i >= probes and total >= least:
            return
        yield slice(int(starts[cluster]), int(starts[cluster + 1]))
        total += int(starts[cluster + 1] - starts[cluster])


def _sample(size: int, count: int) -> list[int]:
    import numpy as np

    return np.random.default_rng(0).permutation(size)[:count].tolist()  # type: ignore[no-any-return]


def _exact(vectors: Vectors, chosen: list[int], count: int, ranks: Numbers) -> list[Numbers]:
    """The exact neighbours of some vectors."""

    def nearest(doc: int) -> Numbers:
        scores = rounded(vectors @ vectors[doc])
        scores[doc] = -2
        return nearest_first(scores, ranks, min(count, len(vectors) - 1))

    return [*_in_threads(nearest, chosen)]


def _centres(vectors: Vectors) -> Vectors:
    """About twice the square root of the vectors, by k-means on a sample of them."""
    import numpy as np

    count = max(1, min(len(vectors), round(2 * len(vectors) ** 0.5)))
    sample = vectors[np.sort(_sample(len(vectors), PER_CLUSTER * count))]
    centres: Vectors = sample[np.sort(_sample(len(sample), count))]
    for _ in range(ROUNDS):
        cluster = _nearest_centre(sample, centres)
        order = np.argsort(cluster, kind="stable")
        filled, firsts = np.unique(cluster[order], return_index=True)
        sums = np.add.reduceat(sample[order].astype(np.float64), firsts, axis=0)
        centres = centres.copy()  # a cluster without vectors keeps its centre
        centres[filled] = unit(sums.astype(np.float32))
    return centres


def _nearest_centre(vectors: Vectors, centres: Vectors) -> Numbers:
    import numpy as np

    def nearest(start: int) -> Numbers:
        cluster: Numbers = rounded(vectors[start : start + ROWS] @ centres.T).argmax(axis=1)
        return cluster

    return np.concatenate([*_in_threads(nearest, range(0, len(vectors), ROWS))])


def _in_threads(work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
    """All results in order; linear algebra releases the interpreter's lock."""
    with thread_pool(available_cores()) as pool:
        yield from pool.map(work, items)
