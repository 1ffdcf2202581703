"""OpenTelemetry spans: the GenAI conventions, and OpenInference (Phoenix)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Context, dicts, loaded, text_of
from goodgain.traces.spans import Kind, Span, conversations

if TYPE_CHECKING:
    from collections.abc import Iterator

_KIND = "openinference.span.kind"


def refuses_genai(document: Any) -> str:
    """Why these are no GenAI spans; empty where they are."""
    return _refuses(
        document, lambda keys: any(k.startswith("gen_ai.") for k in keys), "no attribute gen_ai.*"
    )


def refuses_openinference(document: Any) -> str:
    """Why these are no OpenInference spans."""
    return _refuses(document, lambda keys: _KIND in keys, f"no attribute {_KIND}")


def _refuses(document: Any, fits: Any, reason: str) -> str:
    spans = list(_spans(document))
    if not spans:
        return "no spans with attributes"
    return "" if any(fits(attributes) for _, attributes in spans) else reason


def _spans(document: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """(span, its attributes and those of its resource) in OTLP/JSON, lists, and one object a line."""
    if isinstance(document, list):
        for item in document:
            yield from _spans(item)
    elif isinstance(document, dict):
        if "resourceSpans" in document:
            for resource in dicts(document["resourceSpans"]):
                shared = _attributes((resource.get("resource") or {}).get("attributes"))
                for scope in dicts(resource.get("scopeSpans")):
                    for span in dicts(scope.get("spans")):
                        yield span, {**shared, **_attributes(span.get("attributes"))}
        elif isinstance(document.get("spans"), list):
            yield from _spans(document["spans"])
        elif "attributes" in document:
            yield document, _attributes(document["attributes"])
        elif any(
            "." in k and (k.startswith("attributes.")) for k in document
        ):  # a data frame's row
            yield document, {k.removeprefix("attributes."): v for k, v in document.items()}


def _attributes(given: Any) -> dict[str, Any]:
    """Flat names, from OTLP's list, a flat object, or a nested one."""
    if isinstance(given, list):
        return {str(a.get("key")): _otlp(a.get("value")) for a in dicts(given)}
    flat: dict[str, Any] = {}

    def walk(prefix: str, value: Any) -> None:
        if isinstance(value, dict) and value:
            for k, v in value.items():
                walk(f"{prefix}.{k}" if prefix else str(k), v)
        elif isinstance(value, list) and any(isinstance(v, dict) for v in value):
            flat[prefix] = value
            for i, v in enumerate(value):
                walk(f"{prefix}.{i}", v)
        else:
            flat[prefix] = value

    walk("", given if isinstance(given, dict) else {})
    if isinstance(given, dict):
        flat |= {k: v for k, v in given.items() if "." in k}
    return flat


def _otlp(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "arrayValue" in value:
        return [_otlp(v) for v in (value["arrayValue"] or {}).get("values", [])]
    if "kvlistValue" in value:
        return {
            v.get("key"): _otlp(v.get("value"))
            for v in dicts((value["kvlistValue"] or {}).get("values"))
        }
    return next(iter(value.values()), None)


def _common(span: dict[str, Any]) -> dict[str, Any]:
    context: dict[str, Any] = span["context"] if isinstance(span.get("context"), dict) else {}
    status: dict[str, Any] = span["status"] if isinstance(span.get("status"), dict) else {}
    failed = (
        status.get("code") in (2, "STATUS_CODE_ERROR", "ERROR")
        or span.get("status_code") == "ERROR"
    )

    def first(*names: str) -> Any:
        return next((span[n] for n in names if span.get(n) is not None), None)

    return {
        "trace": str(
            first("traceId", "trace_id")
            or context.get("trace_id")
            or span.get("context.trace_id")
            or "trace"
        ),
        "start": first("startTimeUnixNano", "start_time", "startTime", "start_time_unix_nano"),
        "end": first("endTimeUnixNano", "end_time", "endTime", "end_time_unix_nano"),
        "error": (status.get("message") or "error") if failed else None,
    }


def read_genai(documents: Iterator[tuple[str, Any]], context: Context) -> Iterator[dict[str, Any]]:
    """Spans of the GenAI conventions: retrieval, execute_tool, and generations."""
    return conversations((_genai(s, a) for _, d in documents for s, a in _spans(d)), context)


def _genai(span: dict[str, Any], a: dict[str, Any]) -> Span:
    operation = a.get("gen_ai.operation.name")
    kinds: dict[Any, Kind] = {"retrieval": "retriever", "execute_tool": "tool"}
    kinds |= dict.fromkeys(("chat", "text_completion", "generate_content"), "model")
    made = loaded(a.get("gen_ai.output.messages"))
    calls = [
        p.get("id")
        for m in dicts(made)
        for p in dicts(m.get("parts"))
        if p.get("type") in ("tool_call", "server_tool_call")
    ]
    asked = [m for m in dicts(loaded(a.get("gen_ai.input.messages"))) if m.get("role") == "user"]
    user = None
    for m in asked:
        user = (
            "\n".join(
                str(p.get("content")) for p in dicts(m.get("parts")) if p.get("type") == "text"
            )
            or user
        )
    query = a.get("gen_ai.retrieval.query.text", a.get("gen_ai.tool.call.arguments"))
    output = a.get("gen_ai.retrieval.documents", a.get("gen_ai.tool.call.result"))
    return Span(
        kinds.get(operation, "other"),
        **_common(span),
        session=a.get("gen_ai.conversation.id") or a.get("session.id"),
        name=a.get("gen_ai.tool.name")
        or a.get("gen_ai.data_source.id")
        or ("retrieval" if operation == "retrieval" else None),
        call=a.get("gen_ai.tool.call.id"),
        calls=tuple(c for c in calls if c),
        query=query,
        output=output,
        user=user,
        system=a.get("gen_ai.agent.name"),
    )


def read_openinference(
    documents: Iterator[tuple[str, Any]], context: Context
) -> Iterator[dict[str, Any]]:
    """Spans of OpenInference: RETRIEVER, TOOL and LLM."""
    return conversations(
        (_openinference(s, a) for _, d in documents for s, a in _spans(d)), context
    )


def _openinference(span: dict[str, Any], a: dict[str, Any]) -> Span:
    kinds: dict[Any, Kind] = {"RETRIEVER": "retriever", "TOOL": "tool", "LLM": "model"}
    kind = kinds.get(str(a.get(_KIND)).upper(), "other")
    documents = _numbered(a, "retrieval.documents.")
    users = [m for m in _numbered(a, "llm.input_messages.") if m.get("message.role") == "user"]
    given = loaded(a.get("output.value"))
    return Span(
        kind,
        **_common(span),
        session=a.get("session.id"),
        name=a.get("tool.name") or span.get("name"),
        call=a.get("tool.id")
        or a.get("tool_call.id")
        or (given.get("tool_call_id") if isinstance(given, dict) else None),
        calls=tuple(
            str(v)
            for k, v in a.items()
            if k.startswith("llm.output_messages.") and k.endswith("tool_call.id")
        ),
        query=a.get("input.value"),
        output=[_document(d) for d in documents] if documents else given,
        user=text_of(users[-1].get("message.content")) if users else None,
    )


def _numbered(attributes: dict[str, Any], prefix: str) -> list[dict[str, Any]]:
    """`prefix`0.x, `prefix`0.y, `prefix`1.x as a list of objects."""
    found: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        number, _, rest = (
            key.removeprefix(prefix).partition(".") if key.startswith(prefix) else ("", "", "")
        )
        if number.isdigit() and rest:
            found.setdefault(int(number), {})[rest] = value
    return [found[n] for n in sorted(found)]


def _document(d: dict[str, Any]) -> dict[str, Any]:
    plain = {
        k.removeprefix("document."): loaded(v) if k.endswith("metadata") else v
        for k, v in d.items()
    }
    return {k: v for k, v in plain.items() if "." not in k}
