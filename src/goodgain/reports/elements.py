"""What a section of a page is made of: texts, tables, charts, and widgets with a script of their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from goodgain.reports.chart import Chart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LONGEST = 300  # characters of a name, an id or a title that are shown


@dataclass(frozen=True, slots=True)
class User:
    """A piece of text that came from outside: it is shown as it is, apart from what stands around it."""

    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    """A piece of text to look at first."""

    text: str


Piece = str | User | Strong


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    pieces: Sequence[Piece]
    style: Literal["lead", "plain", "note", "warning"] = "plain"

    @property
    def text(self) -> str:
        """All of it without marks."""
        return "".join(p if isinstance(p, str) else p.text for p in self.pieces)

    def to_dict(self) -> dict[str, Any]:
        """For the page."""
        return {
            "kind": "text",
            "style": self.style,
            "pieces": [
                {"text": p}
                if isinstance(p, str)
                else {
                    "text": cut(p.text),
                    ("user" if isinstance(p, User) else "strong"): True,
                }
                for p in self.pieces
            ],
        }


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; numbers are shown with `digits` after the point."""

    name: str
    kind: Literal["text", "number"] = "number"
    digits: int = 4
    signed: bool = False
    help: str | None = None
    interval: bool = False  # its cells have `low` and `high`

    def to_dict(self) -> dict[str, Any]:
        """For the page."""
        return {
            "name": cut(self.name),
            "kind": self.kind,
            "digits": self.digits,
            "signed": self.signed,
            "help": self.help,
            "interval": self.interval,
        }


@dataclass(frozen=True, slots=True)
class Cell:
    """A value that is shown otherwise than by itself, or with a mark."""

    value: Any
    text: str | None = None
    mark: str = ""
    best: bool = False
    tone: str = ""  # better, worse or muted
    link: str | None = None
    low: float | None = None
    high: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """For the page: what differs from an ordinary value."""
        found: dict[str, Any] = {"value": value_of(self.value)}
        if self.text is not None:
            found["text"] = cut(self.text)
        for name in ("mark", "best", "tone", "link"):
            if getattr(self, name):
                found[name] = getattr(self, name)
        for name in ("low", "high"):
            if getattr(self, name) is not None:
                found[name] = value_of(getattr(self, name))
        return found


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of plain values and cells; `key` names it in file names and addresses."""

    key: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """For the page."""
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
    """Something that has a script of its own: `widgets[name](part, box)` draws it.

    `blocks` stand in the page apart, and are read by the script when it asks for them: `block(key)`.
    """

    name: str
    key: str
    data: Mapping[str, Any] = field(default_factory=dict)
    blocks: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """For the page, without its blocks."""
        return {"kind": "widget", "name": self.name, "key": self.key, **self.data}


Part = Text | Table | Chart | Widget


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it."""

    key: str
    title: str
    parts: Sequence[Part]


def cut(text: str, longest: int = LONGEST) -> str:
    """Text of a bearable length; where something is left out, it is said how much there was."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]}… [cut: {len(text):,} characters]"


def value_of(value: Any) -> Any:
    """A value as JSON has it: undefined is null, and text has a bearable length."""
    if isinstance(value, float) and value != value:
        return None
    return cut(value) if isinstance(value, str) else value


def packed(kind: Literal["f64", "f32", "u32", "u16"], values: Any) -> dict[str, str]:
    """Numbers as the bytes of a typed array: exact, and half the size of their digits."""
    import base64

    import numpy as np

    types = {"f64": "<f8", "f32": "<f4", "u32": "<u4", "u16": "<u2"}
    array = np.ascontiguousarray(values, dtype=types[kind])
    return {kind: base64.b64encode(array.tobytes()).decode("ascii")}
