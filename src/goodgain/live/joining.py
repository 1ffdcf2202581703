"""Traces of one conversation that nothing but their messages link, joined as they come.

Where a program calls a model without a span around its steps, each generation is a trace of its own, and the
next one repeats its messages. The rules are those of `goodgain.traces.joining`, over what was seen lately.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.live.recent import Recent
from goodgain.traces.joining import marks_of

if TYPE_CHECKING:
    from goodgain.live.capturing import Capture
    from goodgain.traces.spans import Span


class Joining:
    """Remembers how exchanges ended, and which trace made a call."""

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._ends: Recent[str] = Recent()  # the conversation of an exchange
        self._makers: Recent[str] = Recent()  # the trace of the model that made a call

    def apply(self, span: Span) -> None:
        """Say which conversation a span continues, where it names none itself."""
        if span.session:
            return
        if span.kind == "model":
            self._join(span)
        elif span.call and span.parent is None:
            span.trace = self._makers.get(span.call) or span.trace

    def _join(self, span: Span) -> None:
        trace = span.trace
        if not self._capture.knows_session(trace):
            marks = [mark.hex() for mark in marks_of(span.inputs)]
            earlier = next((e for m in reversed(marks) if (e := self._ends.get(m))), trace)
            if earlier != trace:
                self._capture.learn_session(trace, earlier)
            if span.outputs:
                end = marks_of([*span.inputs, *span.outputs])[-1].hex()
                self._ends[end] = earlier
        for call in (c for m in span.outputs for c in m.calls):
            if call.id:
                self._makers[call.id] = trace
