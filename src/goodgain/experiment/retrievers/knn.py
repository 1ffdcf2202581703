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
from goodgain.experiment.retrievers.embed import LSA, TextSettings, embedding, one_thread
from goodgain.experiment.retrievers.precomputed import PrecomputedEmbedding
from goodgain.experiment.retrievers.vectors import BATCH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goodgain.experiment.retrievers.embed import Embedding
    from goodgain.experiment.retrievers.precomputed import VectorSource

METHODS = ("exact", "usearch")


class KNN(Retriever):
    """The documents with the highest cosine similarity to the query.

    `embed` is "lsa" (fitted on the corpus, no download), the name or path of a sentence-transformers model, a
    function from a list of texts to rows of numbers, or an object that embeds documents and queries apart.
    Documents are embedded `batch` at a time; `prepare` is applied to every text, and then a prefix put before
    it. `document_vectors` and `query_vectors` were computed before: a file, {id: vector} or (ids, rows).
    `method` is "exact", or "usearch" for an approximate HNSW index over large corpora.
    """

    name = "knn"
    files = ("embed", "document_vectors", "query_vectors")

    def __init__(
        self,
        embed: Any = LSA,
        *,
        method: str = "exact",
        dimensions: int = 400,
        prepare: Callable[[str], str] | None = None,
        query_prefix: str = "",
        document_prefix: str = "",
        batch: int = BATCH,
        document_vectors: VectorSource | None = None,
        query_vectors: VectorSource | None = None,
        depth: int = DEPTH,
    ) -> None:
        if method not in METHODS:
            raise UsageError(
                f"unknown nearest-neighbour method '{method}'",
                hint=f"available: {', '.join(METHODS)}",
            )
        require_positive(dimensions=dimensions, batch=batch)
        if query_vectors is not None and document_vectors is None:
            raise UsageError("query_vectors need document_vectors, too")
        if document_vectors is not None and query_vectors is None and embed == LSA:
            raise UsageError(
                "document_vectors need an embedding for the queries",
                hint="set embed to the model that made them, or query_vectors",
            )
        self.embed, self.method, self.dimensions, self.prepare = embed, method, dimensions, prepare
        self.query_prefix, self.document_prefix, self.batch = query_prefix, document_prefix, batch
        self.document_vectors, self.query_vectors = document_vectors, query_vectors
        self.depth = depth
        self._hnsw: Any = None
        self._queries: Mapping[str, str] = {}

    def load(self) -> None:
        """Load the embedding and, if needed, usearch."""
        computed = None if self.query_vectors is not None else self._computed()
        if self.document_vectors is not None:
            self._embedding: Embedding = PrecomputedEmbedding(
                self.document_vectors, self.query_vectors, computed
            )
        elif computed is not None:
            self._embedding = computed
        if self.method == "usearch":
            import_extra("usearch.index", "the method 'usearch'")

    def _computed(self) -> Embedding:
        texts = TextSettings(
            prepare=self.prepare,
            document_prefix=self.document_prefix,
            query_prefix=self.query_prefix,
            batch=self.batch,
        )
        return embedding(self.embed, self.dimensions, texts)

    def use_queries(self, queries: Mapping[str, str]) -> None:
        """Find the vectors of the queries, if they are precomputed."""
        self._queries = queries

    def build(self, documents: Mapping[str, str]) -> None:
        """Embed all documents."""
        assert self.stages is not None
        self._names = list(documents)
        if isinstance(self._embedding, PrecomputedEmbedding):
            self._embedding.use_queries(self._queries)
        self.vectors = self._embedding.documents(documents, self.stages, self.version)
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
