"""A Chroma collection: on a server, in a folder, or made of the corpus in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

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

METRICS = {"cosine": "cosine", "l2": "l2", "dot": "ip"}


class Chroma(Collection):
    """Nearest vectors in a collection.

    `embed` makes the vector of a query. The document id is Chroma's, or the field `id` of the metadata.
    Chroma returns distances by every metric; their negative is the score. `metric` is that of an index made
    here; a collection has its own.
    """

    name = "chroma"

    def __init__(
        self,
        *,
        embed: Embed | None = None,
        url: str = "",
        path: str = "",
        collection: str = "",
        id: str = "",  # noqa: A002
        metric: str = "cosine",
        client: Any = None,
        depth: int = DEPTH,
    ) -> None:
        require_embed("chroma", embed)
        choose("metric", metric, METRICS)
        self.embed, self.url, self.path, self.collection = embed, url, path, collection
        self.id, self.metric, self.client, self.depth = id, metric, client, depth
        self.check_place()

    def load(self) -> None:
        """Import the client and the model."""
        self._module = import_extra("chromadb", "the retriever 'chroma'", "chromadb", "chroma")
        assert self.embed is not None
        self._embed = query_embedding(self.embed, "the retriever 'chroma'")

    def build(self, documents: Mapping[str, str]) -> None:
        """Connect and look at the collection, or make one of the corpus."""
        connection = self._connect()
        if self.is_own:
            self._fill(connection, documents)
            return
        try:
            names = [c.name for c in connection.list_collections()]
            if self.collection not in names:
                not_available("the collection", self.collection, names)
            self._collection = connection.get_collection(self.collection, embedding_function=None)
        except InputError:
            raise
        except Exception as error:
            raise InputError(f"cannot reach Chroma at '{self.url or self.path}': {error}") from None

    def _connect(self) -> Any:
        if self.has_client():
            return self.client
        arguments = self.client_arguments()
        if self.path:
            return self._module.PersistentClient(self.path, **arguments)
        if not self.url:
            return self._module.EphemeralClient(**arguments)
        address = urlsplit(from_environment(self.url))
        is_secure = address.scheme == "https"
        try:
            return self._module.HttpClient(
                host=address.hostname,
                port=address.port or (443 if is_secure else 8000),
                ssl=is_secure,
                **arguments,
            )
        except Exception as error:
            raise InputError(f"cannot reach Chroma at '{self.url}': {error}") from None

    def _fill(self, connection: Any, documents: Mapping[str, str]) -> None:
        from uuid import uuid4

        assert self.embed is not None
        vectors = corpus_vectors(self.embed, documents, "the retriever 'chroma'")
        self._collection = connection.create_collection(
            f"goodgain-{uuid4().hex}",  # collections in memory are shared by the whole process
            configuration={
                "hnsw": {"space": METRICS[self.metric], "ef_search": max(100, self.depth)}
            },
            embedding_function=None,
        )
        ids = list(documents)
        for start in range(0, len(ids), 1000):
            end = start + 1000
            self._collection.add(ids=ids[start:end], embeddings=vectors[start:end])

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """The nearest documents."""
        answer = self._collection.query(
            query_embeddings=[self._embed(query)],
            n_results=depth,
            where=_where(filters_of(query)),
            include=["distances", *(["metadatas"] if self.id else [])],
        )
        names = answer["ids"][0]
        if self.id:
            names = [
                self._key(name, fields)
                for name, fields in zip(names, answer["metadatas"][0], strict=True)
            ]
        pairs = zip(names, answer["distances"][0], strict=True)
        return check_ranking([(name, -distance) for name, distance in pairs], depth, "best")

    def _key(self, name: str, fields: Mapping[str, Any] | None) -> str:
        if self.id not in (fields or {}):
            raise InputError(f"document '{name}' has no '{self.id}' in its metadata")
        assert fields is not None
        return str(fields[self.id])


def _where(filters: Mapping[str, Any]) -> Any:
    conditions = [{field: {"$in": accepted_values(value)}} for field, value in filters.items()]
    if len(conditions) < 2:
        return conditions[0] if conditions else None
    return {"$and": conditions}
