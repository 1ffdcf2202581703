"""MLflow: exported traces, with spans whose attributes are JSON strings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.format import TraceFormat
from goodgain.traces.spans import Kind, Span, conversations, exchange_fields
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
    return "" if any(_KIND in (s.get("attributes") or {}) for s in spans) else f"no {_KIND}"


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
    a = {k: decode_json(v) for k, v in (s.get("attributes") or {}).items()}
    info = trace.get("info") or {}
    metadata = info.get("trace_metadata") or info.get("request_metadata") or {}
    kind = _KINDS.get(str(a.get(_KIND)).upper(), "other")
    status = s.get("status") or s.get("status_code") or {}
    code = status.get("code") if isinstance(status, dict) else status
    return Span(
        kind=kind,
        where=where,
        id=str(s.get("span_id") or s.get("spanId") or "") or None,
        parent=str(first_of(s, "parent_span_id", "parent_id", "parentSpanId") or "") or None,
        trace=str(
            info.get("trace_id")
            or info.get("request_id")
            or first_of(s, "trace_id", "traceId")
            or "trace"
        ),
        start=first_of(s, "start_time_unix_nano", "start_time", "start_time_ns"),
        end=first_of(s, "end_time_unix_nano", "end_time", "end_time_ns"),
        session=metadata.get("mlflow.trace.session") or a.get("mlflow.trace.session"),
        name=s.get("name"),
        error="error" if code in ("ERROR", "STATUS_CODE_ERROR", 2) else None,
        **exchange_fields(kind, a.get("mlflow.spanInputs"), a.get("mlflow.spanOutputs")),
    )


FORMAT = TraceFormat("mlflow", "MLflow traces", _mismatch, _read)
