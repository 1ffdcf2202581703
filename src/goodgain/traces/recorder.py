"""A recorder for agents: every search is on disk before the call that records it returns."""

from __future__ import annotations

import json
import threading
import uuid
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError, core_errors
from goodgain.traces.objects import plain, plain_number, plain_result, plain_results
from goodgain.traces.writer import TraceWriter

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping
    from types import TracebackType

VERSION = 1
START = b'{"recorded": '  # of every line; the key follows, so that readers need not parse to group lines

# Where each recorder stands in this thread or task: its conversation, and the open iteration.
_positions: ContextVar[Mapping[str, tuple[Conversation, int | None]]] = ContextVar("positions")


class Recorder:
    """Writes what an agent does, event by event. Without calls of `conversation`, all searches belong to one.

    A conversation::

        with gg.record("traces.jsonl", system="agent") as rec:
            rec.conversation("c1", user="Who wrote it?")
            rec.search("author", results)      # each search is an iteration of its own,
            with rec.iteration():              # unless several run side by side
                rec.search("first", results)
                rec.search("second", results)
            rec.end("Ann wrote it.")

    The current conversation is that of the thread or asyncio task; `conversation` also returns it, for
    threads that do not inherit it.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        system: str | None = None,
        append: bool = False,
        strict: bool = True,
    ) -> None:
        self.system = system
        self.writer = TraceWriter(path, append=append, strict=strict, is_own=is_recording)
        self._key = uuid.uuid4().hex
        self._lock = threading.Lock()
        self._implicit: Conversation | None = None
        self._has_conversations = False

    def __enter__(self) -> Recorder:
        self.writer.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.writer.close()

    def conversation(
        self,
        name: Any = None,
        *,
        user: str | None = None,
        system: str | None = None,
        repeat: int | None = None,
        resume: bool = False,
    ) -> Conversation:
        """Start a conversation in this thread or task, and its first turn.

        Without a name it gets a unique one. A name that was recorded before is another run over the same
        conversation, or its continuation with `resume`, also in another process.
        """
        self._has_conversations = True
        conversation = Conversation(
            self, name, system=system or self.system, repeat=repeat, resume=resume
        )
        self._set_position(conversation, None)
        conversation.turn(user)
        return conversation

    def turn(self, user: str | None = None) -> None:
        """Start a turn with a message of the user."""
        conversation, is_new = self._conversation(user)
        if not is_new:
            conversation.turn(user)

    @contextmanager
    def iteration(
        self,
        *,
        tokens: float | None = None,
        cost: float | None = None,
        seconds: float | None = None,
    ) -> Iterator[Iteration]:
        """Searches inside the `with` block belong to one iteration; what its generation used is optional."""
        conversation, _ = self._conversation()
        iteration = conversation.iteration(tokens=tokens, cost=cost, seconds=seconds)
        self._set_position(conversation, iteration.number)
        try:
            yield iteration
        finally:
            self._set_position(conversation, None)

    def search(self, query: str | None, results: Any = (), **facts: Any) -> None:
        """Record one search and what it returned; see `Iteration.search`."""
        self._step().search(query, results, **facts)

    def open(self, document: Any, *, tool: str | None = None) -> None:
        """Record that the agent read a document."""
        self._step(is_search=False).open(document, tool=tool)

    def answer(self, text: str | None = None, **facts: Any) -> None:
        """Record the answer of the turn; see `Conversation.answer`."""
        self._conversation()[0].answer(text, **facts)

    def end(self, answer: str | None = None, **facts: Any) -> None:
        """End the conversation of this thread or task, with its answer."""
        position = _positions.get({}).get(self._key)
        conversation = position[0] if position else self._implicit
        if conversation is None:
            return
        if answer is not None or facts:
            conversation.answer(answer, **facts)
        conversation.is_over = True
        self._implicit = None
        self._set_position(None, None)

    def _set_position(self, conversation: Conversation | None, iteration: int | None) -> None:
        others = {k: v for k, v in _positions.get({}).items() if k != self._key}
        if conversation is not None:
            others[self._key] = (conversation, iteration)
        _positions.set(others)

    def _conversation(self, user: str | None = None) -> tuple[Conversation, bool]:
        """The conversation of this thread or task, and whether it starts just now."""
        if not self.writer.is_open and self.writer.strict:
            raise UsageError(
                "the recorder is not open", hint='with gg.record("traces.jsonl") as rec: ...'
            )
        position = _positions.get({}).get(self._key)
        if position:
            return position[0], False
        if self._has_conversations:
            self.writer.report(
                UsageError(
                    f"no conversation in thread '{threading.current_thread().name}'",
                    hint="start one here, or use what rec.conversation() returned in the other thread",
                )
            )
            return self.conversation(user=user), True  # not strict: apart from all others
        with self._lock:
            is_new = self._implicit is None
            if self._implicit is None:
                self._implicit = Conversation(self, None, system=self.system)
                self._implicit.turn(user)
            return self._implicit, is_new

    def _step(self, *, is_search: bool = True) -> Iteration:
        conversation, _ = self._conversation()
        position = _positions.get({}).get(self._key)
        if position and position[1] is not None:
            return Iteration(conversation, position[1])
        return conversation.iteration() if is_search else conversation.last_iteration()


class Conversation:
    """One conversation; its methods may be called from any thread."""

    def __init__(
        self,
        recorder: Recorder,
        name: Any = None,
        *,
        system: str | None = None,
        repeat: int | None = None,
        resume: bool = False,
    ) -> None:
        segment = uuid.uuid4().hex
        self.name = str(plain(name)) if name is not None else segment
        self.is_over = False
        self._writer = recorder.writer
        self._lock = threading.Lock()
        self._turn = self._iteration = 0
        self._head: dict[str, Any] = {
            "recorded": VERSION,
            "key": _shared_key(self.name, system, repeat) if resume else segment,
            "conversation": self.name,
        }
        optional = {
            "system": system,
            "repeat": repeat,
            "segment": segment if resume else None,
        }
        self._head |= {k: v for k, v in optional.items() if v is not None}

    def __repr__(self) -> str:
        return f"Conversation('{self.name}')"

    def turn(self, user: str | None = None) -> None:
        """Start a turn with a message of the user."""
        with self._lock:
            self._turn += 1
        self.write({}, "user", user)

    def iteration(
        self,
        *,
        tokens: float | None = None,
        cost: float | None = None,
        seconds: float | None = None,
    ) -> Iteration:
        """A new iteration: searches added to it ran side by side."""
        with self._lock:
            self._iteration += 1
            iteration = Iteration(self, self._iteration)
        usage = _usage(tokens, cost, seconds, self._writer)
        if usage:
            self.write({"iteration": iteration.number}, "step", usage)
        return iteration

    def last_iteration(self) -> Iteration:
        """The current iteration; the first one if there was none."""
        return Iteration(self, self._iteration) if self._iteration else self.iteration()

    def search(self, query: str | None, results: Any = (), **facts: Any) -> None:
        """Record a search in an iteration of its own; see `Iteration.search`."""
        self.iteration().search(query, results, **facts)

    def open(self, document: Any, *, tool: str | None = None) -> None:
        """Record that the agent read a document after its last search."""
        self.last_iteration().open(document, tool=tool)

    def answer(
        self,
        text: str | None = None,
        *,
        citations: Iterable[Any] = (),
        confidence: float | None = None,
        tokens: float | None = None,
        cost: float | None = None,
        seconds: float | None = None,
    ) -> None:
        """Record the answer of the turn, what it cites, and what the turn used where no iteration says it."""
        with self._writer.problems():
            answer = {
                "answer": text,
                "citations": [plain_result(c) for c in citations] or None,
                "confidence": plain_number("confidence", confidence),
                **_usage(tokens, cost, seconds, self._writer),
            }
            self.write({}, "answer", {k: v for k, v in answer.items() if v is not None})

    def write(self, place: dict[str, int], kind: str, content: Any) -> None:
        """Validate an event and append its line."""
        with self._writer.problems():
            if self.is_over:
                raise UsageError(f"the conversation '{self.name}' has ended")
            _check(kind, content)
            self._writer.write({**self._head, "turn": self._turn, **place, kind: content})


class Iteration:
    """One step of the agent; its methods may be called from any thread."""

    def __init__(self, conversation: Conversation, number: int) -> None:
        self.number = number
        self._conversation = conversation

    def search(
        self,
        query: str | None,
        results: Any = (),
        *,
        tool: str | None = None,
        latency: float | None = None,
        cost: float | None = None,
        tokens: float | None = None,
        error: Any = None,
        tries: int | None = None,
        unread: str | None = None,
    ) -> None:
        """Record one search and its results: documents, dictionaries, strings, pairs with scores.

        `error` says that it failed; `unread` says why its results are not known.
        """
        writer = self._conversation._writer
        with writer.problems():
            facts: dict[str, Any] = {
                "query": query,
                "tool": tool,
                "latency": plain_number("latency", latency),
                "cost": plain_number("cost", cost),
                "tokens": plain_number("tokens", tokens),
                "tries": plain_number("tries", tries),
                "error": None if error is None else str(error) or type(error).__name__,
                "unread": unread,
            }
            try:
                finding = plain_results(results)
                facts["results"] = finding.results
                if finding.account == "failed" and error is None:
                    facts["error"] = finding.reason
            except UsageError as problem:
                if writer.strict:
                    raise
                facts |= {"unread": problem.message, "results": []}
            search = {k: v for k, v in facts.items() if v is not None}
            self._conversation.write({"iteration": self.number}, "search", search)

    def open(self, document: Any, *, tool: str | None = None) -> None:
        """Record that the agent read a document."""
        with self._conversation._writer.problems():
            content = {**plain_result(document), **({"tool": tool} if tool else {})}
            self._conversation.write({"iteration": self.number}, "open", content)


def _usage(tokens: Any, cost: Any, seconds: Any, writer: TraceWriter) -> dict[str, float]:
    usage: dict[str, float] = {}
    with writer.problems():
        for name, value in (("tokens", tokens), ("cost", cost), ("seconds", seconds)):
            number = plain_number(name, value)
            if number is not None:
                usage[name] = number
    return usage


def _shared_key(name: str, system: str | None, repeat: int | None) -> str:
    """The same in every process that continues this conversation."""
    import hashlib

    text = json.dumps([name, system, repeat]).encode()
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def _check(kind: str, content: Any) -> None:
    """Let the core validate an event as the conversation that it will be part of."""
    from goodgain._core import check_trace

    iteration: dict[str, Any] = {"searches": []}
    turn: dict[str, Any] = {"iterations": [iteration]}
    if kind == "search":
        iteration["searches"].append(content)
    elif kind == "open":
        iteration["opens"] = [content]
    elif kind == "step":
        iteration |= content
    elif kind == "user":
        turn["user"] = content
    else:
        turn |= content
    line = json.dumps({"conversation": "c", "turns": [turn]}, ensure_ascii=False)
    with core_errors():
        check_trace(line.encode("utf-8", "replace"), 1e300)


def is_recording(head: bytes) -> bool:
    """Whether a file that begins with this was written by a recorder."""
    return head.startswith(START)


def record(
    path: str | os.PathLike[str],
    *,
    system: str | None = None,
    append: bool = False,
    strict: bool = True,
) -> Recorder:
    """A recorder for use in a `with` statement.

    A file with content is refused unless `append`. With `strict=False` nothing that goes wrong while
    recording is raised into the agent: it is logged, and results of unknown types are recorded as unread.

    >>> import goodgain as gg
    >>> with gg.record("traces.jsonl", system="my-agent") as recorder:
    ...     recorder.search("seine", [{"url": "https://a.example/seine", "gain": 4}])
    ...
    >>> gg.good_gain("traces.jsonl")["CG"]
    4.0
    """
    return Recorder(path, system=system, append=append, strict=strict)
