"""Threads: conversations whose steps are recorded apart, one request or response a line.

Lines belong together by an id (of a conversation, session, thread or trace), by naming the response before
them, or by repeating the messages before them. What a line repeats is counted once.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goodgain.traces.usage import Usage
from goodgain.traces.values import dicts, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from goodgain.traces.context import Context
    from goodgain.traces.format import Documents

OPEN_THREADS = 256  # conversations kept open at a time: lines of one must not lie further apart
_KEYS = (
    "conversation", "conversation_id", "conversationId", "session_id", "sessionId", "thread_id",
    "threadId", "trace_id", "traceId",
)  # fmt: skip


@dataclass(slots=True, kw_only=True)
class Item:
    """A message or item of a thread, where it stands, and the usage of the generation it is of."""

    value: Any
    where: str
    usage: Usage = field(default_factory=Usage)
    model: Any = None
    is_reply: bool = False  # the first of a response


@dataclass(slots=True, kw_only=True)
class Piece:
    """What one document adds: its items, and what links it to others."""

    where: str
    items: list[Item]
    key: str | None = None  # the same for all of a thread
    id: str | None = None  # that a later piece may name as `previous`
    previous: str | None = None
    name: str | None = None  # of the conversation, where the key is not one
    system: Any = None
    goes_on: bool = False  # the next piece continues this one (Anthropic's pause_turn)


@dataclass(slots=True, kw_only=True)
class Thread:
    """A conversation put together from its pieces."""

    where: str
    name: str
    system: Any
    items: list[Item] = field(default_factory=list)
    marks: list[bytes] = field(default_factory=list)  # of the items
    repeated: int = 0  # items that a later piece repeated
    is_keyed: bool = False
    goes_on: bool = False

    @property
    def mark(self) -> bytes:
        """A digest of all items."""
        return _chain(self.marks)[-1] if self.marks else b""


def threads(
    documents: Documents, piece_of: Callable[[str, Any], Piece | None], context: Context
) -> Iterator[Thread]:
    """The threads of the documents, in the order in which they began as far as memory allows."""
    collector = _Collector(context)
    for where, document in documents:
        piece = piece_of(where, document)
        if piece is not None:
            yield from collector.add(piece)
    for _, thread in sorted(collector.open.items()):
        yield thread


class _Collector:
    """Threads that later documents may continue."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.open: OrderedDict[int, Thread] = OrderedDict()
        self.by_link: dict[str, int] = {}  # keys and ids of responses
        self.by_mark: dict[bytes, int] = {}
        self.closed: set[str] = set()
        self.count = 0

    def add(self, piece: Piece) -> Iterator[Thread]:
        marks = [_mark(item.value) for item in piece.items]
        number = self._thread_of(piece, marks)
        if number is None:
            self.count += 1
            number = self.count
            self.open[number] = Thread(
                where=piece.where,
                name=piece.key or piece.name or piece.id or piece.where,
                system=piece.system,
                is_keyed=piece.key is not None,
            )
        thread = self.open[number]
        self.open.move_to_end(number)
        self.by_mark.pop(thread.mark, None)
        _extend(thread, piece, marks)
        if thread.marks and not thread.is_keyed:
            self.by_mark[thread.mark] = number
        for link in (_link("key", piece.key), _link("id", piece.id)):
            if link:
                self.by_link[link] = number
        if len(self.open) > OPEN_THREADS:
            yield self._close()

    def _thread_of(self, piece: Piece, marks: list[bytes]) -> int | None:
        if piece.key is not None:
            link = _link("key", piece.key)
            if link in self.closed:
                self.context.note(
                    f"{self.context.name}: conversation '{piece.key}' goes on after more than "
                    f"{OPEN_THREADS} others and is read as two; sort the file by conversation"
                )
            return self.by_link.get(link or "")
        if piece.previous is not None:
            return self.by_link.get(_link("id", piece.previous) or "")
        last = next(reversed(self.open), None)
        if last is not None and self.open[last].goes_on:
            return last
        numbers = (self.by_mark.get(mark) for mark in reversed(_chain(marks)[:-1]))
        number = next((n for n in numbers if n is not None), None)
        return number if number is not None and self._is_continued(number, piece, last) else None

    def _is_continued(self, number: int, piece: Piece, last: int | None) -> bool:
        """Whether a line that repeats a thread and adds to it belongs to it.

        The same question asked again, of another system or without any reply between, does not.
        """
        thread = self.open[number]
        if thread.system and piece.system and thread.system != piece.system:
            return False
        return number == last or any(_is_reply(item.value) for item in thread.items)

    def _close(self) -> Thread:
        """The thread that was continued longest ago."""
        number, thread = self.open.popitem(last=False)
        for link in [link for link, n in self.by_link.items() if n == number]:
            del self.by_link[link]
            if thread.is_keyed:
                self.closed.add(link)
        self.by_mark = {mark: n for mark, n in self.by_mark.items() if n != number}
        return thread


def _is_reply(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return str(value.get("role") or value.get("type")) not in (
        "user",
        "human",
        "system",
        "developer",
    )


def _link(kind: str, value: str | None) -> str | None:
    return None if value is None else f"{kind} {value}"


def _extend(thread: Thread, piece: Piece, marks: list[bytes]) -> None:
    """Add the items of a piece that the thread does not have."""
    known = _repeated(thread.marks, marks)
    thread.repeated += known
    thread.items.extend(piece.items[known:])
    thread.marks.extend(marks[known:])
    thread.system = thread.system or piece.system
    thread.goes_on = piece.goes_on


def _repeated(before: list[bytes], marks: list[bytes]) -> int:
    """How many of the first items of a piece repeat the thread: its history, perhaps shortened."""
    if not before or not marks:
        return 0
    same = 0
    for one, other in zip(before, marks, strict=False):
        if one != other:
            break
        same += 1
    if same in (len(before), len(marks)):
        return same
    # A changed system prompt, or a history that was cut: go along as far as its items are known.
    position, last = 0, 0
    places: dict[bytes, list[int]] = {}
    for n, mark in enumerate(before):
        places.setdefault(mark, []).append(n)
    for n, mark in enumerate(marks, 1):
        place = next((p for p in places.get(mark, ()) if p >= position), None)
        if place is not None:
            position, last = place + 1, n
        elif last or n > 2:
            break
    return last if position == len(before) or last == len(marks) else 0


def _chain(marks: Iterable[bytes]) -> list[bytes]:
    """Digests of the first item, the first two, and so on."""
    digest = hashlib.blake2b(digest_size=16)
    chain = []
    for mark in marks:
        digest.update(mark)
        chain.append(digest.digest())
    return chain


def _mark(value: Any) -> bytes:
    """What makes a message or item the same in a response and in the next request: its content."""
    if not isinstance(value, dict):
        return _digest([value])
    inner: dict[str, Any] = value["data"] if isinstance(value.get("data"), dict) else value
    content = inner.get("content")
    text = text_of(content) or text_of(inner.get("text"))
    blocks: list[Any] = [
        [b.get("type"), b.get("id") or b.get("tool_use_id")]
        for b in dicts(content)
        if b.get("id") or b.get("tool_use_id")
    ]
    calls = [c.get("id") for c in dicts(inner.get("tool_calls"))]
    kind = inner.get("role") or inner.get("type")
    answered = inner.get("tool_call_id") or inner.get("call_id")
    if not (text or blocks or calls or answered):
        blocks = [{k: v for k, v in inner.items() if k not in ("status", "usage")}]
    return _digest([kind, text, blocks, calls, answered, inner.get("output")])


def _digest(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True, default=str).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).digest()


def key_of(document: Any) -> str | None:
    """The id that all lines of a conversation share, in a document or in its metadata."""
    if not isinstance(document, dict):
        return None
    for holder in (document, document.get("metadata"), document.get("request")):
        if not isinstance(holder, dict):
            continue
        for name in _KEYS:
            value = holder.get(name)
            if isinstance(value, dict):
                value = value.get("id")
            if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
                return str(value)
    return None
