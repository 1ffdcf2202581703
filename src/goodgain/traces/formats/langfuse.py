"""Langfuse: exported observations of retrievers, tools and generations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from goodgain.traces.format import TraceFormat
from goodgain.traces.spans import Kind, Span, conversations, exchange_fields
from goodgain.traces.telemetry import text_in
from goodgain.traces.usage import Usage, read_usage
from goodgain.traces.values import decode_json, dicts, first_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents

_KINDS: dict[str, Kind] = {
    "RETRIEVER": "retriever",
    "TOOL": "tool",
    "GENERATION": "model",
    "SPAN": "span",
}


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
        elif isinstance(document.get("batch"), list):
            yield from _ingested(document["batch"])
        elif (
            ("traceId" in document or "trace_id" in document)
            and ("startTime" in document or "start_time" in document)
            and "type" in document
            and "run_type" not in document
        ):
            yield document


_EVENT = re.compile(r"(?P<kind>[a-z]+)-(?:create|update)$")


def _ingested(batch: list[Any]) -> Iterator[dict[str, Any]]:
    """Observations as clients send them: events that create and update one, by its id."""
    events = [e for e in dicts(batch) if isinstance(e.get("body"), dict)]
    sessions = {
        str(e["body"].get("id")): e["body"].get("sessionId")
        for e in events
        if e.get("type") == "trace-create"
    }
    for event in events:
        kind = _EVENT.match(str(event.get("type")))
        if kind is None or kind["kind"] == "trace":
            continue
        body = event["body"]
        type_ = body.get("type") if kind["kind"] == "observation" else kind["kind"].upper()
        yield {"sessionId": sessions.get(str(body.get("traceId"))), **body, "type": type_}


def _read(documents: Documents, context: Context) -> Conversations:
    spans = (
        _span(o, f"{where} observation {n}")
        for where, document in documents
        for n, o in enumerate(_observations(document), 1)
    )
    return conversations(spans, context)


def _span(o: dict[str, Any], where: str) -> Span:
    kind = _KINDS.get(str(o.get("type")).upper(), "other")
    failed = str(o.get("level")) == "ERROR"
    return Span(
        kind=kind,
        where=where,
        id=str(o.get("id") or "") or None,
        parent=str(first_of(o, "parentObservationId", "parent_observation_id") or "") or None,
        trace=str(first_of(o, "traceId", "trace_id")),
        start=first_of(o, "startTime", "start_time"),
        end=first_of(o, "endTime", "end_time"),
        session=first_of(o, "sessionId", "session_id"),
        name=o.get("name"),
        error=(first_of(o, "statusMessage", "status_message") or "error") if failed else None,
        usage=_usage(o),
        model=text_in(o, "model", "providedModelName", "provided_model_name"),
        **exchange_fields(kind, decode_json(o.get("input")), decode_json(o.get("output"))),
    )


def _usage(o: dict[str, Any]) -> Usage:
    """Langfuse writes a cost of 0 where it knows no price."""
    costs = read_usage(
        {"cost": first_of(o, "costDetails", "cost_details")},
        {k: v for k, v in o.items() if v},
    )
    tokens = read_usage(first_of(o, "usageDetails", "usage_details"), o.get("usage"), o)
    cost = costs.cost or None
    return Usage(
        tokens=tokens.tokens or None,
        input=tokens.input,
        output=tokens.output,
        cached=tokens.cached,
        cost=cost,
    )


FORMAT = TraceFormat("langfuse", "Langfuse observations", _mismatch, _read)
