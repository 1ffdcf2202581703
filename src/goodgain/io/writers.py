"""The bytes of a run or of judgments in each format."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, MissingExtraError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goodgain.io.columns import TableKind
    from goodgain.io.rows import Rows


_STARTS = "#\ufeff"  # of a line that is read as a comment, or without its first character


def _check_id(text: str, where: str, form: str, forbidden: str) -> None:
    """An id that the format cannot hold is an error, never changed silently."""
    if not text or any(c in forbidden for c in text):
        raise InputError(
            f"{form} cannot hold the id {text!r}" if text else f"{form} cannot hold an empty id",
            where=where,
            hint="use csv, jsonl, json, parquet or arrow",
        )


def _number(value: float, table: TableKind) -> str:
    return str(int(value)) if table == "qrels" and value.is_integer() else repr(value)


def _blanks(text: str) -> str:
    """The characters of a text that would end a TREC column."""
    return "".join({c for c in text if c <= " " or c.isspace()})


def check_trec_id(text: str, where: str, form: str = "trec") -> None:
    """Refuse an id that would not be one column of a line."""
    _check_id(text, where, form, _blanks(text))


def _trec(rows: Rows, table: TableKind, name: str, where: str) -> bytes:
    for text in {*rows.query, *rows.doc, *(a for a in rows.aspect if a is not None), name}:
        check_trec_id(text, where)
    for query in set(rows.query):
        _check_id(query[:1], where, "trec", _STARTS)
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


def trec_text(rankings: Mapping[str, Mapping[str, float]], name: str, where: str) -> str:
    """A TREC run of documents that are already in order; ids that a line cannot hold are refused."""
    for text in {*rankings, *(doc for docs in rankings.values() for doc in docs), name}:
        check_trec_id(text, where)
    for query in rankings:
        _check_id(query[:1], where, "trec", _STARTS)
    return "".join(
        f"{query} Q0 {doc} {rank} {score!r} {name}\n"
        for query, docs in rankings.items()
        for rank, (doc, score) in enumerate(docs.items(), 1)
    )


def _ranks(rows: Rows) -> list[int]:
    """The rank of each row by descending score, then by descending document id."""
    by_query: dict[str, list[int]] = {}
    for i, query in enumerate(rows.query):
        by_query.setdefault(query, []).append(i)
    ranks = [0] * len(rows.query)
    for indexes in by_query.values():
        ordered = sorted(
            indexes, key=lambda i: rows.doc[i].encode("utf-8", "surrogateescape"), reverse=True
        )
        for rank, i in enumerate(sorted(ordered, key=lambda i: -rows.value[i]), 1):
            ranks[i] = rank
    return ranks


def _columns(rows: Rows, table: TableKind) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {"query": rows.query, "doc": rows.doc}
    columns["score" if table == "run" else "gain"] = rows.value
    for role in ("target", "aspect"):
        values = getattr(rows, role)
        if table == "qrels" and any(v is not None for v in values):
            columns[role] = values
    return columns


def _delimited(rows: Rows, table: TableKind, where: str, delimiter: str) -> bytes:
    import csv

    form, forbidden = ("tsv", "\t\n\r") if delimiter == "\t" else ("csv", "")
    columns = _columns(rows, table)
    for text in {t for c in columns.values() for t in c if isinstance(t, str)}:
        _check_id(text, where, form, forbidden)
    out = io.StringIO(newline="")
    # Tab-separated files have no quoting: quotes are text like any other.
    quoting: dict[str, Any] = (
        {} if delimiter == "," else {"quoting": csv.QUOTE_NONE, "quotechar": None}
    )
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n", **quoting)
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
    columns = _columns(rows, table)
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
                f"json cannot hold duplicate document '{doc}' for query '{query}'",
                where=where,
                hint="use csv, jsonl, parquet or arrow, which keep every row",
            )
        docs[doc] = _json_value(value, table)
    return (json.dumps(nested, ensure_ascii=False) + "\n").encode()


def _beir(rows: Rows, table: TableKind, name: str, where: str) -> bytes:
    if table == "run":
        raise UsageError(
            "the BEIR format is for judgments, not for runs", hint="use --to tsv or --to json"
        )
    for text in {*rows.query, *rows.doc}:
        _check_id(text, where, "beir", "\t\n\r")
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
    columns = _columns(rows, table)
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
                f"{form} cannot hold the id {text!r}: it is not valid UTF-8",
                where=where,
                hint="use trec, csv or tsv, which keep its bytes",
            ) from None


WRITERS: dict[str, Callable[[Rows, TableKind, str, str], bytes]] = {
    "trec": _trec,
    "csv": _csv,
    "tsv": _tsv,
    "jsonl": _jsonl,
    "json": _json,
    "beir": _beir,
    "parquet": _parquet,
    "arrow": _feather,
}
