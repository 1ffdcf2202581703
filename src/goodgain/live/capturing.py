"""The capture: one object that takes spans from anywhere and appends them to a file."""

from __future__ import annotations

import hashlib
import logging
import re
import threading
import time
from typing import TYPE_CHECKING, Any

from goodgain.errors import GoodgainError, UsageError
from goodgain.live.encoding import encode
from goodgain.live.joining import Joining
from goodgain.live.positions import Turn, current_function, current_turn
from goodgain.live.recent import Recent
from goodgain.live.redaction import Redaction
from goodgain.traces.captured import finding_of, span_fields
from goodgain.traces.recorder import VERSION, is_recording
from goodgain.traces.searching import EXCLUDED, SearchRules
from goodgain.traces.writer import Rotation, TraceWriter

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable
    from types import TracebackType

    from goodgain.live.redaction import Redactor
    from goodgain.traces.spans import Span

_log = logging.getLogger("goodgain")
_RETRY = 1.0  # seconds between attempts to open a file that cannot be opened
_WORD = re.compile(r"\w+")
_default: Capture | None = None


class Capture:
    """Appends what an agent does to a file, span by span, and never raises into the application.

    A line is handed to the operating system before the call that it describes returns to the agent.
    Problems are logged once; `errors` counts them, and `dropped` what could not be written because of them.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        system: str | None = None,
        sample: float = 1.0,
        redact: Redactor | None = None,
        rotate: str | int | Rotation | None = None,
        search_tools: Iterable[str] = (),
        not_search_tools: Iterable[str] = (),
    ) -> None:
        if isinstance(sample, bool) or not 0 <= sample <= 1:
            raise UsageError(f"sample must be a number from 0 to 1, got {sample!r}")
        self.system = system
        self.sample = sample
        self.rules = SearchRules.load(None, search_tools, not_search_tools)
        self._redaction = None if redact is None else Redaction(redact, self.rules, self.report)
        self._writer = TraceWriter(
            path, append=True, is_own=is_recording, rotation=parse_rotation(rotate)
        )
        self._lists_tools = bool(self.rules.tools)
        self._retry = 0.0
        self._is_logged = self._is_closed = self._has_turns = False
        self._errors: dict[int, int] = {}  # by thread, so that counting needs no lock
        self._dropped: dict[int, int] = {}
        self._sessions: Recent[str] = Recent()  # by trace
        self._turns: Recent[Turn] = Recent()  # by trace
        self._choices: Recent[bool] = Recent()  # whether a conversation is in the sample
        self._heads: Recent[dict[str, Any]] = Recent()
        self._parents: Recent[bool] = Recent()  # spans that written ones are inside of
        self._others: Recent[bool] = Recent()  # tools that are no searches by their name alone
        self._calls: Recent[bool] = Recent()  # calls that have a span
        self.joining = Joining(self)
        self.surroundings: list[Callable[[], tuple[str, str] | None]] = []
        try:
            self._writer.open()
        except Exception as error:
            self._retry = time.monotonic() + _RETRY
            self.report(error)

    # --- what went wrong ---

    @property
    def path(self) -> str:
        """The file that is written to."""
        return self._writer.path

    @property
    def errors(self) -> int:
        """The number of problems so far; only the first is logged."""
        return sum(self._errors.copy().values())

    @property
    def dropped(self) -> int:
        """The number of spans that could not be written."""
        return sum(self._dropped.copy().values())

    def report(self, error: BaseException) -> None:
        """Count a problem, and log it if it is the first."""
        thread = threading.get_ident()
        self._errors[thread] = self._errors.get(thread, 0) + 1
        if self._is_logged:
            return
        self._is_logged = True
        reason = str(error) if isinstance(error, GoodgainError) else repr(error)
        try:
            _log.warning("capture: %s (further problems are only counted)", reason)
        except Exception:  # a handler of the application's logging
            return

    # --- conversations ---

    def conversation(
        self, name: Any = None, *, user: str | None = None, system: str | None = None
    ) -> Turn:
        """A turn of a conversation, for use in a `with` statement around whatever the agent does.

        All that is captured inside belongs to it, also what tasks do that start there. A name that was
        used before, also by another process, is the next turn of that conversation.
        """
        return Turn(self, None if name is None else str(name), user=user, system=system)

    # --- spans ---

    def add(self, span: Span, more: dict[str, Any] | None = None) -> None:
        """Append a finished span, with fields that a `Span` does not have."""
        if self._is_closed:
            return
        try:
            self._add(span, more)
        except Exception as error:
            thread = threading.get_ident()
            self._dropped[thread] = self._dropped.get(thread, 0) + 1
            self.report(error)

    def add_returned(self, span: Span, value: Any) -> None:
        """Append the span of a function that is a search, and what it returned."""
        if self._redaction is None:
            self.add(span, {"returned": value})
        else:
            try:
                span.finding = finding_of(value)
            except Exception as error:
                self.report(error)
            self.add(span)

    @property
    def redacts(self) -> bool:
        """Whether texts are redacted, so that spans must be read when they are captured."""
        return self._redaction is not None

    def learn_session(self, trace: str, session: str | None) -> None:
        """Remember the conversation of a trace before its first span ends."""
        if session:
            self._sessions[trace] = session

    def knows_session(self, trace: str) -> bool:
        """Whether the conversation of a trace is named."""
        return self._sessions.get(trace) is not None

    def needs_parent(self, span_id: str | None) -> bool:
        """Whether something inside this span was written, so that it links that to what is around it."""
        return span_id is not None and self._parents.get(span_id) is not None

    @property
    def is_inside(self) -> bool:
        """Whether this code runs inside a captured function."""
        return current_function(self) is not None

    def has_call(self, call: str | None) -> bool:
        """Whether a call has a span of its own, so that its output need not be written again."""
        return call is not None and self._calls.get(call) is not None

    def _add(self, span: Span, more: dict[str, Any] | None) -> None:
        function = current_function(self)
        if (
            function is not None and function[1] != span.id
        ):  # a framework inside a captured function
            span.trace = function[0]
            span.parent = span.parent or function[1]
        head = self._head(span)
        if head is None:
            return
        if span.parent:
            self._parents[span.parent] = True
        if span.call:
            self._calls[span.call] = True
        if self._lists_tools and span.is_call:
            self._apply_lists(span)
        if self._redaction is not None:
            self._redaction.apply(span)
        elif span.kind == "tool" and span.said is None and self._strip(span):
            more = None
        fields = span_fields(span)
        if more and span.said is None:
            fields |= more
        self._write(encode({**head, "span": fields}))

    def _head(self, span: Span) -> dict[str, Any] | None:
        """What a line begins with; None if its conversation is not in the sample."""
        turn = current_turn(self)
        if turn is None:
            if self._has_turns:  # a thread may not inherit it
                turn = self._turns.get(span.trace)
        elif not turn.is_implicit:
            self._has_turns = True
            self._turns[span.trace] = turn
        if turn is not None and not turn.is_implicit:
            return self._sampled_head(turn.trace, turn.name, turn.system or self.system)
        session = span.session
        if session:
            self._sessions[span.trace] = session
        else:
            session = self._sessions.get(span.trace)
        return self._sampled_head(span.trace, session, self.system or span.system)

    def _sampled_head(
        self, trace: str, session: str | None, system: str | None
    ) -> dict[str, Any] | None:
        if self.sample < 1 and not self._is_sampled(trace, session):
            return None
        head = self._heads.get(trace)
        if head is None or head.get("conversation") != session or head.get("system") != system:
            head = {"recorded": VERSION, "key": _word(trace)}
            if session is not None:
                head |= {"session": _word(session), "conversation": session}
            if session is not None and session == trace:  # nobody has named it
                head["implicit"] = True
            if system is not None:
                head["system"] = system
            self._heads[trace] = head
        return head

    def _is_sampled(self, trace: str, session: str | None) -> bool:
        """Decided once, by the conversation's name, so that all processes agree."""
        choice = self._choices.get(trace)
        if choice is None:
            number = int(_digest(session or trace)[:15], 16)
            choice = self._choices[trace] = number < self.sample * 16**15
        return choice

    def _apply_lists(self, span: Span) -> None:
        """Apply the user's lists of tools."""
        listed = self.rules.listed(span.name or "")
        if listed is not None and listed.account == "search":
            span.kind = "retriever"
        elif listed is not None:
            span.kind, span.said = "tool", EXCLUDED
            span.query = span.output = None
        elif "search" in self.rules.tools.values():
            span.kind, span.said = "tool", "not a search"
            span.query = span.output = None

    def _strip(self, span: Span) -> bool:
        """Leave out the content of a call that no argument and no output could make a search."""
        is_other = self._others.get(span.name or "")
        if is_other is None:
            verdict = self.rules.decided_by_name(span.name)
            is_other = verdict is not None and verdict.account == "not a search"
            self._others[span.name or ""] = is_other
        if is_other:
            span.query = span.output = None
        return is_other

    def _write(self, line: bytes) -> None:
        writer = self._writer
        if not writer.is_open:
            now = time.monotonic()
            if now < self._retry:
                raise UsageError(f"'{writer.path}' could not be opened")
            self._retry = now + _RETRY
            writer.open()
        writer.write_line(line)

    def close(self) -> None:
        """Capture nothing more. Every line is on disk already."""
        global _default
        self._is_closed = True
        self._writer.close()
        if _default is self:
            _default = None

    def __enter__(self) -> Capture:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Capture('{self.path}', errors={self.errors}, dropped={self.dropped})"

    # --- plain functions ---

    def search_tool(self, function: Any = None, **options: Any) -> Any:
        """As `goodgain.search_tool`, for this capture."""
        from goodgain.live.functions import search_tool

        return search_tool(function, capture=self, **options)

    def open_tool(self, function: Any = None, **options: Any) -> Any:
        """As `goodgain.live.open_tool`, for this capture."""
        from goodgain.live.functions import open_tool

        return open_tool(function, capture=self, **options)

    # --- frameworks ---

    def opentelemetry(self, provider: Any = None) -> Any:
        """Capture the spans of a tracer provider; the global one by default. Returns the span processor."""
        from goodgain.live.otel import install

        return install(self, provider)

    def langchain(self) -> Any:
        """Capture every run of LangChain and LangGraph. Returns the callback handler."""
        from goodgain.live.langchain import install

        return install(self)

    def llama_index(self) -> Any:
        """Capture every run of LlamaIndex. Returns the span handler."""
        from goodgain.live.llama_index import install

        return install(self)

    def openai_agents(self) -> Any:
        """Capture every run of the OpenAI Agents SDK. Returns the tracing processor."""
        from goodgain.live.openai_agents import install

        return install(self)

    def pydantic_ai(self) -> Any:
        """Capture every run of Pydantic AI, through OpenTelemetry. Returns the span processor."""
        from goodgain.live.pydantic_ai import install

        return install(self)

    def haystack(self) -> Any:
        """Capture every run of Haystack; a tracer that is enabled already goes on. Returns the tracer."""
        from goodgain.live.haystack import install

        return install(self)


def capture(
    path: str | os.PathLike[str],
    *,
    system: str | None = None,
    sample: float = 1.0,
    redact: Redactor | None = None,
    rotate: str | int | Rotation | None = None,
    search_tools: Iterable[str] = (),
    not_search_tools: Iterable[str] = (),
) -> Capture:
    """Start capturing into a file, which is appended to; the functions of `search_tool` write there, too.

    `sample` is the share of conversations that are captured, `redact` says what becomes of texts ("drop",
    "hash", or a function of a text and its field), `rotate` when a new file is begun ("100 MB", "1 day").
    """
    global _default
    _default = Capture(
        path,
        system=system,
        sample=sample,
        redact=redact,
        rotate=rotate,
        search_tools=search_tools,
        not_search_tools=not_search_tools,
    )
    return _default


def default_capture() -> Capture | None:
    """The capture that was started last and is not closed."""
    return _default


_UNITS = {
    "b": 1, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
}  # fmt: skip
_PERIODS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_AMOUNT = re.compile(r"\s*(?P<number>\d+(?:\.\d+)?)?\s*(?P<unit>[a-zA-Z]+)\s*")


def parse_rotation(rotate: str | int | Rotation | None) -> Rotation | None:
    """When a file is full: bytes, "100 MB", "1 day", or several of these with commas."""
    if rotate is None or isinstance(rotate, Rotation):
        return rotate
    if isinstance(rotate, int) and not isinstance(rotate, bool) and rotate > 0:
        return Rotation(size=rotate)
    size: int | None = None
    age: float | None = None
    for text in str(rotate).split(","):
        match = _AMOUNT.fullmatch(text)
        unit = match["unit"].lower() if match else ""
        number = float(match["number"] or 1) if match else 0.0
        if number and unit in _UNITS:
            size = int(number * _UNITS[unit])
        elif number and unit.removesuffix("s") in _PERIODS:
            age = number * _PERIODS[unit.removesuffix("s")]
        else:
            raise UsageError(
                f"invalid rotation {rotate!r}",
                hint='a size or a time: "100 MB", "1 day", "50 MB, 1 day"',
            )
    return Rotation(size=size, age=age)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()


def _word(text: str) -> str:
    """The text if it can be a key of a recording, else its digest."""
    return text if text.isascii() and _WORD.fullmatch(text) else _digest(text)
