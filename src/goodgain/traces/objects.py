"""The objects that search libraries return, as canonical results."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from typing import Any

from goodgain.data.trace import RESULT_FIELDS, Result
from goodgain.errors import UsageError
from goodgain.traces.results import Finding, find_results, result_of
from goodgain.traces.results.objects import read_text_item

_CANONICAL = {*RESULT_FIELDS, "metadata"}
_HINT = (
    "pass dictionaries with an id, url, title or content, strings, or documents of a search library"
)


def plain_results(value: Any) -> Finding:
    """The results in what a search returned: a list of any kind of document, or a whole response.

    Whatever cannot be understood is an error that names its type.
    """
    if isinstance(value, str | Mapping) or _is_response(value) or _is_blocks(value):
        finding = find_results(value if isinstance(value, str) else plain(value))
        if finding.account == "unread":
            raise UsageError(
                f"no results in the response of type '{type_name(value)}'",
                hint="pass the list of results, [] for an empty search, or unread='...'",
            )
        return finding
    rows = table_rows(value)
    if rows is None and (isinstance(value, bytes) or not isinstance(value, Iterable)):
        raise UsageError(f"cannot record results of type '{type_name(value)}'", hint=_HINT)
    results = [plain_result(item) for item in (value if rows is None else rows)]
    return Finding(results, "result" if results else "empty", "")


def plain_result(value: Any) -> dict[str, Any]:
    """One result: a document of a search library, a record, a pair with its score, a string."""
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, tuple | list) and not hasattr(value, "_asdict"):
        return _scored(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return {"id": str(value)}
    if isinstance(value, str):
        if not value.strip():
            raise UsageError("cannot record an empty string as a result", hint=_HINT)
        return read_text_item(value)[0]
    fields = document_fields(value)
    if not isinstance(fields, Mapping):
        raise UsageError(f"cannot record a result of type '{type_name(value)}'", hint=_HINT)
    return _mapped(fields, type_name(value))


def plain(value: Any) -> Any:
    """A value as JSON can hold it; an error that names the type of what it cannot."""
    import datetime
    import decimal
    import enum
    import uuid

    if isinstance(value, enum.Enum):
        return plain(value.value)
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | float):
        return int(value) if isinstance(value, int) else float(value)
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, tuple | list | set | frozenset) and not hasattr(value, "_asdict"):
        return [plain(v) for v in value]
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, uuid.UUID | os.PathLike):
        return str(value)
    if isinstance(value, decimal.Decimal):
        return float(value)
    if hasattr(value, "tolist") and hasattr(value, "dtype"):  # numpy
        return plain(value.tolist())
    fields = _record_fields(value)
    if fields is None:
        raise UsageError(f"cannot record a value of type '{type_name(value)}'", hint=_HINT)
    return plain(fields)


def plain_number(name: str, value: Any) -> float | None:
    """A number, also one of numpy; None stays None."""
    number = plain(value)
    if number is None:
        return None
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        raise UsageError(f"{name} must be a finite number, got {number!r}")
    return number


def type_name(value: Any) -> str:
    """The name of a value's type, with its module unless it is built in."""
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _is_response(value: Any) -> bool:
    """Whether this is a model or record that holds results, not a list of them."""
    return not isinstance(value, list | tuple) and _record_fields(value) is not None


def _is_blocks(value: Any) -> bool:
    """Whether this is the content of a tool's message (MCP), which holds results as text."""
    return isinstance(value, list) and any(
        isinstance(block, Mapping)
        and block.get("type") in ("text", "resource")
        and set(block) <= {"type", "text", "resource", "annotations", "_meta"}
        for block in value
    )


def table_rows(value: Any) -> list[Any] | None:
    """The rows of a pandas or polars table."""
    if hasattr(value, "iterrows") and hasattr(value, "to_dict"):
        return list(value.to_dict(orient="records"))
    return list(value.to_dicts()) if hasattr(value, "to_dicts") else None


def _scored(pair: Any) -> dict[str, Any]:
    """A document with its score, in either order."""
    scores = [v for v in pair if _is_number(v)]
    others = [v for v in pair if not _is_number(v)]
    if len(pair) != 2 or len(scores) != 1 or isinstance(others[0], tuple | list):
        kinds = ", ".join(type_name(v) for v in pair)
        raise UsageError(
            f"cannot record a result of type '{type_name(pair)}' of ({kinds})",
            hint="a pair is (document, score); otherwise " + _HINT,
        )
    return {**plain_result(others[0]), "score": plain_number("score", scores[0])}


def _is_number(value: Any) -> bool:
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        value = value.item()
    return isinstance(value, int | float) and not isinstance(value, bool)


def document_fields(value: Any) -> Any:
    """The fields of a document, by what it has rather than by its class: no library is imported."""
    if isinstance(value, Mapping):
        return value
    if hasattr(value, "page_content") and hasattr(value, "metadata"):  # LangChain
        fields = {"page_content": value.page_content, "metadata": value.metadata}
        return {**fields, "id": getattr(value, "id", None)}
    if hasattr(value, "node") and hasattr(value, "score"):  # LlamaIndex: a node with its score
        inner = document_fields(value.node)
        return {**inner, "score": value.score} if isinstance(inner, Mapping) else None
    if hasattr(value, "get_content") and hasattr(value, "node_id"):  # LlamaIndex: a node
        document = getattr(value, "ref_doc_id", None)
        ids = {"id": value.node_id, "node_id": value.node_id, "doc_id": document}
        return {**ids, "text": value.get_content(), "metadata": value.metadata}
    if hasattr(value, "meta") and hasattr(value, "content") and hasattr(value, "id"):  # Haystack
        fields = {"id": value.id, "content": value.content, "metadata": value.meta}
        return {**fields, "score": getattr(value, "score", None)}
    return _record_fields(value)


def _record_fields(value: Any) -> dict[str, Any] | None:
    """The fields of a pydantic model, a dataclass, an attrs class or a named tuple; None for others."""
    import dataclasses

    if isinstance(value, type):
        return None
    if hasattr(value, "model_dump"):
        return dict(value.model_dump())
    if dataclasses.is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if hasattr(value, "_asdict"):
        return dict(value._asdict())
    attributes = getattr(value, "__attrs_attrs__", None)
    return None if attributes is None else {a.name: getattr(value, a.name) for a in attributes}


def _mapped(fields: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """A canonical result; what has no place of its own stays under `metadata`."""
    item = {k: v for k, v in plain(fields).items() if v is not None}
    canonical = {k: v for k, v in item.items() if k in RESULT_FIELDS}
    result = result_of(item)
    if set(item) <= _CANONICAL:
        result |= canonical
    if not set(result) & {"id", "ids", "url", "title", "snippet", "content", "fields"}:
        names = ", ".join(f"'{name}'" for name in item) or "no fields"
        raise UsageError(
            f"a result of type '{kind}' has neither an id nor a URL, a title or a text", hint=names
        )
    for name in ("score", "gain"):
        if name in result:
            result[name] = plain_number(name, result[name])
    rest = {
        k: v
        for source in (item.get("metadata"), {k: v for k, v in item.items() if k != "metadata"})
        if isinstance(source, dict)
        for k, v in source.items()
        if v not in (None, "", [], {}) and not _holds(result, v)
    }
    return {**result, "metadata": rest} if rest else result


def _holds(result: Any, value: Any) -> bool:
    """Whether a value stands somewhere in a result."""
    if isinstance(result, dict):
        return any(_holds(inner, value) for inner in result.values())
    return bool(result == value or str(result) == str(value))
