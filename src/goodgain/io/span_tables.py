"""Whether judgments are of spans of text, by their columns; light, since every evaluation looks."""

from __future__ import annotations

import os

from goodgain.errors import GoodgainError
from goodgain.io.columns import has_column
from goodgain.io.naming import format_of, is_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def is_span_table(source: Any) -> bool:
    """Whether judgments are of spans: they have columns start and end, or quote."""
    names = names_of(source)
    if not names or not all(has_column(names, "spans", role) for role in ("query", "doc")):
        return False
    offsets = has_column(names, "spans", "start") and has_column(names, "spans", "end")
    return offsets or has_column(names, "spans", "quote")


def names_of(source: Any) -> list[str]:
    """The columns of a table, as far as they can be seen without reading it."""
    if isinstance(source, list | tuple):
        first = source[0] if source else None
        return [str(name) for name in first] if isinstance(first, dict) else []
    if isinstance(source, str | os.PathLike):
        try:
            form = format_at(os.fspath(source))
            if form in ("csv", "tsv", "jsonl", "json"):
                return _names_in_head(os.fspath(source))
            return _names_in_parquet(os.fspath(source)) if form == "parquet" else []
        except GoodgainError:  # whoever reads the file reports it
            return []
    if hasattr(source, "read_pieces"):
        return list(source.column_names)
    names = getattr(getattr(source, "schema", None), "names", None)  # of pyarrow
    if isinstance(names, list):
        return names
    columns = getattr(source, "columns", None)
    if columns is None or callable(columns):
        columns = getattr(source, "column_names", None)
    return [] if columns is None or callable(columns) else [str(name) for name in columns]


def _names_in_head(path: str) -> list[str]:
    """The names of the first line or object."""
    from goodgain.io.files import read_head

    head = read_head(path).lstrip()
    if head[:1] not in ("{", "["):
        line = head.split("\n", 1)[0].rstrip("\r")
        return [name.strip().strip('"') for name in line.split("\t" if "\t" in line else ",")]
    import json

    try:
        first, _ = json.JSONDecoder().raw_decode(head.lstrip("[ \n\r\t"))
    except (ValueError, RecursionError):
        return []
    return list(first) if isinstance(first, dict) else []


def _names_in_parquet(path: str) -> list[str]:
    from goodgain.io.files import open_arrow

    return list(open_arrow(path).column_names)


def format_at(path: str) -> str | None:
    """The format of a file, or of the files of a folder."""
    if not is_place(path):
        return format_of(path)
    from goodgain.io.locations import files_of

    return format_of(files_of(path).files[0].name)
