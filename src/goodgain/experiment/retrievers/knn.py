"""Nearest neighbours: cosine of embeddings, exact or by usearch's index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError
from goodgain.experiment.retrievers.base import DEPTH, Hit, Retriever, needed, positive
from goodgain.experiment.retrievers.embed import LSA, embedding, one_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

METHODS = ("exact", "usearch")


class KNN(Retriever):
    """The documents nearest to the query by cosine.

    `embed` is "lsa" (fitted on the corpus, no download), the name or path of a sentence-transformers
    model, or a function from a list of texts to rows of numbers. `method` is "exact" or "usearch"
    (an HNSW graph, for corpora too large to look at every document).
    """

    name = "knn"

    def __init__(
        self,
        embed: str | Callable[[list[str]], Any] = LSA,
        method: str = "exact",
        dimensions: int = 400,
        prepare: Callable[[str], str] | None = None,
        depth: int = DEPTH,
    ) -> None:
        if method not in METHODS:
            raise UsageError(
                f"there is no method '{method}' of nearest neighbours",
                hint=f"one of: {', '.join(METHODS)}",
            )
        positive(dimensions=dimensions)
        self.embed, self.method, self.dimensions, self.prepare = embed, method, dimensions, prepare
        self.depth = depth
        self._hnsw: Any = None

    def load(self) -> None:
        """Load the embedding, and usearch if it is wanted."""
        self._embedding = embedding(self.embed, self.dimensions, self.prepare)
        if self.method == "usearch":
            needed("usearch.index", "the method 'usearch'")

    def build(self, documents: Mapping[str, str]) -> None:
        """Embed all documents."""
        self._names = list(documents)
        self.vectors = self._embedding.fit(list(documents.values()))
        if self.method == "usearch":
            import numpy as np
            from usearch.index import Index

            self._hnsw = Index(ndim=self.vectors.shape[1], metric="cos", dtype="f32")
            # one thread: the same graph every time
            self._hnsw.add(np.arange(len(self._names)), self.vectors, threads=1)

    def search(self, query: str, depth: int) -> list[Hit]:
        """The nearest documents."""
        import numpy as np

        asked = self._embedding.embed([query])[0]
        if self._hnsw is not None:
            found = self._hnsw.search(asked, min(depth, len(self._names)), threads=1)
            near = 1 - np.asarray(found.distances, dtype=np.float64)
            pairs = zip(found.keys.tolist(), np.round(near, 5).tolist(), strict=True)
            return [(self._names[key], score) for key, score in pairs]
        with one_thread():
            scores = np.round((self.vectors @ asked).astype(np.float64), 5)
        best = np.argsort(-scores, kind="stable")[:depth]
        return [(self._names[i], float(scores[i])) for i in best]

    def neighbours(self, count: int) -> list[tuple[str, str, float]]:
        """The `count` nearest other documents of each document: (document, neighbour, cosine)."""
        import numpy as np

        found = []
        count = min(count, len(self._names) - 1)
        for start in range(0, len(self._names), 1024):
            near = self.vectors[start : start + 1024] @ self.vectors.T
            rows = np.arange(len(near))
            near[rows, start + rows] = -2  # not itself
            best = (
                np.argpartition(-near, count - 1, axis=1)[:, :count]
                if count
                else rows[:, None][:, :0]
            )
            found += [
                (self._names[start + row], self._names[col], float(near[row, col]))
                for row in rows
                for col in best[row]
            ]
        return found
