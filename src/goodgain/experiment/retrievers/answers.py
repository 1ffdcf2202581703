"""What else an answer may tell: tokens and cost of the call, and which piece of a document a result is."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from goodgain.errors import UsageError

_LISTS = ("results", "hits", "documents")  # of a dictionary that holds more than the ranking
_ATTRIBUTES = (
    "id", "id_", "node_id", "ref_doc_id", "doc_id", "score", "metadata", "meta", "start", "end",
    "start_char_idx", "end_char_idx", "text",
)  # fmt: skip
_INNER = ("node", "document")
_STARTS = ("start", "start_char_idx", "start_index")
_ENDS = ("end", "end_char_idx", "end_index")


@dataclass(frozen=True, slots=True)
class Answer:
    """The results of a call, with the tokens that it used and what it cost."""

    results: Any
    tokens: float | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        for name in ("tokens", "cost"):
            value = getattr(self, name)
            if value is not None and (
                isinstance(value, bool)
                or not isinstance(value, int | float)
                or not 0 <= value < math.inf
            ):
                raise UsageError(
                    f"{name} of an answer must be a number of at least 0, got {value!r:.40}"
                )


@dataclass(frozen=True, slots=True)
class Extras:
    """What an answer told besides its ranking, as the record of the call has it."""

    tokens: float | None = None
    cost: float | None = None
    spans: list[list[Any]] = field(default_factory=list)  # [document, start, end], best first

    def to_dict(self) -> dict[str, Any]:
        """Only what there is."""
        values = {"tokens": self.tokens, "cost": self.cost, "spans": self.spans or None}
        return {name: value for name, value in values.items() if value is not None}


class Usage:
    """Tokens and cost of one call, summed over the retrievers that it is built on."""

    def __init__(self) -> None:
        self.tokens: float | None = None
        self.cost: float | None = None

    def add(self, tokens: float | None, cost: float | None) -> None:
        """Add what one of them used."""
        if tokens is not None:
            self.tokens = (self.tokens or 0) + tokens
        if cost is not None:
            self.cost = (self.cost or 0) + cost


_usage: ContextVar[Usage | None] = ContextVar("usage", default=None)


def metered(search: Callable[[], Any]) -> Any:
    """The ranking that a search returns, as an `Answer` if it or a component reported tokens or cost."""
    usage = Usage()
    token = _usage.set(usage)
    try:
        ranking = search()
    finally:
        _usage.reset(token)
    if usage.tokens is None and usage.cost is None:
        return ranking
    return Answer(ranking, usage.tokens, usage.cost)


def report_usage(tokens: float | None = None, cost: float | None = None) -> None:
    """Count tokens and cost for the call that is being made."""
    usage = _usage.get()
    if usage is not None:
        checked = Answer(None, tokens, cost)
        usage.add(checked.tokens, checked.cost)


def split_answer(answer: Any) -> tuple[Any, Extras]:
    """The ranking of an answer, and what else it tells.

    An `Answer` or a dictionary with a list of results may have tokens and cost; a result may have the start
    and the end of its text in the document.
    """
    if isinstance(answer, Mapping):
        name = next((n for n in _LISTS if isinstance(answer.get(n), list | tuple)), None)
        if name is not None:
            answer = Answer(answer[name], answer.get("tokens"), answer.get("cost"))
    if not isinstance(answer, Answer):
        return answer, Extras(spans=spans_of(answer))
    return answer.results, Extras(answer.tokens, answer.cost, spans_of(answer.results))


def spans_of(results: Any) -> list[list[Any]]:
    """[document, start, end] of the results that say which part of their document they are."""
    if not isinstance(results, Sequence) or isinstance(results, str | bytes) or not results:
        return []
    first = results[0]
    if isinstance(first, str | int | float) or (
        isinstance(first, tuple | list) and (not first or isinstance(first[0], str | int))
    ):
        return []  # ids or pairs of id and score, as most answers are
    spans = []
    for result in results:
        fields = result_fields(result[0] if isinstance(result, tuple) and result else result)
        metadata = fields.get("metadata") or fields.get("meta") or {}
        both = {**metadata, **fields} if isinstance(metadata, Mapping) else fields
        start = next((both[n] for n in _STARTS if isinstance(both.get(n), int)), None)
        end = next((both[n] for n in _ENDS if isinstance(both.get(n), int)), None)
        doc = next((both[n] for n in ("doc", "doc_id", "ref_doc_id", "id") if both.get(n)), None)
        if start is not None and end is None and isinstance(both.get("text"), str):
            end = start + len(both["text"])
        if doc is not None and start is not None and end is not None:
            spans.append([str(doc), start, end])
    return spans


def result_fields(result: Any) -> Mapping[str, Any]:
    """The fields of a result: of a dictionary, of a document, or of the node inside a result."""
    if isinstance(result, Mapping):
        fields = dict(result)
    else:
        fields = {name: _attribute(result, name) for name in (*_ATTRIBUTES, *_INNER)}
        if "text" not in fields or fields["text"] is None:
            fields["text"] = _attribute(result, "page_content") or _attribute(result, "content")
        fields = {name: value for name, value in fields.items() if value is not None}
    for name in _INNER:
        held = fields.get(name)
        if held is not None and not isinstance(held, str | int):
            own = {key: value for key, value in fields.items() if key != name}
            return {**result_fields(held), **own}
    return fields


def _attribute(result: Any, name: str) -> Any:
    """An attribute, or None where reading it fails, as some nodes' properties do."""
    try:
        return getattr(result, name, None)
    except Exception:  # a property of someone else's class
        return None
