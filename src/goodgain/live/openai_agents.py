"""OpenAI Agents SDK: a tracing processor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agents import add_trace_processor
from agents.tracing import get_current_span
from agents.tracing.processor_interface import TracingProcessor

from goodgain.live.handlers import add_span, guarded
from goodgain.live.positions import new_id
from goodgain.live.recent import Recent
from goodgain.traces.formats.openai_agents import error_text, span_of_export
from goodgain.traces.formats.openai_responses import hosted_calls
from goodgain.traces.spans import Span
from goodgain.traces.values import nanoseconds

if TYPE_CHECKING:
    from goodgain.live.capturing import Capture
    from goodgain.traces.calls import CallRecord


def install(capture: Capture) -> AgentsProcessor:
    """Add a processor beside those that there are."""
    processor = AgentsProcessor(capture)
    add_trace_processor(processor)
    return processor


class AgentsProcessor(TracingProcessor):
    """Captures each span when it ends: `add_trace_processor(AgentsProcessor(capture))`."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self._traces: Recent[dict[str, Any]] = Recent()
        capture.surroundings.append(self._place)

    @guarded
    def _place(self) -> tuple[str, str] | None:
        """The span inside which this code is called."""
        span = get_current_span()
        return None if span is None else (span.trace_id, span.span_id)

    @guarded
    def on_trace_start(self, trace: Any) -> None:
        """Remember the group, which is the conversation, and the name of the workflow."""
        facts = trace.export() or {}
        self._traces[trace.trace_id] = facts
        self.capture.learn_session(trace.trace_id, facts.get("group_id"))

    def on_trace_end(self, trace: Any) -> None:
        """Nothing is pending."""

    def on_span_start(self, span: Any) -> None:
        """A span is captured when it ends."""

    @guarded
    def on_span_end(self, span: Any) -> None:
        """Capture a span, with the content that its export leaves out."""
        data = span.span_data
        if data.type == "function":
            self._add_function(span, data)
            return
        exported = {
            "id": span.span_id,
            "trace_id": span.trace_id,
            "parent_id": span.parent_id,
            "started_at": nanoseconds(span.started_at),
            "ended_at": nanoseconds(span.ended_at),
            "error": span.error,
            "span_data": _content(data),
        }
        facts = self._traces.get(span.trace_id)
        captured = span_of_export(exported, {span.trace_id: facts or {}}, "")
        add_span(self.capture, captured)
        for call in hosted_calls(exported["span_data"].get("items", [])):
            self._add_hosted(call, captured)

    def _add_function(self, span: Any, data: Any) -> None:
        """A tool of the application's."""
        facts = self._traces.get(span.trace_id) or {}
        captured = Span(
            kind="tool",
            trace=span.trace_id,
            id=span.span_id,
            parent=span.parent_id,
            start=nanoseconds(span.started_at),
            end=nanoseconds(span.ended_at),
            where="",
            session=facts.get("group_id"),
            name=data.name,
            query=data.input,
            output=data.output,
            error=error_text(span.error) if span.error else None,
            system=facts.get("workflow_name"),
        )
        add_span(self.capture, captured)

    def _add_hosted(self, call: CallRecord, model: Span) -> None:
        """A search of the provider, which is part of the model's response."""
        output = call.outputs[0] if call.outputs else None
        span = Span(
            kind="retriever" if call.kind else "tool",
            trace=model.trace,
            start=model.end,
            end=None,
            where="",
            id=new_id(),
            parent=model.id,
            name=call.tool,
            call=call.call_id,
            query=call.arguments,
            output=None if output is None else output.value,
            error=None if output is None else output.error,
            system=model.system,
        )
        if output is not None and output.results is not None:
            span.finding = output.find()
        self.capture.add(span)

    def shutdown(self) -> None:
        """Nothing is pending: every span is on disk already."""

    def force_flush(self) -> None:
        """Nothing is pending."""


def _content(data: Any) -> dict[str, Any]:
    """What the reader of exported spans reads; a response is exported without its messages."""
    content = {
        name: value
        for name in ("type", "name", "input", "output", "usage", "model")
        if (value := getattr(data, name, None)) is not None
    }
    response = getattr(data, "response", None)
    if response is not None:
        content["items"] = [_fields(item) for item in response.output]
        content["output"] = [_as_message(item) for item in content["items"]]
        usage = getattr(response, "usage", None)
        if usage is not None and not content.get("usage"):
            content["usage"] = _fields(usage)
        content["model"] = getattr(response, "model", None)
    if isinstance(content.get("input"), list):
        content["input"] = [_fields(item) for item in content["input"]]
    return content


def _as_message(item: Any) -> Any:
    """A call of the model's in the form of a message."""
    if isinstance(item, dict) and item.get("type") in ("function_call", "custom_tool_call"):
        arguments = item.get("arguments", item.get("input"))
        function = {"name": item.get("name"), "arguments": arguments}
        calls = [{"id": item.get("call_id"), "function": function}]
        return {"role": "assistant", "content": "", "tool_calls": calls}
    return item


def _fields(item: Any) -> Any:
    return item.model_dump(exclude_none=True) if hasattr(item, "model_dump") else item
