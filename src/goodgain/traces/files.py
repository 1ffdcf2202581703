"""Files of traces: what is in them is found by looking, and they are read as a stream."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.errors import GoodgainError, InputError, UsageError
from goodgain.io.files import plain_descriptor, shown_name
from goodgain.traces.builder import Context
from goodgain.traces.registry import FORMATS, TraceFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_HEAD = 1 << 16


@dataclass(slots=True)
class OpenedTraces:
    """A file of traces: canonical JSON lines as a descriptor for the core, others read here.

    The descriptor belongs to whoever reads: the core, or `read`.
    """

    name: str
    format: str
    descriptor: int | None
    read: Callable[[], Iterator[dict[str, Any]]]
    context: Context = field(default_factory=lambda: Context(""))

    @property
    def notes(self) -> list[str]:
        """What the reader has to say, once it has read."""
        return self.context.notes

    @property
    def skipped(self) -> int:
        """How many conversations could not be read and were left out."""
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
    merge_adjacent: bool = False,
    skip_bad: bool = False,
) -> OpenedTraces:
    """Open a file (`-` for standard input) and find out its format, unless it is named."""
    if format is not None and format not in FORMATS:
        raise UsageError(
            f"there is no trace format '{format}'", hint=f"one of: {', '.join(FORMATS)}"
        )
    name = shown_name(path)
    context = Context(name, search_tools, merge_adjacent, skip_bad)
    fd = plain_descriptor(path)
    try:
        found, one_a_line = _detect(fd, name, format)
    except BaseException:
        os.close(fd)
        raise
    if found.name == "canonical" and one_a_line:
        return OpenedTraces(name, found.name, fd, lambda: _canonical(fd, context), context)
    stem = Path(name).name.split(".")[0]
    documents = _documents(fd, name, stem, one_a_line, context)
    return OpenedTraces(name, found.name, None, lambda: found.read(documents, context), context)


def trace_format(path: str) -> str:
    """The name of a file's trace format; an error where it has none that is known."""
    fd = plain_descriptor(path)
    try:
        return _detect(fd, shown_name(path), None)[0].name
    finally:
        os.close(fd)


def _canonical(fd: int, context: Context) -> Iterator[dict[str, Any]]:
    for _, document in _documents(fd, context.name, "", True, context):
        yield document


def _detect(fd: int, name: str, wanted: str | None) -> tuple[TraceFormat, bool]:
    """The format, and whether there is one JSON document a line."""
    head = os.pread(fd, _HEAD, 0).removeprefix(b"\xef\xbb\xbf")
    if not head.strip():
        raise InputError("the file is empty", where=name)
    if head.lstrip()[:1] not in (b"{", b"["):
        return _chosen(os.pread(fd, 4 * _HEAD, 0).decode("utf-8", "replace"), name, wanted), False
    if wanted == "canonical" or (wanted is None and _looks_canonical(head)):
        return FORMATS["canonical"], head.lstrip()[:1] == b"{" and _one_a_line(fd, head)
    first = _first_line(fd)
    document = _json(first)
    if document is not None:
        return _chosen(document, name, wanted), True
    with os.fdopen(os.dup(fd), "rb") as file:
        file.seek(0)
        whole = file.read()
    return _chosen(_json_or_error(whole, name), name, wanted), False


def _looks_canonical(head: bytes) -> bool:
    """Also where its first line is broken: then the core says what is wrong with it."""
    begin = head.lstrip()[:400]
    return b'"conversation"' in begin and (b'"turns"' in head or b'"system"' in begin)


def _one_a_line(fd: int, head: bytes) -> bool:
    line = head.split(b"\n", 1)[0].strip()
    return line not in (b"{", b"[") and not (line.endswith(b",") and b'"turns"' not in line)


def _first_line(fd: int) -> bytes:
    with os.fdopen(os.dup(fd), "rb") as file:
        file.seek(0)
        for line in file:
            if line.strip():
                return line
    return b""


def _json(text: bytes) -> Any:
    try:
        return json.loads(text.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return None


def _json_or_error(text: bytes, name: str) -> Any:
    try:
        return json.loads(text.removeprefix(b"\xef\xbb\xbf"))
    except UnicodeDecodeError:
        raise InputError("the file is not UTF-8 text", where=name) from None
    except RecursionError:
        raise InputError("the JSON is nested too deeply", where=name) from None
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        reason = getattr(error, "msg", str(error))
        raise InputError(f"the file is not valid JSON: {reason}", where=f"{name}:{line}") from None


def _chosen(document: Any, name: str, wanted: str | None) -> TraceFormat:
    if wanted is not None:
        return FORMATS[wanted]
    reasons = []
    sample = (
        next(_split(document, ""))[1] if not isinstance(document, str) and document else document
    )
    for candidate in FORMATS.values():
        reason = candidate.refuses(sample)
        if not reason:
            return candidate
        reasons.append(f"{candidate.name}: {reason}")
    raise InputError(
        "the file is in no trace format that is known",
        where=name,
        hint="tried " + "; ".join(reasons) + ". Name it with --from, or see docs/traces.md",
    )


def _documents(
    fd: int, name: str, stem: str, one_a_line: bool, context: Context
) -> Iterator[tuple[str, Any]]:
    """(a name for the conversation, document); a bad line is an error, or counted with `skip_bad`."""
    with os.fdopen(fd, "rb") as file:
        file.seek(0)
        if not one_a_line:
            text = file.read()
            if text.lstrip()[:1] in (b"{", b"["):
                yield from _split(_json_or_error(text, name), stem)
            else:
                yield stem, text.decode("utf-8", "replace")
            return
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            document = _json(line)
            if document is None:
                problem = InputError(
                    "the line is not valid JSON",
                    where=f"{name}:{number}",
                    hint="one JSON object a line; was the file cut short?",
                )
                if not context.skip_bad:
                    raise problem
                _skip(context, problem)
                continue
            yield f"{stem}:{number}", document


def _split(document: Any, stem: str) -> Iterator[tuple[str, Any]]:
    """A list of chats is several documents; a list of messages, items or spans is one."""
    parts = document
    if (
        isinstance(document, dict)
        and document
        and all(isinstance(v, dict) and "traj" in v for v in document.values())
    ):
        yield from document.items()
    elif isinstance(parts, list) and parts and all(_is_whole(p) for p in parts):
        for number, part in enumerate(parts, 1):
            yield f"{stem}:{number}", part
    else:
        yield stem, document


def _is_whole(part: Any) -> bool:
    return isinstance(part, list) or (
        isinstance(part, dict)
        and any(isinstance(part.get(k), list) for k in ("messages", "output", "result", "samples"))
    )


def _skip(context: Context, problem: GoodgainError) -> None:
    context.skipped += 1
    if len(context.examples) < 3:
        context.examples.append(str(problem).split("\n")[0])
