"""Documents and queries: an id and a text, from a file, a dictionary, rows or a data frame."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from goodgain.errors import InputError
from goodgain.io.columns import TABLES, find_columns
from goodgain.io.tables import Table, load_headerless, load_table


class Texts(NamedTuple):
    """Texts by id, and the other columns of their table by id, as text and as they are.

    `notes` says what was assumed about the table.
    """

    texts: dict[str, str]
    columns: dict[str, dict[str, str]]
    values: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    notes: tuple[str, ...] = ()


# Files of MS MARCO and the like have no header.
_HEADERLESS: dict[str, dict[int, tuple[str, ...]]] = {
    "documents": {
        2: ("id", "text"),
        3: ("id", "title", "text"),
        4: ("id", "url", "title", "text"),
    },
    "queries": {2: ("id", "text")},
}


def read_texts(source: Any, kind: str) -> Texts:
    """Read the corpus ("document") or the queries ("query").

    A dictionary is {id: text}, or {id: {"text": ..., "title": ...}}; a table has columns for the id and
    the text. A file without a header has an id, a tab and a text in each line; with a title, and a URL before
    it, between them if it holds documents. A document's title is put before its text.
    """
    if isinstance(source, Mapping) and not all(
        isinstance(v, list | tuple) for v in source.values()
    ):
        source = [
            {"id": k, **(v if isinstance(v, Mapping) else {"text": v})} for k, v in source.items()
        ]
    elif isinstance(source, list | tuple) and source and isinstance(source[0], list | tuple):
        source = [{"id": row[0], "text": row[1]} for row in source]
    plural = "queries" if kind == "query" else "documents"
    empty = "there are no queries" if kind == "query" else "the corpus is empty"
    if isinstance(source, list | tuple | Mapping) and not source:
        raise InputError(empty)
    table, notes = _load(source, plural)
    if not table.columns or not len(next(iter(table.columns.values()))):
        raise InputError(empty, where=table.name, hint="expected a row for each, with id and text")
    read = _texts(table, kind, find_columns(table.columns, plural, table.name))
    return read._replace(notes=notes)


def has_texts(source: Any) -> bool:
    """Whether a table of queries has their texts; one that only has groups does not."""
    table, _ = _load(source, "queries")
    try:
        find_columns(table.columns, "queries", table.name)
    except InputError:
        return False
    return True


def _load(source: Any, plural: str) -> tuple[Table, tuple[str, ...]]:
    """The table, and whether it has no header."""
    if isinstance(source, str | os.PathLike):
        roles = TABLES[plural].roles
        names = [n for role in ("id", "text") for group in roles[role].names for n in group]
        table = load_headerless(os.fspath(source), _HEADERLESS[plural], names)
        if table is not None:
            columns = ", ".join(table.columns)
            return table, (f"'{table.name}' has no header: its columns are read as {columns}",)
    return load_table(source, f"the {plural}"), ()


def _texts(table: Table, kind: str, roles: Mapping[str, str]) -> Texts:
    titles = table.columns[roles["title"]] if "title" in roles else None
    texts: dict[str, str] = {}
    ids = []
    for row, (key, text) in enumerate(
        zip(table.columns[roles["id"]], table.columns[roles["text"]], strict=True)
    ):
        if key is None or str(key) == "":
            raise InputError(
                f"{kind} without an id", where=table.where(row), hint="give every row an id"
            )
        if str(key) in texts:
            raise InputError(
                f"duplicate {kind} id '{key}'", where=table.where(row), hint="ids must be unique"
            )
        title = str(titles[row] or "") if titles else ""
        body = "" if text is None else str(text)
        if kind == "query" and not body.strip():
            raise InputError(
                f"query '{key}' has no text",
                where=table.where(row),
                hint="give it one, or remove it",
            )
        texts[str(key)] = f"{title}\n{body}" if title else body
        ids.append(str(key))
    others = {
        name: dict(zip(ids, values, strict=True))
        for name, values in table.columns.items()
        if name not in (roles["id"], roles["text"])
    }
    columns = {
        name: {key: "" if v is None else str(v) for key, v in values.items()}
        for name, values in others.items()
    }
    return Texts(texts, columns, others)
