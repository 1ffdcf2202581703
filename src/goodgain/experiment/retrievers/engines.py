"""Elasticsearch and OpenSearch indexes, searched through the official clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from goodgain.errors import InputError, UsageError
from goodgain.experiment.queries import accepted_values, filters_of
from goodgain.experiment.retrievers.base import DEPTH, import_extra
from goodgain.experiment.retrievers.embed import require_vector_settings
from goodgain.experiment.retrievers.stores import Store, query_embedding, ranked_rows
from goodgain.experiment.services import fill_template, from_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goodgain.experiment.retrievers.base import ScoredDocument


class Engine(Store):
    """An existing index whose documents have the ids of the corpus.

    It is searched by full text over `fields`, by nearest vectors in `vector_field` (with `embed`, a model or
    a function, as for knn; "lsa" would not match the index), or by your own `query` in the query language of
    the engine, with `{query}` in place of the text. The filters of a query restrict all of them. The document
    id is `_id`, or the field `id_field`. `client` holds further arguments of the official client (accounts,
    certificates), or is a client; it is never saved.
    """

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
        client: Any = None,
        depth: int = DEPTH,
    ) -> None:
        if not index_name:
            raise UsageError(f"{self.name} needs the name of an index", hint='index_name = "..."')
        require_vector_settings("vector_field", vector_field, embed)
        self.url, self.index_name, self.fields = url, index_name, list(fields)
        self.vector_field, self.embed, self.query = vector_field, embed, query
        self.id_field, self.client, self.depth = id_field, client, depth
        self._embed: Callable[[str], list[float]] | None = None
        self._client: Any = None

    def load(self) -> None:
        """Import the client and, if needed, the model."""
        if self._client is None:
            module = import_extra(
                self.module, f"the retriever '{self.name}'", self.package, self.package
            )
            self._errors = module.exceptions
            self._client = self.client if self.has_client() else self._connect(module)
            if self.embed is not None:
                self._embed = query_embedding(self.embed, f"the retriever '{self.name}'")

    def _connect(self, module: Any) -> Any:
        raise NotImplementedError

    def _near(
        self, vector: list[float], depth: int, filters: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """The body of a vector search."""
        raise NotImplementedError

    def _body(self, query: str, depth: int) -> dict[str, Any]:
        filters = [
            {"terms": {field: accepted_values(value)}} for field, value in filters_of(query).items()
        ]
        if self._embed is not None and self.query is None:
            return self._near(self._embed(query), depth, filters)
        words: dict[str, Any] = {"multi_match": {"query": str(query), "fields": self.fields}}
        if self.query is not None:
            words = fill_template(dict(self.query), query, depth)
        return {"query": {"bool": {"must": [words], "filter": filters}} if filters else words}

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """Search the index."""
        body = {
            **self._body(query, depth),
            "size": depth,
            "_source": [self.id_field] if self.id_field else False,
        }
        try:
            answer = self._client.search(index=self.index_name, body=body)
        except self._errors.NotFoundError:
            raise InputError(f"the index '{self.index_name}' not found", where=self.url) from None
        except self._errors.ConnectionError as error:
            raise InputError(f"cannot reach the server at '{self.url}': {error}") from None
        rows = [(self._key(hit), hit["_score"]) for hit in answer["hits"]["hits"]]
        return ranked_rows(rows, depth, "the list of hits")

    def _key(self, hit: Mapping[str, Any]) -> Any:
        if self.id_field is None:
            return hit["_id"]
        source = hit.get("_source") or {}
        if self.id_field not in source:
            raise InputError(f"document '{hit['_id']}' has no field '{self.id_field}'")
        return source[self.id_field]


class Elasticsearch(Engine):
    """An Elasticsearch index."""

    name = "elasticsearch"
    module = package = "elasticsearch"

    def _connect(self, module: Any) -> Any:
        return module.Elasticsearch(from_environment(self.url), **self.client_arguments())

    def _near(
        self, vector: list[float], depth: int, filters: list[dict[str, Any]]
    ) -> dict[str, Any]:
        near: dict[str, Any] = {
            "field": self.vector_field,
            "query_vector": vector,
            "k": depth,
            "num_candidates": max(depth, min(10_000, 2 * depth)),
        }
        return {"knn": {**near, "filter": filters} if filters else near}


class OpenSearch(Engine):
    """An OpenSearch index."""

    name = "opensearch"
    module = "opensearchpy"
    package = "opensearch"

    def _connect(self, module: Any) -> Any:
        return module.OpenSearch(hosts=[from_environment(self.url)], **self.client_arguments())

    def _near(
        self, vector: list[float], depth: int, filters: list[dict[str, Any]]
    ) -> dict[str, Any]:
        near: dict[str, Any] = {"vector": vector, "k": depth}
        if filters:
            near["filter"] = {"bool": {"filter": filters}}
        return {"query": {"knn": {self.vector_field: near}}}
