"""From traces to Good Gain."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from goodgain.agentic.answers import answer_check
from goodgain.agentic.conversations import (
    BufferedLines,
    Conversations,
    Reading,
    TraceSource,
    line_of,
)
from goodgain.agentic.hops import split_hops
from goodgain.agentic.label_ids import conversation_notes, result_notes
from goodgain.agentic.ledgers import ledger_of
from goodgain.agentic.result import GoodGain
from goodgain.agentic.settings import Align, GainSettings
from goodgain.agentic.system import SystemGain
from goodgain.cores import thread_count
from goodgain.data.qrels import Qrels
from goodgain.data.trace import Trace
from goodgain.errors import InputError, UsageError, core_errors, suggest_keywords
from goodgain.identity import Identity
from goodgain.io.naming import system_name, unique_names
from goodgain.io.sources import Source, stat_of
from goodgain.traces.folders import sources_in

if TYPE_CHECKING:
    from goodgain._core import TraceScores
    from goodgain.agentic.answers import AnswerCheck
    from goodgain.agentic.hops import Hops
    from goodgain.traces.ledger import Ledger, LedgerFile

_IN_MEMORY = 64 << 20  # bytes of canonical JSON


@suggest_keywords
def good_gain(
    traces: Any,
    *,
    labels: Any = None,
    answers: Any = None,
    threshold: float = 2,
    max_gain: float = 4,
    gain: Literal["linear", "exp"] = "linear",
    discount: str = "log2",
    patience: float = 0.8,
    turn: Literal["last", "all"] | int = "last",
    align: Align = "active",
    unlabelled: Literal["unknown", "zero"] = "unknown",
    opens: Literal["calls", "content"] = "calls",
    identity: Any = None,
    by: Literal["system", "file"] = "system",
    format: str | None = None,  # noqa: A002 - the command line's word
    search_tools: Iterable[str] = (),
    not_search_tools: Iterable[str] = (),
    search_rules: str | os.PathLike[str] | None = None,
    prices: str | os.PathLike[str] | None = None,
    ledger: str | os.PathLike[str] | None = None,
    skip_bad: bool = False,
    threads: int | None = None,
) -> GoodGain:
    """Measure what each search of an agent was worth.

    `traces` is a path, several paths, `Trace` objects or dictionaries, or {system: any of these}.
    `labels` holds gains by conversation and result (its id, one of its ids, or its URL), in any form
    that judgments can have; they override gains in the traces. `unlabelled="zero"` says that they are
    complete: a result without a label is not good. Labels may say at which hop each document is needed:
    a column `hop`, or a list of documents per hop. `identity` decides which results are duplicates:
    an `Identity`, a TOML file of rules, "document" or "passage".

    `answers` are gold answers by conversation ({conversation: answer or answers}, a table with columns
    `conversation`, `answer` and `aliases`, or a golden set), or a judge's labels of the answers
    (`label_answers`). `opens="content"` counts a result that carried its content as opened.

    `search_tools` and `not_search_tools` name tools whose calls are and are not searches,
    `search_rules` and `prices` are TOML files of further rules and of prices of models, and `ledger` is
    a file for what became of every item of the traces.

    Several runs of one system over the same conversation (`repeat` in the traces, or the conversation
    several times) are averaged within the conversation first.

    >>> import goodgain as gg
    >>> with gg.record("traces.jsonl") as recorder:
    ...     recorder.search("join paths", [{"url": "https://a.example/join", "gain": 3}])
    ...     recorder.search("path join", [{"url": "https://a.example/join"}])
    ...     recorder.search("pathlib", [{"url": "https://b.example/pathlib", "gain": 4}])
    ...
    >>> result = gg.good_gain("traces.jsonl")
    >>> result["CG@i"], result["GR@i"], result["DupR@i"]
    (7.0, 2.0, 1.0)
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
        unlabelled=unlabelled,
        unit=rules.unit,
        opens=opens,
    )
    if by not in ("system", "file"):
        raise UsageError(f"invalid by='{by}': use 'system' or 'file'")
    gold = split_hops(labels, max_gain)
    judged = None if labels is None else Qrels.of(gold.labels)
    check = None if answers is None else answer_check(answers)
    reading = Reading(
        format=format,
        search_tools=tuple(search_tools),
        not_search_tools=tuple(not_search_tools),
        search_rules=None if search_rules is None else os.fspath(search_rules),
        prices=None if prices is None else os.fspath(prices),
        skip_bad=skip_bad,
    )
    reader = _Reader(reading, ledger)
    inputs: list[tuple[str, Source]] = []
    trace_sources = []
    sources = _sources(traces)
    for (name, value), default in zip(sources, _default_names(sources), strict=True):
        provenance = _provenance(value, default)
        source = TraceSource(
            _readable_again(value), default, by == "file" or name is not None, provenance.stat
        )
        reader.read(value, source.value)
        inputs.append(("traces", provenance))
        trace_sources.append(source)
    with core_errors():
        scores = rules.core.score(
            reader.texts,
            judged.core if judged else None,
            settings.for_core(skip_bad, answers=check is not None),
            thread_count(threads),
        )
    collected = _Collected()
    for one, source in zip(scores, trace_sources, strict=True):
        if by == "file":
            _require_one_system(one, source)
        collected.add(one, source)
    ledgers = reader.complete(scores)
    facts = collected.facts(reader)
    if check is not None:
        facts |= _answer_facts(check, scores)
        inputs.append(("answers", Source("rows", None, check.name)))
    if judged is not None:
        inputs.append(("labels", judged.source))
    conversations = Conversations(trace_sources, rules, judged, settings, reading)
    systems = collected.systems(gold.hops, check)
    if judged is not None:
        keys = [
            (source.system_of(system), name)
            for one, source in zip(scores, trace_sources, strict=True)
            for system, name in zip(one.systems, one.conversations, strict=True)
        ]
        facts["notes"] += conversation_notes(judged, dict.fromkeys(name for _, name in keys))
        if all(system.is_unlabelled for system in systems):
            facts["notes"] += result_notes(judged, conversations, keys)
    return GoodGain(
        systems=systems,
        settings=settings,
        inputs=inputs,
        facts=facts,
        ledgers=ledgers,
        conversations=conversations,
    )


def _require_one_system(scores: TraceScores, source: TraceSource) -> None:
    """Refuse to take several systems for repeats of one, because they are in one file."""
    names = list(dict.fromkeys(name for name in scores.systems if name))
    if len(names) > 1:
        raise InputError(
            f"'{source.system}' holds {len(names)} systems, such as '{names[0]}' and '{names[1]}'",
            where=source.value if isinstance(source.value, str) else "",
            hint="where files are compared, each is one system: divide this one, or pass it alone",
        )


def _answer_facts(check: AnswerCheck, scores: list[TraceScores]) -> dict[str, Any]:
    """How answers were checked, and the gold answers that no conversation has."""
    gold = set(check.conversations())
    read = {name for one in scores for name in one.conversations}
    if gold and read and not gold & read:
        raise InputError(
            f"no answer is for any of the conversations: '{min(gold)}' is not among them, "
            f"'{min(read)}' is",
            where=check.name,
            hint="answers and traces must use the same conversation names",
        )
    return {
        "answers": check.kind,
        "answers_by": check.name,
        "unused_answers": len(gold - read),
    }


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
        return sources_in(os.fspath(traces))
    if isinstance(traces, list | tuple) and traces and all(map(_is_path, traces)):
        return [path for one in traces for path in sources_in(os.fspath(one))]
    if isinstance(traces, Trace | Mapping):
        return [[traces]]
    return [traces]


class _Reader:
    """Sources as the core takes them: canonical files directly, others as canonical lines.

    All of them are scored together, because the systems share the known good results of a
    conversation; lines that do not fit into memory wait in a temporary file.
    """

    def __init__(self, reading: Reading, ledger: str | os.PathLike[str] | None) -> None:
        self.reading = reading
        self.path = ledger
        self.texts: list[tuple[int | bytes, str]] = []
        self.ledgers: list[Ledger | None] = []  # None: the core counts
        self.notes: list[str] = []
        self.skipped = 0
        self.examples: list[str] = []
        self._items: LedgerFile | None = None

    def read(self, source: Any, source_buffer: Any) -> None:
        """Add a source."""
        if not _is_path(source):
            lines: Iterable[bytes] = map(line_of, source)
            if isinstance(source_buffer, BufferedLines):
                lines = source_buffer.record(iter(lines))
            self._add(_spooled(self._entered(lines)), "traces", None)
            return
        from goodgain.traces import open_traces

        name = os.fspath(source)
        opened = open_traces(name, **self.reading.options(), sink=self._sink(name))
        if opened.descriptor is not None and self.path is None:
            self._add(opened.descriptor, opened.name, None)
            return
        self._add(_spooled(opened.lines()), opened.name, opened.ledger)
        self.notes.extend(opened.notes)
        self.skipped += opened.skipped
        self.examples.extend(opened.context.examples)

    def _add(self, text: int | bytes, name: str, ledger: Ledger | None) -> None:
        self.texts.append((text, name))
        self.ledgers.append(ledger)

    def _sink(self, name: str) -> Any:
        """What takes the items of a source, if a file of them is wanted."""
        if self.path is None:
            return None
        from goodgain.traces.ledger import LedgerFile

        self._items = self._items or LedgerFile(self.path)
        return self._items.sink(name)

    def _entered(self, lines: Iterable[bytes]) -> Iterable[bytes]:
        """Lines of objects in memory, each entered into the file of items if one is wanted."""
        if self.path is None:
            return lines
        import json

        from goodgain.traces.formats.canonical import account_for
        from goodgain.traces.ledger import Ledger

        ledger = Ledger(self._sink("traces"))

        def entered() -> Iterator[bytes]:
            for number, line in enumerate(lines, 1):
                account_for(json.loads(line), ledger, f"traces:{number}")
                yield line

        return entered()

    def complete(self, scores: list[TraceScores]) -> dict[str, Ledger]:
        """The ledger of each source, now that duplicates are known; the file of items is written."""
        if self._items is not None:
            self._items.write()
        ledgers: dict[str, Ledger] = {}
        for one, (_, name), ledger in zip(scores, self.texts, self.ledgers, strict=True):
            full = ledger_of(one.calls, one.read, one.totals["skipped"], ledger)
            if name in ledgers:
                ledgers[name].merge(full)
            else:
                ledgers[name] = full
        return ledgers


def _spooled(lines: Iterable[bytes]) -> int | bytes:
    """Lines in memory, or the descriptor of a temporary file where they are many."""
    pending: list[bytes] = []
    size = 0
    iterator = iter(lines)
    for line in iterator:
        pending.append(line)
        size += len(line) + 1
        if size > _IN_MEMORY:
            break
    else:
        return b"\n".join(pending)
    import tempfile

    from goodgain.io.files import temporary_errors

    with temporary_errors(), tempfile.TemporaryFile() as file:
        file.writelines(line + b"\n" for line in pending)
        pending.clear()
        file.writelines(line + b"\n" for line in iterator)
        file.flush()
        return os.dup(file.fileno())


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
        self.pieces: dict[str, list[tuple[TraceScores, list[int]]]] = {}
        self.totals: dict[str, int] = {}
        self.examples: list[str] = []

    def add(self, scores: TraceScores, source: TraceSource) -> None:
        groups: dict[str, list[int]] = {}
        for i, system in enumerate(scores.systems):
            groups.setdefault(source.system_of(system), []).append(i)
        for system, members in groups.items():
            self.pieces.setdefault(system, []).append((scores, members))
        for key, count in scores.totals.items():
            self.totals[key] = self.totals.get(key, 0) + count
        for message, where, _ in scores.skipped_examples:
            if len(self.examples) < 3:
                self.examples.append(f"{message} ({where})")

    def systems(self, hops: Hops, answers: AnswerCheck | None) -> list[SystemGain]:
        return [
            SystemGain.join(name, pieces, hops=hops, answers=answers)
            for name, pieces in self.pieces.items()
        ]

    def facts(self, reader: _Reader) -> dict[str, Any]:
        return {
            **self.totals,
            "skipped": self.totals.get("skipped", 0) + reader.skipped,
            "skipped_examples": [*self.examples, *reader.examples][:3],
            "notes": reader.notes,
        }


def _provenance(source: Any, default: str) -> Source:
    if not _is_path(source) or os.fspath(source) == "-":
        return Source("rows", None, default)
    name = os.fspath(source)
    return Source("file", name, name, None, stat_of(name))
