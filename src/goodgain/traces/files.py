"""Files of traces: their format is detected from the content, and they are read as a stream."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.io.descriptors import read_at
from goodgain.io.files import plain_descriptor
from goodgain.io.line_formats import BYTE_ORDER_MARK
from goodgain.io.naming import display_name, system_name
from goodgain.traces.context import Context
from goodgain.traces.folders import files_in, read_files
from goodgain.traces.layouts import DOCUMENT, HEAD, LINES, detect_layout, recorded_documents
from goodgain.traces.ledger import Ledger
from goodgain.traces.recorder import is_recording
from goodgain.traces.registry import FORMATS, find_format, plugin_formats
from goodgain.traces.searching import SearchRules
from goodgain.traces.usage import Prices, built_in_prices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goodgain.traces.format import Conversations, Documents, TraceFormat
    from goodgain.traces.layouts import Layout


@dataclass(slots=True)
class OpenedTraces:
    """A file of traces: canonical JSON lines as a descriptor for the core, others read here.

    The descriptor belongs to whoever reads it: the core, or `read`.
    """

    name: str
    format: str
    descriptor: int | None
    read: Callable[[], Conversations]
    context: Context

    @property
    def ledger(self) -> Ledger:
        """What became of every item, complete once it has read."""
        return self.context.ledger

    @property
    def notes(self) -> list[str]:
        """The reader's notes, complete once it has read."""
        return self.context.notes

    @property
    def skipped(self) -> int:
        """The number of conversations that could not be read and were left out."""
        return self.context.skipped

    def lines(self) -> Iterator[bytes]:
        """Canonical JSON lines."""
        for trace in self.read():
            yield json.dumps(trace, ensure_ascii=False).encode("utf-8", "surrogatepass")


def open_traces(
    path: str,
    format: str | None = None,  # noqa: A002 - the command line's word
    search_tools: tuple[str, ...] = (),
    *,
    not_search_tools: tuple[str, ...] = (),
    search_rules: str | os.PathLike[str] | None = None,
    prices: str | os.PathLike[str] | None = None,
    merge_adjacent: bool = False,
    skip_bad: bool = False,
    sink: Callable[[dict[str, Any]], None] | None = None,
) -> OpenedTraces:
    """Open a file (`-` for standard input) and detect its format, unless `format` names it.

    A folder, or a pattern such as `logs/*.json`, is opened as one source of all its files.
    `search_rules` is a TOML file of rules of what is a search, `prices` one of the prices of models;
    `sink` gets every item of the ledger.
    """
    chosen = None if format is None else find_format(format)
    name = display_name(path)
    context = Context(
        name=name,
        rules=SearchRules.load(search_rules, search_tools, not_search_tools),
        ledger=Ledger(sink),
        prices=built_in_prices() if prices is None else Prices.load(prices),
        merge_adjacent=merge_adjacent,
        skip_bad=skip_bad,
    )
    files = files_in(path)
    if files is None:
        return _open_file(path, chosen, context)

    def open_file(file: str) -> OpenedTraces:
        one = replace(context, name=file, ledger=Ledger(sink), notes=[], skipped=0, examples=[])
        return _open_file(file, chosen, one)

    def open_recordings(files: list[str]) -> OpenedTraces:
        one = replace(context, name=name, ledger=Ledger(sink), notes=[], skipped=0, examples=[])
        return _open_recordings(files, one)

    return OpenedTraces(
        name,
        format or "several",
        None,
        lambda: read_files(path, files, context, open_file, open_recordings),
        context,
    )


def _open_file(path: str, chosen: TraceFormat | None, context: Context) -> OpenedTraces:
    name = context.name
    fd = plain_descriptor(path)
    try:
        trace_format, layout = _detect(fd, name, chosen)
    except BaseException:
        os.close(fd)
        raise
    documents = _documents(fd, system_name(path), layout, context)
    if trace_format.name == "canonical" and layout.name == "lines":
        return OpenedTraces(
            name, trace_format.name, fd, lambda: trace_format.read(documents, context), context
        )
    return OpenedTraces(
        name, trace_format.name, None, lambda: _read(trace_format, documents, context), context
    )


def _open_recordings(files: list[str], context: Context) -> OpenedTraces:
    """Recordings as one source: a conversation may go on in the next file."""
    sources = [(system_name(file), file, partial(plain_descriptor, file)) for file in files]
    documents = recorded_documents(sources, context)
    recorded = FORMATS["recorded"]
    return OpenedTraces(
        context.name, recorded.name, None, lambda: _read(recorded, documents, context), context
    )


def _read(trace_format: TraceFormat, documents: Documents, context: Context) -> Conversations:
    """The conversations; a file of which nothing was read is in another format."""
    has_content, count = False, 0
    for trace in trace_format.read(documents, context):
        has_content = has_content or bool(trace.get("turns"))
        count += 1
        yield trace
    read = sum(
        number
        for (kind, account), number in context.ledger.counts.items()
        if kind != "conversation" and account != "unusable"
    )
    if not (has_content or context.skipped) and not (read and count):
        raise InputError(
            f"nothing in the file could be read as '{trace_format.name}'",
            where=context.name,
            hint="leave out --from to have the format detected",
        )


def trace_format(path: str) -> str:
    """The name of a file's trace format; an error if no format fits."""
    fd = plain_descriptor(path)
    try:
        return _detect(fd, display_name(path), None)[0].name
    finally:
        os.close(fd)


def _detect(fd: int, name: str, chosen: TraceFormat | None) -> tuple[TraceFormat, Layout]:
    """The format, and how its documents are laid out."""
    head = read_at(fd, HEAD, 0).removeprefix(BYTE_ORDER_MARK)
    canonical = FORMATS["canonical"]
    if head.lstrip()[:1] in (b"{", b"[") and (
        chosen is canonical or (chosen is None and _looks_canonical(head))
    ):
        is_lines = head.lstrip()[:1] == b"{" and _is_lines(head)
        return canonical, LINES if is_lines else DOCUMENT
    layout = detect_layout(fd, name)
    return chosen or _matching_format(layout.sample, name), layout


def _looks_canonical(head: bytes) -> bool:
    """Also true for a broken first line: the core then reports what is wrong with it."""
    start = head.lstrip()[:400]
    return (
        not is_recording(head)
        and b'"conversation"' in start
        and (b'"turns"' in head or b'"system"' in start)
    )


def _is_lines(head: bytes) -> bool:
    line = head.split(b"\n", 1)[0].strip()
    return line not in (b"{", b"[") and not (line.endswith(b",") and b'"turns"' not in line)


def _trec_kind(sample: Any) -> str:
    """What a text of TREC lines holds."""
    first = sample.split("\n", 1)[0].split() if isinstance(sample, str) else []
    try:
        if len(first) == 4 and float(first[3]) == int(float(first[3])):
            return "judgments"
        return "a run" if len(first) == 6 and float(first[4]) > float("-inf") else ""
    except (ValueError, OverflowError):
        return ""


def _matching_format(sample: Any, name: str) -> TraceFormat:
    reasons = []
    for candidate in _formats():
        reason = candidate.mismatch(sample)
        if not reason:
            return candidate
        reasons.append(f"{candidate.name}: {reason}")
    if kind := _trec_kind(sample):
        hint = f"this looks like {kind}; goodgain evaluate QRELS RUN measures runs"
    else:
        hint = (
            f"it holds {_outline(sample)}; tried {'; '.join(reasons)}. Name it with --from, "
            "or see docs/traces.md"
        )
    raise InputError("unrecognised trace format", where=name, hint=hint)


def _outline(value: Any) -> str:
    """What was seen in a document, for someone who knows the program that wrote it."""
    if isinstance(value, dict):
        names = ", ".join(f"'{name}'" for name in list(value)[:8])
        more = f" and {len(value) - 8} more" if len(value) > 8 else ""
        return f"an object with {names or 'no fields'}{more}"
    if isinstance(value, list):
        return f"a list of {len(value)}, first {_outline(value[0])}" if value else "an empty list"
    text = " ".join(str(value).split())
    return f"{'text' if isinstance(value, str) else 'the value'} '{text[:60]}'"


def _formats() -> Iterator[TraceFormat]:
    """The formats in the order in which they are tried; plug-ins are loaded if no built-in fits."""
    yield from FORMATS.values()
    yield from plugin_formats().values()


def _documents(fd: int, stem: str, layout: Layout, context: Context) -> Documents:
    """(a name for the conversation, document), in order."""
    try:
        yield from layout.documents(fd, stem, context)
    finally:
        os.close(fd)
