"""Spans: what all tracing formats come down to, and how iterations are found in them.

A tool span belongs to the generation that made its call; where calls have no ids, to the generation that
ended last before it started; where there are no generations, each retrieval is an iteration of its own.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from goodgain.traces.builder import Builder, Context, query_of, seconds_between
from goodgain.traces.results import is_failure, results_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Kind = Literal["model", "tool", "retriever", "other"]


@dataclass(slots=True)
class Span:
    """One span in the terms of a search; `start` and `end` sort as they are."""

    kind: Kind
    trace: str
    start: Any
    end: Any = None
    session: str | None = None
    name: str | None = None
    call: str | None = None
    calls: tuple[str, ...] = ()  # the tool calls that a generation made
    query: Any = None
    output: Any = None
    error: str | None = None
    user: str | None = None
    system: str | None = None
    order: str = ""
    tokens: float | None = None
    cost: float | None = None
    facts: dict[str, Any] = field(default_factory=dict)


def conversations(spans: Iterable[Span], context: Context) -> Iterator[dict[str, Any]]:
    """A conversation a session, a turn a trace in it."""
    sessions: dict[str, dict[str, list[Span]]] = defaultdict(lambda: defaultdict(list))
    known: dict[str, str] = {}
    kept = list(spans)
    for span in kept:
        if span.session:
            known.setdefault(span.trace, span.session)
    for span in kept:
        sessions[known.get(span.trace, span.trace)][span.trace].append(span)
    for session, traces in sessions.items():
        system = next((s.system for t in traces.values() for s in t if s.system), None)
        builder = Builder(session, system)
        for trace in sorted(traces.values(), key=lambda t: min(_key(s.start) for s in t)):
            _turn(trace, builder, context)
        yield builder.build()


def _key(moment: Any) -> tuple[int, str]:
    text = "" if moment is None else str(moment)
    return (len(text), text) if text.isdigit() else (0, text)


def _turn(spans: list[Span], builder: Builder, context: Context) -> None:
    spans = sorted(spans, key=lambda s: (s.order, _key(s.start)))
    builder.user(next((s.user for s in spans if s.user), None))
    models = [s for s in spans if s.kind == "model"]
    of_call = {call: i for i, m in enumerate(models) for call in m.calls}
    groups: dict[int, list[Span]] = defaultdict(list)
    alone = 0
    for span in spans:
        searching = (span.kind == "retriever" and not context.search_tools) or (
            span.kind in ("tool", "retriever") and context.is_search(span.name)
        )
        if not searching:
            continue
        if span.call in of_call:
            group = of_call[span.call] + 1
        elif models:
            group = sum(_key(m.end or m.start) <= _key(span.start) for m in models)
        else:
            alone -= 1
            group = -1_000_000 - alone
            context.note(
                f"{context.name}: no model spans, so every retrieval is taken for an iteration of its own"
            )
        groups[group].append(span)
    for _, group_spans in sorted(groups.items()):
        builder.step()
        for span in group_spans:
            latency = seconds_between(span.start, span.end)
            search = builder.search(
                None,
                span.name,
                query_of(span.query),
                latency=latency,
                tokens=span.tokens,
                cost=span.cost,
            )
            if span.error or is_failure(span.output):
                search["error"] = span.error or str(span.output)
            else:
                search["results"] = results_of(span.output)
