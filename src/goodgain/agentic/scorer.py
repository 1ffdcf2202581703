"""From traces to Good Gain."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from goodgain.agentic.conversations import (
    BufferedLines,
    Conversations,
    Reading,
    TraceSource,
    line_of,
)
from goodgain.agentic.result import GoodGain
from goodgain.agentic.settings import Align, GainSettings
from goodgain.agentic.system import SystemGain
from goodgain.cores import thread_count
from goodgain.data.qrels import Qrels
from goodgain.data.trace import Trace
from goodgain.errors import UsageError, core_errors, suggest_keywords
from goodgain.identity import Identity
from goodgain.io.naming import system_name, unique_names
from goodgain.io.sources import Source, stat_of
from goodgain.traces.folders import expand

if TYPE_CHECKING:
    from goodgain._core import TraceScores

_BATCH = 16 << 20  # bytes of canonical JSON handed to the core at a time


@suggest_keywords
def good_gain(
    traces: Any,
    *,
    labels: Any = None,
    threshold: float = 2,
    max_gain: float = 4,
    gain: Literal["linear", "exp"] = "linear",
    discount: str = "log2",
    patience: float = 0.8,
    turn: Literal["last", "all"] | int = "last",
    align: Align = "active",
    identity: Any = None,
    by: Literal["system", "file"] = "system",
    format: str | None = None,  # noqa: A002 - the command line's word
    search_tools: Iterable[str] = (),
    skip_bad: bool = False,
    threads: int | None = None,
) -> GoodGain:
    """Measure what each search of an agent was worth.

    `traces` is a path, several paths, `Trace` objects or dictionaries, or {system: any of these}.
    `labels` holds gains by conversation and result (its id, one of its ids, or its URL), in any form
    that judgments can have; they override gains in the traces. `identity` decides which results are
    duplicates: an `Identity`, a TOML file of rules, "document" or "passage".
    """
    rules = Identity.of(identity)
    settings = GainSettings(
        threshold=threshold,
        max_gain=max_gain,
        gain=gain,
        discount=discount,
        patience=patience,
        turn=turn,
        align=align,
        unit=rules.unit,
    )
    if by not in ("system", "file"):
        raise UsageError(f"invalid by='{by}': use 'system' or 'file'")
    judged = None if labels is None else Qrels.of(labels)
    scorer = _Scorer(
        rules, judged, settings, skip_bad, thread_count(threads), format, tuple(search_tools)
    )
    collected = _Collected()
    inputs: list[tuple[str, Source]] = []
    trace_sources = []
    sources = _sources(traces)
    for (name, value), default in zip(sources, _default_names(sources), strict=True):
        provenance = _provenance(value, default)
        source = TraceSource(
            _readable_again(value), default, by == "file" or name is not None, provenance.stat
        )
        for scores in scorer.scores(value, source.value):
            collected.add(scores, source)
        inputs.append(("traces", provenance))
        trace_sources.append(source)
    if judged is not None:
        inputs.append(("labels", judged.source))
    reading = Reading(format, tuple(search_tools), skip_bad)
    conversations = Conversations(trace_sources, rules, judged, settings, reading)
    return GoodGain(
        systems=collected.systems(),
        settings=settings,
        inputs=inputs,
        facts=collected.facts(scorer),
        conversations=conversations,
    )


def _readable_again(value: Any) -> Any:
    """A source that can be read a second time: iterators are buffered while they are read."""
    if _is_path(value):
        return os.fspath(value)
    return value if isinstance(value, list | tuple) else BufferedLines()


def _is_path(value: Any) -> bool:
    return isinstance(value, str | os.PathLike)


def _default_names(sources: list[tuple[str | None, Any]]) -> list[str]:
    """The system of conversations that name none: the user's name for it, or the file's."""
    files = iter(
        unique_names(system_name(value) for name, value in sources if not name and _is_path(value))
    )
    return [name or (next(files) if _is_path(value) else "agent") for name, value in sources]


def _sources(traces: Any) -> list[tuple[str | None, Any]]:
    """(system's name or None, source) for each source."""
    if isinstance(traces, Mapping) and "conversation" not in traces:
        return [(str(name), one) for name, several in traces.items() for one in _several(several)]
    return [(None, one) for one in _several(traces)]


def _several(traces: Any) -> list[Any]:
    if _is_path(traces):
        return expand(os.fspath(traces))
    if isinstance(traces, list | tuple) and traces and all(map(_is_path, traces)):
        return [path for one in traces for path in expand(os.fspath(one))]
    if isinstance(traces, Trace | Mapping):
        return [[traces]]
    return [traces]


class _Scorer:
    """Passes sources to the core: canonical files directly, others as canonical lines."""

    def __init__(
        self,
        rules: Identity,
        labels: Qrels | None,
        settings: GainSettings,
        skip_bad: bool,
        threads: int,
        format: str | None,  # noqa: A002
        search_tools: tuple[str, ...],
    ) -> None:
        self.core = rules.core
        self.labels = labels.core if labels else None
        self.settings = settings
        self.skip_bad = skip_bad
        self.threads = threads
        self.format = format
        self.search_tools = search_tools
        self.notes: list[str] = []
        self.skipped = 0
        self.examples: list[str] = []

    def scores(self, source: Any, source_buffer: Any) -> Iterator[TraceScores]:
        options = self.settings.for_core(self.skip_bad)
        if _is_path(source):
            from goodgain.traces import open_traces

            opened = open_traces(
                os.fspath(source), self.format, self.search_tools, skip_bad=self.skip_bad
            )
            if opened.descriptor is not None:
                with core_errors():
                    yield self.core.score_file(
                        opened.descriptor, opened.name, self.labels, options, self.threads
                    )
                return
            lines: Iterable[bytes] = opened.lines()
            name = opened.name
        else:
            opened = None
            lines, name = map(line_of, source), "traces"
            if isinstance(source_buffer, BufferedLines):
                lines = source_buffer.record(iter(lines))
        for batch in _batches(lines):
            with core_errors():
                yield self.core.score_lines(batch, name, self.labels, options, self.threads)
        if opened is not None:
            self.notes.extend(opened.notes)
            self.skipped += opened.skipped
            self.examples.extend(opened.context.examples)


def _batches(lines: Iterable[bytes]) -> Iterator[bytes]:
    pending: list[bytes] = []
    size = 0
    for line in lines:
        pending.append(line)
        size += len(line) + 1
        if size >= _BATCH:
            yield b"\n".join(pending)
            pending, size = [], 0
    if pending:
        yield b"\n".join(pending)


def canonical_lines(
    traces: Any,
    *,
    format: str | None = None,  # noqa: A002 - the command line's word
    search_tools: Iterable[str] = (),
    by: str = "system",
) -> tuple[Iterator[bytes], str, str]:
    """One source as canonical JSON lines, its name, and the default system name: for other engines."""
    sources = _sources(traces)
    if len(sources) != 1 or sources[0][0] is not None or by != "system":
        raise UsageError(
            "this engine takes one source of traces at a time",
            hint="put all systems into one table, with a field 'system'",
        )
    source = sources[0][1]
    if not _is_path(source):
        return map(line_of, source), "traces", "agent"
    from goodgain.traces import open_traces

    opened = open_traces(os.fspath(source), format, tuple(search_tools))
    return opened.lines(), opened.name, system_name(source)


class _Collected:
    """The scores of all sources, by system."""

    def __init__(self) -> None:
        self.pieces: dict[str, list[tuple[Any, list[int], list[str]]]] = {}
        self.counts = dict.fromkeys(
            (
                "results",
                "searches",
                "skipped",
                "left_out",
                "unknown_conversations",
                "ambiguous_labels",
            ),
            0,
        )
        self.examples: list[str] = []

    def add(self, scores: TraceScores, source: TraceSource) -> None:
        names = scores.conversations
        groups: dict[str, list[int]] = {}
        for i, system in enumerate(scores.systems):
            groups.setdefault(source.system_of(system), []).append(i)
        for system, members in groups.items():
            conversations = [names[i] for i in members] if len(members) < len(names) else names
            self.pieces.setdefault(system, []).append((scores, members, conversations))
        for key in self.counts:
            self.counts[key] += getattr(scores, key)
        for message, where, _ in scores.skipped_examples:
            if len(self.examples) < 3:
                self.examples.append(f"{message} ({where})")

    def systems(self) -> list[SystemGain]:
        return [SystemGain.join(name, pieces) for name, pieces in self.pieces.items()]

    def facts(self, scorer: _Scorer) -> dict[str, Any]:
        counts = {**self.counts, "skipped": self.counts["skipped"] + scorer.skipped}
        return {
            **counts,
            "skipped_examples": [*self.examples, *scorer.examples][:3],
            "notes": scorer.notes,
        }


def _provenance(source: Any, default: str) -> Source:
    if not _is_path(source) or os.fspath(source) == "-":
        return Source("rows", None, default)
    name = os.fspath(source)
    return Source("file", name, name, None, stat_of(name))
