"""Built-in retrievers, by name. Any callable `query -> [(document, score)]` is one too, sync or async."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError
from goodgain.experiment.retrievers.base import DEPTH, Hit, Hits, Retriever, Search

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["BUILT_IN", "DEPTH", "Hit", "Hits", "Retriever", "Search", "make", "retriever_class"]

_HERE = "goodgain.experiment.retrievers"
# Name: its module, its class, what it is.
BUILT_IN = {
    "bm25": ("bm25", "BM25", "keyword search by BM25 (bm25s)"),
    "knn": ("knn", "KNN", "nearest neighbours of embeddings, exact or by usearch"),
    "hybrid": ("combine", "Hybrid", "any fusion of other systems"),
    "rerank": (
        "combine",
        "Rerank",
        "the best of a system, ranked again by a function or cross-encoder",
    ),
    "graph": ("graph", "Graph", "flow-guided walks over a graph of documents, ranked by visits"),
    "swarm": ("swarm", "Swarm", "agents with pheromone that vote on the pool of another system"),
    "http": ("http", "Http", "a JSON endpoint"),
    "opensearch": ("engines", "OpenSearch", "an index of OpenSearch"),
    "elasticsearch": ("engines", "Elasticsearch", "an index of Elasticsearch"),
    "postgres": ("postgres", "Postgres", "a table of PostgreSQL: full text or pgvector"),
}


def retriever_class(name: str) -> type[Retriever]:
    """The class of a built-in retriever."""
    if name not in BUILT_IN:
        from difflib import get_close_matches

        near = get_close_matches(name, BUILT_IN, n=1)
        hint = f"did you mean '{near[0]}'? " if near else ""
        raise UsageError(
            f"there is no retriever '{name}'",
            hint=f"{hint}one of: {', '.join(BUILT_IN)}, or your own as 'module:function'",
        )
    module, cls, _ = BUILT_IN[name]
    found: type[Retriever] = getattr(import_module(f"{_HERE}.{module}"), cls)
    return found


def make(name: str, parameters: Mapping[str, Any]) -> Retriever:
    """A built-in retriever with these parameters; what it does not take is an error."""
    import inspect

    cls = retriever_class(name)
    known = list(inspect.signature(cls).parameters)
    for unknown in set(parameters) - set(known):
        raise UsageError(
            f"the retriever '{name}' takes no '{unknown}'", hint=f"it takes: {', '.join(known)}"
        )
    return cls(**parameters)


def __getattr__(name: str) -> Any:
    for module, cls, _ in BUILT_IN.values():
        if cls == name:
            return getattr(import_module(f"{_HERE}.{module}"), cls)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
