"""Documents and queries: an id and a text, from a file, a dictionary, rows or a data frame."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from goodgain.errors import InputError
from goodgain.io.columns import find_columns, has_column
from goodgain.io.naming import format_of
from goodgain.io.tables import Table, load_headerless, load_table


class Texts(NamedTuple):
    """Texts by id, and the other columns of their table by id; `notes` says what was assumed."""

    texts: dict[str, str]
    columns: dict[str, dict[str, str]]
    notes: tuple[str, ...] = ()


# Files of MS MARCO and the like have no header.
_HEADERLESS: dict[str, dict[int, tuple[str, ...]]] = {
    "document": {
        2: ("id", "text"),
        3: ("id", "title", "text"),
        4: ("id", "url", "title", "text"),
    },
    "query": {2: ("id", "text")},
}


def read_texts(source: Any, kind: str) -> Texts:
    """Read the corpus ("document") or the queries ("query").

    A dictionary is {id: text}, or {id: {"text": ..., "title": ...}}; a table has columns for the id and
    the text. A document's title is put before its text.
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
    layouts = _headerless(source, plural, kind)
    if layouts is not None:
        table = load_headerless(os.fspath(source), layouts)
        names = tuple(table.columns)
        read = _texts(table, kind, {name: name for name in names if name != "url"})
        return read._replace(
            notes=(f"'{table.name}' has no header: its columns are read as {', '.join(names)}",)
        )
    table = load_table(source, f"the {plural}")
    if not table.columns or not len(next(iter(table.columns.values()))):
        raise InputError(empty, where=table.name)
    return _texts(table, kind, find_columns(table.columns, plural, table.name))


def _headerless(source: Any, plural: str, kind: str) -> dict[int, tuple[str, ...]] | None:
    """The layouts for a file of tab-separated fields whose first line names none of the usual columns."""
    if not isinstance(source, str | os.PathLike) or format_of(source) not in ("tsv", "trec"):
        return None
    from goodgain.io.files import read_head

    first = read_head(os.fspath(source)).split("\n", 1)[0].rstrip("\r")
    fields = [field.strip().strip('"') for field in first.split("\t")]
    named = has_column(fields[:1], plural, "id") or has_column(fields[-1:], plural, "text")
    if named or first.lstrip().startswith("{"):
        return None
    looks_named = all(re.fullmatch(r"[A-Za-z_][\w.-]*", field) for field in fields)
    layouts = _HEADERLESS[kind]
    return layouts if len(fields) in layouts and not looks_named else None


def _texts(table: Table, kind: str, roles: Mapping[str, str]) -> Texts:
    titles = table.columns[roles["title"]] if "title" in roles else None
    texts: dict[str, str] = {}
    ids = []
    for row, (key, text) in enumerate(
        zip(table.columns[roles["id"]], table.columns[roles["text"]], strict=True)
    ):
        if key is None or str(key) == "":
            raise InputError(f"{kind} without an id", where=table.where(row))
        if str(key) in texts:
            raise InputError(
                f"duplicate {kind} id '{key}'", where=table.where(row), hint="ids must be unique"
            )
        title = str(titles[row] or "") if titles else ""
        body = "" if text is None else str(text)
        if kind == "query" and not body.strip():
            raise InputError(f"query '{key}' has no text", where=table.where(row))
        texts[str(key)] = f"{title}\n{body}" if title else body
        ids.append(str(key))
    others = {
        name: {key: "" if v is None else str(v) for key, v in zip(ids, values, strict=True)}
        for name, values in table.columns.items()
        if name not in (roles["id"], roles["text"])
    }
    return Texts(texts, others)
