"""Docstrings for autodoc: names in backticks become links or code, and results list their fields."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

import python_pages

import goodgain

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SPAN = re.compile(r"(?<![`:\w])`([^`\n]+)`(?!`)(\w?)")
NAMES = frozenset(goodgain.__all__)


def span(match: re.Match[str]) -> str:
    """A code span of Markdown in reStructuredText: a link if it is a public name."""
    text, rest = match.groups()
    rest = f"\\ {rest}" if rest else ""  # markup ends at a word boundary
    if text.removeprefix("goodgain.").removeprefix("gg.") in NAMES:
        return f":py:obj:`{text} <goodgain.{text.rpartition('.')[2]}>`{rest}"
    return f"``{text}``{rest}"


def process(
    app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Rewrite the lines of a docstring in place, apart from examples."""
    example = False
    for number, line in enumerate(lines):
        example = line.startswith(">>> ") or (example and bool(line.strip()))
        if not example:
            lines[number] = SPAN.sub(span, line)
    if what == "class" and name.removeprefix("goodgain.") in python_pages.RESULTS:
        lines += fields(value)


def fields(value: object) -> list[str]:
    """The fields of a dataclass with their types, as a list of definitions."""
    if not dataclasses.is_dataclass(value):
        return []
    rows = [
        f"{field.name}: {field.type}"
        for field in dataclasses.fields(value)
        if not field.name.startswith("_")
    ]
    return ["", "Fields:", "", *(f"- ``{row}``" for row in rows), ""]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the listener."""
    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
