"""Pairs of a question and a document, which are what is labelled, from files, data frames and rows."""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Any

from goodgain.errors import InputError
from goodgain.io.columns import find_columns
from goodgain.io.files import is_text, plain_descriptor, read_head, strict_decoder
from goodgain.io.naming import display_name, format_of
from goodgain.io.tables import Table, load_table
from goodgain.labels.hashes import Hashes, HashTable, short_hash

_FORMS = '(question, text), or {"query_id": ..., "doc_id": ..., "question": ..., "text": ...}'


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and a document: their ids and their texts."""

    query: str
    doc: str
    question: str
    text: str
    narrative: str = ""  # what the query means, for prompts that show it
    answer: str = ""  # the gold answer of the query, for prompts that show it


@dataclass(frozen=True, slots=True)
class Excerpt(Pair):
    """A pair whose text is what one system has shown of the document; another one may show more of it."""


_scan = strict_decoder().scan_once
_RECENT = 1_000  # queries
_BATCH = 1000  # pairs that are checked at once, which takes a third of the time of one by one

Place = tuple[str, Pair]  # where a pair stands, and the pair


class _Texts:
    """Refuses a query id with two questions, and a query and document with two texts."""

    def __init__(self) -> None:
        self._questions: dict[str, str] = {}  # of recent queries, which need no look-up
        self._table = HashTable()
        self._beginning = ""  # of every place; a number follows

    def check(self, pairs: Sequence[Place]) -> None:
        """Compare the texts of pairs with those of the same ids before."""
        rows = []
        for where, pair in pairs:
            if type(pair) is Excerpt:
                continue
            self._beginning = where.rstrip("0123456789")
            number = int(where[len(self._beginning) :])
            query = pair.query
            if self._questions.get(query) != pair.question:
                rows.append((short_hash(query), short_hash(pair.question), number))
                if len(self._questions) > _RECENT:
                    self._questions.clear()
                self._questions[query] = pair.question
            rows.append((short_hash(query, pair.doc), short_hash(pair.text), number))
        if stored := self._table.add(rows):
            for where, pair in pairs:
                if type(pair) is not Excerpt:
                    self._compare(stored, "query", (pair.query,), pair.question, where)
                    self._compare(stored, "document", (pair.query, pair.doc), pair.text, where)

    def _compare(
        self, stored: Hashes, kind: str, ids: tuple[str, ...], text: str, where: str
    ) -> None:
        first, number = stored.get(short_hash(*ids), (None, 0))
        if first is not None and first != short_hash(text):
            raise InputError(
                f"{kind} '{ids[-1]}' has two different texts: another one in {self._beginning}{number}",
                where=where,
                hint="an id must have only one text: give them different ids, or leave one of them out",
            )


def read_pairs(source: Any) -> Iterator[Pair]:
    """Pairs from a file, a data frame, or rows: `Pair`s, objects or tuples.

    Tuples are (question, text) or (query, doc, question, text).
    """
    rows: Iterable[tuple[str, Any]]
    if isinstance(source, str | os.PathLike):
        rows = file_rows(os.fspath(source))
    elif hasattr(source, "__arrow_c_stream__"):
        rows = table_rows(load_table(source, "pairs"))
    elif isinstance(source, Iterable):
        rows = ((f"row {number}", row) for number, row in enumerate(source, 1))
    else:
        raise InputError(f"cannot read pairs from {source!r:.80}", hint=f"rows are {_FORMS}")
    texts = _Texts()
    places = (
        (where, _checked(row, where) if isinstance(row, Pair) else pair_of(row, where))
        for where, row in rows
    )
    some = False
    while batch := list(islice(places, _BATCH)):
        some = True
        texts.check(batch)
        yield from (pair for _, pair in batch)
    if not some and isinstance(source, str | os.PathLike):
        raise InputError(
            "there are no pairs", where=display_name(os.fspath(source)), hint=f"rows are {_FORMS}"
        )


def collected(source: Any) -> Any:
    """The frame of a lazy frame (of polars), and anything else as it is."""
    is_lazy = hasattr(source, "collect") and hasattr(source, "collect_schema")
    return source.collect() if is_lazy else source


def holds_pairs(path: str) -> bool:
    """Whether a file holds pairs rather than traces, judging by its first row."""
    if path == "-":
        return True
    try:
        _, first = next(file_rows(path), ("", {"question": ""}))
        columns = find_columns(first, "pairs", path)
    except InputError:
        return False
    return ("question" in columns or "text" in columns) and "turns" not in first


def row_fields(row: Mapping[str, Any], table: str, where: str) -> dict[str, str]:
    """The values of a row by role, as text; missing ones are left out."""
    names = [
        name
        for name, value in row.items()
        if (value if type(value) is str else value != "" and not _is_missing(value))
    ]
    return {role: str(row[column]) for role, column in find_columns(names, table, where).items()}


def text_of(fields: Mapping[str, str]) -> str:
    """The title and the text of a document, either of which may be missing."""
    title, text = fields.get("title"), fields.get("text") or ""
    return f"{title}\n{text}" if title and text else title or text


def pair_of_fields(fields: Mapping[str, str]) -> Pair:
    """A pair from its fields by role; an id that is missing is the question, or a hash of the text."""
    text = text_of(fields)
    question = fields.get("question", fields.get("query", ""))
    return Pair(
        query=fields.get("query", question),
        doc=fields["doc"] if "doc" in fields else _text_id(text),
        question=question,
        text=text,
        narrative=fields.get("narrative", ""),
        answer=fields.get("answer", ""),
    )


def _text_id(text: str) -> str:
    from goodgain.labels.store import digest

    return digest(text)[:12]


def pair_of(row: Any, where: str) -> Pair:
    """The pair of a row."""
    if isinstance(row, tuple | list) and len(row) in (2, 4):
        question, text = row[-2:]
        _require(where, question=question, text=text)
        query, doc = row[:2] if len(row) == 4 else (question, _text_id(str(text)))
        return _checked(Pair(query, doc, question, text), where)
    if isinstance(row, Mapping):
        if type(row) is dict and (pair := _plain_pair(row)):
            return pair
        fields = row_fields(row, "pairs", where)
        if "question" in fields:
            pair = pair_of_fields(fields)
            if not pair.text:
                _require_empty(row, where)
            return pair
    raise InputError(
        f"not a pair of a question and a document: {row!r:.60}",
        where=where,
        hint=f"rows are {_FORMS}",
    )


def _plain_pair(row: dict[str, Any]) -> Pair | None:
    """The pair of the usual row, whose values are texts and which has ids; None for any other."""
    columns = _plain_columns(tuple(row))
    if columns is None:
        return None
    for value in row.values():
        if type(value) is not str or not value:
            return None
    query, doc, question, text = columns
    return Pair(row[query], row[doc], row[question], row[text])


@lru_cache(maxsize=256)
def _plain_columns(names: tuple[str, ...]) -> tuple[str, ...] | None:
    """The columns of a pair in order, if a row has these four roles and no others."""
    try:
        columns = find_columns(names, "pairs")
    except InputError:  # reported with its place
        return None
    roles = ("query", "doc", "question", "text")
    return tuple(columns[r] for r in roles) if columns.keys() == set(roles) else None


def _checked(pair: Pair, where: str) -> Pair:
    """The pair with texts as strings; a missing one is an error, an empty document is not."""
    fields = {name: getattr(pair, name) for name in ("query", "doc", "question", "text")}
    if all(type(value) is str for value in fields.values()):
        return pair
    _require(where, **fields)
    return replace(pair, **{name: str(value) for name, value in fields.items()})


def _require(where: str, **values: Any) -> None:
    for name, value in values.items():
        if _is_missing(value):
            what = {"query": "query id", "doc": "document id", "text": "text of the document"}
            raise InputError(
                f"the {what.get(name, name)} is missing: {value!r:.20}",
                where=where,
                hint="leave the pair out, or pass '' for a document that is known to be empty",
            )


def _require_empty(row: Mapping[str, Any], where: str) -> None:
    """Require that a row without a text has an empty one, rather than none."""
    present = [name for name, value in row.items() if not _is_missing(value)]
    if not {"text", "title"} & find_columns(present, "pairs", where).keys():
        _require(where, text=None)


def _is_missing(value: Any) -> bool:
    """None, NaN, or what other libraries use for them."""
    if type(value) is str:  # the usual case
        return False
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def file_rows(path: str) -> Iterator[tuple[str, Any]]:
    """The rows of a file with their places: JSON lines are streamed, other tables are loaded."""
    if path == "-" or has_json_lines(path):
        return read_objects(path)
    return table_rows(load_table(path))


def table_rows(table: Table) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a table with their places."""
    names = list(table.columns)
    for number, values in enumerate(zip(*table.columns.values(), strict=True)):
        yield table.where(number), dict(zip(names, values, strict=True))


def has_json_lines(path: str) -> bool:
    """Whether a file has one JSON object per line, by its name or its first character."""
    if not is_text(path):
        return False
    try:
        return format_of(path) == "jsonl" or read_head(path).lstrip()[:1] == "{"
    except (OSError, EOFError):  # the reader reports what is wrong with the file
        return True


def read_objects(path: str, tabs: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """The JSON objects of a file, one per line, with their places.

    With `tabs`, a line may also be an id, a tab and a text.
    """
    name = display_name(path)
    with os.fdopen(plain_descriptor(path), "rb") as file:
        file.seek(0)
        for number, line in enumerate(file, 1):
            where = f"{name}:{number}"
            if tabs and not line.lstrip().startswith(b"{"):
                if not line.strip():
                    continue
                key, tab, text = line.decode("utf-8", "replace").rstrip("\r\n").partition("\t")
                if not tab:
                    raise InputError(
                        "expected a JSON object or id<TAB>text", where=where,
                        hint='{"id": "d1", "text": "..."}, or the id, a tab and the text',
                    )  # fmt: skip
                yield where, {"id": key, "text": text}
                continue
            row = _parsed(line, where)
            if type(row) is dict:
                yield where, row
            elif line.strip():
                raise InputError(
                    "the line is not a JSON object", where=where,
                    hint="expected one complete object per line",
                )  # fmt: skip


def _parsed(line: bytes, where: str) -> Any:
    """The JSON of a line, or None; as `json.loads` reads it, in a third of the time.

    A repeated name is an error.
    """
    try:
        text = line.removeprefix(BOM_UTF8).decode("utf-8", "surrogatepass").strip(" \t\r\n")
        value, end = _scan(text, 0)
    except InputError as error:
        raise InputError(error.message, where=where, hint=error.hint) from None
    except (ValueError, RecursionError, StopIteration):
        return None
    return value if end == len(text) else None
