"""Runs and judgements from one format to another, saying what the new one cannot hold."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, MissingExtraError, UsageError
from goodgain.io.columns import TableKind, kinds_of_header
from goodgain.io.files import COMPRESSED, kind_of, plain_suffix, read_head
from goodgain.io.rows import Rows, rows_of
from goodgain.io.sources import Source, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FORMATS = {
    "trec": "lines of columns separated by blanks, as trec_eval reads them",
    "csv": "comma-separated values under a header",
    "tsv": "tab-separated values under a header",
    "jsonl": "one JSON object a line",
    "json": "{query: {document: number}}, as ranx and pytrec_eval read it",
    "beir": "BEIR's qrels: query-id, corpus-id and score, separated by tabs",
    "parquet": "Apache Parquet",
    "arrow": "an Arrow file (Feather)",
}
_ENDINGS = {
    ".txt": "trec", ".trec": "trec", ".run": "trec", ".res": "trec", ".qrels": "trec", ".qrel": "trec",
    ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json",
    ".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
}  # fmt: skip
_KEEPS_LABELS = ("csv", "tsv", "jsonl", "parquet", "arrow")


@dataclass(frozen=True, slots=True)
class Converted:
    """What was written, and what the new format could not hold."""

    kind: TableKind
    format: str
    rows: int
    queries: int
    losses: tuple[str, ...]


def convert(
    source: Any,
    target: str,
    *,
    to: str | None = None,
    kind: str | None = None,
    columns: Mapping[str, str] | None = None,
    name: str | None = None,
) -> Converted:
    """Read a run or judgements and write them in the format that `to` or the ending of `target` names.

    `name` is the last column of a TREC run; without it, what the input has there. `target` is a path,
    compressed by its ending.
    """
    from goodgain.io.atomic import write_files

    form = format_of(target, to)
    data, converted = converted_bytes(source, form, kind=kind, columns=columns, name=name)
    write_files({target: _compressed(target, data)})
    return converted


def converted_bytes(
    source: Any,
    form: str,
    *,
    kind: str | None = None,
    columns: Mapping[str, str] | None = None,
    name: str | None = None,
) -> tuple[bytes, Converted]:
    """The bytes of the new file, and what they do not hold."""
    table = _kind(source, kind)
    resolved = resolve(source, table, columns)
    rows = _without_constant_aspect(rows_of(resolved, table))
    if not rows:
        raise InputError("there are no rows to convert", where=resolved.name)
    losses = _losses(rows, table, form, resolved)
    name = name or (_tag(resolved) if table == "run" else None) or "goodgain"
    data = _WRITERS[form](rows, table, name, resolved.name)
    return data, Converted(table, form, len(rows.query), len(set(rows.query)), tuple(losses))


def format_of(target: str, to: str | None = None) -> str:
    """The format that is asked for, or that the ending names."""
    if to is not None:
        if to not in FORMATS:
            raise UsageError(f"there is no format '{to}'", hint=f"one of: {', '.join(FORMATS)}")
        return to
    found = _ENDINGS.get(plain_suffix(target))
    if found is None:
        raise UsageError(
            f"the ending of '{target}' names no format", hint=f"say --to {'|'.join(FORMATS)}"
        )
    return found


# --- run or judgements? ---


def _kind(source: Any, given: str | None) -> TableKind:
    """What the input is, as it was said or as its shape tells."""
    if given is not None:
        kinds: dict[str, TableKind] = {"run": "run", "qrels": "qrels"}
        if given not in kinds:
            raise UsageError(f"'{given}' is neither run nor qrels")
        return kinds[given]
    found = table_kinds(source)
    if len(found) == 1:
        return found.pop()
    where = str(source) if isinstance(source, str) else "the input"
    raise UsageError(
        f"'{where}' could be a run or judgements", hint="say which: --kind run or --kind qrels"
    )


def table_kinds(source: Any) -> set[TableKind]:
    """What a source could be by its shape: a run, judgements, both, or no table at all."""
    try:
        return _kinds(source)
    except InputError:
        return set()


def _kinds(source: Any) -> set[TableKind]:
    if isinstance(source, str) and kind_of(source) == "lines":
        if source == "-":
            return set()
        first = _first_line(source)
        if first.startswith("{"):
            try:
                return kinds_of_header(list(json.loads(first)))
            except (ValueError, TypeError):
                return set()
        for delimiter in ("\t", ","):
            if found := kinds_of_header([f.strip('"') for f in first.split(delimiter)]):
                return found
        by_columns: dict[int, TableKind] = {4: "qrels", 6: "run"}
        return {by_columns[n]} if (n := len(first.split())) in by_columns else set()
    resolved = resolve(source, "qrels")
    if resolved.kind == "dict":
        values = [
            v for docs in resolved.value.values() if isinstance(docs, dict) for v in docs.values()
        ]
        if values and all(isinstance(v, int) for v in values):
            return {"qrels"}
        return {"run"} if values and all(isinstance(v, float) for v in values) else set()
    if resolved.kind == "arrow":
        from goodgain import _core

        return kinds_of_header(_core.ArrowTable.of(resolved.value, resolved.name).columns())
    return set()


# --- what cannot be held ---


def _without_constant_aspect(rows: Rows) -> Rows:
    """One value for all rows, such as the 0 of TREC qrels, says nothing."""
    if len(set(rows.aspect)) == 1:
        return rows._replace(aspect=[None] * len(rows.aspect))
    return rows


def _losses(rows: Rows, table: TableKind, form: str, source: Source) -> list[str]:
    losses = []
    if any(t is not None for t in rows.target) and form not in _KEEPS_LABELS:
        losses.append(f"{form} has no place for targets: they are left out")
    if any(a is not None for a in rows.aspect) and form in ("json", "beir"):
        losses.append(f"{form} has no place for aspects: they are left out")
    if table == "run" and form != "trec" and _tag(source):
        losses.append(f"{form} has no place for the run's name and the ranks: they are left out")
    if (
        form in ("trec", "beir")
        and table == "qrels"
        and any(not v.is_integer() for v in rows.value)
    ):
        losses.append(
            "gains that are no whole numbers are written as they are; trec_eval cuts them"
        )
    if form == "json":
        seen: dict[str, int] = {}
        last = None
        for query in rows.query:
            if query != last:
                seen[query] = seen.get(query, 0) + 1
            last = query
        if any(n > 1 for n in seen.values()):
            losses.append("the rows of a query stand together in json: their order changes")
    return losses


def _tag(source: Source) -> str | None:
    """The run's name in the first of its TREC lines."""
    if (
        source.kind != "file"
        or source.value == "-"
        or plain_suffix(source.value) in (".csv", ".jsonl")
    ):
        return None
    first = _first_line(source.value)
    columns = first.split()
    return columns[5] if len(columns) == 6 and not first.startswith("{") else None


def _first_line(path: str) -> str:
    lines = read_head(path).splitlines()
    return next((line for line in lines if line.strip() and line[:1] != "#"), "")


# --- writers ---


def _plain(text: str, where: str, form: str, forbidden: str) -> str:
    """An id that the format can hold; anything else is an error, never a change in silence."""
    if not text or any(c in forbidden for c in text):
        shown = repr(text) if text else "an empty id"
        raise InputError(
            f"{form} cannot hold the id {shown}",
            where=where,
            hint="use csv, jsonl, json, parquet or arrow",
        )
    return text


def _number(value: float, table: TableKind) -> str:
    return str(int(value)) if table == "qrels" and value.is_integer() else repr(value)


def _blank(text: str) -> str:
    """The characters of a text that would end a TREC column."""
    return "".join({c for c in text if c <= " " or c.isspace()})


def _trec(rows: Rows, table: TableKind, name: str, where: str) -> bytes:
    for text in {*rows.query, *rows.doc, *(a for a in rows.aspect if a is not None), name}:
        _plain(text, where, "trec", _blank(text))
    for query in set(rows.query):
        _plain(query[:1], where, "trec", "#")  # a comment
    if table == "qrels":
        lines = [
            f"{q} {a if a is not None else 0} {d} {_number(v, table)}\n"
            for q, d, v, _, a in zip(*rows, strict=True)
        ]
    else:
        ranks = _ranks(rows)
        lines = [
            f"{q} Q0 {d} {r} {_number(v, table)} {name}\n"
            for q, d, v, r in zip(rows.query, rows.doc, rows.value, ranks, strict=True)
        ]
    return "".join(lines).encode("utf-8", "surrogateescape")


def _ranks(rows: Rows) -> list[int]:
    """The place of each row by score, largest first, then by document id descending."""
    by_query: dict[str, list[int]] = {}
    for i, query in enumerate(rows.query):
        by_query.setdefault(query, []).append(i)
    ranks = [0] * len(rows.query)
    for places in by_query.values():
        ordered = sorted(
            places, key=lambda i: rows.doc[i].encode("utf-8", "surrogateescape"), reverse=True
        )
        for rank, i in enumerate(sorted(ordered, key=lambda i: -rows.value[i]), 1):
            ranks[i] = rank
    return ranks


def _table(rows: Rows, table: TableKind) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {"query": rows.query, "doc": rows.doc}
    columns["score" if table == "run" else "gain"] = rows.value
    for label in ("target", "aspect"):
        values = getattr(rows, label)
        if table == "qrels" and any(v is not None for v in values):
            columns[label] = values
    return columns


def _delimited(rows: Rows, table: TableKind, where: str, delimiter: str) -> bytes:
    import csv

    columns = _table(rows, table)
    for text in {t for c in columns.values() for t in c if isinstance(t, str)}:
        _plain(
            text,
            where,
            "tsv" if delimiter == "\t" else "csv",
            "\t\n\r" if delimiter == "\t" else "",
        )
    out = io.StringIO(newline="")
    # Tab-separated files know no quotes: they are text like any other.
    plain: dict[str, Any] = (
        {} if delimiter == "," else {"quoting": csv.QUOTE_NONE, "quotechar": None}
    )
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n", **plain)
    writer.writerow(columns)
    texts = [[_cell(v, table) for v in column] for column in columns.values()]
    writer.writerows(zip(*texts, strict=True))
    return out.getvalue().encode("utf-8", "surrogateescape")


def _cell(value: Any, table: TableKind) -> str:
    if value is None:
        return ""
    return _number(value, table) if isinstance(value, float) else value


def _csv(rows: Rows, table: TableKind, name: str, where: str) -> bytes:
    return _delimited(rows, table, where, ",")


def _tsv(rows: Rows, table: TableKind, name: str, where: str) -> bytes:
    return _delimited(rows, table, where, "\t")


def _json_value(value: Any, table: TableKind) -> Any:
    if not isinstance(value, float):
        return value
    return int(value) if table == "qrels" and value.is_integer() else value


def _jsonl(rows: Rows, table: TableKind, name: str, where: str) -> bytes:
    columns = _table(rows, table)
    _require_utf8(rows, where, "jsonl")
    lines = [
        json.dumps(
            {k: _json_value(v, table) for k, v in zip(columns, row, strict=True) if v is not None},
            ensure_ascii=False,
        )
        + "\n"
        for row in zip(*columns.values(), strict=True)
    ]
    return "".join(lines).encode()


def _json(rows: Rows, table: TableKind, name: str, where: str) -> bytes:
    _require_utf8(rows, where, "json")
    nested: dict[str, dict[str, Any]] = {}
    for query, doc, value in zip(rows.query, rows.doc, rows.value, strict=True):
        docs = nested.setdefault(query, {})
        if doc in docs:
            raise InputError(
                f"json cannot hold document '{doc}' twice for query '{query}'",
                where=where,
                hint="use csv, jsonl, parquet or arrow, which keep every row",
            )
        docs[doc] = _json_value(value, table)
    return (json.dumps(nested, ensure_ascii=False) + "\n").encode()


def _beir(rows: Rows, table: TableKind, name: str, where: str) -> bytes:
    if table == "run":
        raise UsageError(
            "BEIR's format is one of judgements, not of runs", hint="--to tsv or --to json"
        )
    for text in {*rows.query, *rows.doc}:
        _plain(text, where, "beir", "\t\n\r")
    lines = [
        f"{q}\t{d}\t{_number(v, table)}\n"
        for q, d, v in zip(rows.query, rows.doc, rows.value, strict=True)
    ]
    return "".join(["query-id\tcorpus-id\tscore\n", *lines]).encode("utf-8", "surrogateescape")


def _arrow_table(rows: Rows, table: TableKind, where: str) -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError.for_package(
            "pyarrow", "arrow", "writing Parquet or Arrow"
        ) from None
    _require_utf8(rows, where, "Arrow")
    columns = _table(rows, table)
    types = {"score": pa.float64(), "gain": pa.float64()}
    if table == "qrels" and all(v.is_integer() for v in rows.value):
        columns["gain"], types["gain"] = [int(v) for v in rows.value], pa.int64()
    return pa.table({n: pa.array(c, type=types.get(n, pa.string())) for n, c in columns.items()})


def _parquet(rows: Rows, table: TableKind, name: str, where: str) -> bytes:
    arrow = _arrow_table(rows, table, where)
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(arrow, out)
    return out.getvalue()


def _feather(rows: Rows, table: TableKind, name: str, where: str) -> bytes:
    arrow = _arrow_table(rows, table, where)
    import pyarrow.ipc as ipc

    out = io.BytesIO()
    with ipc.new_file(out, arrow.schema) as writer:
        writer.write_table(arrow)
    return out.getvalue()


def _require_utf8(rows: Rows, where: str, form: str) -> None:
    for text in {*rows.query, *rows.doc}:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(
                f"{form} cannot hold the id {text!r}, which is no UTF-8", where=where,
                hint="use trec, csv or tsv, which keep its bytes",
            ) from None  # fmt: skip


_WRITERS: dict[str, Callable[[Rows, TableKind, str, str], bytes]] = {
    "trec": _trec,
    "csv": _csv,
    "tsv": _tsv,
    "jsonl": _jsonl,
    "json": _json,
    "beir": _beir,
    "parquet": _parquet,
    "arrow": _feather,
}


def _compressed(target: str, data: bytes) -> bytes:
    match COMPRESSED.get(Path(target).suffix.lower()):
        case "gzip":
            import gzip

            return gzip.compress(data, mtime=0)
        case "bz2":
            import bz2

            return bz2.compress(data)
        case "lzma":
            import lzma

            return lzma.compress(data)
        case "zstd":
            import sys

            if sys.version_info >= (3, 14):
                from compression import zstd
            else:
                from backports import zstd
            return bytes(zstd.compress(data))
    return data
