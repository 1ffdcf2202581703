"""Langfuse: exported observations of retrievers, tools and generations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Context, decode_json, dicts, first_of
from goodgain.traces.format import TraceFormat
from goodgain.traces.spans import Kind, Span, conversations, exchange_fields

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.traces.format import Conversations, Documents

_KINDS: dict[str, Kind] = {"RETRIEVER": "retriever", "TOOL": "tool", "GENERATION": "model"}


def _mismatch(document: Any) -> str:
    observations = list(_observations(document))
    if not observations:
        return "no observations"
    return "" if any("type" in o for o in observations) else "no observation has a type"


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


def _read(documents: Documents, context: Context) -> Conversations:
    return conversations(
        (_span(o, context) for _, d in documents for o in _observations(d)), context
    )


def _span(o: dict[str, Any], context: Context) -> Span:
    kind = _KINDS.get(str(o.get("type")).upper(), "other")
    if (
        kind == "other"
        and str(o.get("type")).upper() == "SPAN"
        and context.is_search(o.get("name"))
    ):
        kind = "tool"
    failed = str(o.get("level")) == "ERROR"
    return Span(
        kind=kind,
        trace=str(first_of(o, "traceId", "trace_id")),
        start=first_of(o, "startTime", "start_time"),
        end=first_of(o, "endTime", "end_time"),
        session=first_of(o, "sessionId", "session_id"),
        name=o.get("name"),
        error=(first_of(o, "statusMessage", "status_message") or "error") if failed else None,
        **exchange_fields(kind, decode_json(o.get("input")), decode_json(o.get("output"))),
    )


FORMAT = TraceFormat("langfuse", "Langfuse observations", _mismatch, _read)
