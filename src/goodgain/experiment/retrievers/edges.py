"""A graph of documents stored as arrays, from a list of edges or from nearest neighbours."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from goodgain.errors import InputError, UsageError
from goodgain.experiment.retrievers.base import Retriever
from goodgain.experiment.retrievers.knn import KNN

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEIGHBOURS = "neighbours"
# "neighbours", a path to a table, or rows of (document, document[, weight])
Edges: TypeAlias = str | os.PathLike[str] | Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class DocumentGraph:
    """Edges by the document that they leave: those of document i are at starts[i]:starts[i + 1]."""

    names: list[str]
    positions: dict[str, int]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    weights: NDArray[np.float64]
    note: str = ""

    @classmethod
    def from_edges(cls, names: Iterable[str], edges: Iterable[Sequence[Any]]) -> DocumentGraph:
        """A graph with edges in both directions; of duplicate edges the largest weight counts."""
        import numpy as np

        listed = list(names)
        positions = {name: i for i, name in enumerate(listed)}
        ends, weights = [], []
        for edge in edges:
            ends.append([_position(positions, end) for end in edge[:2]])
            weights.append(float(edge[2]) if len(edge) > 2 and edge[2] not in (None, "") else 1.0)
        pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
        return cls.from_numbers(
            listed, positions, pairs[:, 0], pairs[:, 1], np.array(weights, dtype=np.float64)
        )

    @classmethod
    def from_numbers(
        cls,
        names: list[str],
        positions: dict[str, int],
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
        weights: NDArray[np.float64],
    ) -> DocumentGraph:
        """The same from documents by number."""
        import numpy as np

        is_edge = (starts != ends) & (weights > 0)
        starts, ends, weights = starts[is_edge], ends[is_edge], weights[is_edge]
        starts, ends = np.concatenate([starts, ends]), np.concatenate([ends, starts])
        weights = np.concatenate([weights, weights])
        order = np.lexsort((-weights, ends, starts))  # of duplicates the largest weight is first
        starts, ends, weights = starts[order], ends[order], weights[order]
        first = np.ones(len(starts), dtype=bool)
        first[1:] = (starts[1:] != starts[:-1]) | (ends[1:] != ends[:-1])
        counts = np.bincount(starts[first], minlength=len(names))
        bounds = np.concatenate([[0], np.cumsum(counts)])
        return cls(names, positions, bounds, ends[first], weights[first])


def _position(positions: Mapping[str, int], end: Any) -> int:
    if str(end) not in positions:
        raise InputError(f"unknown document '{end}' in an edge", hint="ids are those of the corpus")
    return positions[str(end)]


def build_graph(
    documents: Mapping[str, str], edges: Edges, neighbours: int, component: Any
) -> DocumentGraph:
    """The graph that a setting describes; nearest neighbours come from the knn retriever in `component`."""
    if isinstance(edges, str) and edges == NEIGHBOURS:
        retrievers = component.all_retrievers() if isinstance(component, Retriever) else ()
        knn = next((each for each in retrievers if isinstance(each, KNN)), None)
        if knn is None:
            raise UsageError(
                "a graph of nearest neighbours needs a knn system",
                hint='set of = "..." to a knn system, or set edges',
            )
        near, names = knn.neighbours(neighbours), list(documents)
        positions = {name: i for i, name in enumerate(names)}
        graph = DocumentGraph.from_numbers(names, positions, near.starts, near.ends, near.cosines)
        if near.recall is None:
            return graph
        return replace(graph, note=f"edges lead to {near.recall}")
    if isinstance(edges, str | os.PathLike):
        return DocumentGraph.from_edges(documents, _read(edges))
    return DocumentGraph.from_edges(documents, edges)


def _read(path: str | os.PathLike[str]) -> list[tuple[Any, ...]]:
    from goodgain.io.columns import find_columns
    from goodgain.io.tables import load_table

    table = load_table(path)
    columns = find_columns(table.columns, "edges", table.name)
    return list(zip(*(table.columns[name] for name in columns.values()), strict=True))
