"""Retrievers by name: built-in ones, and plug-ins in the entry-point group `goodgain.retrievers`.

Any callable `query -> [(document, score)]` or `query -> [document]`, sync or async, is a retriever too.

>>> from goodgain.experiment.retrievers import BM25, SQLite, Tantivy, make
>>> corpus = {"keys": "Rotate the signing keys.", "plans": "Plans, prices and billing."}
>>> for retriever in (BM25(), SQLite(), Tantivy(), make("bm25", {"stemmer": "english"})):
...     retriever.index(corpus)
...     assert [doc for doc, score in retriever("rotate keys")] == ["keys"]

Vectors come from a function, or from a model by its name:

>>> from goodgain.experiment.retrievers import KNN, Chroma, DuckDB, LanceDB, Qdrant
>>> def embed(texts):
...     return [[float("key" in text), 1.0] for text in texts]
>>> for kind in (KNN, Qdrant, Chroma, LanceDB, DuckDB):
...     retriever = kind(embed=embed)
...     retriever.index(corpus)
...     assert retriever("keys")[0][0] == "keys"

Systems over other systems, in an experiment:

>>> import goodgain as gg
>>> from goodgain.experiment.retrievers import Graph, Hybrid, Rerank, Swarm
>>> def shorter(query, texts):
...     return [-len(text) for text in texts]
>>> systems = {"keyword": BM25(), "knn": KNN(embed=embed), "hybrid": Hybrid(["keyword", "knn"])}
>>> systems |= {"reranked": Rerank("knn", shorter), "graph": Graph("knn"), "swarm": Swarm("knn")}
>>> result = gg.Experiment(corpus, {"q": "keys"}, {"q": {"keys": 1}}, systems, measures="RR").run()
>>> {name: result[name]["RR"] for name in systems}
{'keyword': 1.0, 'knn': 1.0, 'hybrid': 1.0, 'reranked': 1.0, 'graph': 1.0, 'swarm': 1.0}

Services and objects of frameworks; addresses may come from the environment, and results never hold them:

>>> from goodgain.experiment.retrievers import Elasticsearch, Framework, Http, Mcp, OpenSearch, Postgres
>>> services = [
...     Elasticsearch(url="${ES_URL}", index_name="handbook", fields=["title", "text"]),
...     OpenSearch(url="${OS_URL}", index_name="handbook"),
...     Postgres(dsn="${DATABASE}", table="handbook"),
...     Http("https://search.example.org/?q={query}", hits="results"),
...     Mcp("python server.py", tool="search_handbook"),
... ]
>>> class Index:  # as a retriever of LangChain has `invoke`
...     def invoke(self, query):
...         return [{"id": "keys"}]
>>> [doc for doc, score in Framework(Index(), id="id")("rotate keys")]
['keys']

A class of your own has `search`, and stores its parameters under their names:

>>> from goodgain.experiment.retrievers import Retriever
>>> class Longest(Retriever):
...     def __init__(self, limit=3):
...         self.limit = limit
...     def index(self, documents):
...         self.names = sorted(documents, key=lambda doc: -len(documents[doc]))
...     def search(self, query, depth):
...         return [(doc, -float(rank)) for rank, doc in enumerate(self.names[: self.limit])]
>>> longest = Longest(limit=1)
>>> longest.index(corpus)
>>> longest.search("anything", 10)
[('plans', -0.0)]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.errors import UsageError
from goodgain.experiment.retrievers.base import (
    DEPTH,
    Ranking,
    Retriever,
    ScoredDocument,
    SearchFunction,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "BUILT_IN",
    "DEPTH",
    "GROUP",
    "Ranking",
    "Retriever",
    "ScoredDocument",
    "SearchFunction",
    "make",
    "retriever_class",
    "retriever_summaries",
]

GROUP = "goodgain.retrievers"


class BuiltIn(NamedTuple):
    """Where a built-in retriever is defined, and a line about it for lists."""

    module: str
    class_name: str
    summary: str

    def load(self) -> type[Retriever]:
        """Import the class."""
        module = import_module(f"goodgain.experiment.retrievers.{self.module}")
        cls: type[Retriever] = getattr(module, self.class_name)
        return cls


BUILT_IN = {
    "bm25": BuiltIn("bm25", "BM25", "keyword search by BM25"),
    "knn": BuiltIn("knn", "KNN", "nearest neighbours of embeddings, exact or with an index"),
    "hybrid": BuiltIn("combine", "Hybrid", "fusion of other systems"),
    "rerank": BuiltIn("combine", "Rerank", "reranking of a system by a function or cross-encoder"),
    "graph": BuiltIn("graph", "Graph", "flow-guided walks over a graph of documents"),
    "swarm": BuiltIn("swarm", "Swarm", "agents with pheromone that vote on the pool of a system"),
    "http": BuiltIn("http", "Http", "a service with a JSON endpoint"),
    "opensearch": BuiltIn("engines", "OpenSearch", "an OpenSearch index"),
    "elasticsearch": BuiltIn("engines", "Elasticsearch", "an Elasticsearch index"),
    "postgres": BuiltIn("postgres", "Postgres", "a PostgreSQL table: full text or pgvector"),
    "sqlite": BuiltIn("sqlite", "SQLite", "an SQLite full-text table (FTS5)"),
    "duckdb": BuiltIn("duck", "DuckDB", "a DuckDB table: vectors, full text or SQL"),
    "tantivy": BuiltIn("tantivy", "Tantivy", "a tantivy index"),
    "qdrant": BuiltIn("qdrant", "Qdrant", "a Qdrant collection"),
    "lancedb": BuiltIn("lance", "LanceDB", "a LanceDB table: vectors or full text"),
    "chroma": BuiltIn("chroma", "Chroma", "a Chroma collection"),
    "mcp": BuiltIn("mcp", "Mcp", "a search tool of an MCP server"),
    "framework": BuiltIn("frameworks", "Framework", "a LangChain, LlamaIndex or Haystack object"),
}


def retriever_class(name: str) -> type[Any]:
    """The class of a retriever: a built-in one, or that of a plug-in."""
    from goodgain.plugins import load_plugin, plugin_names

    if name in BUILT_IN:
        return BUILT_IN[name].load()
    plugin: type[Any] | None = load_plugin(GROUP, name, type)
    if plugin is not None:
        return plugin
    from difflib import get_close_matches

    names = [*BUILT_IN, *(plugin for plugin in plugin_names(GROUP) if plugin not in BUILT_IN)]
    near = get_close_matches(name, [each for each in names if each != name], n=1)
    suggestion = f"did you mean '{near[0]}'? " if near else ""
    raise UsageError(
        f"unknown retriever '{name}'",
        hint=f"{suggestion}available: {', '.join(names)}; or your own as 'module:function'",
    )


def retriever_summaries() -> dict[str, str]:
    """Every retriever with a line about it; plug-ins are described by the start of their docstring."""
    from goodgain.plugins import load_plugins

    plugins = load_plugins(GROUP, BUILT_IN, type)
    return {
        **{name: entry.summary for name, entry in BUILT_IN.items()},
        **{name: (cls.__doc__ or "").strip().partition("\n")[0] for name, cls in plugins.items()},
    }


def make(name: str, parameters: Mapping[str, Any], depth: int | None = None) -> Any:
    """The retriever of this name with these parameters; an unknown parameter is an error.

    `depth` is the default of the parameter of that name, where the retriever has it.
    """
    import inspect

    cls = retriever_class(name)
    signature = inspect.signature(cls).parameters
    if not any(p.kind is p.VAR_KEYWORD for p in signature.values()):
        for parameter in parameters:
            if parameter not in signature:
                raise UsageError(
                    f"unknown parameter '{parameter}' for the retriever '{name}'",
                    hint=f"available parameters: {', '.join(signature)}",
                )
    defaults = {"depth": depth} if depth is not None and "depth" in signature else {}
    retriever = cls(**{**defaults, **parameters})
    if not callable(retriever):
        raise UsageError(
            f"the retriever '{name}' cannot be called",
            hint="a retriever is a callable query -> [(document, score), ...]",
        )
    return retriever


def __getattr__(name: str) -> Any:
    for entry in BUILT_IN.values():
        if entry.class_name == name:
            return entry.load()
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
