"""Judgments of spans of text, and the chunks that were retrieved: what survives another way of chunking."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.io.columns import TABLES, find_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goodgain.io.tables import Table

_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a document, by offsets or, where they are unknown, only by its text."""

    doc: str
    start: int | None
    end: int | None
    text: str = ""

    @property
    def length(self) -> int:
        """Its characters."""
        if self.start is None or self.end is None:
            return len(self.text)
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Span:
    """A judged piece of a document; `name` is unique within its query."""

    name: str
    piece: Piece
    gain: float


@dataclass(frozen=True, slots=True)
class SpanTable:
    """Judged spans by query, and how many quotes were not found in their documents."""

    spans: dict[str, list[Span]]
    name: str
    lost: tuple[str, ...] = ()


def read_spans(
    source: Any, documents: Mapping[str, str] | None, columns: Mapping[str, str] | None = None
) -> SpanTable:
    """Read (query, doc, start, end, gain) or (query, doc, quote, gain); the gain is 1 by default."""
    from goodgain.io.tables import load_table

    table = load_table(source, "the judgments")
    roles = find_columns(table.columns, "spans", table.name, _chosen(columns, "spans"))
    spans: dict[str, list[Span]] = {}
    lost = []
    for row in range(len(table.columns[roles["query"]])):
        query, piece = _piece(table, roles, row, "quote")
        gain = _number(table, roles.get("value"), row, 1.0)
        located = locate(piece, documents)
        if located is None:
            lost.append(f"a quote of document '{piece.doc}' is not in it ({table.where(row)})")
        listed = spans.setdefault(query, [])
        listed.append(Span(f"span {len(listed) + 1}", located or piece, gain))
    if not spans:
        raise InputError("the judgments are empty", where=table.name)
    return SpanTable(spans, table.name, tuple(lost))


def read_chunks(
    source: Any, documents: Mapping[str, str] | None, columns: Mapping[str, str] | None = None
) -> tuple[dict[str, list[Piece]], tuple[str, ...]]:
    """The retrieved chunks of each query, best first, and what could not be located."""
    from goodgain.io.tables import load_table

    table = load_table(source, "the run")
    roles = find_columns(table.columns, "chunks", table.name, _chosen(columns, "chunks"))
    ranked: dict[str, list[tuple[float, int, Piece]]] = {}
    lost = []
    for row in range(len(table.columns[roles["query"]])):
        query, piece = _piece(table, roles, row, "text")
        located = locate(piece, documents)
        if located is None:
            lost.append(
                f"the text of a chunk is not in document '{piece.doc}' ({table.where(row)})"
            )
        if "score" in roles:
            place = -_number(table, roles["score"], row)
        else:
            place = _number(table, roles.get("rank"), row, float(row))
        ranked.setdefault(query, []).append((place, row, located or piece))
    chunks = {
        query: [piece for _, _, piece in sorted(listed, key=lambda item: item[:2])]
        for query, listed in ranked.items()
    }
    return chunks, tuple(lost)


def _chosen(columns: Mapping[str, str] | None, table: str) -> dict[str, str]:
    names = {"gain": "value"} if table == "spans" else {}
    roles = TABLES[table].roles
    renamed = {names.get(role, role): column for role, column in (columns or {}).items()}
    return {role: column for role, column in renamed.items() if role in roles}


def _piece(table: Table, roles: Mapping[str, str], row: int, text_role: str) -> tuple[str, Piece]:
    query, doc = (table.columns[roles[role]][row] for role in ("query", "doc"))
    if query in (None, "") or doc in (None, ""):
        raise InputError("missing query or document id", where=table.where(row))
    text = str(table.columns[roles[text_role]][row] or "") if text_role in roles else ""
    offsets = [_offset(table, roles.get(role), row) for role in ("start", "end")]
    start, end = offsets
    if (start is None) != (end is None):
        raise InputError("a span needs start and end", where=table.where(row))
    if start is not None and end is not None and not 0 <= start < end:
        raise InputError(
            f"invalid span {start} to {end}",
            where=table.where(row),
            hint="start counts from 0, and end is the offset after the last character",
        )
    if start is None and not text:
        raise InputError(
            f"the row has neither start and end nor a {text_role}", where=table.where(row)
        )
    return str(query), Piece(str(doc), start, end, text)


def _offset(table: Table, column: str | None, row: int) -> int | None:
    if column is None or table.columns[column][row] in (None, ""):
        return None
    number = _number(table, column, row)
    if number != int(number):
        raise InputError(f"'{number}' is not a whole offset", where=table.where(row))
    return int(number)


def _number(table: Table, column: str | None, row: int, default: float | None = None) -> float:
    value = None if column is None else table.columns[column][row]
    if value in (None, "") and default is not None:
        return default
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = float("nan")
    if number - number != 0:
        raise InputError(f"'{value}' is not a finite number", where=table.where(row))
    return number


def locate(piece: Piece, documents: Mapping[str, str] | None) -> Piece | None:
    """The piece with its offsets: exactly, else with white space normalised. None if it is not there."""
    if piece.start is not None or documents is None:
        return piece
    text = documents.get(piece.doc)
    if text is None:
        return None
    start = text.find(piece.text)
    if start >= 0:
        return Piece(piece.doc, start, start + len(piece.text), piece.text)
    words = [re.escape(word) for word in piece.text.split()]
    match = re.search(r"\s+".join(words), text) if words else None
    return match and Piece(piece.doc, match.start(), match.end(), piece.text)


def normalised(text: str) -> str:
    """White space and case do not matter for quotes."""
    return _SPACE.sub(" ", text).strip().casefold()


def merge(intervals: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The union of intervals, in order."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def overlap(
    one: Sequence[tuple[int, int]], other: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The parts that two unions of intervals share."""
    shared = [(max(a, c), min(b, d)) for a, b in one for c, d in other if max(a, c) < min(b, d)]
    return merge(shared)
