"""A Qdrant collection: on a server, in a folder, or made of the corpus in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.experiment.queries import accepted_values, filters_of
from goodgain.experiment.retrievers.base import DEPTH, check_ranking, import_extra
from goodgain.experiment.retrievers.stores import (
    Collection,
    Embed,
    choose,
    corpus_vectors,
    not_available,
    query_embedding,
    require_embed,
)
from goodgain.experiment.services import from_environment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.experiment.retrievers.base import ScoredDocument

METRICS = {"cosine": "Cosine", "dot": "Dot", "l2": "Euclid", "l1": "Manhattan"}
DISTANCES = ("Euclid", "Manhattan")  # of these Qdrant returns how far away a point is


class Qdrant(Collection):
    """Nearest vectors in a collection, whose `vector` has a name if there are several.

    `embed` makes the vector of a query. The document id is the field `id` of the payload, or the point's own
    id with id="". `metric` is that of an index made here; a collection has its own.
    """

    name = "qdrant"

    def __init__(
        self,
        *,
        url: str = "",
        path: str = "",
        collection: str = "",
        vector: str = "",
        embed: Embed | None = None,
        id: str = "id",  # noqa: A002
        metric: str = "cosine",
        client: Any = None,
        depth: int = DEPTH,
    ) -> None:
        require_embed("qdrant", embed)
        choose("metric", metric, METRICS)
        self.embed, self.url, self.path, self.collection = embed, url, path, collection
        self.vector, self.id, self.metric = vector, id, metric
        self.client, self.depth = client, depth
        self.check_place()

    def load(self) -> None:
        """Import the client and the model."""
        self._models = import_extra(
            "qdrant_client.models", "the retriever 'qdrant'", "qdrant-client", "qdrant"
        )
        assert self.embed is not None
        self._embed = query_embedding(self.embed, "the retriever 'qdrant'")

    def build(self, documents: Mapping[str, str]) -> None:
        """Connect and look at the collection, or make one of the corpus."""
        from qdrant_client import QdrantClient

        if self.has_client():
            self._connection = self.client
        elif self.is_own:
            self._connection = QdrantClient(":memory:", **self.client_arguments())
        else:
            place = {"url": from_environment(self.url)} if self.url else {"path": self.path}
            self._connection = QdrantClient(
                **place, check_compatibility=False, **self.client_arguments()
            )
        if self.is_own:
            self._fill(documents)
        self._sign = self._direction()

    def _fill(self, documents: Mapping[str, str]) -> None:
        models = self._models
        assert self.embed is not None
        vectors = corpus_vectors(self.embed, documents, "the retriever 'qdrant'")
        self.collection = self.collection or "corpus"
        self._connection.create_collection(
            self.collection,
            vectors_config=models.VectorParams(
                size=len(vectors[0]), distance=models.Distance(METRICS[self.metric])
            ),
        )
        points = [
            models.PointStruct(id=number, vector=vector, payload={"id": doc})
            for number, (doc, vector) in enumerate(zip(documents, vectors, strict=True))
        ]
        for start in range(0, len(points), 1000):
            self._connection.upsert(self.collection, points[start : start + 1000])

    def _direction(self) -> int:
        """1 where higher scores are nearer, -1 where they are distances."""
        try:
            if not self._connection.collection_exists(self.collection):
                names = [c.name for c in self._connection.get_collections().collections]
                not_available("the collection", self.collection, names)
            vectors = self._connection.get_collection(self.collection).config.params.vectors
        except InputError:
            raise
        except Exception as error:
            raise InputError(f"cannot reach Qdrant at '{self.url or self.path}': {error}") from None
        if isinstance(vectors, dict):
            if self.vector not in vectors:
                not_available("the vector", self.vector, list(vectors))
            vectors = vectors[self.vector]
        elif self.vector:
            not_available("the vector", self.vector, [])
        return -1 if vectors.distance.value in DISTANCES else 1

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """The nearest points."""
        answer = self._connection.query_points(
            self.collection,
            query=self._embed(query),
            using=self.vector or None,
            query_filter=self._filter(filters_of(query)),
            limit=depth,
            with_payload=[self.id] if self.id else False,
        )
        return check_ranking([(self._key(p), self._sign * p.score) for p in answer.points], depth)

    def _key(self, point: Any) -> str:
        if not self.id:
            return str(point.id)
        if self.id not in (point.payload or {}):
            raise InputError(
                f"point {point.id} has no '{self.id}' in its payload",
                hint='name the field with the id of the document, or id = "" for the id of the point',
            )
        return str(point.payload[self.id])

    def _filter(self, filters: Mapping[str, Any]) -> Any:
        if not filters:
            return None
        models = self._models
        conditions = []
        for field, value in filters.items():
            accepted = accepted_values(value)
            if any(isinstance(each, float) for each in accepted):
                ranges = [
                    models.FieldCondition(key=field, range=models.Range(gte=each, lte=each))
                    for each in accepted
                ]
                conditions.append(models.Filter(should=ranges))
            else:
                conditions.append(
                    models.FieldCondition(key=field, match=models.MatchAny(any=accepted))
                    if len(accepted) != 1
                    else models.FieldCondition(
                        key=field, match=models.MatchValue(value=accepted[0])
                    )
                )
        return models.Filter(must=conditions)
