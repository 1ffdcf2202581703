"""Builds a conversation in the canonical form from messages, calls and outputs."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SEARCH_WORDS = ("search", "retriev", "query")
_OTHER_WORDS = ("open_page", "find_in_page", "get_document", "fetch")


@dataclass(slots=True, kw_only=True)
class Context:
    """What the readers of a file share: the user's options, and notes for afterwards."""

    name: str
    search_tools: tuple[str, ...] = ()
    merge_adjacent: bool = False
    skip_bad: bool = False
    notes: list[str] = field(default_factory=list)
    skipped: int = 0
    examples: list[str] = field(default_factory=list)

    def is_search(self, tool: str | None) -> bool:
        """Whether a tool searches: by the user's list, or else by its name."""
        name = (tool or "").casefold()
        if self.search_tools:
            return name in {t.casefold() for t in self.search_tools}
        return any(word in name for word in _SEARCH_WORDS) and not any(
            word in name for word in _OTHER_WORDS
        )

    def note(self, text: str) -> None:
        """Add a note, once."""
        if text not in self.notes:
            self.notes.append(text)

    def skip(self, problem: Exception) -> None:
        """Leave out what has this problem if the user wants that; otherwise raise it."""
        if not self.skip_bad:
            raise problem from None
        self.skipped += 1
        if len(self.examples) < 3:
            self.examples.append(str(problem).split("\n")[0])


class Builder:
    """One conversation as it unfolds. An iteration is one generation of the model that searched."""

    def __init__(self, conversation: Any, system: Any = None) -> None:
        self.conversation = str(conversation)
        self.system = None if system in (None, "") else str(system)
        self.turns: list[dict[str, Any]] = []
        self._calls: dict[str, dict[str, Any]] = {}

    def start_turn(self, user: str | None) -> None:
        """Start a turn with a message of the user."""
        self.turns.append({"user": user, "iterations": []} if user else {"iterations": []})

    def start_iteration(self) -> None:
        """Start an iteration: the model generates again, and its searches belong together."""
        if not self.turns:
            self.start_turn(None)
        iterations = self.turns[-1]["iterations"]
        if not iterations or iterations[-1]["searches"]:
            iterations.append({"searches": []})

    def add_search(
        self, call: str | None, tool: str | None, query: str | None, **facts: Any
    ) -> dict[str, Any]:
        """Add a search to the current iteration; `add_output` with the same call adds its results."""
        if not self.turns or not self.turns[-1]["iterations"]:
            self.start_iteration()
        fields = {"query": query, "tool": tool, **facts, "results": []}
        search = {k: v for k, v in fields.items() if v is not None}
        self.turns[-1]["iterations"][-1]["searches"].append(search)
        if call:
            self._calls[call] = search
        return search

    def add_output(
        self, call: str | None, results: list[dict[str, Any]], error: str | None = None
    ) -> None:
        """Add what a search returned; outputs of other tools are ignored."""
        search = self._calls.get(call or "")
        if search is None:
            return
        search["results"] = results
        if error:
            search["error"] = error

    def add_batch(self, call: str, batch: list[tuple[str, list[dict[str, Any]]]]) -> None:
        """Add the (query, results) of a call that ran several searches."""
        search = self._calls[call]
        first, *others = [{"query": query, "results": results} for query, results in batch]
        search.update(first)
        self.turns[-1]["iterations"][-1]["searches"] += [{**search, **other} for other in others]

    def set_answer(self, text: str | None) -> None:
        """Set the agent's answer of the current turn."""
        if text and self.turns:
            self.turns[-1]["answer"] = text

    def build(self) -> dict[str, Any]:
        """The canonical form, without iterations that did not search."""
        for turn in self.turns:
            turn["iterations"] = [i for i in turn["iterations"] if i["searches"]]
        head = {"conversation": self.conversation}
        if self.system:
            head["system"] = self.system
        return {**head, "turns": self.turns}


def decode_json(value: Any) -> Any:
    """The value of JSON in a string, even if encoded twice; anything else unchanged."""
    for _ in range(3):
        if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
            return value
        try:
            value = json.loads(value)
        except ValueError:
            return _literal(value)
    return value


def _literal(text: str) -> Any:
    """The value of a Python literal, as LangChain writes the inputs of tools; else the text."""
    import ast

    if len(text) > 100_000:
        return text
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value if isinstance(value, dict | list) else text


def text_of(content: Any) -> str:
    """The text of a message: a string, or blocks of which some are text."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return text_of(content.get("text") or content.get("content") or "")
    if isinstance(content, list):
        return "\n".join(filter(None, (text_of(block) for block in content if _is_text(block))))
    return ""


def _is_text(block: Any) -> bool:
    return isinstance(block, str) or (
        isinstance(block, dict)
        and block.get("type", "text") in ("text", "input_text", "output_text")
    )


_QUERY_NAMES = (
    "query", "queries", "q", "search_query", "question", "search_term", "keywords", "input", "text",
    "prompt", "__arg1", "args",
)  # fmt: skip


def query_of(arguments: Any) -> str | None:
    """The query in the arguments of a call; several are joined."""
    arguments = decode_json(arguments)
    if isinstance(arguments, dict):
        for name in _QUERY_NAMES:
            if arguments.get(name):
                return query_of(arguments[name])
        inner = next((v for v in arguments.values() if isinstance(v, dict | str) and v), None)
        return query_of(inner) if inner is not None else None
    if isinstance(arguments, list):
        return " | ".join(filter(None, (query_of(a) for a in arguments))) or None
    return None if arguments is None else str(arguments)


def seconds_between(start: Any, end: Any) -> float | None:
    """The seconds between two times: ISO texts, or nanoseconds since 1970."""
    if start is None or end is None:
        return None
    try:
        if isinstance(start, int | float) or str(start).isdigit():
            seconds = (int(end) - int(start)) / 1e9
        else:
            seconds = (_moment(str(end)) - _moment(str(start))).total_seconds()
    except (ValueError, TypeError):
        return None
    return round(seconds, 9) if seconds >= 0 else None


def _moment(text: str) -> Any:
    import datetime

    moment = datetime.datetime.fromisoformat(
        re.sub(r"(\.\d{6})\d+", r"\1", text.replace("Z", "+00:00"))
    )
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)


def dicts(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in a list, without anything else in it; nothing if it is no list."""
    return (
        (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())
    )


def first_of(mapping: Mapping[str, Any], *names: str) -> Any:
    """The first of these values that is not None."""
    return next((mapping[name] for name in names if mapping.get(name) is not None), None)
