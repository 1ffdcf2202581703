"""Anything that may hold a table, recognised in one place: file, dictionary, rows, or Arrow data."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from goodgain.errors import InputError
from goodgain.io.columns import find_columns
from goodgain.io.files import file_not_found, open_arrow, read_json
from goodgain.io.naming import STDIN, display_name, format_of
from goodgain.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from goodgain.io.columns import TableKind


@dataclass(frozen=True, slots=True)
class Source:
    """Where a table comes from; it is read when it is used."""

    kind: Literal["file", "dict", "rows", "arrow"]
    value: Any
    name: str
    columns: Mapping[str, str] | None = None
    stat: tuple[int, int] | None = None  # size and modification time when it was opened

    def provenance(self, hashed: bool = True) -> dict[str, Any]:
        """What a saved result records about this input; the hash is of the bytes on disk."""
        if self.stat is None:
            return {"name": self.name, "kind": self.kind}
        facts: dict[str, Any] = {"name": self.name, "kind": "file", "bytes": self.stat[0]}
        if hashed and stat_of(self.name) == self.stat:  # else the file has changed since
            facts["sha256"] = sha256_of(self.name)
        return facts

    def require_unchanged(self) -> None:
        """Raise an error unless the source can be read again and is unchanged."""
        if self.kind == "file" and self.stat is None:
            raise InputError("standard input can only be read once", where=self.name)
        if self.kind == "file" and stat_of(self.name) != self.stat:
            raise InputError(
                "the file is missing or has changed since it was read", where=self.name
            )


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
        f"cannot read {'a run' if table == 'run' else 'judgments'} from {value!r:.80}",
        hint="expected a path, {query: {document: number}}, rows, or a data frame",
    )


def _file(
    path: str, table: TableKind, columns: Mapping[str, str] | None, name: str | None
) -> Source:
    stat = None if path == STDIN else stat_of(path)
    if stat is None and path != STDIN:
        raise file_not_found(path)
    where = display_name(path)
    match format_of(path):
        case "json":
            content = read_json(path)
            if isinstance(content, dict):
                return Source("dict", content, where, None, stat)
            return Source("rows", _rows(content, table, columns, where), where, None, stat)
        case "parquet" | "arrow":
            return Source("arrow", open_arrow(path), where, columns, stat)
    return Source("file", path, where, columns, stat)


def _rows(
    rows: Iterable[Any], table: TableKind, columns: Mapping[str, str] | None, name: str
) -> list[Sequence[Any]]:
    """Rows as tuples (query, doc, value, target, aspect); dictionaries by the usual names of columns."""
    listed = list(rows)
    if listed and isinstance(listed[0], Mapping):
        roles = find_columns(listed[0], table, f"{name} row 1", columns)
        keys = [roles.get(role) for role in ("query", "doc", "value", "target", "aspect")]
        try:
            listed = [tuple(row[k] if k else None for k in keys) for row in listed]
        except (KeyError, TypeError):
            bad = next(i for i, row in enumerate(listed) if not _has(row, keys))
            raise InputError(
                f"the row does not have all of {', '.join(k for k in keys if k)}",
                where=f"{name} row {bad + 1}",
            ) from None
    for number, row in enumerate(listed, 1):
        if isinstance(row, str | bytes) or not isinstance(row, Sequence):
            raise InputError(
                f"not a row: {row!r}",
                where=f"{name} row {number}",
                hint="expected (query, document, number)",
            )
    return listed


def _has(row: Any, keys: Sequence[str | None]) -> bool:
    return isinstance(row, Mapping) and all(k in row for k in keys if k)


def stat_of(path: str) -> tuple[int, int] | None:
    """Size and modification time of a file; None if it does not exist."""
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_size, info.st_mtime_ns


def sha256_of(path: str) -> str | None:
    """The hash of a file's bytes, or of all files of a folder; None if it cannot be read."""
    import hashlib

    if os.path.isdir(path):
        names = sorted(os.path.join(root, name) for root, _, files in os.walk(path) for name in files)
        hashes = "".join(f"{name}\0{sha256_of(name)}\0" for name in names)
        return hashlib.sha256(hashes.encode("utf-8", "surrogateescape")).hexdigest()
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
