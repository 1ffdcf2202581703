"""Haystack: a tracer. One that is enabled already goes on beside it."""

from __future__ import annotations

import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from haystack import tracing
from haystack.tracing import Span as HaystackSpan
from haystack.tracing import Tracer

from goodgain.live.handlers import add_span, guarded
from goodgain.live.positions import new_id
from goodgain.traces.messages import Message, parse_message
from goodgain.traces.objects import plain
from goodgain.traces.spans import Kind, Span
from goodgain.traces.usage import read_usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.live.capturing import Capture

_current: ContextVar[_Span | None] = ContextVar("haystack_span", default=None)


def install(capture: Capture) -> GoodgainTracer:
    """Enable the tracer, around the one that is enabled already."""
    before = tracing.tracer.actual_tracer if tracing.is_tracing_enabled() else None
    tracer = GoodgainTracer(capture, before)
    tracing.enable_tracing(tracer)
    return tracer


class _Span(HaystackSpan):
    """A span of Haystack: its tags, and the span of the other tracer."""

    def __init__(self, operation: str, outer: _Span | None, inner: HaystackSpan | None) -> None:
        self.id = new_id()
        self.trace: str = outer.trace if outer is not None else self.id
        self.outer, self.inner = outer, inner
        self.operation = operation
        self.start = time.time_ns()
        self.tags: dict[str, Any] = {}

    def set_tag(self, key: str, value: Any) -> None:
        """Keep a tag, and pass it on."""
        self.tags[key] = value
        if self.inner is not None:
            self.inner.set_tag(key, value)

    def set_content_tag(self, key: str, value: Any) -> None:
        """Keep content, which a search is made of; the other tracer decides for itself."""
        self.tags[key] = value
        if self.inner is not None:
            self.inner.set_content_tag(key, value)

    def raw_span(self) -> Any:
        """The span of the other tracer, if there is one."""
        return self if self.inner is None else self.inner.raw_span()

    def get_correlation_data_for_logs(self) -> dict[str, Any]:
        """As the other tracer has it."""
        return {} if self.inner is None else self.inner.get_correlation_data_for_logs()


class GoodgainTracer(Tracer):
    """Captures retrievers, tools and generators when they return."""

    def __init__(self, capture: Capture, before: Tracer | None = None) -> None:
        self.capture = capture
        self.before = before
        capture.surroundings.append(self._place)

    def _place(self) -> tuple[str, str] | None:
        """The span inside which this code is called."""
        span = _current.get()
        return None if span is None else (span.trace, span.id)

    @contextmanager
    def trace(
        self,
        operation_name: str,
        tags: dict[str, Any] | None = None,
        parent_span: HaystackSpan | None = None,
    ) -> Iterator[HaystackSpan]:
        """Follow an operation."""
        if self.before is None:
            with self._followed(operation_name, tags, parent_span, None) as span:
                yield span
            return
        parent = parent_span.inner if isinstance(parent_span, _Span) else parent_span
        with (
            self.before.trace(operation_name, tags=tags, parent_span=parent) as inner,
            self._followed(operation_name, tags, parent_span, inner) as span,
        ):
            yield span

    @contextmanager
    def _followed(
        self,
        operation: str,
        tags: dict[str, Any] | None,
        parent: HaystackSpan | None,
        inner: HaystackSpan | None,
    ) -> Iterator[_Span]:
        outer = parent if isinstance(parent, _Span) else _current.get()
        span = _Span(operation, outer, inner)
        span.tags.update(tags or {})
        token = _current.set(span)
        try:
            yield span
        except BaseException as error:
            self._end(span, str(error) or type(error).__name__)
            raise
        else:
            self._end(span, None)
        finally:
            try:
                _current.reset(token)
            except ValueError:  # a generator that was closed in another context
                _current.set(outer)

    def current_span(self) -> HaystackSpan | None:
        """The span inside which this code is called."""
        return _current.get()

    @guarded
    def _end(self, span: _Span, error: str | None) -> None:
        add_span(self.capture, _captured(span, error))


def _captured(span: _Span, error: str | None) -> Span:
    """A span of Haystack in the terms of a search."""
    tags = span.tags
    kind = _kind(span)
    captured = Span(
        kind=kind,
        trace=span.trace,
        id=span.id,
        parent=None if span.outer is None else span.outer.id,
        start=span.start,
        end=time.time_ns(),
        where="",
        name=tags.get("haystack.tool.name") or tags.get("haystack.component.name"),
        description=tags.get("haystack.tool.description"),
        error=error if kind != "other" else None,
    )
    if kind == "tool":
        captured.query = tags.get("haystack.agent.step.tool.input")
        captured.output = tags.get("haystack.agent.step.tool.output")
        if tags.get("haystack.tool.error"):
            output = captured.output
            reason = output.get("error") if isinstance(output, dict) else output
            captured.error, captured.output = str(reason or "error"), None
    elif kind == "retriever":
        captured.name = tags.get("haystack.component.name")
        captured.query = _query(tags.get("haystack.component.input"))
        output = tags.get("haystack.component.output")
        documents = output.get("documents") if isinstance(output, dict) else None
        captured.output = output if documents is None else [_document(d) for d in documents]
    elif kind == "model":
        _add_exchange(captured, tags)
    return captured


def _kind(span: _Span) -> Kind:
    operation, tags = span.operation, span.tags
    if operation.endswith(".tool"):
        return "tool"
    if operation.endswith(".llm") or operation == "haystack.chat_generator.run":
        return "model"
    if operation == "haystack.component.run":
        output = tags.get("haystack.component.output")
        kind = str(tags.get("haystack.component.type"))
        if "Retriever" in kind or "WebSearch" in kind:
            return "retriever"
        if isinstance(output, dict) and "replies" in output and "Agent" not in kind:
            return "model"
    return "other"


def _document(document: Any) -> dict[str, Any]:
    fields = {"id": document.id, "content": document.content, "metadata": document.meta}
    return fields if document.score is None else {**fields, "score": document.score}


def _query(inputs: Any) -> Any:
    """The text of a retriever's query; an embedding is none."""
    if not isinstance(inputs, dict):
        return None
    texts = {k: v for k, v in inputs.items() if isinstance(v, str) and v}
    return texts or None


def _add_exchange(span: Span, tags: dict[str, Any]) -> None:
    """What a generator was given and what it said."""
    prefix = (
        "haystack.agent.step.llm"
        if "haystack.agent.step.llm.input" in tags
        else "haystack.component"
    )
    inputs, outputs = tags.get(f"{prefix}.input") or {}, tags.get(f"{prefix}.output") or {}
    messages = inputs.get("messages") or inputs.get("prompt") or ()
    if isinstance(messages, str):
        span.inputs = [Message(role="user", text=messages)]
    else:
        span.inputs = [_message(m) for m in messages]
    replies = list(outputs.get("replies") or ())[:1]
    span.outputs = [_message(m) for m in replies]
    details = outputs.get("meta") or [getattr(m, "meta", None) for m in replies]
    meta = details[0] if isinstance(details, list) and details else details
    meta = plain(meta) if isinstance(meta, dict) else {}
    span.usage = read_usage(meta.get("usage"))
    span.model = meta.get("model") if isinstance(meta.get("model"), str) else None


def _message(message: Any) -> Message:
    if isinstance(message, str):
        return Message(role="assistant", text=message)
    fields: dict[str, Any] = {
        "role": getattr(message.role, "value", message.role),
        "content": message.text or "",
        "tool_calls": [
            {"id": c.id, "name": c.tool_name, "arguments": c.arguments} for c in message.tool_calls
        ],
    }
    results = message.tool_call_results
    if results:
        first = results[0]
        fields |= {
            "content": first.result,
            "tool_call_id": first.origin.id,
            "status": "error" if first.error else None,
        }
    return parse_message(fields)
