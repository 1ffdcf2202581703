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
from goodgain.experiment.retrievers.embed import LSA, TextSettings, embedding, one_thread
from goodgain.experiment.retrievers.precomputed import PrecomputedEmbedding
from goodgain.experiment.retrievers.vectors import BATCH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.experiment.retrievers.clusters import Neighbours
    from goodgain.experiment.retrievers.embed import Embedding
    from goodgain.experiment.retrievers.precomputed import VectorSource

METHODS = ("exact", "clusters")
EXACT_EDGES = 20_000  # documents whose neighbours are found by exact search


class KNN(Retriever):
    """The documents with the highest cosine similarity to the query.

    `embed` is "lsa" (fitted on the corpus, no download), the name or path of a sentence-transformers model, a
    function from a list of texts to rows of numbers, or an object that embeds documents and queries apart.
    Documents are embedded `batch` at a time; `prepare` is applied to every text, and then a prefix put before
    it. `document_vectors` and `query_vectors` were computed before: a file, {id: vector} or (ids, rows).
    `method` is "exact", or "clusters" for an approximate index over large corpora, which reports its recall.
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
        self._clusters: Clusters | None = None
        self._queries: Mapping[str, str] = {}

    def load(self) -> None:
        """Load the embedding."""
        computed = None if self.query_vectors is not None else self._computed()
        if self.document_vectors is not None:
            self._embedding: Embedding = PrecomputedEmbedding(
                self.document_vectors, self.query_vectors, computed
            )
        elif computed is not None:
            self._embedding = computed

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
        self._ranks = id_ranks(self._names)
        if isinstance(self._embedding, PrecomputedEmbedding):
            self._embedding.use_queries(self._queries)
        self.vectors = self._embedding.documents(documents, self.stages, self.version)
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
