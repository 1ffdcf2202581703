"""Traces of one conversation that nothing but their messages link: each model call repeats the one before."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from goodgain.traces.steps import sort_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from goodgain.traces.messages import Message
    from goodgain.traces.spans import Span


def continued_traces(traces: Mapping[str, list[Span]]) -> dict[str, str]:
    """The trace that each trace goes on with, by its first: those whose input repeats another's exchange."""
    first_of: dict[str, str] = {}
    ends: dict[bytes, str] = {}  # of inputs with the reply to them
    for name in sorted(traces, key=lambda n: min(sort_key(s.start) for s in traces[n])):
        models = [s for s in traces[name] if s.kind == "model" and s.inputs]
        models.sort(key=lambda s: sort_key(s.start))
        if not models:
            continue
        marks = marks_of(models[0].inputs)
        earlier = next((ends[m] for m in reversed(marks) if m in ends), None)
        first = first_of.get(earlier, earlier) if earlier is not None else name
        if first != name:
            first_of[name] = first
        if models[-1].outputs:
            ends[marks_of([*models[-1].inputs, *models[-1].outputs])[-1]] = first
    return first_of


def traces_of_calls(traces: Mapping[str, list[Span]]) -> dict[str, str]:
    """The trace of the model for each trace that holds only its tools: spans exported without parents.

    Read apart, a call would count in the model's message and again in the tool's span.
    """
    models: dict[str, set[str]] = {}
    for name, spans in traces.items():
        for call in (c for s in spans for m in s.outputs for c in m.calls):
            if call.id:
                models.setdefault(call.id, set()).add(name)
    moved = {}
    for name, spans in traces.items():
        if not any(s.kind == "model" for s in spans):
            targets = set().union(*(models.get(s.call or "", ()) for s in spans))
            if len(targets) == 1:
                moved[name] = targets.pop()
    return moved


def marks_of(messages: Iterable[Message]) -> list[bytes]:
    """A digest of the messages up to each."""
    digest = hashlib.blake2b(digest_size=16)
    marks = []
    for message in messages:
        calls = [call.id or call.name for call in message.calls]
        answers = [output.call for output in message.outputs]
        digest.update(repr((message.role, message.text, calls, answers)).encode("utf-8", "replace"))
        marks.append(digest.digest())
    return marks
