"""Nearest neighbours by cosine of embeddings, exact or with a usearch index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError
from goodgain.experiment.retrievers.base import (
    DEPTH,
    Retriever,
    ScoredDocument,
    import_extra,
    require_positive,
)
from goodgain.experiment.retrievers.embed import LSA, embedding, one_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

METHODS = ("exact", "usearch")


class KNN(Retriever):
    """The documents with the highest cosine similarity to the query.

    `embed` is "lsa" (fitted on the corpus, no download), the name or path of a sentence-transformers
    model, or a function from a list of texts to rows of numbers. `method` is "exact", or "usearch" for
    an approximate HNSW index over large corpora.
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
        self._hnsw: Any = None

    def load(self) -> None:
        """Load the embedding and, if needed, usearch."""
        self._embedding = embedding(self.embed, self.dimensions, self.prepare)
        if self.method == "usearch":
            import_extra("usearch.index", "the method 'usearch'")

    def build(self, documents: Mapping[str, str]) -> None:
        """Embed all documents."""
        self._names = list(documents)
        self.vectors = self._embedding.fit(list(documents.values()))
        if self.method == "usearch":
            import numpy as np
            from usearch.index import Index

            self._hnsw = Index(ndim=self.vectors.shape[1], metric="cos", dtype="f32")
            # one thread, so that every build gives the same graph
            self._hnsw.add(np.arange(len(self._names)), self.vectors, threads=1)

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """The nearest documents."""
        import numpy as np

        vector = self._embedding.embed([query])[0]
        if self._hnsw is not None:
            matches = self._hnsw.search(vector, min(depth, len(self._names)), threads=1)
            cosines = 1 - np.asarray(matches.distances, dtype=np.float64)
            pairs = zip(matches.keys.tolist(), np.round(cosines, 5).tolist(), strict=True)
            return [(self._names[key], score) for key, score in pairs]
        with one_thread():
            scores = np.round((self.vectors @ vector).astype(np.float64), 5)
        best = np.argsort(-scores, kind="stable")[:depth]
        return [(self._names[i], float(scores[i])) for i in best]

    def neighbours(self, count: int) -> list[tuple[str, str, float]]:
        """The `count` nearest other documents of each document: (document, neighbour, cosine)."""
        import numpy as np

        edges = []
        count = min(count, len(self._names) - 1)
        for start in range(0, len(self._names), 1024):
            cosines = self.vectors[start : start + 1024] @ self.vectors.T
            rows = np.arange(len(cosines))
            cosines[rows, start + rows] = -2  # not itself
            best = (
                np.argpartition(-cosines, count - 1, axis=1)[:, :count]
                if count
                else rows[:, None][:, :0]
            )
            edges += [
                (self._names[start + row], self._names[col], float(cosines[row, col]))
                for row in rows
                for col in best[row]
            ]
        return edges
