"""Indexes of Elasticsearch and OpenSearch, asked through their official clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from goodgain.errors import UsageError
from goodgain.experiment.retrievers.base import DEPTH, Hit, Retriever, checked, needed
from goodgain.experiment.retrievers.embed import Embedding, embedding
from goodgain.experiment.retrievers.http import filled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Engine(Retriever):
    """An index that is there already; its documents carry the ids of the corpus.

    Searched by full text over `fields`, by the nearest vectors of `vector_field` (`embed` as for knn, a
    model or a function: an embedding fitted here would not fit the index), or by a `query` of your own in
    the engine's language, with `{query}` where the text goes. The id is `_id`, or the field `id_field`.
    `client` has further arguments of the official client (accounts, certificates); it is never saved.
    """

    secret = ("client",)
    module: ClassVar[str]
    package: ClassVar[str]

    def __init__(
        self,
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
        if bool(vector_field) != bool(embed) or embed == "lsa":
            raise UsageError(
                "a search by vectors needs both vector_field and embed, a model or a function",
                hint='vector_field = "embedding", embed = "my_module:embed"',
            )
        self.url, self.index_name, self.fields = url, index_name, list(fields)
        self.vector_field, self.embed, self.query = vector_field, embed, query
        self.id_field, self.client, self.depth = id_field, client, depth
        self._embedding: Embedding | None = None
        self._client: Any = None

    def load(self) -> None:
        """Import the client, and the model if there is one."""
        if self._client is None:
            module = needed(self.module, f"the retriever '{self.name}'", self.package, self.package)
            self._client = self._connect(module)
            if self.embed is not None:
                self._embedding = embedding(self.embed, 0, None)

    def _connect(self, module: Any) -> Any:
        raise NotImplementedError

    def _near(self, vector: list[float], depth: int) -> dict[str, Any]:
        """The body of a search by vectors."""
        raise NotImplementedError

    def _body(self, query: str, depth: int) -> dict[str, Any]:
        if self.query is not None:
            return {"query": filled(dict(self.query), query, depth)}
        if self._embedding is not None:
            return self._near(self._embedding.embed([query])[0].tolist(), depth)
        return {"query": {"multi_match": {"query": query, "fields": self.fields}}}

    def search(self, query: str, depth: int) -> list[Hit]:
        """Ask the index."""
        body = {
            **self._body(query, depth),
            "size": depth,
            "_source": [self.id_field] if self.id_field else False,
        }
        answer = self._ask(body)
        return checked(
            [
                (hit["_source"][self.id_field] if self.id_field else hit["_id"], hit["_score"])
                for hit in answer["hits"]["hits"]
            ],
            depth,
        )

    def _ask(self, body: dict[str, Any]) -> Any:
        return self._client.search(index=self.index_name, body=body)


class Elasticsearch(Engine):
    """An index of Elasticsearch."""

    name = "elasticsearch"
    module = package = "elasticsearch"

    def _connect(self, module: Any) -> Any:
        return module.Elasticsearch(self.url, **(self.client or {}))

    def _near(self, vector: list[float], depth: int) -> dict[str, Any]:
        wide = max(depth, min(10_000, 2 * depth))
        return {
            "knn": {
                "field": self.vector_field,
                "query_vector": vector,
                "k": depth,
                "num_candidates": wide,
            }
        }


class OpenSearch(Engine):
    """An index of OpenSearch."""

    name = "opensearch"
    module = "opensearchpy"
    package = "opensearch"

    def _connect(self, module: Any) -> Any:
        return module.OpenSearch(hosts=[self.url], **(self.client or {}))

    def _near(self, vector: list[float], depth: int) -> dict[str, Any]:
        return {"query": {"knn": {self.vector_field: {"vector": vector, "k": depth}}}}
