"""What the handlers of frameworks share: none of their methods ever raises, and spans end in one place."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goodgain.live.capturing import Capture
    from goodgain.traces.messages import Message
    from goodgain.traces.spans import Span

F = TypeVar("F", bound="Callable[..., Any]")


def guarded(method: F) -> F:
    """A method of a handler whose errors are counted by the handler's capture instead of raised."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        except Exception as error:
            self.capture.report(error)
            return None

    return call  # type: ignore[return-value]


def add_span(capture: Capture, span: Span) -> None:
    """Add a span that has ended; one that is neither a call nor a model only as a link between others."""
    capture.joining.apply(span)
    if span.kind == "model":
        span.inputs = latest(capture, span.inputs)
        span.query = span.output = None
    elif not span.is_call:
        if not capture.needs_parent(span.id) and not span.usage:
            return
        span.name = span.query = span.output = span.description = None
        span.inputs, span.outputs = [], []
    capture.add(span)


def latest(capture: Capture, messages: Sequence[Message]) -> list[Message]:
    """The messages after the model's last one, without outputs that the calls' own spans have."""
    from dataclasses import replace

    recent: list[Message] = []
    for message in reversed(messages):
        if message.role == "assistant":
            break
        if message.role != "system":
            recent.append(message)
    recent.reverse()
    return [
        replace(
            m,
            outputs=[replace(o, value=None) if capture.has_call(o.call) else o for o in m.outputs],
        )
        if m.outputs
        else m
        for m in recent
    ]
