"""Anything that may hold a table, recognised in one place: file, dictionary, rows, or Arrow data."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence, Sized

from goodgain.errors import InputError, core_errors, file_not_found
from goodgain.io.columns import chosen_columns, core_columns, find_columns, run_column, score_names
from goodgain.io.files import (
    has_runs,
    is_stream,
    open_arrow,
    open_lines,
    query_rows,
    read_head,
    read_json,
)
from goodgain.io.limits import check_rows, counted_rows, limited_arrow
from goodgain.io.naming import STDIN, display_name, format_of, is_place, is_url
from goodgain.io.result_lists import is_query_row, rank_lists, rows_to_lists
from goodgain.io.span_tables import names_of
from goodgain.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from goodgain.io.columns import TableKind
    from goodgain.io.result_lists import Ranking


@dataclass(frozen=True, slots=True)
class Source:
    """Where a table comes from; it is read when it is used."""

    kind: Literal["file", "dict", "rows", "arrow", "runs"]  # "runs": {name: source}
    value: Any
    name: str
    columns: Mapping[str, str] | None = None
    stat: tuple[int, int] | None = None  # size and modification time when it was opened
    # What ranks the documents of a run, where reading it does not tell.
    ranking: Ranking = "score"
    judge: Mapping[str, Any] | None = None  # whose labels these are, if a model gave them
    facts: Mapping[str, Any] | None = None  # size and version of what is not one file
    without_results: tuple[tuple[str | None, str], ...] = ()  # (run, query) of Arrow data

    def provenance(self, hashed: bool = True) -> dict[str, Any]:
        """What a saved result records about this input; the hash is of the bytes on disk."""
        judge = {"judge": dict(self.judge)} if self.judge else {}
        name = self.name
        if "://" in name:
            from goodgain.redaction import hide_secrets

            name = hide_secrets(name)
        if self.stat is None:
            return {"name": name, "kind": self.kind, **(self.facts or {}), **judge}
        facts: dict[str, Any] = {"name": name, "kind": "file", "bytes": self.stat[0], **judge}
        facts |= self.facts or {}
        unchanged = hashed and not is_url(self.name) and stat_of(self.name) == self.stat
        if unchanged and (digest := sha256_of(self.name)):
            facts["sha256"] = digest
        return facts

    def require_unchanged(self) -> None:
        """Raise an error unless the source can be read again and is unchanged."""
        if self.kind == "file" and self.stat is None:
            raise InputError("standard input can only be read once", where=self.name)
        if self.stat is None:
            return
        is_read_later = self.kind == "file" or hasattr(self.value, "read_pieces")
        if is_read_later and stat_of(self.name) != self.stat:
            raise InputError(
                "the file is missing or has changed since it was read", where=self.name
            )


def resolve(
    value: Any, table: TableKind, columns: Mapping[str, str] | None = None, name: str | None = None
) -> Source:
    """The source behind a path, a dictionary, rows, or a data frame."""
    columns = chosen_columns(columns)
    if isinstance(value, str | os.PathLike):
        return _file(os.fspath(value), table, columns, name)
    if isinstance(value, Mapping):
        return _dictionary(value, table, columns, name or table)
    value = collected(value, name or table)
    if hasattr(value, "__arrow_c_stream__"):
        return _arrow(value, table, columns, name or table)
    if type(value).__module__.startswith("pyarrow.") and hasattr(value, "to_reader"):
        return _arrow(value.to_reader(), table, columns, name or table)  # a scanner
    if type(value).__module__.startswith("pyarrow.") and hasattr(value, "scanner"):
        from goodgain.io.arrow_pieces import ArrowDataset

        return _arrow(ArrowDataset(value, name or table), table, columns, name or table)
    if hasattr(value, "readline"):  # its lines would be taken for rows or names
        raise InputError(
            f"cannot read {'a run' if table == 'run' else 'judgments'} from an open file",
            hint="pass its path instead, or the rows that it holds",
        )
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return _listed(value, table, columns, name or table)
    raise InputError(
        f"cannot read {'a run' if table == 'run' else 'judgments'} from {excerpt(value)}",
        hint="expected a path, {query: {document: number}}, rows, or a data frame",
    )


def excerpt(value: Any) -> str:
    """The start of a value for a message; one that contains itself or is deep has no text."""
    try:
        return f"{value!r:.80}"
    except Exception:
        return f"a {type(value).__name__}"


def collected(value: Any, name: str) -> Any:
    """The table of a lazy frame of polars; anything else as it is."""
    if not (hasattr(value, "collect") and type(value).__module__.startswith("polars.")):
        return value
    try:
        return value.collect()
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"cannot read the data: {reason:.200}", where=name) from None


def _file(
    path: str, table: TableKind, columns: Mapping[str, str] | None, name: str | None
) -> Source:
    if is_place(path):
        return _place(path, table, columns, name)
    stat = None if is_stream(path) else stat_of(path)
    if stat is None and not is_stream(path):
        raise file_not_found(path)
    if path == STDIN:
        _claim_stdin(table)
    where = display_name(path)
    match format_of(path):
        case "json" if not _has_json_lines(path):
            content = read_json(path)
            if isinstance(content, dict):
                return _dictionary(content, table, columns, where, stat)
            return _listed(content, table, columns, where, stat)
        case "parquet" | "arrow":
            return _arrow(open_arrow(path), table, columns, where, stat)
    return _lines(path, table, columns, stat)


def _lines(
    path: str,
    table: TableKind,
    columns: Mapping[str, str] | None,
    stat: tuple[int, int] | None,
) -> Source:
    where = display_name(path)
    if table == "run" and (rows := query_rows(path, columns)) is not None:
        return _listed(rows, table, columns, where, stat)
    return Source("file", path, where, columns, stat)


def _place(
    path: str, table: TableKind, columns: Mapping[str, str] | None, name: str | None
) -> Source:
    """One table in the files of a folder, of a glob, or behind a URL."""
    from goodgain.io.locations import files_of

    files = files_of(path)
    if files.lake is not None:
        from dataclasses import replace

        source = _arrow(open_arrow(path), table, columns, path, files.stat)
        return replace(source, facts={**files.lake.facts, "files": len(files.files)})
    only = files.files[0].name
    if len(files.files) == 1 and not is_place(only) and not files.files[0].keys:
        return _file(only, table, columns, name)
    form = format_of(only)
    if form in ("parquet", "arrow"):
        return _arrow(open_arrow(path), table, columns, path, files.stat)
    if form == "json" and not _has_json_lines(path):
        if len(files.files) > 1:
            raise InputError(
                f"the files of '{path}' are not JSON lines",
                hint="convert them to .jsonl or Parquet",
            )
        content = read_json(path)
        as_table = _dictionary if isinstance(content, dict) else _listed
        return as_table(content, table, columns, path, files.stat)
    return _lines(path, table, columns, files.stat)


def _has_json_lines(path: str) -> bool:
    """Whether a `.json` file has an object per line, as BigQuery and Spark write it, not one document."""
    head = read_head(path).lstrip()
    if not head.startswith("{"):
        return False
    import json

    try:
        first, end = json.JSONDecoder().raw_decode(head)
    except (ValueError, RecursionError):  # the reader says which
        return False
    row = not any(isinstance(value, dict | list) for value in first.values())
    return head[end:].lstrip().startswith("{") or (row and bool(first))


def _arrow(
    value: Any,
    table: TableKind,
    columns: Mapping[str, str] | None,
    name: str,
    stat: tuple[int, int] | None = None,
) -> Source:
    """Arrow data; in a run the results of a query may be a list."""
    if not hasattr(value, "read_pieces"):
        value = limited_arrow(value, name)
    if table == "run":
        from goodgain.io.result_columns import flat_rows, has_result_lists

        if has_result_lists(names_of(value), columns):
            flat = flat_rows(value, columns, name)
            if flat is not None:
                return Source("arrow", flat[0], name, None, stat, without_results=tuple(flat[1]))
    return Source("arrow", value, name, columns, stat)


_read_as: list[tuple[Any, TableKind]] = []  # standard input, and what was read from it


def _claim_stdin(table: TableKind) -> None:
    """Refuse the same standard input as a run and as judgments."""
    if _read_as and _read_as[0][0] is sys.stdin and _read_as[0][1] != table:
        raise InputError(
            "standard input cannot be both the run and the judgments", where=display_name(STDIN)
        )
    _read_as[:] = [(sys.stdin, table)]


def _dictionary(
    content: Mapping[Any, Any],
    table: TableKind,
    columns: Mapping[str, str] | None,
    name: str,
    stat: tuple[int, int] | None = None,
) -> Source:
    """A dictionary; in a run the documents of a query may be a list of results."""
    check_rows(sum(len(docs) for docs in content.values() if isinstance(docs, Sized)), name)
    if table == "qrels":
        plain = content if isinstance(content, dict) else dict(content)
        return Source("dict", plain, name, None, stat)
    lists, ranking = rank_lists(content, columns, name)
    return Source("dict", lists, name, None, stat, ranking)


def _listed(
    content: Iterable[Any],
    table: TableKind,
    columns: Mapping[str, str] | None,
    name: str,
    stat: tuple[int, int] | None = None,
) -> Source:
    """Rows, or in a run rows that each hold a query and the list of its results."""
    if not isinstance(content, Iterable) or isinstance(content, str | bytes):
        raise InputError(
            f"cannot read {'a run' if table == 'run' else 'judgments'} from {excerpt(content)}",
            where=name,
            hint="expected {query: {document: number}} or a list of rows",
        )
    listed = list(counted_rows(content, name))
    if table == "run" and listed and isinstance(listed[0], Mapping):
        layout = "result lists" if is_query_row(listed[0], columns) else "run"
        groups = _by_run(listed, layout, columns, name)
        if groups:
            runs = {run: _of_rows(rows, table, columns, name, stat) for run, rows in groups.items()}
            return Source("runs", runs, name, None, stat)
    return _of_rows(listed, table, columns, name, stat)


def _of_rows(
    listed: list[Any],
    table: TableKind,
    columns: Mapping[str, str] | None,
    name: str,
    stat: tuple[int, int] | None,
) -> Source:
    """The rows of one run, or of judgments."""
    if table == "run" and listed and is_query_row(listed[0], columns):
        return _dictionary(rows_to_lists(listed, columns, name), table, columns, name, stat)
    ranking: Ranking = "score"
    if listed and isinstance(listed[0], Mapping):
        listed, ranking = _named_rows(listed, table, columns, name)
    for number, row in enumerate(listed, 1):
        if isinstance(row, str | bytes) or not isinstance(row, Sequence):
            raise InputError(
                f"not a row: {row!r}",
                where=f"{name} row {number}",
                hint="expected (query, document, number)",
            )
    if table == "run" and listed and len(listed[0]) == 2:
        listed, ranking = _by_order(listed, name), "order"
    return Source("rows", listed, name, None, stat, ranking)


def _by_run(
    rows: list[Any], layout: str, columns: Mapping[str, str] | None, name: str
) -> dict[str, list[Any]]:
    """The rows of each run; empty if no column names runs."""
    chosen = {"run": columns["run"]} if columns and "run" in columns else None
    run = (chosen or {}).get("run") or run_column(list(map(str, rows[0])), layout)
    if run is None:
        return {}
    groups: dict[str, list[Any]] = {}
    for number, row in enumerate(rows, 1):
        value = row.get(run) if isinstance(row, Mapping) else None
        if value is None:
            raise InputError(f"the row has no {run}", where=f"{name} row {number}")
        groups.setdefault(str(value), []).append(row)
    return groups


def _named_rows(
    rows: list[Any], table: TableKind, columns: Mapping[str, str] | None, name: str
) -> tuple[list[Any], Ranking]:
    """Dictionaries as tuples (query, doc, value, target, aspect), and what ranks the documents of a run."""
    roles = find_columns(rows[0], table, f"{name} row 1", columns, value=len(rows[0]) > 2)
    roles, by_rank = core_columns(roles)
    keys = [roles.get(role) for role in ("query", "doc", "value", "target", "aspect")]
    if "value" not in roles:
        keys = keys[:2]
    refused = score_names() if by_rank and "rank" not in (columns or {}) else ()
    tuples = []
    for number, row in enumerate(rows, 1):
        if not _has(row, keys):
            raise InputError(
                f"the row does not have all of {', '.join(k for k in keys if k)}",
                where=f"{name} row {number}",
            )
        if score := next((n for n in refused if row.get(n) is not None), None):
            raise InputError(
                f"the row has a {score}, but the first one has only a rank",
                where=f"{name} row {number}",
                hint="a run has scores in all rows or in none",
            )
        tuples.append(tuple(row[k] if k else None for k in keys))
    return tuples, "rank" if by_rank else "score"


def _by_order(rows: list[Any], name: str) -> list[Any]:
    """Rows without a score, ranked by their order: the score is the negated row number."""
    for number, row in enumerate(rows, 1):
        if len(row) != 2:
            raise InputError(
                f"the row has {len(row)} fields, but the first one has 2: a query and a document",
                where=f"{name} row {number}",
                hint="a run has scores in all rows or in none",
            )
    return [(query, doc, -float(number)) for number, (query, doc) in enumerate(rows, 1)]


def _has(row: Any, keys: Sequence[str | None]) -> bool:
    return isinstance(row, Mapping) and all(k in row for k in keys if k)


def stat_of(path: str) -> tuple[int, int] | None:
    """Size and modification time of a file, or of all files of a folder; None if it does not exist."""
    if is_place(path):
        from goodgain.io.locations import all_files

        try:
            return all_files(path).stat
        except InputError:
            return None
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_size, info.st_mtime_ns


def sha256_of(path: str) -> str | None:
    """The hash of a file's bytes, or of all files of a folder; None if it cannot be read."""
    import hashlib

    if is_url(path):
        return None  # reading it again may be dear
    if is_place(path):
        from goodgain.io.locations import all_files

        names = [file.name for file in all_files(path).files]
        hashes = "".join(f"{name}\0{sha256_of(name)}\0" for name in names)
        return hashlib.sha256(hashes.encode("utf-8", "surrogateescape")).hexdigest()
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def run_names(source: Source, arrow: Any = None, *, skip_bad: bool = False) -> list[str]:
    """The runs that a table names; empty if it has no column for that. `arrow` is what was read already."""
    from goodgain import _core

    if source.kind in ("dict", "rows"):
        return []
    if source.kind == "runs":
        return list(source.value)
    if source.kind == "file":
        if not has_runs(source.value, source.columns):
            return []
        file = open_lines(source.value, "run", source.columns)
        with core_errors():
            return _core.run_names(
                file.fd, file.name, {**file.format, "target": file.run}, skip_bad
            )
    data = source.value if arrow is None else arrow
    in_pieces = hasattr(data, "read_pieces")
    with core_errors():
        if not in_pieces and arrow is None:
            data = _core.ArrowTable.of(data, source.name)
        names = data.column_names if in_pieces else data.columns()
        run = find_columns(names, "run", source.name, source.columns).get("run")
        return [] if run is None else list(data.distinct(run))
