"""Graph search: walks from the best documents of another system, ranked by visits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodgain.experiment.retrievers.combine import search_with
from goodgain.experiment.retrievers.walks import WalkRetriever, min_max, query_generator

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Floats = NDArray[np.float64]

    from goodgain.experiment.retrievers.base import ScoredDocument


@dataclass(eq=False, repr=False)
class Graph(WalkRetriever):
    """Flow-guided walks over the graph of documents from the best semantic matches.

    `walks` walkers start at the best `starts` documents of the system `of`, more of them where its score is
    higher, and take `steps` steps. A walker follows an edge with a probability proportional to the weight
    of the edge and to exp(flow x score of its end), and returns to its start with the probability `restart`.
    Documents are ranked by visits, then by the score of `of`.
    """

    name = "graph"
    positive = (*WalkRetriever.positive, "starts", "walks")
    shares = ("restart",)

    pool: int = 300
    steps: int = 8
    starts: int = 10
    walks: int = 1000
    restart: float = 0.3

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """Walk, and rank documents by visits."""
        import numpy as np

        ranking = search_with(self._component, query, self.pool)
        if not ranking:
            return []
        graph = self._graph
        positions = np.array([graph.positions[doc] for doc, _ in ranking])
        relevance = np.zeros(len(graph.names))  # from 0 to 1; 0 outside the pool
        relevance[positions] = min_max([score for _, score in ranking])
        generator = query_generator(self.seed, query)
        first = positions[: self.starts]
        share = np.exp(self.flow * relevance[first])
        home = generator.choice(first, size=self.walks, p=share / share.sum())
        visits = np.bincount(home, minlength=len(graph.names))
        here = home
        for _ in range(self.steps):
            draw = generator.random((2, self.walks))
            there = self._follow(here, draw[0], relevance)
            here = np.where((there < 0) | (draw[1] < self.restart), home, there)
            visits += np.bincount(here, minlength=len(graph.names))
        visited = np.flatnonzero(visits)
        scores = (visits[visited] + relevance[visited] / 2) / visits.sum()
        best = np.argsort(-scores, kind="stable")[:depth]
        return [(graph.names[visited[i]], float(scores[i])) for i in best]

    def _follow(self, here: Numbers, draw: Floats, relevance: Floats) -> Numbers:
        """The ends of the edges that walkers choose; -1 where there is none.

        Only edges of the documents they are at are looked at, so that large graphs cost no more.
        """
        import numpy as np

        graph = self._graph
        places, which = np.unique(here, return_inverse=True)
        firsts, counts = graph.starts[places], graph.starts[places + 1] - graph.starts[places]
        bounds = np.concatenate([[0], np.cumsum(counts)])
        edges = np.arange(bounds[-1]) + np.repeat(firsts - bounds[:-1], counts)
        ends = graph.ends[edges]
        if not len(ends):
            return np.full(len(here), -1)
        pull = np.cumsum(graph.weights[edges] * np.exp(self.flow * relevance[ends]))
        sums = np.concatenate([[0.0], pull])
        low, high = sums[bounds[which]], sums[bounds[which + 1]]
        edge = np.searchsorted(pull, low + draw * (high - low), side="right")
        last = np.maximum(bounds[which + 1] - 1, 0)  # rounding must not lead to another's edge
        return np.where(high == low, -1, ends[np.minimum(edge, last)])
