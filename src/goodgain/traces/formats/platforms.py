"""Exports of tracing platforms: Langfuse, LangSmith, MLflow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Context, dicts, loaded, text_of
from goodgain.traces.spans import Kind, Span, conversations

if TYPE_CHECKING:
    from collections.abc import Iterator


def _calls_in(value: Any) -> tuple[str, ...]:
    """The ids of all tool calls in a model's output, however deep."""
    value = loaded(value)
    found: list[str] = []
    if isinstance(value, list):
        found = [c for v in value for c in _calls_in(v)]
    elif isinstance(value, dict):
        for name in ("tool_calls", "content"):
            found += [
                str(c["id"])
                for c in dicts(value.get(name))
                if c.get("id") and (name == "tool_calls" or c.get("type") == "tool_use")
            ]
        found += [
            c
            for k, v in value.items()
            if k != "tool_calls" and isinstance(v, dict | list)
            for c in _calls_in(v)
        ]
    return tuple(dict.fromkeys(found))


def _user_in(value: Any) -> str | None:
    """The last message of the user in a model's input."""
    value = loaded(value)
    if isinstance(value, str):
        return value
    messages = value.get("messages") if isinstance(value, dict) else value
    if isinstance(messages, list) and messages and isinstance(messages[0], list):
        messages = messages[0]
    found = [m for m in dicts(messages) if (m.get("role") or m.get("type")) in ("user", "human")]
    return text_of(found[-1].get("content")) or None if found else None


def _call_of(*values: Any) -> str | None:
    """The call that a tool's span answers, where its input or output says."""
    for value in values:
        inner = loaded(value)
        if isinstance(inner, dict):
            inner = inner["output"] if isinstance(inner.get("output"), dict) else inner
            found = inner.get("tool_call_id") or (
                inner.get("id") if inner.get("type") == "tool_call" else None
            )
            if found:
                return str(found)
    return None


# --- Langfuse ---

_LANGFUSE: dict[str, Kind] = {"RETRIEVER": "retriever", "TOOL": "tool", "GENERATION": "model"}


def refuses_langfuse(document: Any) -> str:
    """Why this is no export of Langfuse; empty where it is."""
    items = list(_observations(document))
    if not items:
        return "no observations"
    return "" if any("type" in o for o in items) else "no observation has a type"


def _observations(document: Any) -> Iterator[dict[str, Any]]:
    if isinstance(document, list):
        for item in dicts(document):
            yield from _observations(item)
    elif isinstance(document, dict):
        if isinstance(document.get("observations"), list):
            trace = document["trace"] if isinstance(document.get("trace"), dict) else document
            for o in dicts(document["observations"]):
                yield {
                    "sessionId": trace.get("sessionId") or trace.get("session_id"),
                    "traceId": trace.get("id"),
                    **o,
                }
        elif (
            ("traceId" in document or "trace_id" in document)
            and ("startTime" in document or "start_time" in document)
            and "type" in document
            and "run_type" not in document
        ):
            yield document


def read_langfuse(
    documents: Iterator[tuple[str, Any]], context: Context
) -> Iterator[dict[str, Any]]:
    """Observations: RETRIEVER, TOOL, and plain spans whose name says that they search."""
    return conversations(
        (_langfuse(o, context) for _, d in documents for o in _observations(d)), context
    )


def _langfuse(o: dict[str, Any], context: Context) -> Span:
    def first(*names: str) -> Any:
        return next((o[n] for n in names if o.get(n) is not None), None)

    kind = _LANGFUSE.get(str(o.get("type")).upper(), "other")
    if (
        kind == "other"
        and str(o.get("type")).upper() == "SPAN"
        and context.is_search(o.get("name"))
    ):
        kind = "tool"
    failed = str(o.get("level")) == "ERROR"
    given, made = loaded(o.get("input")), loaded(o.get("output"))
    return Span(
        kind,
        str(first("traceId", "trace_id")),
        first("startTime", "start_time"),
        first("endTime", "end_time"),
        session=first("sessionId", "session_id"),
        name=o.get("name"),
        call=_call_of(made, given),
        calls=_calls_in(made) if kind == "model" else (),
        query=given,
        output=made,
        error=(first("statusMessage", "status_message") or "error") if failed else None,
        user=_user_in(given) if kind == "model" else None,
    )


# --- LangSmith ---

_LANGSMITH: dict[str, Kind] = {"retriever": "retriever", "tool": "tool", "llm": "model"}


def refuses_langsmith(document: Any) -> str:
    """Why these are no runs of LangSmith."""
    return "" if any(True for _ in _runs(document)) else "no run with a run_type"


def _runs(document: Any) -> Iterator[dict[str, Any]]:
    if isinstance(document, list):
        for item in document:
            yield from _runs(item)
    elif isinstance(document, dict):
        if "run_type" in document:
            yield document
        if isinstance(inner := document.get("runs", document.get("child_runs")), list):
            yield from _runs(inner)


def read_langsmith(
    documents: Iterator[tuple[str, Any]], context: Context
) -> Iterator[dict[str, Any]]:
    """Runs, in the order that `dotted_order` gives."""
    return conversations((_langsmith(r) for _, d in documents for r in _runs(d)), context)


def _langsmith(r: dict[str, Any]) -> Span:
    kind = _LANGSMITH.get(str(r.get("run_type")), "other")
    inputs, outputs = loaded(r.get("inputs")) or {}, loaded(r.get("outputs")) or {}
    metadata = (r.get("extra") or {}).get("metadata") or {}
    names = ("session_id", "thread_id", "conversation_id")
    made = (
        outputs.get("documents", outputs.get("output", outputs))
        if isinstance(outputs, dict)
        else outputs
    )
    return Span(
        kind,
        str(r.get("trace_id") or r.get("id")),
        r.get("start_time"),
        r.get("end_time"),
        session=next((str(metadata[n]) for n in names if metadata.get(n)), None),
        name=r.get("name"),
        call=_call_of(outputs, inputs) or metadata.get("tool_call_id"),
        calls=_calls_in(outputs) if kind == "model" else (),
        query=inputs,
        output=made,
        error=str(r["error"]) if r.get("error") else None,
        user=_user_in(inputs) if kind == "model" else None,
        order=str(r.get("dotted_order") or ""),
    )


# --- MLflow ---

_MLFLOW: dict[str, Kind] = {
    "RETRIEVER": "retriever",
    "TOOL": "tool",
    "LLM": "model",
    "CHAT_MODEL": "model",
}


def refuses_mlflow(document: Any) -> str:
    """Why this is no trace of MLflow."""
    spans = [s for _, s in _mlflow_spans(document)]
    if not spans:
        return "no data.spans"
    return (
        ""
        if any("mlflow.spanType" in (s.get("attributes") or {}) for s in spans)
        else "no mlflow.spanType"
    )


def _mlflow_spans(document: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for trace in document if isinstance(document, list) else [document]:
        if isinstance(trace, dict):
            data = loaded(trace.get("data"))
            for span in dicts(data.get("spans") if isinstance(data, dict) else None):
                yield trace, span


def read_mlflow(documents: Iterator[tuple[str, Any]], context: Context) -> Iterator[dict[str, Any]]:
    """Spans whose attributes are JSON strings."""
    return conversations(
        (_mlflow(t, s) for _, d in documents for t, s in _mlflow_spans(d)), context
    )


def _mlflow(trace: dict[str, Any], s: dict[str, Any]) -> Span:
    a = {k: loaded(v) for k, v in (s.get("attributes") or {}).items()}
    info = trace.get("info") or {}
    metadata = info.get("trace_metadata") or info.get("request_metadata") or {}
    kind = _MLFLOW.get(str(a.get("mlflow.spanType")).upper(), "other")
    status = s.get("status") or s.get("status_code") or {}
    code = status.get("code") if isinstance(status, dict) else status
    inputs, outputs = a.get("mlflow.spanInputs"), a.get("mlflow.spanOutputs")

    def first(*names: str) -> Any:
        return next((s[n] for n in names if s.get(n) is not None), None)

    return Span(
        kind,
        str(
            info.get("trace_id")
            or info.get("request_id")
            or first("trace_id", "traceId")
            or "trace"
        ),
        first("start_time_unix_nano", "start_time", "start_time_ns"),
        first("end_time_unix_nano", "end_time", "end_time_ns"),
        session=metadata.get("mlflow.trace.session") or a.get("mlflow.trace.session"),
        name=s.get("name"),
        call=_call_of(outputs, inputs),
        calls=_calls_in(outputs) if kind == "model" else (),
        query=inputs,
        output=outputs,
        error="error" if code in ("ERROR", "STATUS_CODE_ERROR", 2) else None,
        user=_user_in(inputs) if kind == "model" else None,
    )
