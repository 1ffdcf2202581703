"""How the documents of a trace file are laid out: lines, JSON, a stream, an archive, a recording."""

from __future__ import annotations

import json
import os
import re
import struct
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.io.compression import zstandard_pieces
from goodgain.io.descriptors import read_at
from goodgain.io.files import invalid_json, parse_json
from goodgain.io.limits import LimitError, byte_counter
from goodgain.io.line_formats import BYTE_ORDER_MARK, EMPTY
from goodgain.traces.recorder import is_recording
from goodgain.traces.streams import replies, server_events, stream_of
from goodgain.traces.threads import key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from goodgain.traces.context import Context
    from goodgain.traces.format import Documents
    from goodgain.traces.ledger import Ledger

HEAD = 1 << 16
_SERVER_EVENT = re.compile(rb"(?::|data:|event:|id:|retry:)")
_ARCHIVE = b"PK\x03\x04"


@dataclass(frozen=True, slots=True)
class Layout:
    """A layout: its name, a document to detect the format from, and all documents with their names."""

    name: str
    sample: Any
    documents: Callable[[int, str, Context], Documents]


def detect_layout(fd: int, name: str) -> Layout:
    """The layout of a file, by its first bytes."""
    head = read_at(fd, HEAD, 0).removeprefix(BYTE_ORDER_MARK)
    if not head.strip():
        raise InputError("the file is empty", where=name, hint=EMPTY)
    if head.startswith(_ARCHIVE):
        return Layout("archive", next(_archive(fd, name))[1], _archived)
    if is_recording(head):
        return Layout("recording", parse_line(_first_line(fd)), _recorded)
    if _SERVER_EVENT.match(head.lstrip()):
        text = read_at(fd, 4 * HEAD, 0).decode("utf-8", "replace")
        events = ((name, event) for event in server_events(text))
        sample = next((d for _, d in replies(events) if d is not None), text)
        return Layout("stream", sample, _streamed)
    if head.lstrip()[:1] not in (b"{", b"["):
        return Layout("text", read_at(fd, 4 * HEAD, 0).decode("utf-8", "replace"), _text)
    document = parse_line(_first_line(fd))
    if document is not None:
        if stream_of(document) is None and _messages_of_line(document) is not None:
            lines = islice(_parsed_lines(fd, name), 200)
            sample = [m for _, line in lines for m in _messages_of_line(line) or ()]
            return Layout("messages", sample, _one_message_a_line)
        if stream_of(document) is None:
            return Layout("lines", _first(document), _lines)
        sample = next(replies(_parsed_lines(fd, name)))[1]
        return Layout("lines", sample, _chunks)
    data = _content(fd)
    values = _objects(data, name)
    first = next(values)
    if next(values, None) is None:
        return Layout("document", _first(first), _document)
    return Layout("objects", first, _several)


def parse_line(text: bytes) -> Any:
    """The JSON value of a line; None if it is none."""
    try:
        return json.loads(text.removeprefix(BYTE_ORDER_MARK))
    except (ValueError, RecursionError):
        return None


def split_document(document: Any, stem: str, ledger: Ledger | None = None) -> Documents:
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
    elif isinstance(document, list) and document and stream_of(document[0]):
        documents = ((f"{stem}:{number}", item) for number, item in enumerate(document, 1))
        yield from replies(documents, ledger)
    else:
        yield stem, _without_http(document)


def _without_http(document: Any) -> Any:
    """Logs of gateways and batches have the request and the response as bodies of HTTP messages."""
    bodies = {}
    for name in ("request", "response") if isinstance(document, dict) else ():
        message = document.get(name)
        if isinstance(message, dict) and isinstance(message.get("body"), dict):
            bodies[name] = message["body"]
    for name in (
        ("input", "output") if isinstance(document, dict) else ()
    ):  # Bedrock's invocation log
        message = document.get(name)
        if isinstance(message, dict) and isinstance(message.get(f"{name}BodyJson"), dict):
            bodies |= message[f"{name}BodyJson"]
    return {**document, **bodies} if bodies else document


_LISTS = ("messages", "output", "result", "samples", "conversations", "contents")


def _is_document(item: Any) -> bool:
    return isinstance(item, list) or (
        isinstance(item, dict) and any(isinstance(item.get(name), list) for name in _LISTS)
    )


def _first(document: Any) -> Any:
    return next(split_document(document, ""))[1] if document else document


def _first_line(fd: int) -> bytes:
    with os.fdopen(os.dup(fd), "rb") as file:
        file.seek(0)
        return next((line for line in file if line.strip()), b"")


def _content(fd: int) -> bytes:
    with os.fdopen(os.dup(fd), "rb") as file:
        file.seek(0)
        return file.read().removeprefix(BYTE_ORDER_MARK)


def _document(fd: int, stem: str, context: Context) -> Documents:
    yield from split_document(parse_json(_content(fd), context.name), stem, context.ledger)


def _text(fd: int, stem: str, context: Context) -> Documents:
    yield stem, _content(fd).decode("utf-8", "replace")


def _streamed(fd: int, stem: str, context: Context) -> Documents:
    events = server_events(_content(fd).decode("utf-8", "replace"))
    documents = ((f"{stem}:{number}", event) for number, event in enumerate(events, 1))
    yield from replies(documents, context.ledger)


def _several(fd: int, stem: str, context: Context) -> Documents:
    """Objects one after another, as OpenTelemetry's console exporter prints them."""
    values = _objects(_content(fd), context.name)
    documents = ((f"{stem}:{number}", value) for number, value in enumerate(values, 1))
    yield from replies(documents, context.ledger)


def _objects(data: bytes, name: str) -> Iterator[Any]:
    """JSON values one after another, with nothing but white space or commas between them."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("the file is not UTF-8 text", where=name) from None
    decoder, position = json.JSONDecoder(), 0
    gap = re.compile(r"[\s,]*")
    while (position := gap.match(text, position).end()) < len(text):  # type: ignore[union-attr]
        try:
            value, position = decoder.raw_decode(text, position)
        except (RecursionError, ValueError) as error:
            raise invalid_json(error, name) from None
        yield value


def _parsed_lines(fd: int, stem: str) -> Documents:
    with os.fdopen(os.dup(fd), "rb") as file:
        file.seek(0)
        for number, line in enumerate(file, 1):
            if line.strip():
                yield f"{stem}:{number}", parse_line(line)


def _lines(fd: int, stem: str, context: Context) -> Documents:
    """A document a line; a bad line is an error, or counted with `skip_bad`."""
    for where, document in _parsed_lines(fd, stem):
        if document is None:
            _skip_line(context, where)
        else:
            yield from split_document(document, where, context.ledger)


_ITEMS = (
    "message", "reasoning", "function_call", "function_call_output", "web_search_call", "file_search_call",
)  # fmt: skip
_WHOLE = (
    "messages",
    "choices",
    "model",
    "stop_reason",
    "sessionId",
    "object",
    "candidates",
    "contents",
)


def _messages_of_line(line: Any) -> list[Any] | None:
    """The messages of a line that is a message, or an update of a LangGraph state; None otherwise."""
    if not isinstance(line, dict) or any(name in line for name in _WHOLE):
        return None
    fields = line["data"] if isinstance(line.get("data"), dict) else line
    kind = line.get("type")
    if line.get("role") is not None and {"content", "parts", "tool_calls"} & set(line):
        return [line]
    if kind in ("human", "ai", "tool", "system") and "content" in fields:
        return [line]
    if kind in _ITEMS and {"content", "call_id", "action", "queries", "summary"} & set(line):
        return [line]
    if line.get("kind") in ("request", "response") and isinstance(line.get("parts"), list):
        return [line]
    updates = list(line.values())
    if updates and all(
        isinstance(u, dict) and isinstance(u.get("messages"), list) for u in updates
    ):
        return [message for update in updates for message in update["messages"]]
    return None


def _one_message_a_line(fd: int, stem: str, context: Context) -> Documents:
    """The messages of each conversation, which lines may name; else all lines are one."""
    conversations: dict[str, list[Any]] = {}
    for where, line in _parsed_lines(fd, stem):
        messages = _messages_of_line(line)
        if messages is None:
            _skip_line(context, where, "the line is not a message")
            continue
        conversations.setdefault(key_of(line) or stem, []).extend(messages)
    yield from conversations.items()


def _chunks(fd: int, stem: str, context: Context) -> Documents:
    """A chunk of a stream a line."""
    yield from replies(_lines(fd, stem, context), context.ledger)


def _skip_line(
    context: Context,
    where: str,
    message: str = "the line is not valid JSON",
    name: str | None = None,
) -> None:
    context.skip(
        InputError(
            message,
            where=f"{name or context.name}:{where.rpartition(':')[2]}",
            hint="expected one JSON object per line; is the file complete?",
        )
    )


_KEY = re.compile(rb'\{"recorded": \d+, "key": "(\w+)"(?:, "session": "(\w+)")?')


def _recorded(fd: int, stem: str, context: Context) -> Documents:
    yield from recorded_documents([(stem, context.name, lambda: os.dup(fd))], context)


def recorded_documents(
    files: Sequence[tuple[str, str, Callable[[], int]]], context: Context
) -> Documents:
    """The events of each conversation, once its last one was read: two passes, so that memory stays small.

    Files are (stem, name, how to open it): a recording may have been continued in further files. Keys of
    one session are one conversation. What is appended meanwhile is left for the next time.
    """
    sessions: dict[bytes, bytes] = {}
    last: dict[bytes, tuple[int, int]] = {}
    ends = []
    for order, (_, _, open_file) in enumerate(files):
        end = 0
        for number, line in _raw_lines(open_file()):
            end = number
            if (match := _KEY.match(line)) and line.rstrip().endswith(b"}"):
                last[match[1]] = (order, number)
                if match[2]:
                    sessions[match[1]] = match[2]
        ends.append(end)
    for key, session in sessions.items():
        last[session] = max(last[key], last.get(session, (0, 0)))
    yield from _joined(files, ends, sessions, last, context)


def _joined(
    files: Sequence[tuple[str, str, Callable[[], int]]],
    ends: list[int],
    sessions: dict[bytes, bytes],
    last: dict[bytes, tuple[int, int]],
    context: Context,
) -> Documents:
    """The second pass: events by session or key, each list as soon as its last event is there."""
    events: dict[bytes, list[Any]] = {}
    for order, (stem, name, open_file) in enumerate(files):
        incomplete = 0
        for number, line in islice(_raw_lines(open_file()), ends[order]):
            if not line.strip():
                continue
            event = parse_line(line)
            if event is None:
                if is_recording(line) and not line.rstrip().endswith(b"}"):
                    incomplete += 1  # the process was killed in the middle of it
                else:
                    _skip_line(context, f"{stem}:{number}", name=name)
                continue
            text = str(event.get("key") if isinstance(event, dict) else None)
            key = text.encode("utf-8", "surrogatepass")
            key = sessions.get(key, key)
            events.setdefault(key, []).append(event)
            if last.get(key, (order, number)) <= (order, number):
                yield f"{stem}:{number}", events.pop(key)
        if incomplete:
            context.note(
                f"{name}: {incomplete} incomplete line{'s' * (incomplete > 1)}: a process was killed "
                "while writing; everything before it was read"
            )


def _raw_lines(fd: int) -> Iterator[tuple[int, bytes]]:
    """The lines of a file by number; closes the descriptor."""
    with os.fdopen(fd, "rb") as file:
        file.seek(0)
        yield from enumerate(file, 1)


def _archived(fd: int, stem: str, context: Context) -> Documents:
    yield from _archive(fd, context.name)


def _archive(fd: int, name: str) -> Documents:
    """The samples of an inspect_ai log in its archive form, each as a log of its own."""
    import zipfile

    with os.fdopen(os.dup(fd), "rb") as file:
        try:
            archive = zipfile.ZipFile(file)
        except zipfile.BadZipFile as error:
            raise InputError(f"damaged archive: {error}", where=name) from None
        members = sorted(m for m in archive.namelist() if m.endswith(".json"))
        samples = [m for m in members if m.startswith("samples/")]
        head = next((m for m in ("header.json", "_journal/start.json") if m in members), None)
        if not samples:
            raise InputError(
                "the archive holds no traces",
                where=name,
                hint="expected an inspect_ai log with samples/*.json; seen: "
                + (", ".join(archive.namelist()[:5]) or "nothing"),
            )
        count = byte_counter(name)  # of all members: the archive itself may be small
        facts = parse_json(_member(archive, head, name, count), name) if head else {}
        for member in samples:
            sample = parse_json(_member(archive, member, name, count), f"{name}/{member}")
            yield member, {"eval": facts.get("eval") or {}, "samples": [sample]}


_ZSTANDARD = 93  # which inspect_ai uses, and Python's zipfile reads from 3.14 on


def _member(archive: Any, member: str, name: str, count: Callable[[int], None] | None) -> bytes:
    """The content of a file in an archive; `count` is told what it has decompressed."""
    info = archive.getinfo(member)
    pieces = []
    try:
        for piece in _pieces_of(archive, info):
            if count is not None:
                count(len(piece))
            pieces.append(piece)
    except LimitError:
        raise
    except (NotImplementedError, RuntimeError, OSError, EOFError, ValueError) as error:
        raise InputError(
            f"cannot decompress '{member}': {error}",
            where=name,
            hint="`inspect log convert --to json` makes a plain file of it",
        ) from None
    return b"".join(pieces)


def _pieces_of(archive: Any, info: Any) -> Iterator[bytes]:
    if info.compress_type != _ZSTANDARD:
        with archive.open(info) as stream:
            while piece := stream.read(1 << 20):
                yield piece
        return
    file = archive.fp
    file.seek(info.header_offset + 26)
    lengths = struct.unpack("<HH", file.read(4))  # of the name and of extra fields
    file.seek(sum(lengths), os.SEEK_CUR)
    yield from zstandard_pieces(file.read(info.compress_size))


LINES = Layout("lines", None, _lines)
DOCUMENT = Layout("document", None, _document)
