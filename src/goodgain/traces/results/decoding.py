"""Values inside text: JSON, and the notation of Python objects."""

from __future__ import annotations

import json
from typing import Any

from goodgain.traces.results.literals import parse_literal, parse_string

_OPENING = ("{", "[", '"', "'", "(")


def decode(value: Any) -> Any:
    """The value in a text that is JSON or a Python literal as a whole, even if encoded twice."""
    for _ in range(4):
        if isinstance(value, bytes | bytearray):
            value = bytes(value).decode("utf-8", "replace")
        if not isinstance(value, str):
            break
        text = value.lstrip("\ufeff \t\r\n")
        if not text.startswith(_OPENING):
            break
        try:
            inner = json.loads(text)
        except RecursionError:
            break
        except ValueError:
            inner = _parse_python(text)
            if inner is None:
                break
        value = inner
    return value


def _parse_python(text: str) -> Any:
    """The value of a text in Python's notation as a whole; None if it is not."""
    if text[0] not in "'\"":
        return parse_literal(text)
    string, end = parse_string(text, 0)
    return string if end and string[:1] in _OPENING and not text[end:].strip() else None
