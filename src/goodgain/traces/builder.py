"""Putting a conversation together from what a format tells: messages, calls, outputs."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_SEARCHING = ("search", "retriev", "query")
_NEVER = ("open_page", "find_in_page", "get_document", "fetch")


@dataclass(slots=True)
class Context:
    """What the readers of a file share: the user's options, and what is to be said afterwards."""

    name: str
    search_tools: tuple[str, ...] = ()
    merge_adjacent: bool = False
    skip_bad: bool = False
    notes: list[str] = field(default_factory=list)
    skipped: int = 0
    examples: list[str] = field(default_factory=list)

    def is_search(self, tool: str | None) -> bool:
        """Whether a tool searches: the user's list, or else its name."""
        name = (tool or "").casefold()
        if self.search_tools:
            return name in {t.casefold() for t in self.search_tools}
        return any(word in name for word in _SEARCHING) and not any(word in name for word in _NEVER)

    def note(self, text: str) -> None:
        """Say something once."""
        if text not in self.notes:
            self.notes.append(text)


class Builder:
    """One conversation as it unfolds. A step is one generation of the model."""

    def __init__(self, conversation: Any, system: Any = None) -> None:
        self.conversation = str(conversation)
        self.system = None if system in (None, "") else str(system)
        self.turns: list[dict[str, Any]] = []
        self._calls: dict[str, dict[str, Any]] = {}

    def user(self, text: str | None) -> None:
        """A message of the user begins a turn."""
        turn: dict[str, Any] = {"iterations": []}
        if text:
            turn = {"user": text, **turn}
        self.turns.append(turn)

    def step(self) -> None:
        """The model speaks again: searches from here on are a new iteration."""
        if not self.turns:
            self.user(None)
        iterations = self.turns[-1]["iterations"]
        if not iterations or iterations[-1]["searches"]:
            iterations.append({"searches": []})

    def search(
        self, call: str | None, tool: str | None, query: str | None, **facts: Any
    ) -> dict[str, Any]:
        """A search of the current step; its results come with `output` under the same call."""
        if not self.turns or not self.turns[-1]["iterations"]:
            self.step()
        found: dict[str, Any] = {"query": query, "tool": tool, **facts, "results": []}
        found = {k: v for k, v in found.items() if v is not None}
        self.turns[-1]["iterations"][-1]["searches"].append(found)
        if call:
            self._calls[call] = found
        return found

    def output(
        self, call: str | None, results: list[dict[str, Any]], error: str | None = None
    ) -> None:
        """What a search brought; outputs of other tools are left aside."""
        search = self._calls.get(call or "")
        if search is None:
            return
        search["results"] = results
        if error:
            search["error"] = error

    def answer(self, text: str | None) -> None:
        """What the agent said in the end."""
        if text and self.turns:
            self.turns[-1]["answer"] = text

    def build(self) -> dict[str, Any]:
        """The canonical form; steps without a search are left out."""
        for turn in self.turns:
            turn["iterations"] = [i for i in turn["iterations"] if i["searches"]]
        head = {"conversation": self.conversation}
        if self.system:
            head["system"] = self.system
        return {**head, "turns": self.turns}


def loaded(value: Any) -> Any:
    """JSON inside a string, also twice over; anything else as it is."""
    for _ in range(3):
        if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
            return value
        try:
            value = json.loads(value)
        except ValueError:
            return _literal(value)
    return value


def _literal(text: str) -> Any:
    """A Python literal, as LangChain writes the inputs of tools; else the text itself."""
    import ast

    if len(text) > 100_000:
        return text
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return found if isinstance(found, dict | list) else text


def text_of(content: Any) -> str:
    """The text of a message: a string, or parts of which some are text."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return text_of(content.get("text") or content.get("content") or "")
    if isinstance(content, list):
        return "\n".join(filter(None, (text_of(p) for p in content if _is_text(p))))
    return ""


def _is_text(part: Any) -> bool:
    return isinstance(part, str) or (
        isinstance(part, dict)
        and part.get("type", "text")
        in (
            "text",
            "input_text",
            "output_text",
        )
    )


_QUERY_NAMES = (
    "query",
    "queries",
    "q",
    "search_query",
    "question",
    "search_term",
    "keywords",
    "input",
    "text",
    "prompt",
    "__arg1",
    "args",
)


def query_of(arguments: Any) -> str | None:
    """The query in the arguments of a call; several are joined."""
    arguments = loaded(arguments)
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
    """The seconds from one time to another: ISO texts, or nanoseconds since 1970."""
    if start is None or end is None:
        return None
    try:
        if isinstance(start, int | float) or str(start).isdigit():
            found = (int(end) - int(start)) / 1e9
        else:
            found = (_moment(str(end)) - _moment(str(start))).total_seconds()
    except (ValueError, TypeError):
        return None
    return round(found, 9) if found >= 0 else None


def _moment(text: str) -> Any:
    import datetime

    moment = datetime.datetime.fromisoformat(
        re.sub(r"(\.\d{6})\d+", r"\1", text.replace("Z", "+00:00"))
    )
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)


def dicts(value: Any) -> Iterator[dict[str, Any]]:
    """The objects of a list; other things in it are left aside."""
    return (
        (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())
    )
