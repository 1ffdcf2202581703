"""The elements of a report section: texts, tables, charts, and widgets with their own script."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from goodgain.reports.chart import Chart
from goodgain.results.spans import Link as Link
from goodgain.results.spans import Span as Span
from goodgain.results.spans import Strong as Strong
from goodgain.results.spans import UserText as UserText
from goodgain.results.spans import spans_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_CHARACTERS = 300  # of a name, an id or a title


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    spans: Sequence[Span]
    style: Literal["lead", "plain", "note", "warning"] = "plain"
    whole: bool = False  # not cut, however long: a command that is to be run again

    @property
    def text(self) -> str:
        """The paragraph as plain text."""
        return spans_text(self.spans)

    def to_dict(self) -> dict[str, Any]:
        """JSON data for the page."""
        return {
            "kind": "text",
            "style": self.style,
            "spans": [_span_data(s, self.whole) for s in self.spans],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A table column; numbers are shown with `digits` decimals."""

    name: str
    kind: Literal["text", "number"] = "number"
    digits: int = 4
    signed: bool = False
    help: str | None = None
    interval: bool = False  # its cells have `low` and `high`
    marks: bool = False  # its cells have room for stars

    def to_dict(self) -> dict[str, Any]:
        """JSON data for the page."""
        return {
            "name": cut(self.name),
            "kind": self.kind,
            "digits": self.digits,
            "signed": self.signed,
            "help": self.help,
            "interval": self.interval,
            "marks": self.marks,
        }


def text_columns(*names: str) -> list[Column]:
    """Columns of text."""
    return [Column(name=name, kind="text") for name in names]


def number_columns(*names: str, digits: int = 4) -> list[Column]:
    """Columns of numbers with the same number of decimals."""
    return [Column(name=name, digits=digits) for name in names]


def count_columns(*names: str) -> list[Column]:
    """Columns of whole numbers."""
    return number_columns(*names, digits=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A table value with its own text, mark, tone, link or interval."""

    value: Any
    text: str | None = None
    mark: str = ""
    best: bool = False
    tone: str = ""  # better, worse or muted
    link: str | None = None
    low: float | None = None
    high: float | None = None
    span: str = ""  # the interval as text, where it has units

    def to_dict(self) -> dict[str, Any]:
        """JSON data for the page; default values are omitted."""
        data: dict[str, Any] = {"value": value_of(self.value)}
        if self.text is not None:
            data["text"] = cut(self.text)
        for name in ("mark", "best", "tone", "link", "span"):
            if getattr(self, name):
                data[name] = getattr(self, name)
        for name in ("low", "high"):
            if getattr(self, name) is not None:
                data[name] = value_of(getattr(self, name))
        return data


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of plain values and cells; `key` identifies the table in file names and URLs."""

    key: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """JSON data for the page."""
        return {
            "kind": "table",
            "key": self.key,
            "title": self.title,
            "note": self.note,
            "columns": [c.to_dict() for c in self.columns],
            "rows": [
                [v.to_dict() if isinstance(v, Cell) else value_of(v) for v in row]
                for row in self.rows
            ],
        }


@dataclass(frozen=True, slots=True)
class Widget:
    """An interactive element drawn by its own script: `widgets[name](data, box)`.

    `blocks` are separate JSON blocks of the page that the script parses on demand with `block(key)`.
    """

    name: str
    key: str
    data: Mapping[str, Any] = field(default_factory=dict)
    blocks: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """JSON data for the page, without the blocks."""
        return {"kind": "widget", "name": self.name, "key": self.key, **self.data}


Element = Text | Table | Chart | Widget


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the elements below it; a folded one is opened by the reader, who sees its `hint`."""

    key: str
    title: str
    elements: Sequence[Element]
    folded: bool = False
    hint: str = ""


def _span_data(span: Span, whole: bool) -> dict[str, Any]:
    if isinstance(span, str):
        return {"text": span}
    text = span.text if whole else cut(span.text)
    if isinstance(span, Link):
        return {"text": text, "address": span.address}
    return {"text": text, ("user" if isinstance(span, UserText) else "strong"): True}


def cut(text: str, limit: int = MAX_CHARACTERS) -> str:
    """Text of at most `limit` characters, with a note when it was longer."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… [cut: {len(text):,} characters]"


def value_of(value: Any) -> Any:
    """A JSON value: what is not finite becomes null, long text is cut."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return cut(value) if isinstance(value, str) else value


def packed(kind: Literal["f64", "f32", "u32", "u16"], values: Any) -> dict[str, str]:
    """Numbers as base64 bytes of a typed array: exact, and half the size of decimal text."""
    import base64

    import numpy as np

    types = {"f64": "<f8", "f32": "<f4", "u32": "<u4", "u16": "<u2"}
    array = np.ascontiguousarray(values, dtype=types[kind])
    return {kind: base64.b64encode(array.tobytes()).decode("ascii")}
