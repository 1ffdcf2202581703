"""OpenTelemetry: a span processor and an exporter, for GenAI, OpenLLMetry and OpenInference spans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opentelemetry import trace
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from goodgain.live.handlers import add_span, guarded
from goodgain.traces.formats import openinference, otel
from goodgain.traces.spans import Span

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
    """Add a span of the SDK, read by the rules of the conventions that its attributes follow."""
    attributes: dict[str, Any] = dict(readable.attributes or {})
    context, parent, status = readable.context, readable.parent, readable.status
    fields = {
        "name": readable.name,
        "trace_id": f"{context.trace_id:032x}",
        "span_id": f"{context.span_id:016x}",
        "parent_id": None if parent is None else f"{parent.span_id:016x}",
        "start_time": readable.start_time,
        "end_time": readable.end_time,
        "status": {
            "status_code": status.status_code.name,
            "description": status.description,
        },
    }
    if readable.events:
        fields["events"] = [
            {"name": e.name, "attributes": dict(e.attributes or {})} for e in readable.events
        ]
    span = _span(fields, attributes)
    if span is None:
        span = Span(
            kind="other",
            trace=fields["trace_id"],
            start=fields["start_time"],
            end=fields["end_time"],
            where="",
            id=fields["span_id"],
            parent=fields["parent_id"],
        )
    add_span(capture, span)


def _span(fields: dict[str, Any], attributes: dict[str, Any]) -> Span | None:
    """The span in the first convention that its attributes follow; None in none."""
    if openinference.KIND in attributes:
        return openinference.span_of_attributes(fields, attributes, "")
    if otel.follows(attributes):
        return otel.span_of_attributes(fields, attributes, "")
    return None
