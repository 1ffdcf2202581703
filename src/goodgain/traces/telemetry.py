"""OpenTelemetry spans: what the conventions built on them share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.usage import Usage, read_usage
from goodgain.traces.values import dicts, first_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


def mismatch_of_spans(document: Any, fits: Callable[[dict[str, Any]], bool], reason: str) -> str:
    """Why these are not spans of which the attributes of one fit."""
    spans = list(spans_of(document))
    if not spans:
        return "no spans with attributes"
    return "" if any(fits(attributes) for _, attributes in spans) else reason


def spans_of(document: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """(span, attributes of it and its resource) in OTLP/JSON, in lists, and in single objects."""
    if isinstance(document, list):
        for item in document:
            yield from spans_of(item)
    elif isinstance(document, dict):
        if "resourceSpans" in document:
            for resource in dicts(document["resourceSpans"]):
                inner = resource.get("resource")
                shared = _attributes(inner.get("attributes") if isinstance(inner, dict) else None)
                for scope in dicts(resource.get("scopeSpans")):
                    for span in dicts(scope.get("spans")):
                        yield span, {**shared, **_attributes(span.get("attributes"))}
        elif isinstance(document.get("spans"), list):
            yield from spans_of(document["spans"])
        elif "attributes" in document:
            yield document, _attributes(document["attributes"])
        elif any(k.startswith("attributes.") for k in document):  # a row of a data frame
            yield document, {k.removeprefix("attributes."): v for k, v in document.items()}


def _attributes(attributes: Any) -> dict[str, Any]:
    """Flat names, from OTLP's list, a flat object, or a nested one."""
    if isinstance(attributes, list):
        return {str(a.get("key")): _otlp_value(a.get("value")) for a in dicts(attributes)}
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

    walk("", attributes if isinstance(attributes, dict) else {})
    if isinstance(attributes, dict):
        flat |= {k: v for k, v in attributes.items() if "." in k}
    return flat


def _values(value: Any) -> Any:
    return value.get("values") if isinstance(value, dict) else None


def _otlp_value(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "arrayValue" in value:
        return [_otlp_value(v) for v in dicts(_values(value["arrayValue"]))]
    if "kvlistValue" in value:
        return {
            str(v.get("key")): _otlp_value(v.get("value"))
            for v in dicts(_values(value["kvlistValue"]))
        }
    return next(iter(value.values()), None)


def _id(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int) and value != "" else None


def flat(attributes: Any) -> dict[str, Any]:
    """Attributes by their full names."""
    return _attributes(attributes)


def objects(attributes: dict[str, Any], prefix: str) -> list[dict[str, Any]]:
    """`prefix`0.x, `prefix`0.y, `prefix`1.x as a list of objects."""
    numbered: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if key.startswith(prefix):
            number, _, name = key.removeprefix(prefix).partition(".")
            if number.isascii() and number.isdigit() and len(number) < 10 and name:
                numbered.setdefault(int(number), {})[name] = value
    return [numbered[number] for number in sorted(numbered)]


def text_in(attributes: Mapping[str, Any], *names: str) -> str | None:
    """The first of these that is a text or a number."""
    values = (attributes.get(name) for name in names)
    return next(
        (
            str(v)
            for v in values
            if isinstance(v, str | int) and not isinstance(v, bool) and v != ""
        ),
        None,
    )


def usage_of_attributes(attributes: Mapping[str, Any], *prefixes: str) -> Usage:
    """The usage in attributes with one of these prefixes."""
    return read_usage(
        *(
            {k.removeprefix(p): v for k, v in attributes.items() if k.startswith(p)}
            for p in prefixes
        )
    )


def common_fields(span: dict[str, Any]) -> dict[str, Any]:
    """The fields of a `Span` that every convention has: its trace, times and error."""
    context: dict[str, Any] = span["context"] if isinstance(span.get("context"), dict) else {}
    status: dict[str, Any] = span["status"] if isinstance(span.get("status"), dict) else {}
    failed = (
        str(first_of(status, "code", "status_code")) in ("2", "STATUS_CODE_ERROR", "ERROR")
        or span.get("status_code") == "ERROR"
    )
    parent = first_of(span, "parentSpanId", "parent_span_id", "parent_id")
    return {
        "id": _id(first_of(span, "spanId", "span_id", "context.span_id") or context.get("span_id")),
        "parent": _id(parent),
        "trace": str(
            first_of(span, "traceId", "trace_id")
            or context.get("trace_id")
            or span.get("context.trace_id")
            or "trace"
        ),
        "start": first_of(
            span, "startTimeUnixNano", "start_time", "startTime", "start_time_unix_nano"
        ),
        "end": first_of(span, "endTimeUnixNano", "end_time", "endTime", "end_time_unix_nano"),
        "error": _error(span, status) if failed else None,
    }


def _error(span: dict[str, Any], status: dict[str, Any]) -> str:
    """The message of the status, or of the exception that is recorded as an event."""
    message = first_of(status, "message", "description")
    for event in dicts(span.get("events")):
        if not message and event.get("name") == "exception":
            facts = _attributes(event.get("attributes"))
            message = facts.get("exception.message") or facts.get("exception.type")
    return str(message or "error")
