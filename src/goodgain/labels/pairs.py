"""Pairs of a question and a document, which are what is labelled, from files, data frames and rows."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from goodgain.errors import InputError
from goodgain.io.columns import find_columns
from goodgain.io.files import is_text, plain_descriptor, read_head
from goodgain.io.naming import display_name, format_of
from goodgain.io.tables import Table, load_table

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


def read_pairs(source: Any) -> Iterator[Pair]:
    """Pairs from a file, a data frame, or rows: `Pair`s, objects or tuples.

    Tuples are (question, text) or (query, doc, question, text).
    """
    rows: Iterable[tuple[str, Any]]
    if isinstance(source, str | os.PathLike):
        rows = file_rows(os.fspath(source))
    elif hasattr(source, "__arrow_c_stream__"):
        rows = table_rows(load_table(source))
    elif isinstance(source, Iterable):
        rows = ((f"row {number}", row) for number, row in enumerate(source, 1))
    else:
        raise InputError(f"cannot read pairs from {source!r:.80}", hint=f"rows are {_FORMS}")
    for where, row in rows:
        yield row if isinstance(row, Pair) else pair_of(row, where)


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
    names = (name for name, value in row.items() if value not in (None, "") and value == value)
    return {role: str(row[column]) for role, column in find_columns(names, table, where).items()}


def text_of(fields: Mapping[str, str]) -> str:
    """The title and the text of a document, either of which may be missing."""
    return "\n".join(filter(None, (fields.get("title"), fields.get("text"))))


def pair_of_fields(fields: Mapping[str, str]) -> Pair:
    """A pair from its fields by role; an id that is missing is the question, or a hash of the text."""
    from goodgain.labels.store import digest

    text = text_of(fields)
    question = fields.get("question", fields.get("query", ""))
    return Pair(
        query=fields.get("query", question),
        doc=fields["doc"] if "doc" in fields else digest(text)[:12],
        question=question,
        text=text,
        narrative=fields.get("narrative", ""),
        answer=fields.get("answer", ""),
    )


def pair_of(row: Any, where: str) -> Pair:
    """The pair of a row."""
    from goodgain.labels.store import digest

    if isinstance(row, tuple | list) and len(row) in (2, 4):
        query, doc, question, text = row if len(row) == 4 else (row[0], digest(row[1])[:12], *row)
        return Pair(str(query), str(doc), str(question), "" if text is None else str(text))
    if isinstance(row, Mapping):
        fields = row_fields(row, "pairs", where)
        if "question" in fields:
            return pair_of_fields(fields)
    raise InputError(
        f"not a pair of a question and a document: {row!r:.60}",
        where=where,
        hint=f"rows are {_FORMS}",
    )


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
    with os.fdopen(plain_descriptor(path), "rb") as file:
        file.seek(0)
        for number, line in enumerate(file, 1):
            where = f"{display_name(path)}:{number}"
            if not line.strip():
                continue
            if tabs and not line.lstrip().startswith(b"{"):
                key, tab, text = line.decode("utf-8", "replace").rstrip("\r\n").partition("\t")
                if not tab:
                    raise InputError("expected a JSON object or id<TAB>text", where=where)
                yield where, {"id": key, "text": text}
                continue
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if not isinstance(row, dict):
                raise InputError("the line is not a JSON object", where=where)
            yield where, row
