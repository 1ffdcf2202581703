"""Traces of any format, one conversation at a time."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from goodgain.data.trace import Trace
from goodgain.errors import InputError, core_errors
from goodgain.traces.formats.canonical import account_for
from goodgain.traces.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goodgain.traces.files import OpenedTraces


def read_traces(
    source: Any,
    *,
    format: str | None = None,  # noqa: A002 - the command line's word
    search_tools: tuple[str, ...] = (),
    not_search_tools: tuple[str, ...] = (),
    search_rules: str | os.PathLike[str] | None = None,
    prices: str | os.PathLike[str] | None = None,
    merge_adjacent: bool = False,
    skip_bad: bool = False,
    max_gain: float = 4,
    sink: Callable[[dict[str, Any]], None] | None = None,
) -> TraceReader:
    """Read traces from a file in any format, or from dictionaries, one at a time.

    Each is validated; with `skip_bad` invalid ones are left out and counted. The reader's `ledger` says
    what became of every item; `sink` gets them one by one.

    >>> import goodgain as gg
    >>> with gg.record("traces.jsonl") as recorder:
    ...     recorder.search("seine", [{"url": "https://a.example/seine"}])
    ...
    >>> for trace in gg.read_traces("traces.jsonl"):
    ...     print([search.query for search in trace.searches()])
    ...
    ['seine']
    """
    if not isinstance(source, str | os.PathLike):
        return TraceReader(iter(source), "traces", skip_bad, max_gain, sink=sink)
    from goodgain.traces.files import open_traces

    opened = open_traces(
        os.fspath(source),
        format,
        search_tools,
        not_search_tools=not_search_tools,
        search_rules=search_rules,
        prices=prices,
        sink=sink,
        merge_adjacent=merge_adjacent,
        skip_bad=skip_bad,
    )
    return TraceReader(opened.read(), opened.name, skip_bad, max_gain, opened)


class TraceReader:
    """An iterator of traces that counts what it leaves out."""

    def __init__(
        self,
        items: Iterator[Any],
        name: str,
        skip_bad: bool,
        max_gain: float,
        opened: OpenedTraces | None = None,
        sink: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        self._items = items
        self._name = name
        self._skip_bad = skip_bad
        self._max_gain = max_gain
        self._opened = opened
        self._number = self._invalid = 0
        self._ledger = opened.ledger if opened else Ledger(sink)

    def __iter__(self) -> TraceReader:
        return self

    def __next__(self) -> Trace:
        while True:
            item = next(self._items)
            self._number += 1
            where = f"{self._name} conversation {self._number}"
            try:
                trace = item if isinstance(item, Trace) else _validated(item, where, self._max_gain)
            except InputError as error:
                if not self._skip_bad:
                    raise
                self._invalid += 1
                self._enter_invalid(error, where)
                continue
            if self._opened is None:
                account_for(trace.to_dict(), self._ledger, where)
            return trace

    def _enter_invalid(self, error: InputError, where: str) -> None:
        """A conversation of a file is in the ledger already, as read, and now is not."""
        if self._opened is None:
            self._ledger.meet("conversation")
        else:
            self._ledger.counts["conversation", "read"] -= 1
        self._ledger.enter("conversation", "unusable", error.message, where=where)

    @property
    def skipped(self) -> int:
        """The number of conversations left out so far."""
        return self._invalid + (self._opened.skipped if self._opened else 0)

    @property
    def ledger(self) -> Ledger:
        """What became of every item read so far."""
        return self._ledger

    @property
    def notes(self) -> list[str]:
        """Notes of the format's reader."""
        return self._opened.notes if self._opened else []


def _validated(item: Any, where: str, max_gain: float) -> Trace:
    from goodgain._core import check_trace

    try:
        with core_errors():
            check_trace(
                json.dumps(item, ensure_ascii=False).encode("utf-8", "surrogatepass"), max_gain
            )
    except InputError as error:
        raise InputError(error.message, where=error.where or where, hint=error.hint) from None
    return Trace.from_dict(item)
