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
_SEARCH_FIELDS = ("query", "tool", "latency", "cost", "tokens", "tries", "error", "unread")
_USAGE_FIELDS = ("tokens", "cost", "seconds")
_TURN_FIELDS = ("user", "answer", "confidence", *_USAGE_FIELDS)


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
class Open(Result):
    """A document that the agent opened, and the tool that read it."""

    tool: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The canonical form, without absent fields."""
        return _present(self, (*RESULT_FIELDS, "tool"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation(Result):
    """A document that the answer cites: its marker in the text, and the quoted words."""

    marker: str | None = None
    quote: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The canonical form, without absent fields."""
        return _present(self, (*RESULT_FIELDS, "marker", "quote"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One search call; `latency` in seconds.

    `error` says why it failed. `unread` says why its results (or some of them) are not known: such a
    search is not an empty one.
    """

    query: str | None = None
    results: tuple[Result, ...] = ()
    tool: str | None = None
    latency: float | None = None
    cost: float | None = None
    tokens: float | None = None
    tries: int | None = None
    error: str | None = None
    unread: str | None = None

    @property
    def problem(self) -> str:
        """Why it failed or is unread; empty if it is neither."""
        reasons = (("failed", self.error), ("unread", self.unread))
        return "; ".join(f"{kind}: {reason}" for kind, reason in reasons if reason)

    def to_dict(self) -> dict[str, Any]:
        """The canonical form; `results` are always present."""
        return {**_present(self, _SEARCH_FIELDS), "results": [r.to_dict() for r in self.results]}


@dataclass(frozen=True, slots=True)
class Iteration:
    """One step of an agent: its searches run in parallel; without a search it does not count as one.

    `tokens`, `cost` and `seconds` are those of the model's generation, without its searches.
    """

    searches: tuple[Search, ...] = ()
    opens: tuple[Open, ...] = ()
    tokens: float | None = None
    cost: float | None = None
    seconds: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The canonical form."""
        opens = {"opens": [o.to_dict() for o in self.opens]} if self.opens else {}
        searches = [s.to_dict() for s in self.searches]
        return {**_present(self, _USAGE_FIELDS), **opens, "searches": searches}


@dataclass(frozen=True, slots=True)
class Turn:
    """From one message of the user to the next.

    `tokens`, `cost` and `seconds` are those of the whole turn, where they are not known by iteration.
    """

    iterations: tuple[Iteration, ...] = ()
    user: str | None = None
    answer: str | None = None
    citations: tuple[Citation, ...] = ()
    confidence: float | None = None
    tokens: float | None = None
    cost: float | None = None
    seconds: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The canonical form."""
        citations = {"citations": [c.to_dict() for c in self.citations]} if self.citations else {}
        return {
            **_present(self, _TURN_FIELDS),
            **citations,
            "iterations": [i.to_dict() for i in self.iterations],
        }


@dataclass(frozen=True, slots=True)
class Trace:
    """One conversation with one system; `repeat` names one of several runs over the same conversation.

    >>> import goodgain as gg
    >>> search = {"query": "seine", "results": [{"url": "https://a.example/seine", "gain": 4}]}
    >>> turn = {"user": "Where does it rise?", "iterations": [{"searches": [search]}]}
    >>> trace, = gg.read_traces([{"conversation": "c1", "turns": [turn]}])
    >>> trace
    Trace('c1', 1 turns, 1 searches, 1 results)
    >>> [search.query for search in trace.searches()]
    ['seine']
    """

    conversation: str
    turns: tuple[Turn, ...] = ()
    system: str | None = None
    repeat: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The canonical form."""
        head = _present(self, ("conversation", "system", "repeat"))
        return {**head, "turns": [t.to_dict() for t in self.turns]}

    def to_json(self) -> str:
        """The canonical form on one line."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Trace:
        """A trace from its canonical form, which the caller has validated."""
        repeat = data.get("repeat")
        return cls(
            conversation=str(data["conversation"]),
            turns=tuple(_turn(t) for t in data.get("turns", ())),
            system=data.get("system"),
            repeat=None if repeat is None else str(repeat),
        )

    def _repr_html_(self) -> str:
        from goodgain.results.notebook import TimelineSearch, timeline_html

        name = f"{self.conversation} ({self.system})" if self.system else self.conversation
        pieces = []
        for turn in self.turns:
            searches = [
                TimelineSearch.of(f"{i}.{s}", search, [r.gain for r in search.results])
                for i, iteration in enumerate(turn.iterations, 1)
                for s, search in enumerate(iteration.searches, 1)
            ]
            pieces.append(timeline_html(name, turn.user, searches, turn.answer))
        return "".join(pieces) or timeline_html(name, None, (), None)

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


def _turn(data: Mapping[str, Any]) -> Turn:
    facts = {name: data.get(name) for name in _TURN_FIELDS}
    iterations = tuple(_iteration(i) for i in data.get("iterations", ()))
    citations = tuple(_citation(c) for c in data.get("citations") or ())
    return Turn(iterations=iterations, citations=citations, **facts)


def _iteration(data: Mapping[str, Any]) -> Iteration:
    searches = tuple(_search(s) for s in data.get("searches", ()))
    opens = tuple(Open(**_result_facts(o), tool=o.get("tool")) for o in data.get("opens") or ())
    return Iteration(searches, opens, **{name: data.get(name) for name in _USAGE_FIELDS})


def _citation(data: Mapping[str, Any]) -> Citation:
    marker = data.get("marker")
    return Citation(
        **_result_facts(data),
        marker=None if marker is None else str(marker),
        quote=data.get("quote"),
    )


def _search(data: Mapping[str, Any]) -> Search:
    facts = {name: data.get(name) for name in _SEARCH_FIELDS}
    return Search(results=tuple(result_from(r) for r in data.get("results") or ()), **facts)


def result_from(data: Mapping[str, Any]) -> Result:
    """A result from its canonical form."""
    return Result(**_result_facts(data))


def _result_facts(data: Mapping[str, Any]) -> dict[str, Any]:
    plain = {
        k: data.get(k) for k in ("type", "url", "title", "snippet", "content", "score", "gain")
    }
    return {
        "id": None if data.get("id") is None else str(data["id"]),
        "ids": {k: str(v) for k, v in (data.get("ids") or {}).items() if v is not None},
        "fields": dict(data.get("fields") or {}),
        "aspects": dict(data.get("aspects") or {}),
        **plain,
    }
