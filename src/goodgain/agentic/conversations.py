"""The conversations behind a Good Gain, read again when someone wants to look at them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.data.qrels import Qrels
from goodgain.data.trace import Search, Trace
from goodgain.errors import InputError, core_errors
from goodgain.identity import Identity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from goodgain.agentic.settings import GainSettings
    from goodgain.data.trace import Result

_KEPT = 16 << 20  # bytes of conversations that are kept where they can be read only once
_ID = re.compile(rb'\s*\{\s*"conversation"\s*:\s*("(?:[^"\\]|\\.)*")')  # at the start of a line


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a result is one that came before: the key that proposed it, the step and fields that decided."""

    key: str
    step: int
    fields: str
    other: int  # the earlier result that it was compared with; of the same cluster as the first


@dataclass(frozen=True, slots=True)
class Seen:
    """A returned result, the gain that it counts with, and of a duplicate which result it repeats."""

    number: int  # among all results of the conversation, from 0
    result: Result
    gain: float | None
    first: int | None = None
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class Searching:
    """One search of an iteration."""

    search: Search
    repeats_query: bool
    results: tuple[Seen, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation as it was counted: the iterations of the turns that count."""

    system: str
    name: str
    user: str | None
    answer: str | None
    iterations: tuple[tuple[Searching, ...], ...]


@dataclass(frozen=True, slots=True)
class TraceSource:
    """One source of traces: a path, a list, or lines that were kept; and the name of its system."""

    value: Any
    system: str
    is_named: bool  # the name is that of all its conversations, whatever they say
    stat: tuple[int, int] | None = None  # size and modification time of a file when it was measured
    sha256: str | None = None  # of a file that a saved result tells of

    def system_of(self, said: str | None) -> str:
        """The system of a conversation that says it is of `said`."""
        return self.system if self.is_named or not said else said


class KeptLines:
    """Canonical lines that pass by, the first of them kept."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.left_out = 0
        self._size = 0

    def passing(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        """The same lines."""
        for line in lines:
            if self._size + len(line) <= _KEPT:
                self.lines.append(line)
                self._size += len(line)
            else:
                self.left_out += 1
            yield line


@dataclass(frozen=True, slots=True)
class Reading:
    """How files of traces are read; saved, so that they are read again the same way."""

    format: str | None = None
    search_tools: tuple[str, ...] = ()
    skip_bad: bool = False


class Conversations:
    """All conversations of a result, in the order of their sources."""

    def __init__(
        self,
        sources: Sequence[TraceSource],
        rules: Identity,
        labels: Qrels | None,
        settings: GainSettings,
        reading: Reading,
        saved_labels: dict[str, Any] | None = None,
        problem: str = "",
    ) -> None:
        self.sources = tuple(sources)
        self.rules = rules
        self.settings = settings
        self.reading = reading
        self._labels = labels
        self._saved_labels = saved_labels  # what a saved result tells of them
        self._problem = problem  # why they cannot be read again

    def __getstate__(self) -> dict[str, Any]:
        """Labels are held by the core and do not travel to other processes."""
        if self._labels is None:
            return self.__dict__
        return {
            **self.__dict__, "_labels": None, "_problem": "its labels are in the process that measured",
        }  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """What a saved result needs to find them again, beside its inputs."""
        return {
            **asdict(self.reading),
            "usual_rules": not self._problem and self.rules == Identity(unit=self.rules.unit),
            "systems": [{"system": s.system, "is_named": s.is_named} for s in self.sources],
        }

    @classmethod
    def saved(
        cls, data: dict[str, Any] | None, inputs: list[dict[str, Any]], settings: GainSettings
    ) -> Conversations:
        """The reverse of `to_dict`; what cannot be read again says so when it is asked for."""
        if data is None:
            problem = "the saved result does not tell how its traces are read"
            return cls((), Identity(), None, settings, Reading(), problem=problem)
        traces = [i for i in inputs if i["role"] == "traces"]
        problem = ""
        if not data["usual_rules"]:
            problem = "a saved result does not keep rules of identity of one's own"
        elif any(i["kind"] != "file" or "sha256" not in i for i in inputs):
            problem = "not all traces and labels of the saved result came from files"
        sources = [
            TraceSource(i["name"], s["system"], s["is_named"], sha256=i.get("sha256"))
            for i, s in zip(traces, data["systems"], strict=True)
        ]
        reading = Reading(data["format"], tuple(data["search_tools"]), data["skip_bad"])
        labels = next((i for i in inputs if i["role"] == "labels"), None)
        rules = Identity(unit=settings.unit)  # type: ignore[arg-type]
        return cls(sources, rules, None, settings, reading, labels, problem)

    @property
    def left_out(self) -> int:
        """How many passed by once and were not kept."""
        return sum(s.value.left_out for s in self.sources if isinstance(s.value, KeptLines))

    def labels(self) -> Qrels | None:
        """The labels that gains are taken from before those in the traces."""
        if self._saved_labels is None:
            return self._labels
        require_unchanged(self._saved_labels["name"], sha256=self._saved_labels["sha256"])
        return Qrels(self._saved_labels["name"])

    def read(self, wanted: Collection[tuple[str, str]]) -> Iterator[Conversation]:
        """Those whose system and name are wanted; InputError where the traces are gone or changed."""
        if self._problem:
            raise InputError(self._problem)
        options = self.settings.for_core(skip_bad=False)
        judged = self.labels()
        labels = judged.core if judged else None
        names = {name for _, name in wanted}
        for source in self.sources:
            for line in self._lines(source, names):
                trace = json.loads(line.decode("utf-8", "replace"))
                system = source.system_of(trace.get("system"))
                if (system, str(trace["conversation"])) not in wanted:
                    continue
                try:
                    with core_errors():
                        counted = self.rules.core.counted(line, labels, options)
                except InputError:
                    if not self.reading.skip_bad:
                        raise
                    continue
                yield _conversation(Trace.from_dict(trace), system, self.settings, *counted)

    def _lines(self, source: TraceSource, names: set[str]) -> Iterator[bytes]:
        """Canonical lines; those of files that begin with another name are passed over unread."""
        if isinstance(source.value, KeptLines):
            yield from source.value.lines
        elif isinstance(source.value, str):
            yield from self._file_lines(source, names)
        else:
            yield from map(line_of, source.value)

    def _file_lines(self, source: TraceSource, names: set[str]) -> Iterator[bytes]:
        from goodgain.traces import open_traces

        require_unchanged(source.value, source.stat, source.sha256)
        reading = self.reading
        opened = open_traces(
            source.value, reading.format, reading.search_tools, skip_bad=reading.skip_bad
        )
        if opened.descriptor is None:
            yield from opened.lines()
            return
        with os.fdopen(opened.descriptor, "rb") as file:
            file.seek(0)
            for line in file:
                line = line.removeprefix(b"\xef\xbb\xbf")
                found = _ID.match(line)
                if found and json.loads(found[1].decode("utf-8", "replace")) not in names:
                    continue
                if line.strip() and self._is_readable(line):
                    yield line

    def _is_readable(self, line: bytes) -> bool:
        """With `skip_bad`, lines that are no conversation are passed over, as they were when measured."""
        if not self.reading.skip_bad:
            return True
        try:
            return "conversation" in json.loads(line)
        except (ValueError, TypeError):
            return False


def line_of(trace: Any) -> bytes:
    """A trace as a canonical line."""
    if isinstance(trace, Trace):
        return trace.to_json().encode("utf-8", "surrogateescape")
    if not isinstance(trace, Mapping):
        raise InputError(
            f"a {type(trace).__name__} is not a trace",
            hint="Trace objects, or dictionaries in the canonical form",
        )
    return json.dumps(trace, ensure_ascii=False).encode("utf-8", "surrogateescape")


def require_unchanged(
    name: str, stat: tuple[int, int] | None = None, sha256: str | None = None
) -> None:
    """An error unless the file is what it was when it was measured."""
    from goodgain.io.sources import sha256_of

    if name == "-" or not Path(name).exists():
        raise InputError(f"'{name}' is not there to be read again")
    info = Path(name).stat()
    changed = stat is not None and (info.st_size, info.st_mtime_ns) != stat
    if changed or (sha256 is not None and sha256_of(name) != sha256):
        raise InputError(f"'{name}' has changed since it was measured")


def _conversation(
    trace: Trace,
    system: str,
    settings: GainSettings,
    first: list[int],
    gains: list[float | None],
    repeats: list[bool],
    audit: list[dict[str, Any]],
) -> Conversation:
    reasons = {
        d["result"]: Reason(d["key"], d["step"], d["fields"], d["other"])
        for d in audit
        if d["merged"]
    }
    turns = _counting(trace, settings.turn)
    numbers, asked = iter(range(len(first))), iter(repeats)
    iterations = []
    for iteration in (i for turn in turns for i in turn.iterations if i.searches):
        searches = []
        for search in iteration.searches:
            seen = []
            for result in search.results:
                n = next(numbers)
                is_new = first[n] == n
                seen.append(Seen(n, result, gains[n], None if is_new else first[n], reasons.get(n)))
            searches.append(Searching(search, next(asked), tuple(seen)))
        iterations.append(tuple(searches))
    last = turns[-1] if turns else None
    return Conversation(
        system,
        trace.conversation,
        last.user if last else None,
        last.answer if last else None,
        tuple(iterations),
    )


def _counting(trace: Trace, turn: Any) -> Sequence[Any]:
    """The turns that count."""
    if turn == "all":
        return trace.turns
    return trace.turns[-1:] if turn == "last" else trace.turns[turn - 1 : turn]
