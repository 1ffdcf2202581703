"""Traces: the searches of an agent in a conversation, and their results."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

RESULT_FIELDS = (
    "id", "type", "ids", "url", "title", "snippet", "content", "fields", "aspects", "score", "gain",
)  # fmt: skip
_SEARCH_FIELDS = ("query", "tool", "latency", "cost", "tokens", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One result. Ids under `ids` are those of its type; a bare `id` is weak evidence of identity."""

    id: str | None = None
    type: str | None = None
    url: str | None = None
    title: str | None = None
    snippet: str | None = None
    content: str | None = None
    score: float | None = None
    gain: float | None = None
    ids: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)
    aspects: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The canonical form, without absent fields."""
        return _present(self, RESULT_FIELDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One search call; `latency` in seconds."""

    query: str | None = None
    results: tuple[Result, ...] = ()
    tool: str | None = None
    latency: float | None = None
    cost: float | None = None
    tokens: float | None = None
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The canonical form; `results` are always present."""
        return {**_present(self, _SEARCH_FIELDS), "results": [r.to_dict() for r in self.results]}


@dataclass(frozen=True, slots=True)
class Iteration:
    """One step of an agent that searched: its searches run in parallel."""

    searches: tuple[Search, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The canonical form."""
        return {"searches": [s.to_dict() for s in self.searches]}


@dataclass(frozen=True, slots=True)
class Turn:
    """From one message of the user to the next."""

    iterations: tuple[Iteration, ...] = ()
    user: str | None = None
    answer: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The canonical form."""
        return {
            **_present(self, ("user", "answer")),
            "iterations": [i.to_dict() for i in self.iterations],
        }


@dataclass(frozen=True, slots=True)
class Trace:
    """One conversation with one system."""

    conversation: str
    turns: tuple[Turn, ...] = ()
    system: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The canonical form."""
        head = _present(self, ("conversation", "system"))
        return {**head, "turns": [t.to_dict() for t in self.turns]}

    def to_json(self) -> str:
        """The canonical form on one line."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Trace:
        """A trace from its canonical form, which the caller has validated."""
        turns = tuple(
            Turn(
                tuple(
                    Iteration(tuple(_search(s) for s in i.get("searches", ())))
                    for i in t.get("iterations", ())
                ),
                t.get("user"),
                t.get("answer"),
            )
            for t in data.get("turns", ())
        )
        return cls(str(data["conversation"]), turns, data.get("system"))

    def searches(self) -> Iterator[Search]:
        """Every search, in order."""
        for turn in self.turns:
            for iteration in turn.iterations:
                yield from iteration.searches

    def __repr__(self) -> str:
        searches = list(self.searches())
        results = sum(len(s.results) for s in searches)
        counts = f"{len(self.turns)} turns, {len(searches)} searches, {results} results"
        return f"Trace('{self.conversation}', {counts})"


def _present(record: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """The fields of a record that are not empty."""
    values = ((name, getattr(record, name)) for name in names)
    return {
        name: dict(value) if name in ("ids", "fields", "aspects") else value
        for name, value in values
        if value is not None and value != {}
    }


def _search(data: Mapping[str, Any]) -> Search:
    facts = {name: data.get(name) for name in _SEARCH_FIELDS}
    return Search(results=tuple(result_from(r) for r in data.get("results") or ()), **facts)


def result_from(data: Mapping[str, Any]) -> Result:
    """A result from its canonical form."""
    plain = {
        k: data.get(k) for k in ("type", "url", "title", "snippet", "content", "score", "gain")
    }
    return Result(
        id=None if data.get("id") is None else str(data["id"]),
        ids={k: str(v) for k, v in (data.get("ids") or {}).items() if v is not None},
        fields=dict(data.get("fields") or {}),
        aspects=dict(data.get("aspects") or {}),
        **plain,
    )
