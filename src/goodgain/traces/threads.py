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

from goodgain.traces.builder import Builder
from goodgain.traces.usage import Usage
from goodgain.traces.values import dicts, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
    key: str | None = None  # the name of the conversation, the same for all of a thread
    of: str = ""  # what else must be the same: the system
    id: str | None = None  # that a later piece may name as `previous`
    previous: str | None = None
    name: str | None = None  # of the conversation, where the key is not one
    system: Any = None
    goes_on: bool = False  # the next piece continues this one (Anthropic's pause_turn)
    _marks: list[bytes] | None = None

    def marks(self) -> list[bytes]:
        """What each item is known by."""
        if self._marks is None:
            self._marks = [_mark(item.value) for item in self.items]
        return self._marks


@dataclass(slots=True, kw_only=True)
class Thread:
    """A conversation put together from its pieces."""

    where: str
    name: str
    system: Any
    items: list[Item] = field(default_factory=list)
    repeated: int = 0  # items that a later piece repeated
    is_keyed: bool = False
    goes_on: bool = False
    _marks: list[bytes] = field(default_factory=list)

    def marks(self) -> list[bytes]:
        """What each item is known by; computed when another piece may repeat them."""
        self._marks.extend(_mark(item.value) for item in self.items[len(self._marks) :])
        return self._marks

    def extend(self, piece: Piece) -> None:
        """Add the items of a piece that the thread does not have."""
        if self.items:
            known = _repeated(self.marks(), piece.marks())
            self._marks.extend(piece.marks()[known:])
        else:
            known = 0
        self.repeated += known
        self.items.extend(piece.items[known:])
        self.system = self.system or piece.system
        self.goes_on = piece.goes_on

    def builder(self, context: Context) -> Builder:
        """The builder of the conversation, which accounts for what was repeated."""
        builder = Builder(self.name, self.system, context)
        if self.repeated:
            rule = "repeated from an earlier line"
            builder.add_item("message", self.where, "duplicate", rule, self.repeated)
        return builder

    def is_continued_by(self, piece: Piece) -> bool:
        """Whether a piece repeats all items and adds to them; of another system it does not."""
        if self.system and piece.system and self.system != piece.system:
            return False
        count = len(self.items)
        return len(piece.items) > count and self.marks() == piece.marks()[:count]

    def is_run_again_by(self, piece: Piece) -> bool:
        """Whether a piece asks the same question anew: several runs of an agent over a conversation."""
        if not self.items or _question(self.items) != _question(piece.items):
            return False
        known = _repeated(self.marks(), piece.marks())
        return known == 0 or known == len(piece.items) == len(self.items)

    @property
    def has_reply(self) -> bool:
        """Whether anything but the question is in it."""
        return any(_is_reply(item.value) for item in self.items)


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
        self.by_question: dict[bytes, list[int]] = {}
        self.links: dict[int, list[str]] = {}  # the other way round, for threads that are closed
        self.questions: dict[int, bytes] = {}
        self.closed: set[str] = set()
        self.count = 0

    def add(self, piece: Piece) -> Iterator[Thread]:
        """Add a piece to its thread, or begin one; yields a thread that must make room."""
        question = None if piece.key is not None else _question(piece.items)
        number = self._thread_of(piece, question)
        if number is None:
            self.count += 1
            number = self.count
            self.open[number] = Thread(
                where=piece.where,
                name=piece.key or piece.name or piece.id or piece.where,
                system=piece.system,
                is_keyed=piece.key is not None,
            )
            if question is not None:
                self.questions[number] = question
                self.by_question.setdefault(question, []).append(number)
        self.open[number].extend(piece)
        self.open.move_to_end(number)
        for link in (_link(f"key {piece.of}", piece.key), _link("id", piece.id)):
            if link:
                self.by_link[link] = number
                self.links.setdefault(number, []).append(link)
        if len(self.open) > OPEN_THREADS:
            yield self._close()

    def _thread_of(self, piece: Piece, question: bytes | None) -> int | None:
        if piece.key is not None:
            link = _link(f"key {piece.of}", piece.key)
            if link in self.closed:
                self.context.note(
                    f"{self.context.name}: conversation '{piece.key}' continues after more than "
                    f"{OPEN_THREADS} others and is read as two; sort the file by conversation"
                )
            number = self.by_link.get(link or "")
            is_new = number is not None and self.open[number].is_run_again_by(piece)
            return None if is_new else number
        if piece.previous is not None:
            return self.by_link.get(_link("id", piece.previous) or "")
        last = next(reversed(self.open), None)
        if last is not None and self.open[last].goes_on:
            return last
        for number in reversed(self.by_question.get(question or b"", ())):
            thread = self.open[number]
            # A question asked again without any reply between is another conversation.
            if (number == last or thread.has_reply) and thread.is_continued_by(piece):
                return number
        return None

    def _close(self) -> Thread:
        """The thread that was continued longest ago."""
        number, thread = self.open.popitem(last=False)
        for link in self.links.pop(number, ()):
            if self.by_link.get(link) == number:
                del self.by_link[link]
            if thread.is_keyed:
                self.closed.add(link)
        question = self.questions.pop(number, None)
        if question is not None:
            self.by_question[question].remove(number)
            if not self.by_question[question]:
                del self.by_question[question]
        return thread


def _question(items: list[Item]) -> bytes | None:
    """The first item that is not a system prompt: threads that differ in it are different."""
    for item in items:
        value = item.value
        if not isinstance(value, dict) or value.get("role") not in ("system", "developer"):
            return _mark(value)
    return None


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


# what a program adds to a message when it sends it, or leaves away
_PASSING = {
    "id", "timestamp", "usage", "run_id", "thoughtSignature", "thought_signature", "providerOptions",
    "providerMetadata", "metadata", "instructions", "state", "tool_plan", "toolUseId", "createdAt",
}  # fmt: skip


def _has_camel_blocks(message: dict[str, Any]) -> bool:
    """Whether the calls stand in blocks of Bedrock or of the Vercel AI SDK."""
    names = ("toolUse", "toolResult", "toolCallId")
    return any(name in block for block in dicts(message.get("content")) for name in names)


def _lasting(value: Any) -> Any:
    """A message without what changes between the response and the next request."""
    if isinstance(value, dict):
        fields = {k: _lasting(v) for k, v in value.items() if k not in _PASSING}
        return {k: v for k, v in fields.items() if v not in (None, [], {}, "")}
    return [_lasting(v) for v in value] if isinstance(value, list) else value


def _mark(value: Any) -> bytes:
    """What makes a message or item the same in a response and in the next request: its content."""
    if not isinstance(value, dict):
        return _digest([value])
    if isinstance(value.get("parts"), list) or _has_camel_blocks(value):
        return _digest([_lasting(value)])
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
    output = inner.get("output")
    if isinstance(output, str):
        text, output = text + output, None
    return _digest([kind, blocks, calls, answered, output], text)


def _digest(value: Any, text: str = "") -> bytes:
    head = json.dumps(value, sort_keys=True, default=str).encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(head, digest_size=16)
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.digest()


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
