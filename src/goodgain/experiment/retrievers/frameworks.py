"""Retrievers of LangChain, LlamaIndex and Haystack, as they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError
from goodgain.experiment.queries import accepted_values, filters_of
from goodgain.experiment.retrievers.answers import result_fields
from goodgain.experiment.retrievers.base import DEPTH, Retriever, check_ranking
from goodgain.experiment.services import value_at

if TYPE_CHECKING:
    from goodgain.experiment.retrievers.base import ScoredDocument

# Where the id of the document may be, in this order: that of a chunk comes after that of its document.
PATHS = (
    "id", "id_", "node_id", "ref_doc_id",
    *(f"{holder}.{name}" for holder in ("metadata", "meta")
      for name in ("id", "_id", "doc_id", "docid", "document_id", "source", "source_id", "file_name", "url")),
)  # fmt: skip

# How to search, and the parameter for the number of documents: vector stores and retrievers of LangChain,
# retrievers of LlamaIndex.
_METHODS = {"similarity_search": "k", "invoke": "", "retrieve": ""}


class Framework(Retriever):
    """An object of LangChain, LlamaIndex or Haystack: a retriever, a vector store, an index, a pipeline.

    The order in which it returns documents is the ranking; their scores count if they descend. `id` is where
    the id of the corpus is in a document, such as "metadata.doc_id"; by default it is the first place of the
    usual ones that holds ids of the corpus. Haystack's retrievers get the filters of a query.
    """

    name = "framework"

    def __init__(
        self,
        retriever: Any = None,
        *,
        id: str = "",  # noqa: A002
        depth: int = DEPTH,
    ) -> None:
        self.retriever, self.id, self.depth = retriever, id, depth
        self._texts: Mapping[str, str] = {}
        search = _search_of(retriever)
        if search is None:
            raise UsageError(
                f"an object of type {type(retriever).__name__} is not a LangChain, LlamaIndex or "
                "Haystack retriever",
                hint="it has none of invoke, similarity_search, retrieve, as_retriever, run",
            )
        self._search = search

    @property
    def takes_filters(self) -> bool:  # type: ignore[override]
        """Haystack's retrievers take filters in every call."""
        return _is_component(self.retriever) and "filters" in _sockets(self.retriever)

    def settings(self) -> dict[str, Any]:
        """Its class; the state of such objects is not read."""
        kind = type(self.retriever)
        label = f"{kind.__module__}:{kind.__qualname__}"
        return {"retriever": label, "id": self.id, "depth": self.depth}

    def unknown_state(self) -> list[str]:
        """Such an object may hold clients, indexes, models."""
        return [f"the state of a {type(self.retriever).__name__} is not read"]

    def build(self, documents: Mapping[str, str]) -> None:
        """Remember the ids of the corpus, by which those in answers are recognised."""
        self._texts = documents

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """What the object returns, in its order."""
        results = list(self._search(query, depth))
        fields = [result_fields(result) for result in results]
        path = self.id or self._path(fields)
        names = [_text(value_at(own, path)) for own in fields]
        for name, result in zip(names, results, strict=True):
            if name is None:
                raise InputError(
                    f"a result has no id at '{path or 'id'}': {result!r:.80}",
                    hint='id = "metadata.NAME" says where the id of the document is',
                )
        scores = [own.get("score") for own in fields]
        if _descend(scores):
            return check_ranking(list(zip(names, scores, strict=True)), depth, "best")
        return check_ranking(names, depth, "best")

    def _path(self, fields: list[Mapping[str, Any]]) -> str:
        """The place that holds most ids of the corpus, the first of equals."""
        values = {path: [_text(value_at(own, path)) for own in fields] for path in PATHS}
        known = {path: sum(v in self._texts for v in own if v) for path, own in values.items()}
        best = max(PATHS, key=lambda path: known[path])
        if known[best]:
            return best
        return next((path for path in PATHS if fields and all(values[path])), "")


def as_retriever(value: Any, **parameters: Any) -> Any:
    """A framework's object as a retriever; anything else as it is."""
    if isinstance(value, type) or callable(value) or _search_of(value) is None:
        return value
    return Framework(value, **parameters)


def _search_of(value: Any) -> Callable[[str, int], Any] | None:
    """How to search an object, by what it has."""
    if value is None:
        return None
    for name, depth_name in _METHODS.items():
        method: Any = getattr(value, name, None)
        if callable(method):
            return partial(_call, method, depth_name)
    make: Any = getattr(value, "as_retriever", None)
    if callable(make):  # an index of LlamaIndex
        return lambda query, depth: make(similarity_top_k=depth).retrieve(str(query))
    if _is_component(value):
        return lambda query, depth: _documents(value.run(**_inputs(value, query, depth)))
    if callable(getattr(value, "run", None)) and callable(getattr(value, "inputs", None)):
        return lambda query, _: _pipeline_documents(value, query)
    return None


def _call(method: Any, depth_name: str, query: str, depth: int) -> Any:
    return _documents(method(str(query), **({depth_name: depth} if depth_name else {})))


def _documents(answer: Any) -> Any:
    """The list in an answer; a chain of LangChain or a component of Haystack returns a dictionary."""
    if isinstance(answer, Mapping):
        for name in ("documents", "context", "source_documents"):
            if isinstance(answer.get(name), list):
                return answer[name]
        raise InputError(f"the answer has no documents, only {', '.join(map(str, answer))}")
    return answer


def _is_component(value: Any) -> bool:
    return callable(getattr(value, "run", None)) and hasattr(value, "__haystack_input__")


def _sockets(value: Any) -> Mapping[str, Any]:
    sockets: Mapping[str, Any] = vars(value.__haystack_input__).get("_sockets_dict", {})
    return sockets


def _inputs(component: Any, query: str, depth: int) -> dict[str, Any]:
    """The arguments of a component of Haystack."""
    sockets = _sockets(component)
    if "query" not in sockets:
        raise InputError(
            f"a {type(component).__name__} takes no 'query' but {', '.join(sockets)}",
            hint="put it into a pipeline with an embedder of texts",
        )
    inputs: dict[str, Any] = {"query": str(query)}
    if "top_k" in sockets:
        inputs["top_k"] = depth
    if filters_of(query) and "filters" in sockets:
        inputs["filters"] = _filters(filters_of(query))
    return inputs


def _filters(filters: Mapping[str, Any]) -> dict[str, Any]:
    conditions = [
        {"field": f"meta.{field}", "operator": "in", "value": accepted_values(value)}
        for field, value in filters.items()
    ]
    return {"operator": "AND", "conditions": conditions}


def _pipeline_documents(pipeline: Any, query: str) -> Any:
    """Run a pipeline of Haystack: every text that it must be given is the query."""
    data = {
        name: {socket: str(query) for socket, about in sockets.items() if about["is_mandatory"]}
        for name, sockets in pipeline.inputs().items()
    }
    outputs = [own for own in pipeline.run(data).values() if "documents" in own]
    if len(outputs) != 1:
        raise InputError(
            f"the pipeline has {len(outputs)} outputs with documents", hint="it must have one"
        )
    return outputs[0]["documents"]


def _descend(scores: list[Any]) -> bool:
    """Whether there are scores that agree with the order; others are distances, or stale."""
    if not scores or any(not isinstance(s, int | float) or not math.isfinite(s) for s in scores):
        return False
    return all(one >= other for one, other in pairwise(scores))


def _text(value: Any) -> str | None:
    return None if value is None or value == "" else str(value)
