"""What searches that walk over a graph of the documents share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zlib import crc32

from goodgain.experiment.retrievers.base import DEPTH, Search, positive
from goodgain.experiment.retrievers.combine import OverOne
from goodgain.experiment.retrievers.edges import Edges, graph_of

if TYPE_CHECKING:
    from collections.abc import Mapping


class Walks(OverOne):
    """Starts from what another system finds, and goes on along the edges, by chance."""

    chance = True

    def __init__(
        self, of: str | Search, edges: Edges, neighbours: int, seed: int, depth: int = DEPTH
    ) -> None:
        super().__init__(of)
        positive(neighbours=neighbours)
        self.edges, self.neighbours, self.seed, self.depth = edges, neighbours, seed, depth

    def build(self, documents: Mapping[str, str]) -> None:
        """Make the graph."""
        self._graph = graph_of(documents, self.edges, self.neighbours, self._part)


def scaled(scores: list[float]) -> Any:
    """Scores from 0 (the worst) to 1 (the best)."""
    import numpy as np

    values = np.asarray(scores, dtype=np.float64)
    span = float(values.max() - values.min())
    return (values - values.min()) / span if span else np.ones(len(values))


def query_chance(seed: int, query: str) -> Any:
    """The chance of one query: the same whatever was asked before, so that a stop changes nothing."""
    import numpy as np

    return np.random.default_rng([seed, crc32(query.encode("utf-8", "surrogatepass"))])
