"""Judgments of spans of text, and the chunks that were retrieved: what survives another way of chunking."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.io.columns import TABLES, find_columns, has_column
from goodgain.spans.pieces import Piece, find_text, occurrences, parse_chunk_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodgain.io.tables import Table

    Texts = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Span:
    """A judged piece of a document; `name` is unique within its query."""

    name: str
    piece: Piece
    gain: float


@dataclass(frozen=True, slots=True)
class SpanTable:
    """Judged spans by query; `notes` says which quotes could not be located."""

    spans: dict[str, list[Span]]
    name: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkTable:
    """Retrieved chunks by query, best first; `notes` says which could not be located."""

    chunks: dict[str, list[Piece]]
    notes: tuple[str, ...] = ()
    bad_rows: int = 0
    bad_example: str = ""


def read_spans(
    source: Any,
    documents: Texts | None,
    columns: Mapping[str, str] | None = None,
    duplicates: str = "error",
) -> SpanTable:
    """Read (query, doc, start, end, gain) or (query, doc, quote, gain); the gain is 1 by default.

    A quote is located in its document. A span that is empty or ends after its document is an error, and so is
    one that is judged twice for a query, unless `duplicates` is "first" or "best". Spans may overlap.
    """
    from goodgain.io.tables import load_table

    table = load_table(source, "the judgments")
    roles = find_columns(table.columns, "spans", table.name, _chosen(columns, "spans"))
    reader = _Reader(table, roles, documents, "quote")
    judged: dict[
        str, dict[Piece, tuple[float, int]]
    ] = {}  # by place, or by text where there is none
    for row in range(reader.rows):
        query, piece = reader.piece(row)
        place = piece if piece.start is None else Piece(piece.doc, piece.start, piece.end)
        gain = reader.number(row, "value", 1.0)
        own = judged.setdefault(query, {})
        first = own.setdefault(place, (gain, row))
        if first[1] != row and duplicates == "error":
            raise InputError(
                f"the same span of document '{piece.doc}' is judged twice for query '{query}'",
                where=table.where(row),
                hint=f"first at {table.where(first[1])}; duplicates=first or duplicates=best takes one",
            )
        if duplicates == "best" and gain > first[0]:
            own[place] = (gain, first[1])
    spans = {
        query: [
            Span(f"span {i}", piece, gain) for i, (piece, (gain, _)) in enumerate(own.items(), 1)
        ]
        for query, own in judged.items()
    }
    if not spans:
        raise InputError("the judgments are empty", where=table.name)
    return SpanTable(spans, table.name, tuple(reader.notes("judged text that no chunk covers")))


def read_chunks(
    source: Any,
    documents: Texts | None,
    columns: Mapping[str, str] | None = None,
    skip_bad: bool = False,
) -> ChunkTable:
    """The retrieved chunks of each query, best first; equal scores stay in the order of the rows.

    A chunk has offsets, a text that is located in its document, or an id `doc#start-end`. Any other id of a
    document stands for all of it.
    """
    from goodgain.io.tables import load_table

    if not _has_columns(source):
        return _chunks_of_run(source, documents)
    table = load_table(source, "the run")
    roles = find_columns(table.columns, "chunks", table.name, _chosen(columns, "chunks"))
    reader = _Reader(table, roles, documents, "text", ids=True)
    ranked: dict[str, list[tuple[float, int, Piece]]] = {}
    bad: list[str] = []
    for row in range(reader.rows):
        try:
            query, piece = reader.piece(row)
            place = (
                -reader.number(row, "score")
                if "score" in roles
                else reader.number(row, "rank", float(row))
            )
        except InputError as error:
            if not skip_bad:
                raise
            bad.append(f"{error.message} ({error.where})")
            continue
        ranked.setdefault(query, []).append((place, row, piece))
    chunks = {
        query: [piece for _, _, piece in sorted(listed, key=lambda item: item[:2])]
        for query, listed in ranked.items()
    }
    notes = tuple(reader.notes("retrieved text that covers nothing"))
    return ChunkTable(chunks, notes, len(bad), bad[0] if bad else "")


def _has_columns(source: Any) -> bool:
    """Whether a run is a table of chunks, rather than {query: {id: score}} or a file of TREC."""
    from goodgain.data.run import Run
    from goodgain.io.span_tables import names_of

    if isinstance(source, Run):
        return False
    names = names_of(source)
    known = has_column(names, "chunks", "query") and has_column(names, "chunks", "doc")
    if known or not isinstance(source, str | os.PathLike | Mapping):
        return True
    return isinstance(source, Mapping) and all(isinstance(v, list) for v in source.values())


def _chunks_of_run(source: Any, documents: Texts | None) -> ChunkTable:
    """The chunks of an ordinary run, by their ids; equal scores are ranked by id, larger first."""
    from goodgain.data.run import Run

    run = Run.of(source)
    ranked: dict[str, list[tuple[float, str]]] = {}
    if run.source.kind == "dict":  # a query without results is not missing
        ranked = {str(query): [] for query in run.source.value}
    for query, doc, score in zip(*run.rows(), strict=True):
        ranked.setdefault(query, []).append((score, doc))
    chunks = {
        query: [
            piece_of_id(doc, documents, run.source.name) for _, doc in sorted(own, reverse=True)
        ]
        for query, own in ranked.items()
    }
    return ChunkTable(chunks)


def piece_of_id(name: str, documents: Texts | None, where: str) -> Piece:
    """The piece that an id stands for: all of a document, or its chunk `doc#start-end`."""
    if documents is not None and name in documents:
        return Piece(name, 0, len(documents[name]))
    piece = parse_chunk_id(name)
    if piece is None:
        raise InputError(
            f"the result '{name}' has neither offsets nor a text",
            where=where,
            hint="chunks have start and end, a text, or an id doc#start-end; for whole documents pass "
            "documents=... (--documents)",
        )
    return _inside(piece, documents, where)


def _inside(piece: Piece, documents: Texts | None, where: str) -> Piece:
    """The piece, unless it ends after its document."""
    text = None if documents is None else documents.get(piece.doc)
    if text is not None and piece.end is not None and piece.end > len(text):
        raise InputError(
            f"the span {piece.start} to {piece.end} ends after document '{piece.doc}', which has "
            f"{len(text):,} characters",
            where=where,
            hint="offsets count characters (code points), not bytes; a title before the text counts, too",
        )
    return piece


def _chosen(columns: Mapping[str, str] | None, table: str) -> dict[str, str]:
    names = {"gain": "value"} if table == "spans" else {}
    roles = TABLES[table].roles
    renamed = {names.get(role, role): column for role, column in (columns or {}).items()}
    return {role: column for role, column in renamed.items() if role in roles}


class _Reader:
    """The rows of a table as pieces of documents, and what could not be located."""

    def __init__(
        self, table: Table, roles: Mapping[str, str], documents: Texts | None, text_role: str,
        ids: bool = False,
    ) -> None:  # fmt: skip
        self._table = table
        self._roles = roles
        self._documents = documents
        self._text_role = text_role
        self._ids = ids
        self._lost: list[str] = []
        self._unknown: list[str] = []
        self._repeated: list[str] = []
        self.rows = len(table.columns[roles["query"]])

    def piece(self, row: int) -> tuple[str, Piece]:
        """The query of a row and its piece, located if that is possible."""
        table = self._table
        where = table.where(row)
        query, doc = (table.columns[self._roles[role]][row] for role in ("query", "doc"))
        if query in (None, "") or doc in (None, ""):
            raise InputError("missing query or document id", where=where)
        text = str(self._value(row, self._text_role) or "")
        start, end = (self._offset(row, role) for role in ("start", "end"))
        if (start is None) != (end is None):
            raise InputError("a span needs start and end", where=where)
        if start is not None and end is not None:
            if not 0 <= start < end:
                problem = "empty" if start == end else "invalid"
                raise InputError(
                    f"{problem} span {start} to {end}",
                    where=where,
                    hint="start counts from 0, and end is the offset after the last character",
                )
            self._require_known(str(doc), where)
            return str(query), _inside(Piece(str(doc), start, end, text), self._documents, where)
        if not text.strip():
            if self._ids:
                return str(query), piece_of_id(str(doc), self._documents, where)
            raise InputError(
                f"the row has neither start and end nor a {self._text_role}", where=where
            )
        return str(query), self._located(Piece(str(doc), None, None, text), where)

    def _require_known(self, doc: str, where: str) -> None:
        if self._documents is not None and doc not in self._documents:
            self._unknown.append(f"'{doc}' ({where})")

    def _located(self, piece: Piece, where: str) -> Piece:
        if self._documents is None:
            return piece
        text = self._documents.get(piece.doc)
        if text is None and self._ids and (chunk := parse_chunk_id(piece.doc)) is not None:
            return _inside(chunk, self._documents, where)
        place = None if text is None else find_text(text, piece.text)
        if text is None or place is None:
            self._lost.append(f"document '{piece.doc}' ({where})")
            return piece
        if occurrences(text, piece.text) > 1:
            self._repeated.append(f"document '{piece.doc}' ({where})")
        return Piece(piece.doc, *place, piece.text)

    def notes(self, fate: str) -> list[str]:
        """What a reader of the numbers should know; `fate` is how texts that were not located count."""
        what = "quotes" if self._text_role == "quote" else "texts of chunks"
        notes = []
        if self._lost:
            notes.append(
                f"{len(self._lost):,} of {self.rows:,} {what} are not in their documents, for example that "
                f"of {self._lost[0]}: they count as {fate}"
            )
        if self._repeated:
            notes.append(
                f"{len(self._repeated):,} of {self.rows:,} {what} occur more than once in their documents, "
                f"for example that of {self._repeated[0]}: the first place counts"
            )
        if self._unknown:
            notes.append(
                f"{len(self._unknown):,} of {self.rows:,} rows name documents that are not in the documents, "
                f"for example {self._unknown[0]}"
            )
        return notes

    def _value(self, row: int, role: str) -> Any:
        return self._table.columns[self._roles[role]][row] if role in self._roles else None

    def _offset(self, row: int, role: str) -> int | None:
        value = self._value(row, role)
        if value in (None, "") or value != value:
            return None
        number = self.number(row, role)
        if number != int(number):
            raise InputError(f"'{value}' is not a whole offset", where=self._table.where(row))
        return int(number)

    def number(self, row: int, role: str, default: float | None = None) -> float:
        """The number in a column, or the default where it is empty."""
        value = self._value(row, role)
        if (value in (None, "") or value != value) and default is not None:
            return default
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = float("nan")
        if number - number != 0:
            raise InputError(
                f"the {role if role != 'value' else 'gain'} '{value}' is not a finite number",
                where=self._table.where(row),
            )
        return number


def by_document(pieces: Sequence[Piece]) -> dict[str, list[tuple[int, int]]]:
    """The intervals of each document; pieces without offsets are left out."""
    intervals: dict[str, list[tuple[int, int]]] = {}
    for piece in pieces:
        if piece.start is not None and piece.end is not None:
            intervals.setdefault(piece.doc, []).append((piece.start, piece.end))
    return intervals
