"""A search service with a JSON endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.experiment.retrievers.answers import report_usage
from goodgain.experiment.retrievers.base import DEPTH, Retriever, ScoredDocument
from goodgain.experiment.retrievers.stores import ranked_rows
from goodgain.experiment.services import JsonService, value_at

if TYPE_CHECKING:
    from collections.abc import Mapping


class Http(Retriever):
    """A JSON endpoint; `JsonService` says what may stand in its URL, body and headers.

    `hits` is the path of the list in the response ("result.hits"), `id` and `score` are paths within its
    items; without a score the order of the list counts. `distance` is the path of a number that is lower for
    better results, in place of a score. `tokens` and `cost` are paths in the response of what the call
    used. Headers are never saved.
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
        distance: str = "",
        tokens: str = "tokens",
        cost: str = "cost",
        timeout: float = 30.0,
        depth: int = DEPTH,
    ) -> None:
        self.url, self.body, self.headers = url, body, headers
        self.hits, self.id, self.score, self.distance = hits, id, score, distance
        self.tokens, self.cost = tokens, cost
        self.timeout, self.depth = timeout, depth
        self._service = JsonService(url, body=body, headers=headers, timeout=timeout)

    @property
    def takes_filters(self) -> bool:  # type: ignore[override]
        """Whether the request has a place for them."""
        return "{filters" in f"{self.url} {self.body}"

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """Query the service."""
        response = self._service.call(query, depth)
        items = value_at(response, self.hits)
        if not isinstance(items, list):
            raise InputError(
                f"the response has no list at '{self.hits}'",
                hint="set hits to the path of the list",
            )
        pairs = [self._scored(item) for item in items]
        without = [doc for doc, score in pairs if score is None]
        if without and len(without) < len(pairs):
            raise InputError(
                f"document '{without[0]}' has no '{self.distance or self.score}', but others have one",
                hint="a ranking has scores for all of its documents or for none",
            )
        rows: list[Any] = [(doc,) for doc in without] or pairs
        report_usage(value_at(response, self.tokens), value_at(response, self.cost))
        return ranked_rows(rows, depth, "the list of the response")

    def _scored(self, item: Any) -> tuple[str, float | None]:
        if isinstance(item, str | int):
            return str(item), None
        doc = value_at(item, self.id)
        if doc is None:
            raise InputError(f"a result has no '{self.id}': {item!r:.80}")
        value = value_at(item, self.distance or self.score)
        return str(doc), None if value is None else float(value) * (-1 if self.distance else 1)
