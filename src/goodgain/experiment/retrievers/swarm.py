"""Swarm search: agents walk the graph of a wide pool, leave pheromone, and vote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.errors import UsageError
from goodgain.experiment.retrievers.base import DEPTH, Hit, Search, positive
from goodgain.experiment.retrievers.combine import ask
from goodgain.experiment.retrievers.edges import NEIGHBOURS, Edges
from goodgain.experiment.retrievers.walks import Walks, query_chance, scaled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class Swarm(Walks):
    """A swarm reranker: semantic recall of a wide pool, then agents that vote on it.

    In each of `rounds` rounds `agents` agents start in the pool where the system `of` is surest and take
    `steps` steps along the pool's graph; any document of the pool can be reached by a `leap`. A step is
    the likelier the more pheromone lies on the document and the better it fits the query, and the less
    likely the more agents of this round have been there (`diversity`); no agent visits twice. After a
    round pheromone decays (`decay`) and each agent leaves some on its way in proportion to how well that
    fits. Every visit is a vote, weighted by the pheromone; `trust` is the votes' share of the final score,
    the rest is the score of `of`.
    """

    name = "swarm"

    def __init__(
        self,
        of: str | Search = "",
        edges: Edges = NEIGHBOURS,
        neighbours: int = 10,
        pool: int = 200,
        agents: int = 32,
        rounds: int = 6,
        steps: int = 6,
        flow: float = 6.0,
        leap: float = 0.02,
        decay: float = 0.2,
        diversity: float = 0.5,
        trust: float = 0.5,
        seed: int = 0,
        depth: int = DEPTH,
    ) -> None:
        if not of:
            raise UsageError("a swarm needs a system that recalls its pool", hint='of = "knn"')
        positive(pool=pool, agents=agents, rounds=rounds, steps=steps)
        for name, value in (("decay", decay), ("trust", trust), ("leap", leap)):
            if not 0 <= value <= 1:
                raise UsageError(f"{name}={value} is not from 0 to 1")
        if diversity < 0:
            raise UsageError(f"diversity={diversity} is below 0")
        super().__init__(of, edges, neighbours, seed, depth)
        self.pool, self.agents, self.rounds, self.steps = pool, agents, rounds, steps
        self.flow, self.leap = flow, leap
        self.decay, self.diversity, self.trust = decay, diversity, trust

    def search(self, query: str, depth: int) -> list[Hit]:
        """Recall the pool and let the swarm vote."""
        import numpy as np

        hits = ask(self._part, query, self.pool)
        if len(hits) < 2:
            return hits[:depth]
        names = [doc for doc, _ in hits]
        fits: Floats = scaled([score for _, score in hits])
        votes = self._votes(query, fits, self._pool_graph(names))
        scores = self.trust * votes / (votes.max() or 1.0) + (1 - self.trust) * fits
        best = np.argsort(-scores, kind="stable")[:depth]
        return [(names[i], float(scores[i])) for i in best]

    def _pool_graph(self, names: list[str]) -> Floats:
        """The edges between documents of the pool, as a table; a leap leads everywhere."""
        import numpy as np

        graph, size = self._graph, len(names)
        places = np.array([graph.places[name] for name in names])
        column = np.full(len(graph.names), -1)
        column[places] = np.arange(size)
        table = np.full((size, size), self.leap)
        for row, place in enumerate(places):
            span = slice(graph.starts[place], graph.starts[place + 1])
            ends = column[graph.ends[span]]
            inside = ends >= 0
            table[row, ends[inside]] += graph.weights[span][inside]
        return table

    def _votes(self, query: str, fits: Floats, table: Floats) -> Floats:
        import numpy as np

        chance = query_chance(self.seed, query)
        size, agents = len(fits), np.arange(self.agents)
        charm = np.exp(self.flow * (fits - 1))
        pheromone, votes = np.ones(size), np.zeros(size)
        for _ in range(self.rounds):
            crowd = np.zeros(size)
            fresh = np.ones((self.agents, size))  # 0 where the agent has been
            way = np.empty((self.steps + 1, self.agents), dtype=np.int64)
            reach = np.ones((self.agents, size))
            for step in range(self.steps + 1):
                pull = pheromone * charm / (1 + self.diversity * crowd)
                cumulated = np.cumsum(reach * pull * fresh + 1e-12 * fresh, axis=1)
                draw = chance.random((self.agents, 1)) * cumulated[:, -1:]
                way[step] = here = np.minimum((cumulated <= draw).sum(axis=1), size - 1)
                crowd += np.bincount(here, minlength=size)
                fresh[agents, here] = 0
                if not fresh.any(axis=1).all():  # a pool smaller than the way
                    way = way[: step + 1]
                    break
                reach = table[here]
            quality = fits[way].mean(axis=0)
            pheromone *= 1 - self.decay
            np.add.at(pheromone, way, np.broadcast_to(quality, way.shape) / self.agents)
            np.add.at(votes, way, pheromone[way])
        return votes
