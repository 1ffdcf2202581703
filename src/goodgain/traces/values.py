"""Values as sources write them: JSON in strings, texts in blocks, times in several notations."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def decode_json(value: Any) -> Any:
    """The value of JSON in a string, even if encoded twice; anything else unchanged."""
    for _ in range(3):
        if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
            return value
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return _literal(value)
    return value


def _literal(text: str) -> Any:
    """The value of a Python literal, as LangChain writes the inputs of tools; else the text."""
    import ast

    if len(text) > 100_000:
        return text
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value if isinstance(value, dict | list) else text


def text_of(content: Any) -> str:
    """The text of a message: a string, or blocks of which some are text."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return text_of(content.get("text") or content.get("content") or "")
    if isinstance(content, list):
        return "\n".join(filter(None, (text_of(block) for block in content if _is_text(block))))
    return ""


def _is_text(block: Any) -> bool:
    return isinstance(block, str) or (
        isinstance(block, dict)
        and block.get("type", "text") in ("text", "input_text", "output_text")
    )


_QUERY_NAMES = (
    "query", "queries", "q", "search_query", "question", "search_term", "keywords", "input", "text",
    "prompt", "__arg1", "args",
)  # fmt: skip


def query_of(arguments: Any) -> str | None:
    """The query in the arguments of a call; several are joined."""
    arguments = decode_json(arguments)
    if isinstance(arguments, dict):
        for name in _QUERY_NAMES:
            if arguments.get(name):
                return query_of(arguments[name])
        inner = next((v for v in arguments.values() if isinstance(v, dict | str) and v), None)
        return query_of(inner) if inner is not None else None
    if isinstance(arguments, list):
        return " | ".join(filter(None, (query_of(a) for a in arguments))) or None
    return None if arguments is None else str(arguments)


def seconds_between(start: Any, end: Any) -> float | None:
    """The seconds between two times: ISO texts, or nanoseconds since 1970."""
    if start is None or end is None:
        return None
    try:
        if isinstance(start, int | float) or str(start).isdigit():
            seconds = (int(end) - int(start)) / 1e9
        else:
            seconds = (_moment(str(end)) - _moment(str(start))).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None
    return round(seconds, 9) if seconds >= 0 else None


def nanoseconds(text: Any) -> int | None:
    """An ISO text as nanoseconds since 1970."""
    import datetime

    try:
        moment = datetime.datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)
    except (ValueError, TypeError):
        return None
    return int(round(moment.timestamp() * 1_000_000) * 1000)


def _moment(text: str) -> Any:
    import datetime

    moment = datetime.datetime.fromisoformat(
        re.sub(r"(\.\d{6})\d+", r"\1", text.replace("Z", "+00:00"))
    )
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)


def dicts(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in a list, without anything else in it; nothing if it is no list."""
    return (
        (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())
    )


def first_of(mapping: Mapping[str, Any], *names: str) -> Any:
    """The first of these values that is not None."""
    return next((mapping[name] for name in names if mapping.get(name) is not None), None)
