"""Traces: what an agent searched for in a conversation, step by step, and what came back."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, slots=True)
class Result:
    """One returned result. Ids under `ids` are those of its kind; a bare `id` is weak evidence."""

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
        """The canonical form, without what is absent."""
        return _given(
            self,
            (
                "id",
                "type",
                "ids",
                "url",
                "title",
                "snippet",
                "content",
                "fields",
                "aspects",
                "score",
                "gain",
            ),
        )


@dataclass(frozen=True, slots=True)
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
        """The canonical form; `results` are always there."""
        found = _given(self, ("query", "tool", "latency", "cost", "tokens", "error"))
        return {**found, "results": [r.to_dict() for r in self.results]}


@dataclass(frozen=True, slots=True)
class Iteration:
    """One step of the agent that searched: its searches run side by side."""

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
        found = _given(self, ("user", "answer"))
        return {**found, "iterations": [i.to_dict() for i in self.iterations]}


@dataclass(frozen=True, slots=True)
class Trace:
    """One conversation with one system."""

    conversation: str
    turns: tuple[Turn, ...] = ()
    system: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The canonical form."""
        found = _given(self, ("conversation", "system"))
        return {**found, "turns": [t.to_dict() for t in self.turns]}

    def to_json(self) -> str:
        """The canonical form on one line."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Trace:
        """A trace from its canonical form, which the caller has checked."""
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


def _given(value: Any, names: tuple[str, ...]) -> dict[str, Any]:
    found = ((name, getattr(value, name)) for name in names)
    return {
        n: dict(v) if n in ("ids", "fields", "aspects") else v
        for n, v in found
        if v is not None and v != {}
    }


def _search(data: Mapping[str, Any]) -> Search:
    known = {k: data.get(k) for k in ("query", "tool", "latency", "cost", "tokens", "error")}
    return Search(results=tuple(result_from(r) for r in data.get("results") or ()), **known)


def result_from(data: Mapping[str, Any]) -> Result:
    """A result from its canonical form."""
    texts = {
        k: data.get(k) for k in ("type", "url", "title", "snippet", "content", "score", "gain")
    }
    return Result(
        id=None if data.get("id") is None else str(data["id"]),
        ids={k: str(v) for k, v in (data.get("ids") or {}).items() if v is not None},
        fields=dict(data.get("fields") or {}),
        aspects=dict(data.get("aspects") or {}),
        **texts,
    )
