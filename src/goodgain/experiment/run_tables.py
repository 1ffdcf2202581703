"""The runs of an experiment, collected from its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.data import Run
from goodgain.experiment.timings import is_timed
from goodgain.spans.pieces import chunk_id

if TYPE_CHECKING:
    from collections.abc import Callable


class RunTable:
    """The documents and latencies of one run, collected from its calls."""

    def __init__(
        self, document_of: Callable[[str], str] | None = None, by_span: bool = False
    ) -> None:
        self._results: dict[str, list[Any]] = {}  # (document, score) pairs, or ids without scores
        self._seconds: dict[str, float] = {}
        self._costs: dict[str, float] = {}
        self._document_of = document_of
        self._by_span = by_span

    def add(self, call: dict[str, Any]) -> None:
        """Add what one call returned and how long it took."""
        if self._by_span and "spans" in call:  # where in their documents the results lie
            self._results[call["query"]] = [chunk_id(*span) for span in call["spans"]]
        elif "hits" in call:
            self._results[call["query"]] = self._judged(call["hits"])
        if is_timed(call) and not call["repeat"]:  # a repeat may be answered from a cache
            self._seconds[call["query"]] = call["seconds"]
        if "cost" in call and not call["repeat"]:
            self._costs[call["query"]] = call["cost"]

    def _judged(self, results: list[Any]) -> list[Any]:
        """The results as they are judged; the best chunk of a document stands for it."""
        if self._document_of is None:
            return results
        best: dict[str, Any] = {}
        for result in results:
            name = self._document_of(result if isinstance(result, str) else result[0])
            best.setdefault(name, name if isinstance(result, str) else [name, result[1]])
        return list(best.values())

    def run(self, name: str) -> Run:
        """The run, with the latency of each query, and its cost if calls report one."""
        return Run(self._rankings(), name=name, latency=self._seconds, cost=self._costs or None)

    def _rankings(self) -> dict[str, Any]:
        """Scores by document; lists if a query has none, since a run has scores for all or for none."""
        if any(isinstance(r, str) for results in self._results.values() for r in results[:1]):
            return {
                query: [r if isinstance(r, str) else r[0] for r in results]
                for query, results in self._results.items()
            }
        return {query: dict(results) for query, results in self._results.items()}
