"""The base of retrievers that walk at random over a graph of the documents."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar
from zlib import crc32

from goodgain.errors import UsageError
from goodgain.experiment.retrievers.base import (
    DEPTH,
    SearchFunction,
    require_positive,
    require_share,
)
from goodgain.experiment.retrievers.combine import DerivedRetriever
from goodgain.experiment.retrievers.edges import NEIGHBOURS, DocumentGraph, Edges, build_graph

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(eq=False, repr=False)
class WalkRetriever(DerivedRetriever):
    """Random walks that start from the best documents of another system.

    `edges` is "neighbours" (each document and its nearest `neighbours` in a knn system), a table, or rows of
    (document, document[, weight]). `pool` is how many documents of the system `of` count, `steps` the length
    of a walk, and `flow` how strongly walks prefer documents that match the query.
    """

    uses_seed = True
    files = ("edges",)
    positive: ClassVar[tuple[str, ...]] = ("neighbours", "pool", "steps")
    shares: ClassVar[tuple[str, ...]] = ()  # parameters from 0 to 1

    of: str | SearchFunction = ""
    _: KW_ONLY
    edges: Edges = NEIGHBOURS
    neighbours: int = 10
    pool: int = 200
    steps: int = 6
    flow: float = 6.0
    seed: int = 0
    depth: int = DEPTH
    _graph: DocumentGraph = field(init=False)

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__init__(self.of)
        if not self.of:
            raise UsageError(f"{self.name} needs a system to start from", hint='of = "knn"')
        require_positive(**{name: getattr(self, name) for name in self.positive})
        require_share(**{name: getattr(self, name) for name in self.shares})

    def build(self, documents: Mapping[str, str]) -> None:
        """Build the graph."""
        self._graph = build_graph(documents, self.edges, self.neighbours, self._component)

    def notes(self) -> list[str]:
        """The recall of approximate edges."""
        return [self._graph.note] if self._graph.note else []


def min_max(scores: list[float]) -> Any:
    """Scores scaled from 0 (worst) to 1 (best)."""
    import numpy as np

    values = np.asarray(scores, dtype=np.float64)
    span = float(values.max() - values.min())
    return (values - values.min()) / span if span else np.ones(len(values))


def query_generator(seed: int, query: str) -> Any:
    """The random generator of one query, independent of the queries before it."""
    import numpy as np

    return np.random.default_rng([seed, crc32(query.encode("utf-8", "surrogatepass"))])
