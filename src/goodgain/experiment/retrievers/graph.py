"""Graph search: walks from the best documents of another system, ranked by how often they visit."""

from __future__ import annotations

from goodgain.errors import UsageError
from goodgain.experiment.retrievers.base import DEPTH, Hit, Search, positive
from goodgain.experiment.retrievers.combine import ask
from goodgain.experiment.retrievers.edges import NEIGHBOURS, Edges
from goodgain.experiment.retrievers.walks import Walks, query_chance, scaled


class Graph(Walks):
    """Flow-guided walks over the documents' graph from the best semantic seeds.

    `walks` walkers start at the best `starts` documents of the system `of`, more where its score is
    higher, and take `steps` steps. A walker follows an edge with a chance in proportion to the edge's
    weight and to exp(flow x how well its end fits the query), and with the chance `restart` returns to
    where it began. Documents are ranked by visits; equal visits by the score of `of`.
    """

    name = "graph"

    def __init__(
        self,
        of: str | Search = "",
        edges: Edges = NEIGHBOURS,
        neighbours: int = 10,
        starts: int = 10,
        walks: int = 1000,
        steps: int = 8,
        flow: float = 6.0,
        restart: float = 0.3,
        pool: int = 300,
        seed: int = 0,
        depth: int = DEPTH,
    ) -> None:
        if not of:
            raise UsageError("a graph search needs a system to start from", hint='of = "knn"')
        positive(starts=starts, walks=walks, steps=steps, pool=pool)
        if not 0 <= restart < 1:
            raise UsageError(f"restart={restart} is not a chance from 0 to below 1")
        super().__init__(of, edges, neighbours, seed, depth)
        self.starts, self.walks, self.steps = starts, walks, steps
        self.flow, self.restart, self.pool = flow, restart, pool

    def search(self, query: str, depth: int) -> list[Hit]:
        """Walk, and count the visits."""
        import numpy as np

        hits = ask(self._part, query, self.pool)
        if not hits:
            return []
        graph = self._graph
        places = np.array([graph.places[doc] for doc, _ in hits])
        fits = np.zeros(len(graph.names))  # from 0 to 1; 0 too where the system found nothing
        fits[places] = scaled([score for _, score in hits])
        pull = np.cumsum(graph.weights * np.exp(self.flow * fits[graph.ends]))
        before = np.concatenate([[0.0], pull])
        low, high = before[graph.starts[:-1]], before[graph.starts[1:]]

        chance = query_chance(self.seed, query)
        first = places[: self.starts]
        share = np.exp(self.flow * fits[first])
        home = chance.choice(first, size=self.walks, p=share / share.sum())
        visits = np.bincount(home, minlength=len(graph.names))
        here = home
        for _ in range(self.steps):
            draw = chance.random((2, self.walks))
            edge = np.searchsorted(
                pull, low[here] + draw[0] * (high[here] - low[here]), side="right"
            )
            stuck = (high[here] == low[here]) | (draw[1] < self.restart)
            here = np.where(stuck, home, graph.ends[np.minimum(edge, len(graph.ends) - 1)]
                            if len(graph.ends) else home)  # fmt: skip
            visits += np.bincount(here, minlength=len(graph.names))
        seen = np.flatnonzero(visits)
        scores = (visits[seen] + fits[seen] / 2) / visits.sum()
        best = seen[np.argsort(-scores, kind="stable")[:depth]]
        return [(graph.names[i], float((visits[i] + fits[i] / 2) / visits.sum())) for i in best]
