"""Values inside text: JSON, and the notation of Python objects."""

from __future__ import annotations

import json
from typing import Any

from goodgain.traces.results.literals import parse_literal

_OPENING = ("{", "[", '"', "(")


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
            inner = parse_literal(text)
            if inner is None:
                break
        if text[0] == '"' and not isinstance(inner, str):
            break
        value = inner
    return value
