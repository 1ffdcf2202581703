"""The conversations behind a Good Gain, read again on demand."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.agentic.runs import number_repeats
from goodgain.data.qrels import Qrels
from goodgain.data.trace import Search, Trace
from goodgain.errors import InputError, core_errors
from goodgain.identity import Identity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from goodgain.agentic.settings import GainSettings
    from goodgain.data.trace import Result

_BUFFER_BYTES = 16 << 20  # of conversations that can be read only once
_ID = re.compile(rb'\s*\{\s*"conversation"\s*:\s*("(?:[^"\\]|\\.)*")')  # at the start of a line


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a result is a duplicate: the key that proposed it, the step and the fields that decided."""

    key: str
    step: int
    fields: str
    other: int  # the earlier result it was compared with


@dataclass(frozen=True, slots=True)
class CountedResult:
    """A returned result, the gain it counts with, and for a duplicate the result it repeats."""

    number: int  # among all results of the conversation, from 0
    result: Result
    gain: float | None
    first: int | None = None
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class CountedSearch:
    """One search of an iteration."""

    search: Search
    repeats_query: bool
    results: tuple[CountedResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation as it was counted: the iterations of the scored turns."""

    system: str
    name: str
    repeat: str  # which of several runs over the same conversation
    user: str | None
    answer: str | None
    iterations: tuple[tuple[CountedSearch, ...], ...]

    def _repr_html_(self) -> str:
        from goodgain.results.notebook import TimelineSearch, timeline_html

        searches = [
            TimelineSearch.of(
                f"{i}.{s}",
                counted.search,
                [r.gain for r in counted.results],
                repeats=sum(r.first is not None for r in counted.results),
                repeats_query=counted.repeats_query,
            )
            for i, iteration in enumerate(self.iterations, 1)
            for s, counted in enumerate(iteration, 1)
        ]
        return timeline_html(f"{self.name} ({self.system})", self.user, searches, self.answer)


@dataclass(frozen=True, slots=True)
class TraceSource:
    """One source of traces (a path, a list, or buffered lines) and the name of its system."""

    value: Any
    system: str
    is_named: bool  # the name overrides the system stated in the conversations
    stat: tuple[int, int] | None = None  # size and modification time of a file when it was measured
    sha256: str | None = None  # of a file recorded in a saved result

    def system_of(self, stated: str | None) -> str:
        """The system of a conversation that states this one."""
        return self.system if self.is_named or not stated else stated


class BufferedLines:
    """Buffers the first canonical lines of a source that can be read only once."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.left_out = 0
        self._size = 0

    def record(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        """Pass the lines on unchanged."""
        for line in lines:
            if self._size + len(line) <= _BUFFER_BYTES:
                self.lines.append(line)
                self._size += len(line)
            else:
                self.left_out += 1
            yield line


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How trace files are read; saved, so that they can be read again in the same way."""

    format: str | None = None
    search_tools: tuple[str, ...] = ()
    not_search_tools: tuple[str, ...] = ()
    search_rules: str | None = None
    prices: str | None = None
    skip_bad: bool = False

    def options(self) -> dict[str, Any]:
        """As keywords of `open_traces`."""
        return asdict(self)


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
        self._saved_labels = saved_labels  # as recorded in a saved result
        self._problem = problem  # why they cannot be read again

    def __getstate__(self) -> dict[str, Any]:
        """Labels live in the core and cannot be pickled."""
        if self._labels is None:
            return self.__dict__
        return {
            **self.__dict__, "_labels": None, "_problem": "its labels are in another process",
        }  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """What a saved result needs, besides its inputs, to find the conversations again."""
        return {
            **asdict(self.reading),
            "usual_rules": not self._problem and self.rules == Identity(unit=self.rules.unit),
            "systems": [{"system": s.system, "is_named": s.is_named} for s in self.sources],
        }

    @classmethod
    def saved(
        cls, data: dict[str, Any] | None, inputs: list[dict[str, Any]], settings: GainSettings
    ) -> Conversations:
        """The reverse of `to_dict`; whatever cannot be read again raises on use."""
        if data is None:
            problem = "the saved result does not record how its traces are read"
            return cls((), Identity(), None, settings, Reading(), problem=problem)
        traces = [i for i in inputs if i["role"] == "traces"]
        problem = ""
        if not data["usual_rules"]:
            problem = "saved results do not record custom identity rules"
        elif any(i["kind"] != "file" or "sha256" not in i for i in inputs):
            problem = "not all traces and labels of the saved result came from files"
        sources = [
            TraceSource(i["name"], s["system"], s["is_named"], sha256=i.get("sha256"))
            for i, s in zip(traces, data["systems"], strict=True)
        ]
        reading = Reading(
            format=data["format"],
            search_tools=tuple(data["search_tools"]),
            not_search_tools=tuple(data.get("not_search_tools", ())),
            search_rules=data.get("search_rules"),
            prices=data.get("prices"),
            skip_bad=data["skip_bad"],
        )
        labels = next((i for i in inputs if i["role"] == "labels"), None)
        rules = Identity(unit=settings.unit)  # type: ignore[arg-type]
        return cls(sources, rules, None, settings, reading, labels, problem)

    @property
    def left_out(self) -> int:
        """The number of conversations beyond the buffer."""
        return sum(s.value.left_out for s in self.sources if isinstance(s.value, BufferedLines))

    def labels(self) -> Qrels | None:
        """The labels that override gains in the traces."""
        if self._saved_labels is None:
            return self._labels
        require_unchanged(self._saved_labels["name"], sha256=self._saved_labels["sha256"])
        return Qrels(self._saved_labels["name"])

    def read(self, keys: Collection[tuple[str, str]]) -> Iterator[Conversation]:
        """The conversations with these systems and names; InputError if the traces are gone or changed."""
        if self._problem:
            raise InputError(self._problem)
        options = self.settings.for_core(skip_bad=False)
        judged = self.labels()
        names = {name for _, name in keys}
        # All lines of a conversation are counted together: its systems share labels.
        runs: dict[str, list[_Line]] = {}
        for source in self.sources:
            for line in self._lines(source, names):
                trace = json.loads(line.decode("utf-8", "replace"))
                name = str(trace["conversation"])
                if name in names and self._is_valid(line):
                    system = source.system_of(trace.get("system"))
                    runs.setdefault(name, []).append(_Line(system, line, trace))
        for lines in runs.values():
            for system in {one.system: None for one in lines}:
                own = [one for one in lines if one.system == system]
                stated = [str(one.trace.get("repeat") or "") for one in own]
                names_of_runs = number_repeats(system, [own[0].name] * len(own), stated)
                for one, repeat in zip(own, names_of_runs, strict=True):
                    one.repeat = repeat
            if not any((one.system, one.name) in keys for one in lines):
                continue
            with core_errors():
                counted = self.rules.core.counted(
                    [one.line for one in lines], judged.core if judged else None, options
                )
            for one, counts in zip(lines, counted, strict=True):
                if (one.system, one.name) in keys:
                    yield _conversation(one, self.settings, *counts)

    def _is_valid(self, line: bytes) -> bool:
        """With `skip_bad`, bad conversations are skipped, as in the measurement."""
        from goodgain._core import check_trace

        if not self.reading.skip_bad:
            return True
        try:
            with core_errors():
                check_trace(line, self.settings.max_gain)
        except InputError:
            return False
        return True

    def _lines(self, source: TraceSource, names: set[str]) -> Iterator[bytes]:
        """Canonical lines; lines of files that begin with another name are skipped unparsed."""
        if isinstance(source.value, BufferedLines):
            yield from source.value.lines
        elif isinstance(source.value, str):
            yield from self._file_lines(source, names)
        else:
            yield from map(line_of, source.value)

    def _file_lines(self, source: TraceSource, names: set[str]) -> Iterator[bytes]:
        from goodgain.traces import open_traces

        require_unchanged(source.value, source.stat, source.sha256)
        opened = open_traces(source.value, **self.reading.options())
        if opened.descriptor is None:
            yield from opened.lines()
            return
        with os.fdopen(opened.descriptor, "rb") as file:
            file.seek(0)
            for line in file:
                line = line.removeprefix(b"\xef\xbb\xbf")
                match = _ID.match(line)
                if match and json.loads(match[1].decode("utf-8", "replace")) not in names:
                    continue
                if line.strip() and self._is_readable(line):
                    yield line

    def _is_readable(self, line: bytes) -> bool:
        """With `skip_bad`, lines that are not conversations are skipped, as in the measurement."""
        if not self.reading.skip_bad:
            return True
        try:
            return "conversation" in json.loads(line)
        except (ValueError, TypeError, RecursionError):
            return False


def line_of(trace: Any) -> bytes:
    """A trace as a canonical line."""
    if isinstance(trace, Trace):
        return trace.to_json().encode("utf-8", "surrogateescape")
    if not isinstance(trace, Mapping):
        raise InputError(
            f"a {type(trace).__name__} is not a trace",
            hint="use Trace objects, or dictionaries in the canonical form",
        )
    try:
        text = json.dumps(trace, ensure_ascii=False)
    except (RecursionError, ValueError):
        raise InputError(
            "a trace is nested too deeply, or contains itself",
            hint="expected plain data, as in JSON",
        ) from None
    return text.encode("utf-8", "surrogateescape")


def require_unchanged(
    name: str, stat: tuple[int, int] | None = None, sha256: str | None = None
) -> None:
    """Raise unless the file is the same as when it was measured."""
    from goodgain.io.sources import sha256_of, stat_of

    if name == "-" or not Path(name).exists():
        raise InputError(f"'{name}' cannot be read again")
    changed = stat is not None and stat_of(name) != stat
    if changed or (sha256 is not None and sha256_of(name) != sha256):
        raise InputError(f"'{name}' has changed since it was measured")


@dataclass(slots=True)
class _Line:
    """One run: its line and what it holds."""

    system: str
    line: bytes
    trace: dict[str, Any]
    repeat: str = ""

    @property
    def name(self) -> str:
        return str(self.trace["conversation"])


def _conversation(
    run: _Line,
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
    turns = _counting(Trace.from_dict(run.trace), settings.turn)
    numbers, repeated = iter(range(len(first))), iter(repeats)
    iterations = []
    for iteration in (i for turn in turns for i in turn.iterations if i.searches):
        searches = []
        for search in iteration.searches:
            listed = []
            for result in search.results:
                n = next(numbers)
                is_new = first[n] == n
                listed.append(
                    CountedResult(n, result, gains[n], None if is_new else first[n], reasons.get(n))
                )
            searches.append(CountedSearch(search, next(repeated), tuple(listed)))
        iterations.append(tuple(searches))
    last = turns[-1] if turns else None
    return Conversation(
        system=run.system,
        name=run.name,
        repeat=run.repeat,
        user=last.user if last else None,
        answer=last.answer if last else None,
        iterations=tuple(iterations),
    )


def _counting(trace: Trace, turn: Any) -> Sequence[Any]:
    """The scored turns."""
    if turn == "all":
        return trace.turns
    return trace.turns[-1:] if turn == "last" else trace.turns[turn - 1 : turn]
