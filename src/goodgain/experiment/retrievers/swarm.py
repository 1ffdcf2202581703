"""Swarm search: agents walk the graph of a pool, leave pheromone, and vote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodgain.errors import UsageError
from goodgain.experiment.retrievers.combine import search_with
from goodgain.experiment.retrievers.walks import WalkRetriever, min_max, query_generator

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from goodgain.experiment.retrievers.base import ScoredDocument

    Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class Swarm(WalkRetriever):
    """A swarm reranker: agents vote on the pool of another system.

    In each of `rounds` rounds `agents` agents start in the pool, preferably at documents that the system `of`
    scores highest, and take `steps` steps along its graph; with the weight `leap` they can reach any document
    of the pool. A step is more likely the more pheromone lies on the document and the better it matches the
    query, and less likely the more agents have visited it in this round (`diversity`); no agent visits a
    document twice. After a round pheromone decays (`decay`), and each agent leaves some on its path in
    proportion to the path's mean score. Every visit is a vote weighted by the pheromone; `trust` is the share
    of the votes in the final score, the rest is the score of `of`.
    """

    name = "swarm"
    positive = (*WalkRetriever.positive, "agents", "rounds")
    shares = ("decay", "trust", "leap")

    agents: int = 32
    rounds: int = 6
    leap: float = 0.02
    decay: float = 0.2
    diversity: float = 0.5
    trust: float = 0.5

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        if self.diversity < 0:
            raise UsageError(f"diversity must not be negative, got {self.diversity}")

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """Retrieve the pool and let the swarm vote."""
        import numpy as np

        ranking = search_with(self._component, query, self.pool)
        if len(ranking) < 2:
            return ranking[:depth]
        names = [doc for doc, _ in ranking]
        relevance: Floats = min_max([score for _, score in ranking])
        votes = self._votes(query, relevance, self._pool_graph(names))
        scores = self.trust * votes / (votes.max() or 1.0) + (1 - self.trust) * relevance
        best = np.argsort(-scores, kind="stable")[:depth]
        return [(names[i], float(scores[i])) for i in best]

    def _pool_graph(self, names: list[str]) -> Floats:
        """The edges between documents of the pool as a table; a leap leads everywhere."""
        import numpy as np

        graph, size = self._graph, len(names)
        positions = np.array([graph.positions[name] for name in names])
        column = np.full(len(graph.names), -1)
        column[positions] = np.arange(size)
        table = np.full((size, size), self.leap)
        for row, position in enumerate(positions):
            span = slice(graph.starts[position], graph.starts[position + 1])
            ends = column[graph.ends[span]]
            inside = ends >= 0
            table[row, ends[inside]] += graph.weights[span][inside]
        return table

    def _votes(self, query: str, relevance: Floats, table: Floats) -> Floats:
        import numpy as np

        generator = query_generator(self.seed, query)
        size, agents = len(relevance), np.arange(self.agents)
        attraction = np.exp(self.flow * (relevance - 1))
        pheromone, votes = np.ones(size), np.zeros(size)
        for _ in range(self.rounds):
            visits = np.zeros(size)
            unvisited = np.ones((self.agents, size))
            paths = np.empty((self.steps + 1, self.agents), dtype=np.int64)
            reachable = np.ones((self.agents, size))
            for step in range(self.steps + 1):
                pull = pheromone * attraction / (1 + self.diversity * visits)
                cumulated = np.cumsum(reachable * pull * unvisited + 1e-12 * unvisited, axis=1)
                draw = generator.random((self.agents, 1)) * cumulated[:, -1:]
                paths[step] = here = np.minimum((cumulated <= draw).sum(axis=1), size - 1)
                visits += np.bincount(here, minlength=size)
                unvisited[agents, here] = 0
                if not unvisited.any(axis=1).all():  # the pool is smaller than the path
                    paths = paths[: step + 1]
                    break
                reachable = table[here]
            quality = relevance[paths].mean(axis=0)
            pheromone *= 1 - self.decay
            np.add.at(pheromone, paths, np.broadcast_to(quality, paths.shape) / self.agents)
            np.add.at(votes, paths, pheromone[paths])
        return votes
