"""MLflow: exported traces, with spans whose attributes are JSON strings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.format import TraceFormat
from goodgain.traces.spans import Kind, Span, conversations, exchange_fields
from goodgain.traces.telemetry import text_in
from goodgain.traces.usage import read_usage
from goodgain.traces.values import decode_json, dicts, first_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents

_KIND = "mlflow.spanType"
_KINDS: dict[str, Kind] = {
    "RETRIEVER": "retriever",
    "TOOL": "tool",
    "LLM": "model",
    "CHAT_MODEL": "model",
}


def _mismatch(document: Any) -> str:
    spans = [s for _, s in _spans(document)]
    if not spans:
        return "no data.spans"
    return "" if any(_KIND in _object(s.get("attributes")) for s in spans) else f"no {_KIND}"


def _spans(document: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for trace in document if isinstance(document, list) else [document]:
        if isinstance(trace, dict):
            data = decode_json(trace.get("data"))
            for span in dicts(data.get("spans") if isinstance(data, dict) else None):
                yield trace, span


def _read(documents: Documents, context: Context) -> Conversations:
    spans = (
        _span(t, s, f"{where} span {n}")
        for where, document in documents
        for n, (t, s) in enumerate(_spans(document), 1)
    )
    return conversations(spans, context)


def _span(trace: dict[str, Any], s: dict[str, Any], where: str) -> Span:
    a = {k: decode_json(v) for k, v in _object(s.get("attributes")).items()}
    info = _object(trace.get("info"))
    metadata = _object(info.get("trace_metadata")) or _object(info.get("request_metadata"))
    kind = _KINDS.get(str(a.get(_KIND)).upper(), "other")
    status = s.get("status") or s.get("status_code")
    code = first_of(status, "code", "status_code") if isinstance(status, dict) else status
    parent = text_in(s, "parent_span_id", "parent_id", "parentSpanId")
    return Span(
        kind=kind,
        where=where,
        id=text_in(s, "span_id", "spanId"),
        parent=parent,
        trace=text_in(info, "trace_id", "request_id")
        or text_in(s, "trace_id", "traceId")
        or "trace",
        start=first_of(s, "start_time_unix_nano", "start_time", "start_time_ns"),
        end=first_of(s, "end_time_unix_nano", "end_time", "end_time_ns"),
        session=text_in(metadata, "mlflow.trace.session") or text_in(a, "mlflow.trace.session"),
        name=text_in(s, "name"),
        error="error" if str(code) in ("ERROR", "STATUS_CODE_ERROR", "2") else None,
        usage=read_usage(
            a.get("mlflow.chat.tokenUsage"),
            _object(a.get("mlflow.spanOutputs")).get("usage") if kind == "model" else None,
            {"cost": a.get("mlflow.llm.cost")},
            *(() if parent else _trace_usage(metadata)),
        ),
        model=text_in(a, "mlflow.llm.model", "gen_ai.request.model"),
        **exchange_fields(kind, a.get("mlflow.spanInputs"), a.get("mlflow.spanOutputs")),
    )


def _trace_usage(metadata: dict[str, Any]) -> list[Any]:
    """What is known of the whole trace, at its root."""
    return [metadata.get("mlflow.trace.tokenUsage"), {"cost": metadata.get("mlflow.trace.cost")}]


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


FORMAT = TraceFormat("mlflow", "MLflow traces", _mismatch, _read)
