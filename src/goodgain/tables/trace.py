"""Traces: what an agent searched for in a conversation, step by step, and what came back."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, core_errors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goodgain.read.traces import OpenedTraces


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


def read_traces(
    source: Any,
    *,
    format: str | None = None,  # noqa: A002 - the command line's word
    search_tools: tuple[str, ...] = (),
    merge_adjacent: bool = False,
    skip_bad: bool = False,
    max_gain: float = 4,
) -> TraceReader:
    """Traces from a file in any format, or from dictionaries, one at a time.

    Every one is checked as the core checks files; with `skip_bad` bad ones are left out and counted.
    """
    import os

    if not isinstance(source, str | os.PathLike):
        return TraceReader(iter(source), "traces", skip_bad, max_gain)
    from goodgain.read.traces import open_traces

    opened = open_traces(
        os.fspath(source), format, search_tools, merge_adjacent=merge_adjacent, skip_bad=skip_bad
    )
    return TraceReader(opened.read(), opened.name, skip_bad, max_gain, opened)


class TraceReader:
    """An iterator of traces that knows what it left out."""

    def __init__(
        self,
        found: Iterator[Any],
        name: str,
        skip_bad: bool,
        max_gain: float,
        opened: OpenedTraces | None = None,
    ) -> None:
        self._found = found
        self._name = name
        self._skip_bad = skip_bad
        self._max_gain = max_gain
        self._opened = opened
        self._number = self._refused = 0

    def __iter__(self) -> TraceReader:
        return self

    def __next__(self) -> Trace:
        while True:
            item = next(self._found)
            self._number += 1
            if isinstance(item, Trace):
                return item
            try:
                return _checked(item, f"{self._name} conversation {self._number}", self._max_gain)
            except InputError:
                if not self._skip_bad:
                    raise
                self._refused += 1

    @property
    def skipped(self) -> int:
        """How many conversations were left out so far."""
        return self._refused + (self._opened.skipped if self._opened else 0)

    @property
    def notes(self) -> list[str]:
        """What the reader of the format has to say."""
        return self._opened.notes if self._opened else []


def _checked(item: Any, where: str, max_gain: float) -> Trace:
    from goodgain._core import check_trace

    try:
        with core_errors():
            check_trace(
                json.dumps(item, ensure_ascii=False).encode("utf-8", "surrogatepass"), max_gain
            )
    except InputError as error:
        raise InputError(error.message, where=error.where or where, hint=error.hint) from None
    return Trace.from_dict(item)
