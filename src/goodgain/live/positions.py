"""Which conversation the running code belongs to, by thread and asyncio task."""

from __future__ import annotations

import itertools
import os
import time
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any

from goodgain.traces.messages import Message
from goodgain.traces.objects import plain_result
from goodgain.traces.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from goodgain.live.capturing import Capture

_turn: ContextVar[Turn | None] = ContextVar("turn", default=None)
# The function that is running: its capture, trace and span.
_running: ContextVar[tuple[Capture, str, str] | None] = ContextVar("running", default=None)
_numbers = itertools.count()
_origin = os.urandom(10).hex()  # of the ids of this process


def new_id() -> str:
    """A name that no other span of any process has; cheaper than a UUID."""
    return f"{_origin}{next(_numbers):x}"


def _renew_origin() -> None:
    global _origin
    _origin = os.urandom(10).hex()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_origin)


def current_turn(capture: Capture) -> Turn | None:
    """The turn in which this thread or task runs, if it belongs to this capture."""
    turn = _turn.get()
    return turn if turn is not None and turn.capture is capture else None


def implicit_turn(capture: Capture) -> Turn:
    """The current turn, or one for this thread or task if nobody has named a conversation."""
    turn = current_turn(capture)
    if turn is None:
        turn = Turn(capture, None, is_implicit=True)
        _turn.set(turn)
    return turn


def current_function(capture: Capture) -> tuple[str, str] | None:
    """(trace, span) of the captured function inside which this code runs."""
    running = _running.get()
    return running[1:] if running is not None and running[0] is capture else None


def enter_function(capture: Capture, trace: str, span: str) -> Token[Any]:
    """What is captured from now on in this thread or task is inside a function."""
    return _running.set((capture, trace, span))


def leave_function(token: Token[Any]) -> None:
    """The function has returned."""
    try:
        _running.reset(token)
    except ValueError:  # it goes on in another context than it began in
        _running.set(None)


class Turn:
    """A turn of a conversation: what is captured in its `with` block belongs to it.

    with capture.conversation("c1", user="Where does the Seine rise?") as turn:
        ...                                  # the agent runs
        turn.answer("At Source-Seine.")      # where the framework does not show the answer
    """

    def __init__(
        self,
        capture: Capture,
        name: str | None,
        *,
        user: str | None = None,
        system: str | None = None,
        is_implicit: bool = False,
    ) -> None:
        self.capture = capture
        self.trace = new_id()
        self.name = new_id() if name is None else name
        if is_implicit:
            self.name = self.trace
        self.system = system
        self.is_implicit = is_implicit
        self._user = user
        self._tokens: list[Token[Turn | None]] = []

    def __enter__(self) -> Turn:
        self._tokens.append(_turn.set(self))
        if self._user:
            self._add(kind="other", inputs=[Message(role="user", text=str(self._user))])
            self._user = None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            _turn.reset(self._tokens.pop())
        except (ValueError, IndexError):  # left in another context than it was entered in
            _turn.set(None)

    def answer(
        self,
        text: str,
        *,
        citations: Iterable[Any] = (),
        tokens: float | None = None,
        cost: float | None = None,
    ) -> None:
        """The answer of the turn, and what its generation used."""
        try:
            cited = [plain_result(c) for c in citations]
            message = Message(role="assistant", text=str(text), citations=cited)
            self._add(kind="model", outputs=[message], usage=Usage(tokens=tokens, cost=cost))
        except Exception as error:
            self.capture.report(error)

    def step(self, *, tokens: float | None = None, cost: float | None = None) -> None:
        """The model has generated again: the searches that follow are one iteration."""
        self._add(kind="model", usage=Usage(tokens=tokens, cost=cost))

    def _add(self, **fields: Any) -> None:
        from goodgain.traces.spans import Span

        now = time.time_ns()
        span = Span(trace=self.trace, start=now, end=now, where="", id=new_id(), **fields)
        token = _turn.set(self)
        try:
            self.capture.add(span)
        finally:
            _turn.reset(token)
