"""The measures of saved results, read in the background and once for each version of a file."""

from __future__ import annotations

import datetime
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from queue import SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from goodgain.errors import GoodgainError
from goodgain.reports.elements import cut
from goodgain.reports.view.library import HISTORY
from goodgain.results.text import number
from goodgain.threads import start_thread

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goodgain.reports.view.library import Entry

MAX_BYTES = 64_000_000  # of a file; the measures of larger ones are on its page only


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One system of a saved result: its measures, and when they were computed."""

    system: str
    values: dict[str, float]
    queries: int | None = None
    created: float | None = None  # seconds since 1970
    note: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """The rows of a result, or why it has none."""

    rows: tuple[Row, ...] = ()
    problem: str = ""


class Summaries:
    """Summaries by key and version. `generation` grows with every new one."""

    def __init__(self) -> None:
        self.generation = 0
        self._lock = Lock()
        self._summaries: dict[str, tuple[str, Summary, int]] = {}  # version, summary, generation
        self._wanted: dict[str, str] = {}
        self._queue: SimpleQueue[Entry] = SimpleQueue()
        self._worker: Thread | None = None

    def want(self, entries: Iterable[Entry]) -> None:
        """Read what is new, newest first, in a thread of its own; forget what is gone."""
        listed = {entry.key: entry for entry in entries}
        with self._lock:
            for key in [*self._summaries]:
                if key not in listed:
                    del self._summaries[key]
            fresh = [e for e in listed.values() if self._wanted.get(e.key) != e.version]
            self._wanted = {entry.key: entry.version for entry in listed.values()}
            for entry in sorted(fresh, key=lambda e: -e.changed):
                self._queue.put(entry)
            if fresh and self._worker is None:
                self._worker = start_thread(self._work)

    def get(self, entry: Entry) -> tuple[Summary | None, int]:
        """The summary of an entry and its generation; None if it is not read yet."""
        known = self._summaries.get(entry.key)
        return (known[1], known[2]) if known and known[0] == entry.version else (None, 0)

    def _work(self) -> None:
        while True:
            entry = self._queue.get()
            if self._wanted.get(entry.key) != entry.version:
                continue  # gone or changed meanwhile
            summary = summarise(entry)
            with self._lock:
                self.generation += 1
                self._summaries[entry.key] = entry.version, summary, self.generation


def summarise(entry: Entry) -> Summary:
    """The rows of one result; whatever is wrong with it is said, not raised."""
    if entry.kind != "experiment" and entry.size > MAX_BYTES:
        return Summary(problem=f"too large to list its measures ({entry.size / 1e6:,.0f} MB)")
    try:
        return Summary(tuple(_rows(entry)))
    except GoodgainError as error:
        return Summary(problem=error.message)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Summary(problem="damaged, or not complete")


def _rows(entry: Entry) -> list[Row]:
    from goodgain.io.files import read_json

    if entry.kind == HISTORY:
        return _history(entry)
    path = entry.path / "scores.json" if entry.kind == "experiment" else entry.path
    if entry.kind == "experiment" and not path.exists():
        return []  # it has not ended
    data = read_json(str(path))
    if entry.kind in ("evaluation", "experiment"):
        created = _seconds(data.get("created"))
        return [
            Row(
                system=cut(str(run["name"])),
                values=_numbers(run["means"]),
                queries=len(run["queries"]),
                created=created,
            )
            for run in data["runs"]
        ]
    if entry.kind == "comparison":
        created = _seconds(data.get("created"))
        note = str((data.get("verdict") or {}).get("word", ""))
        return [
            Row(system=cut(str(name)), values=_numbers(means), created=created, note=note)
            for name, means in data["means"].items()
        ]
    if entry.kind == "good gain":
        return _good_gain(entry)
    return []


def _good_gain(entry: Entry) -> list[Row]:
    from goodgain.agentic import GoodGain
    from goodgain.agentic.tables import SUMMARY

    result = GoodGain.load(entry.path)
    rows = []
    for system in result.systems:
        figures = {name: system.figure(name) for name in SUMMARY}
        values = {
            name: f.value
            for name, f in figures.items()
            if f.n and f.value == f.value and not system.is_unknown(name)
        }
        open_ones = [name for name, f in figures.items() if f.n and f.is_open]
        note = f"bounds of {open_ones[0]}: " if open_ones else ""
        if open_ones:
            first = figures[open_ones[0]]
            note += f"{number(first.lower, 2)} to {number(first.upper, 2)}"
        rows.append(
            Row(
                system=cut(system.name),
                values=values,
                queries=int(system.counts()["conversations"]),
                created=None,
                note=note,
            )
        )
    return rows


def _history(entry: Entry) -> list[Row]:
    from goodgain.checks.history import read_history

    return [
        Row(
            system="check",
            values=_numbers(row["means"]),
            queries=row.get("cases"),
            created=_seconds(row.get("date")),
            note=str(row.get("verdict", "")),
        )
        for row in read_history(str(entry.path))
    ]


@lru_cache(maxsize=1024)
def unit_of(label: str) -> str:
    """The unit of a measure of time or cost by its label; empty for quality, and if it is not known here."""
    from goodgain.measures.grammar import parse

    with suppress(GoodgainError):
        measure = parse(label)
        return measure.unit if measure.is_cost else ""
    return ""


def _numbers(values: dict[str, Any]) -> dict[str, float]:
    """Measures with a value: undefined is not zero."""
    return {
        cut(str(name)): float(value)
        for name, value in values.items()
        if isinstance(value, int | float) and value == value
    }


def _seconds(text: Any) -> float | None:
    try:
        return datetime.datetime.fromisoformat(str(text).replace("Z", "+00:00")).timestamp()
    except ValueError:
        return None
