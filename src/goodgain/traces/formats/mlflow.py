"""MLflow: exported traces, with spans whose attributes are JSON strings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Context, decode_json, dicts, first_of
from goodgain.traces.format import TraceFormat
from goodgain.traces.spans import Kind, Span, conversations, exchange_fields

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    return conversations((_span(t, s) for _, d in documents for t, s in _spans(d)), context)


def _span(trace: dict[str, Any], s: dict[str, Any]) -> Span:
    a = {k: decode_json(v) for k, v in (s.get("attributes") or {}).items()}
    info = trace.get("info") or {}
    metadata = info.get("trace_metadata") or info.get("request_metadata") or {}
    kind = _KINDS.get(str(a.get(_KIND)).upper(), "other")
    status = s.get("status") or s.get("status_code") or {}
    code = status.get("code") if isinstance(status, dict) else status
    return Span(
        kind=kind,
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
