"""Anything a user may hand over, told apart once: file, dictionary, rows, or Arrow data."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from goodgain.errors import InputError
from goodgain.io.columns import TableKind, find_columns
from goodgain.io.files import kind_of, open_arrow, read_json, shown_name


@dataclass(frozen=True, slots=True)
class Source:
    """Where a table comes from; reading happens when it is used."""

    kind: Literal["file", "dict", "rows", "arrow"]
    value: Any
    name: str
    columns: Mapping[str, str] | None = None
    stat: tuple[int, int] | None = None  # size and modification time when it was opened

    def provenance(self, hashed: bool = True) -> dict[str, Any]:
        """What a saved result says about this input; the hash is of the bytes on disk."""
        if self.stat is None:
            return {"name": self.name, "kind": self.kind}
        facts: dict[str, Any] = {"name": self.name, "kind": "file", "bytes": self.stat[0]}
        if hashed and stat_of(self.name) == self.stat:  # else it is no longer what was read
            facts["sha256"] = sha256_of(self.name)
        return facts

    def require_unchanged(self) -> None:
        """That it can be read once more and is what it was; else an error that says why not."""
        if self.kind == "file" and self.stat is None:
            raise InputError("standard input can be read only once", where=self.name)
        if self.kind == "file" and stat_of(self.name) != self.stat:
            raise InputError("the file is gone or has changed since it was read", where=self.name)


def resolve(
    value: Any, table: TableKind, columns: Mapping[str, str] | None = None, name: str | None = None
) -> Source:
    """The source behind a path, a dictionary, rows, or a data frame."""
    if isinstance(value, str | os.PathLike):
        return _file(os.fspath(value), table, columns, name)
    if isinstance(value, Mapping):
        return Source("dict", value if isinstance(value, dict) else dict(value), name or table)
    if hasattr(value, "__arrow_c_stream__"):
        return Source("arrow", value, name or table, columns)
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return Source("rows", _rows(value, table, columns, name or table), name or table)
    raise InputError(
        f"{'a run' if table == 'run' else 'judgements'} cannot be read from {value!r:.80}",
        hint="a path, {query: {document: number}}, rows, or a data frame",
    )


def _file(
    path: str, table: TableKind, columns: Mapping[str, str] | None, name: str | None
) -> Source:
    stat = None if path == "-" else stat_of(path)
    if stat is None and path != "-":
        raise InputError(f"there is no file '{path}'", hint="check the spelling and the folder")
    shown = shown_name(path)
    match "lines" if path == "-" else kind_of(path):
        case "json":
            content = read_json(path)
            if isinstance(content, dict):
                return Source("dict", content, shown, None, stat)
            return Source("rows", _rows(content, table, columns, shown), shown, None, stat)
        case "parquet" | "arrow":
            return Source("arrow", open_arrow(path), shown, columns, stat)
    return Source("file", path, shown, columns, stat)


def _rows(
    rows: Iterable[Any], table: TableKind, columns: Mapping[str, str] | None, name: str
) -> list[Sequence[Any]]:
    """Rows as tuples (query, doc, value, target, aspect); objects by their usual names."""
    listed = list(rows)
    if listed and isinstance(listed[0], Mapping):
        found = find_columns(list(listed[0]), table, f"{name} row 1", columns)
        roles = ("query", "doc", "value", "target", "aspect")
        keys = [found.get(role) for role in roles]  # type: ignore[call-overload]
        try:
            listed = [tuple(row[k] if k else None for k in keys) for row in listed]
        except (KeyError, TypeError):
            bad = next(i for i, row in enumerate(listed) if not _has(row, keys))
            raise InputError(
                f"a row lacks one of {', '.join(k for k in keys if k)}",
                where=f"{name} row {bad + 1}",
            ) from None
    for number, row in enumerate(listed, 1):
        if isinstance(row, str | bytes) or not isinstance(row, Sequence):
            raise InputError(
                f"the row {row!r} is not a sequence of fields",
                where=f"{name} row {number}",
                hint="rows are (query, document, number)",
            )
    return listed


def _has(row: Any, keys: Sequence[str | None]) -> bool:
    return isinstance(row, Mapping) and all(k in row for k in keys if k)


def stat_of(path: str) -> tuple[int, int] | None:
    """Size and modification time of a file; None where there is none."""
    try:
        info = Path(path).stat()
    except OSError:
        return None
    return info.st_size, info.st_mtime_ns


def sha256_of(path: str) -> str | None:
    """The hash of a file's bytes; None where there is no file."""
    import hashlib

    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
