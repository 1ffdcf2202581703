"""A graph of documents stored as arrays, from a list of edges or from nearest neighbours."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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

    @classmethod
    def from_edges(cls, names: Iterable[str], edges: Iterable[Sequence[Any]]) -> DocumentGraph:
        """A graph with edges in both directions; of duplicate edges the largest weight counts."""
        import numpy as np

        listed = list(names)
        positions = {name: i for i, name in enumerate(listed)}
        weight: dict[tuple[int, int], float] = {}
        for edge in edges:
            a, b = (_position(positions, end) for end in edge[:2])
            value = float(edge[2]) if len(edge) > 2 and edge[2] not in (None, "") else 1.0
            if a != b and value > 0:
                for pair in ((a, b), (b, a)):
                    weight[pair] = max(value, weight.get(pair, 0.0))
        pairs = np.array(sorted(weight), dtype=np.int64).reshape(-1, 2)
        counts = np.bincount(pairs[:, 0], minlength=len(listed))
        return cls(
            listed,
            positions,
            np.concatenate([[0], np.cumsum(counts)]),
            pairs[:, 1],
            np.array([weight[a, b] for a, b in pairs.tolist()]),
        )


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
        return DocumentGraph.from_edges(documents, knn.neighbours(neighbours))
    if isinstance(edges, str | os.PathLike):
        return DocumentGraph.from_edges(documents, _read(edges))
    return DocumentGraph.from_edges(documents, edges)


def _read(path: str | os.PathLike[str]) -> list[tuple[Any, ...]]:
    from goodgain.io.columns import find_columns
    from goodgain.io.tables import load_table

    table = load_table(path)
    columns = find_columns(table.columns, "edges", table.name)
    return list(zip(*(table.columns[name] for name in columns.values()), strict=True))
