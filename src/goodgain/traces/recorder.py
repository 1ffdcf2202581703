"""A recorder for hand-written agent loops: a line is written as each conversation ends."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from goodgain.data.trace import RESULT_FIELDS
from goodgain.errors import InputError, UsageError, core_errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType


class Recorder:
    """Writes canonical traces. Without calls of `conversation`, all searches belong to one.

    with gg.record("traces.jsonl", system="agent") as rec:
        rec.conversation("c1", user="Who wrote it?")
        rec.search("author", results)      # each search is an iteration of its own,
        with rec.iteration():              # unless several run side by side
            rec.search("first", results)
            rec.search("second", results)
    """

    def __init__(
        self, path: str | os.PathLike[str], *, system: str | None = None, append: bool = False
    ) -> None:
        self.system = system
        self._name = os.fspath(path)
        self._append = append
        self._file: IO[str] | None = None
        self._trace: dict[str, Any] | None = None
        self._open: dict[str, Any] | None = None
        self._count = 0

    def __enter__(self) -> Recorder:
        try:
            self._file = open(self._name, "a" if self._append else "w", encoding="utf-8")  # noqa: PTH123
        except OSError as error:
            raise InputError(f"cannot write '{self._name}': {error.strerror}") from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()
        if self._file:
            self._file.close()
        self._file = None

    def conversation(
        self, name: Any = None, *, user: str | None = None, system: str | None = None
    ) -> None:
        """Start a conversation; the previous one is complete and is written."""
        self.end()
        self._count += 1
        self._trace = {"conversation": str(name if name is not None else self._count)}
        if system or self.system:
            self._trace["system"] = system or self.system
        self._trace["turns"] = []
        self.turn(user)

    def turn(self, user: str | None = None) -> None:
        """Start a turn with a message of the user."""
        if self._trace is None:
            self.conversation(user=user)
            return
        self._trace["turns"].append({**({"user": user} if user else {}), "iterations": []})

    @contextmanager
    def iteration(self) -> Iterator[None]:
        """Searches inside the `with` block belong to one iteration."""
        iteration = self._new_iteration()
        self._open = iteration
        try:
            yield
        finally:
            self._open = None

    def _new_iteration(self) -> dict[str, Any]:
        if self._trace is None:
            self.conversation()
        assert self._trace is not None
        iteration: dict[str, Any] = {"searches": []}
        self._trace["turns"][-1]["iterations"].append(iteration)
        return iteration

    def search(
        self,
        query: str,
        results: Iterable[Any] = (),
        *,
        tool: str | None = None,
        latency: float | None = None,
        cost: float | None = None,
        tokens: float | None = None,
        error: str | None = None,
    ) -> None:
        """Record one search and its results: dictionaries with the usual names, strings, or `Result`s."""
        from goodgain.traces.results import results_of

        if self._file is None:
            raise UsageError(
                "the recorder is not open", hint='with gg.record("traces.jsonl") as rec: ...'
            )
        plain = [r.to_dict() if hasattr(r, "to_dict") else r for r in results]
        search = {
            "query": query,
            "tool": tool,
            "latency": latency,
            "cost": cost,
            "tokens": tokens,
            "error": error,
        }
        facts = {k: v for k, v in search.items() if v is not None}
        canonical = [
            r if isinstance(r, dict) and set(r) <= _CANONICAL else one
            for r in plain
            for one in (results_of([r]) or [{}])[:1]
        ]
        (self._open or self._new_iteration())["searches"].append({**facts, "results": canonical})

    def end(self, answer: str | None = None) -> None:
        """End the conversation: validate it and write its line."""
        from goodgain._core import check_trace

        if self._trace is None or self._file is None:
            return
        if answer:
            self._trace["turns"][-1]["answer"] = answer
        line = json.dumps(self._trace, ensure_ascii=False)
        self._trace = None
        with core_errors():
            check_trace(line.encode("utf-8", "surrogatepass"), 1e300)
        self._file.write(line + "\n")
        self._file.flush()


_CANONICAL = {*RESULT_FIELDS, "metadata"}


def record(
    path: str | os.PathLike[str], *, system: str | None = None, append: bool = False
) -> Recorder:
    """A recorder of canonical traces, for use in a `with` statement."""
    return Recorder(path, system=system, append=append)
