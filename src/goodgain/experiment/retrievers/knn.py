"""Nearest neighbours by cosine of embeddings, exact or with an index of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError
from goodgain.experiment.retrievers.base import (
    DEPTH,
    Retriever,
    ScoredDocument,
    require_positive,
)
from goodgain.experiment.retrievers.clusters import (
    Clusters,
    exact_neighbours,
    nearest_first,
    rounded,
)
from goodgain.experiment.retrievers.embed import LSA, embedding, one_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.experiment.retrievers.clusters import Neighbours

METHODS = ("exact", "clusters")
EXACT_EDGES = 20_000  # documents whose neighbours are found by exact search


class KNN(Retriever):
    """The documents with the highest cosine similarity to the query.

    `embed` is "lsa" (fitted on the corpus, no download), the name or path of a sentence-transformers
    model, or a function from a list of texts to rows of numbers. `method` is "exact", or "clusters" for
    an approximate index over large corpora, which reports its recall.
    """

    name = "knn"

    def __init__(
        self,
        embed: str | Callable[[list[str]], Any] = LSA,
        *,
        method: str = "exact",
        dimensions: int = 400,
        prepare: Callable[[str], str] | None = None,
        depth: int = DEPTH,
    ) -> None:
        if method not in METHODS:
            raise UsageError(
                f"unknown nearest-neighbour method '{method}'",
                hint=f"available: {', '.join(METHODS)}",
            )
        require_positive(dimensions=dimensions)
        self.embed, self.method, self.dimensions, self.prepare = embed, method, dimensions, prepare
        self.depth = depth
        self._clusters: Clusters | None = None

    def load(self) -> None:
        """Load the embedding."""
        self._embedding = embedding(self.embed, self.dimensions, self.prepare)

    def build(self, documents: Mapping[str, str]) -> None:
        """Embed all documents."""
        self._names = list(documents)
        self._ranks = id_ranks(self._names)
        self.vectors = self._embedding.fit(list(documents.values()))
        self._clusters = Clusters(self.vectors, self._ranks) if self.method == "clusters" else None

    def notes(self) -> list[str]:
        """The recall of approximate search."""
        if self._clusters is None:
            return []
        return [f"approximate search returns {self._clusters.recall}"]

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """The nearest documents."""
        vector = self._embedding.embed([query])[0]
        with one_thread():
            if self._clusters is not None:
                best, scores = self._clusters.search(vector, depth)
                return [(self._names[i], float(s)) for i, s in zip(best, scores, strict=True)]
            cosines = rounded(self.vectors @ vector)
        best = nearest_first(cosines, self._ranks, depth)
        return [(self._names[i], float(cosines[i])) for i in best]

    def neighbours(self, count: int) -> Neighbours:
        """The `count` nearest other documents of each document, by number; approximate if there are many."""
        if self._clusters is not None:
            return self._clusters.neighbours(count)
        if len(self._names) > EXACT_EDGES:
            return Clusters(self.vectors, self._ranks).neighbours(count)
        return exact_neighbours(self.vectors, count, self._ranks)


def id_ranks(names: list[str]) -> NDArray[np.int64]:
    """The place of each id among all, ascending: of equal scores the greatest id comes first."""
    import numpy as np

    ranks = np.empty(len(names), dtype=np.int64)
    ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return ranks
