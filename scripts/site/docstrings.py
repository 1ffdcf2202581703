"""Docstrings for autodoc: names in backticks become links or code, and results list their fields."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

import annotations
import python_pages
import record_pages

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
    if what == "class" and is_result(name, value):
        lines += fields(value)


def is_result(name: str, value: object) -> bool:
    """Whether a class is made by functions, so that its entry lists its fields."""
    return name.removeprefix("goodgain.") in python_pages.RESULTS or value in record_pages.records()


def fields(value: object) -> list[str]:
    """The fields of a dataclass with their types, as a list of definitions."""
    if not dataclasses.is_dataclass(value):
        return []
    rows = [
        f"- ``{field.name}``: {linked(str(field.type), value.__module__)}"
        for field in dataclasses.fields(value)
        if not field.name.startswith("_")
    ]
    return ["", "Fields:", "", *rows, ""] if rows else []


def linked(text: str, module: str) -> str:
    """An annotation in reStructuredText, with links to the classes that have an entry."""
    text = annotations.expanded(text, module)
    escaped = re.sub(r"([*|_`\\])", r"\\\1", text)
    return annotations.qualified(escaped, module, record_pages.names(), ":py:class:`~{}`\\ ")


def process_signature(
    app: Sphinx, what: str, name: str, value: object, options: object, *texts: str | None
) -> tuple[str | None, str | None]:
    """Write out the keywords that a function passes on."""
    signature, returned = texts
    module = getattr(value, "__module__", "") or ""
    if signature and module.startswith("goodgain"):
        signature = annotations.unpacked(signature, module)
        if what == "class":  # what a record is made from is not in the annotations of a function
            signature = annotations.expanded(signature, module)
    return signature, returned


def prepare(app: Sphinx) -> None:
    """Rewrite the annotations of everything that has an entry, before autodoc reads them."""
    values = [*record_pages.public(), *(value for _, value in record_pages.packaged())]
    annotations.rewrite([*values, *record_pages.records()], record_pages.names())


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the listeners."""
    app.connect("builder-inited", prepare)
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-process-signature", process_signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
