"""Files of traces: their format is detected from the content, and they are read as a stream."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.io.files import BYTE_ORDER_MARK, parse_json, plain_descriptor
from goodgain.io.naming import display_name, system_name
from goodgain.traces.context import Context
from goodgain.traces.ledger import Ledger
from goodgain.traces.registry import FORMATS, find_format, plugin_formats
from goodgain.traces.searching import SearchRules
from goodgain.traces.usage import Prices, built_in_prices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goodgain.traces.format import Conversations, Documents, TraceFormat

_HEAD = 1 << 16


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
    fd = plain_descriptor(path)
    try:
        trace_format, is_lines = _detect(fd, name, chosen)
    except BaseException:
        os.close(fd)
        raise
    documents = _documents(fd, system_name(path), is_lines, context)
    if trace_format.name == "canonical" and is_lines:
        return OpenedTraces(
            name, trace_format.name, fd, lambda: trace_format.read(documents, context), context
        )
    return OpenedTraces(
        name, trace_format.name, None, lambda: trace_format.read(documents, context), context
    )


def trace_format(path: str) -> str:
    """The name of a file's trace format; an error if no format fits."""
    fd = plain_descriptor(path)
    try:
        return _detect(fd, display_name(path), None)[0].name
    finally:
        os.close(fd)


def _detect(fd: int, name: str, chosen: TraceFormat | None) -> tuple[TraceFormat, bool]:
    """The format, and whether each line is a JSON document."""
    head = os.pread(fd, _HEAD, 0).removeprefix(BYTE_ORDER_MARK)
    if not head.strip():
        raise InputError("the file is empty", where=name)
    if head.lstrip()[:1] not in (b"{", b"["):
        text = os.pread(fd, 4 * _HEAD, 0).decode("utf-8", "replace")
        return chosen or _matching_format(text, name), False
    canonical = FORMATS["canonical"]
    if chosen is canonical or (chosen is None and _looks_canonical(head)):
        return canonical, head.lstrip()[:1] == b"{" and _is_lines(head)
    document = _parse_line(_first_line(fd))
    if document is not None:
        return chosen or _matching_format(document, name), True
    with os.fdopen(os.dup(fd), "rb") as file:
        file.seek(0)
        document = parse_json(file.read(), name)
    return chosen or _matching_format(document, name), False


def _looks_canonical(head: bytes) -> bool:
    """Also true for a broken first line: the core then reports what is wrong with it."""
    start = head.lstrip()[:400]
    return b'"conversation"' in start and (b'"turns"' in head or b'"system"' in start)


def _is_lines(head: bytes) -> bool:
    line = head.split(b"\n", 1)[0].strip()
    return line not in (b"{", b"[") and not (line.endswith(b",") and b'"turns"' not in line)


def _first_line(fd: int) -> bytes:
    with os.fdopen(os.dup(fd), "rb") as file:
        file.seek(0)
        return next((line for line in file if line.strip()), b"")


def _parse_line(text: bytes) -> Any:
    try:
        return json.loads(text.removeprefix(BYTE_ORDER_MARK))
    except (ValueError, RecursionError):
        return None


def _matching_format(document: Any, name: str) -> TraceFormat:
    sample = (
        next(_split(document, ""))[1] if not isinstance(document, str) and document else document
    )
    reasons = []
    for candidate in _formats():
        reason = candidate.mismatch(sample)
        if not reason:
            return candidate
        reasons.append(f"{candidate.name}: {reason}")
    raise InputError(
        "unrecognised trace format",
        where=name,
        hint="tried " + "; ".join(reasons) + ". Name it with --from, or see docs/traces.md",
    )


def _formats() -> Iterator[TraceFormat]:
    """The formats in the order in which they are tried; plug-ins are loaded if no built-in fits."""
    yield from FORMATS.values()
    yield from plugin_formats().values()


def _documents(fd: int, stem: str, is_lines: bool, context: Context) -> Documents:
    """(a name for the conversation, document); a bad line is an error, or counted with `skip_bad`."""
    with os.fdopen(fd, "rb") as file:
        file.seek(0)
        if not is_lines:
            text = file.read().removeprefix(BYTE_ORDER_MARK)
            if text.lstrip()[:1] in (b"{", b"["):
                yield from _split(parse_json(text, context.name), stem)
            else:
                yield stem, text.decode("utf-8", "replace")
            return
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            document = _parse_line(line)
            if document is None:
                context.skip(
                    InputError(
                        "the line is not valid JSON",
                        where=f"{context.name}:{number}",
                        hint="expected one JSON object per line; is the file complete?",
                    )
                )
                continue
            yield f"{stem}:{number}", document


def _split(document: Any, stem: str) -> Documents:
    """A list of chats is several documents; a list of messages, items or spans is one."""
    if (
        isinstance(document, dict)
        and document
        and all(isinstance(v, dict) and "traj" in v for v in document.values())
    ):
        yield from document.items()
    elif isinstance(document, list) and document and all(map(_is_document, document)):
        for number, item in enumerate(document, 1):
            yield f"{stem}:{number}", item
    else:
        yield stem, document


def _is_document(item: Any) -> bool:
    return isinstance(item, list) or (
        isinstance(item, dict)
        and any(isinstance(item.get(k), list) for k in ("messages", "output", "result", "samples"))
    )
