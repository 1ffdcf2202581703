"""A search service with a JSON endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.experiment.retrievers.base import (
    DEPTH,
    Retriever,
    ScoredDocument,
    check_ranking,
)
from goodgain.experiment.services import JsonService, value_at

if TYPE_CHECKING:
    from collections.abc import Mapping


class Http(Retriever):
    """A JSON endpoint; `JsonService` says what may stand in its URL, body and headers.

    `hits` is the path of the list in the response ("result.hits"), `id` and `score` are paths within its
    items; without a score the order of the list counts. Headers are never saved.
    """

    name = "http"
    secret = ("headers",)

    def __init__(
        self,
        url: str = "",
        *,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        hits: str = "hits",
        id: str = "id",  # noqa: A002
        score: str = "score",
        timeout: float = 30.0,
        depth: int = DEPTH,
    ) -> None:
        self.url, self.body, self.headers = url, body, headers
        self.hits, self.id, self.score = hits, id, score
        self.timeout, self.depth = timeout, depth
        self._service = JsonService(url, body=body, headers=headers, timeout=timeout)

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """Query the service."""
        items = value_at(self._service.call(query, depth), self.hits)
        if not isinstance(items, list):
            raise InputError(
                f"the response has no list at '{self.hits}'",
                hint="set hits to the path of the list",
            )
        pairs = [self._scored(item) for item in items]
        without = [doc for doc, score in pairs if score is None]
        if without and len(without) < len(pairs):
            raise InputError(
                f"document '{without[0]}' has no '{self.score}', but others have one",
                hint="a ranking has scores for all of its documents or for none",
            )
        return check_ranking(without or pairs, depth)

    def _scored(self, item: Any) -> tuple[str, float | None]:
        doc = item if isinstance(item, str) else value_at(item, self.id)
        score = None if isinstance(item, str) else value_at(item, self.score)
        if doc is None:
            raise InputError(f"a result has no '{self.id}': {item!r:.80}")
        return str(doc), None if score is None else float(score)
