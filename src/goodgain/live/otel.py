"""OpenTelemetry: a span processor and an exporter, for GenAI, OpenLLMetry and OpenInference spans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opentelemetry import trace
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from goodgain.live.handlers import add_span, guarded
from goodgain.traces.formats import openinference, otel
from goodgain.traces.spans import Kind, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodgain.live.capturing import Capture


def install(capture: Capture, provider: Any = None) -> GoodgainProcessor:
    """Add a processor to a provider; without one to the global provider, which is set if there is none."""
    if provider is None:
        provider = trace.get_tracer_provider()
        if not hasattr(provider, "add_span_processor"):
            provider = TracerProvider()
            trace.set_tracer_provider(provider)
    processor = GoodgainProcessor(capture)
    provider.add_span_processor(processor)
    return processor


class GoodgainProcessor(SpanProcessor):
    """Captures each span when it ends, before the instrumented call returns."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        capture.surroundings.append(self._place)

    @guarded
    def _place(self) -> tuple[str, str] | None:
        """The span inside which this code is called."""
        context = trace.get_current_span().get_span_context()
        if not context.is_valid:
            return None
        return f"{context.trace_id:032x}", f"{context.span_id:016x}"

    @guarded
    def on_start(self, span: Any, parent_context: Any = None) -> None:
        """Learn the conversation of a trace from its first span that names it."""
        attributes = span.attributes
        if attributes:
            self.capture.learn_session(f"{span.context.trace_id:032x}", otel.session_of(attributes))

    @guarded
    def on_end(self, span: Any) -> None:
        """Capture a span."""
        add_readable(self.capture, span)

    def shutdown(self) -> None:
        """Nothing is pending: every span is on disk already."""

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Nothing is pending."""
        return True


class GoodgainExporter(SpanExporter):
    """Captures the spans of a batch, for those who export in batches; a crash loses those not exported."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture

    def export(self, spans: Sequence[Any]) -> SpanExportResult:
        """Capture spans."""
        for span in spans:
            self._export(span)
        return SpanExportResult.SUCCESS

    @guarded
    def _export(self, span: Any) -> None:
        add_readable(self.capture, span)

    def shutdown(self) -> None:
        """Nothing is pending."""

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Nothing is pending."""
        return True


def add_readable(capture: Capture, readable: Any) -> None:
    """Add a span of the SDK, read by the rules of the conventions that its attributes follow.

    A call is written with its attributes as they are, and read by these rules later: that is cheaper.
    """
    attributes = readable.attributes or {}
    rules = _rules(attributes)
    kind: Kind = "other" if rules is None else rules.kind_of(attributes)
    if rules is None or (kind in ("tool", "retriever") and not capture.redacts):
        context, parent = readable.context, readable.parent
        span = Span(
            kind=kind,
            trace=f"{context.trace_id:032x}",
            id=f"{context.span_id:016x}",
            parent=None if parent is None else f"{parent.span_id:016x}",
            start=readable.start_time,
            end=readable.end_time,
            where="",
        )
        if rules is None:
            add_span(capture, span)
            return
        span.session, span.call = rules.session_of(attributes), rules.call_of(attributes)
        span.name = rules.name_of(attributes) or readable.name
        capture.joining.apply(span)
        capture.add(span, {"otel": {**_status(readable), "attributes": dict(attributes)}})
        return
    add_span(capture, rules.span_of_attributes(_fields(readable), dict(attributes), ""))


def _rules(attributes: Any) -> Any:
    """The conventions that attributes follow; None if none that are known."""
    if openinference.KIND in attributes:
        return openinference
    return otel if otel.follows(attributes) else None


def _fields(readable: Any) -> dict[str, Any]:
    """A span as its readers know it."""
    context, parent = readable.context, readable.parent
    fields = {
        **_status(readable),
        "trace_id": f"{context.trace_id:032x}",
        "span_id": f"{context.span_id:016x}",
        "parent_id": None if parent is None else f"{parent.span_id:016x}",
        "start_time": readable.start_time,
        "end_time": readable.end_time,
    }
    if readable.events and "events" not in fields:
        fields["events"] = _events(readable)
    return fields


def _status(readable: Any) -> dict[str, Any]:
    """The name and, if it failed, the status of a span with the exception that it recorded."""
    status = readable.status
    if status.status_code.name != "ERROR":
        return {"name": readable.name}
    return {
        "name": readable.name,
        "status": {"status_code": "ERROR", "description": status.description},
        "events": _events(readable),
    }


def _events(readable: Any) -> list[dict[str, Any]]:
    return [{"name": e.name, "attributes": dict(e.attributes or {})} for e in readable.events]
