"""Lines of a capture: JSON, whatever a tool returned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goodgain._core import encode_json
from goodgain.traces.objects import document_fields, plain, table_rows, type_name


def encode(event: dict[str, Any]) -> bytes:
    """An event as JSON; what JSON cannot hold is written as its fields, or as the name of its type."""
    try:
        return encode_json(event, _default)
    except (TypeError, ValueError, RecursionError):
        return encode_json(_careful(event, 0), _default)


def _default(value: Any) -> Any:
    """An object that JSON does not know: a document, a table, a number of numpy, a set."""
    try:
        if isinstance(value, Mapping):
            return dict(value)
        rows = table_rows(value)
        if rows is not None:
            return rows
        fields = document_fields(value)
        return plain(value) if fields is None else fields
    except Exception:
        return f"<{type_name(value)}>"


_DEPTH = 50


def _careful(value: Any, depth: int) -> Any:
    """A value without what stops the encoder: NaN, keys that are no text, circles."""
    if depth > _DEPTH:
        return "<nested too deeply>"
    if isinstance(value, dict):
        return {_careful(str(k), depth): _careful(v, depth + 1) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_careful(v, depth + 1) for v in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, str):  # without halves of surrogate pairs
        return value.encode("utf-8", "replace").decode()
    if value is None or isinstance(value, int | float):
        return value
    return _careful(_default(value), depth + 1)
