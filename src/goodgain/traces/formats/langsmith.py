"""LangSmith: exported runs of retrievers, tools and models, in the order of `dotted_order`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.format import TraceFormat
from goodgain.traces.spans import Kind, Span, conversations, exchange_fields
from goodgain.traces.telemetry import text_in
from goodgain.traces.usage import read_usage
from goodgain.traces.values import decode_json, first_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents
    from goodgain.traces.messages import Message

_KINDS: dict[str, Kind] = {"retriever": "retriever", "tool": "tool", "llm": "model"}
SESSION_NAMES = ("session_id", "thread_id", "conversation_id")


def _mismatch(document: Any) -> str:
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


def _read(documents: Documents, context: Context) -> Conversations:
    spans = (
        span_of_run(r, f"{where} run {n}")
        for where, document in documents
        for n, r in enumerate(_runs(document), 1)
    )
    return conversations(spans, context)


def span_of_run(r: dict[str, Any], where: str) -> Span:
    """A run as a span."""
    kind = _KINDS.get(str(r.get("run_type")), "other")
    inputs, outputs = decode_json(r.get("inputs")) or {}, decode_json(r.get("outputs")) or {}
    extra = decode_json(r.get("extra"))
    metadata = extra.get("metadata") if isinstance(extra, dict) else None
    metadata = metadata if isinstance(metadata, dict) else {}
    fields = exchange_fields(kind, inputs, outputs)
    fields["call"] = fields["call"] or text_in(metadata, "tool_call_id")
    if isinstance(outputs, dict):
        fields["output"] = first_of(outputs, "documents", "output") if outputs else None
        if fields["output"] is None and outputs:
            fields["output"] = outputs
    elif not outputs:
        fields["output"] = None
    return Span(
        kind=kind,
        where=where,
        id=str(r.get("id") or "") or None,
        parent=str(r.get("parent_run_id") or "") or None,
        trace=str(r.get("trace_id") or r.get("id")),
        start=r.get("start_time"),
        end=r.get("end_time"),
        session=next((str(metadata[n]) for n in SESSION_NAMES if metadata.get(n)), None),
        name=r.get("name"),
        error=str(r["error"]) if r.get("error") else None,
        order=str(r.get("dotted_order") or ""),
        usage=read_usage(
            outputs.get("usage_metadata") if isinstance(outputs, dict) else None,
            metadata.get("usage_metadata"),
            r,
            *(_message_usage(fields["outputs"]) if kind == "model" else ()),
        ),
        model=text_in(metadata, "ls_model_name"),
        **fields,
    )


def _message_usage(messages: list[Message]) -> list[dict[str, Any]]:
    usages = (m.usage for m in messages)
    return [{"total": u.tokens, "input": u.input, "output": u.output} for u in usages if u]


FORMAT = TraceFormat("langsmith", "LangSmith runs", _mismatch, _read)
