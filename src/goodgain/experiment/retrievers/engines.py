"""Elasticsearch and OpenSearch indexes, searched through the official clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from goodgain.errors import UsageError
from goodgain.experiment.retrievers.base import DEPTH, Retriever, check_ranking, import_extra
from goodgain.experiment.retrievers.embed import embedding, require_vector_settings
from goodgain.experiment.services import fill_template, from_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goodgain.experiment.retrievers.base import ScoredDocument
    from goodgain.experiment.retrievers.embed import Embedding


class Engine(Retriever):
    """An existing index whose documents have the ids of the corpus.

    It is searched by full text over `fields`, by nearest vectors in `vector_field` (with `embed`, a model or
    a function, as for knn; "lsa" would not match the index), or by your own `query` in the query language of
    the engine, with `{query}` in place of the text. The document id is `_id`, or the field `id_field`.
    `client` holds further arguments of the official client (accounts, certificates) and is never saved.
    """

    secret = ("client",)
    module: ClassVar[str]
    package: ClassVar[str]

    def __init__(
        self,
        *,
        url: str = "http://localhost:9200",
        index_name: str = "",
        fields: Sequence[str] = ("text",),
        vector_field: str | None = None,
        embed: str | Callable[[list[str]], Any] | None = None,
        query: Mapping[str, Any] | None = None,
        id_field: str | None = None,
        client: Mapping[str, Any] | None = None,
        depth: int = DEPTH,
    ) -> None:
        if not index_name:
            raise UsageError(f"{self.name} needs the name of an index", hint='index_name = "..."')
        require_vector_settings("vector_field", vector_field, embed)
        self.url, self.index_name, self.fields = url, index_name, list(fields)
        self.vector_field, self.embed, self.query = vector_field, embed, query
        self.id_field, self.client, self.depth = id_field, client, depth
        self._embedding: Embedding | None = None
        self._client: Any = None

    def load(self) -> None:
        """Import the client and, if needed, the model."""
        if self._client is None:
            module = import_extra(
                self.module, f"the retriever '{self.name}'", self.package, self.package
            )
            self._client = self._connect(module)
            if self.embed is not None:
                self._embedding = embedding(self.embed, 0, None)

    def _connect(self, module: Any) -> Any:
        raise NotImplementedError

    def _near(self, vector: list[float], depth: int) -> dict[str, Any]:
        """The body of a vector search."""
        raise NotImplementedError

    def _body(self, query: str, depth: int) -> dict[str, Any]:
        if self.query is not None:
            return {"query": fill_template(dict(self.query), query, depth)}
        if self._embedding is not None:
            return self._near(self._embedding.embed([query])[0].tolist(), depth)
        return {"query": {"multi_match": {"query": query, "fields": self.fields}}}

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """Search the index."""
        body = {
            **self._body(query, depth),
            "size": depth,
            "_source": [self.id_field] if self.id_field else False,
        }
        answer = self._client.search(index=self.index_name, body=body)
        return check_ranking(
            [
                (hit["_source"][self.id_field] if self.id_field else hit["_id"], hit["_score"])
                for hit in answer["hits"]["hits"]
            ],
            depth,
        )


class Elasticsearch(Engine):
    """An Elasticsearch index."""

    name = "elasticsearch"
    module = package = "elasticsearch"

    def _connect(self, module: Any) -> Any:
        return module.Elasticsearch(
            from_environment(self.url), **from_environment(dict(self.client or {}))
        )

    def _near(self, vector: list[float], depth: int) -> dict[str, Any]:
        candidates = max(depth, min(10_000, 2 * depth))
        return {
            "knn": {
                "field": self.vector_field,
                "query_vector": vector,
                "k": depth,
                "num_candidates": candidates,
            }
        }


class OpenSearch(Engine):
    """An OpenSearch index."""

    name = "opensearch"
    module = "opensearchpy"
    package = "opensearch"

    def _connect(self, module: Any) -> Any:
        return module.OpenSearch(
            hosts=[from_environment(self.url)], **from_environment(dict(self.client or {}))
        )

    def _near(self, vector: list[float], depth: int) -> dict[str, Any]:
        return {"query": {"knn": {self.vector_field: {"vector": vector, "k": depth}}}}
