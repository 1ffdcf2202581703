"""The format of the lines of a text file, from its first bytes and its name."""

from __future__ import annotations

from goodgain.errors import InputError
from goodgain.io.columns import (
    are_places,
    core_columns,
    find_columns,
    looks_like_header,
    score_names,
)
from goodgain.io.naming import display_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from goodgain.io.columns import TableKind

HEAD = 1 << 16  # bytes that tell the format
EMPTY = "was it written completely?"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # some editors put it before UTF-8 text


def line_format(
    path: str,
    head: bytes,
    table: TableKind,
    columns: Mapping[str, str] | None,
    form: str | None,
) -> tuple[dict[str, Any], str | int | None]:
    """The core's format of the lines, and the column that names the run of a line, if there is one."""
    where = display_name(path)
    mark = len(BYTE_ORDER_MARK) if head.startswith(BYTE_ORDER_MARK) else 0
    first = head[mark:].split(b"\n", 1)[0]
    if form in ("jsonl", "json") or (form is None and first[:1] == b"{"):
        lines, key = _json_format(first, table, where, columns)
        return {"skip": mark, **lines}, key
    text = first.decode("utf-8", "replace").rstrip("\r")
    for delimiter in () if b"\0" in head else (",", "\t"):  # the core reports binary files
        names = _fields(text, delimiter)
        by_suffix = form == ("csv" if delimiter == "," else "tsv")
        if (by_suffix and (delimiter == "," or columns)) or looks_like_header(names, table):
            if not first:
                raise InputError("the file is empty", where=where, hint=EMPTY)
            has_header = not are_places(columns, names, f"{where}:1")
            if has_header:
                _require_header(names, table, columns, f"{where}:1")
            else:
                names = [str(place) for place in range(1, len(names) + 1)]
            names_by_role = find_columns(names, table, f"{where}:1", columns)
            roles, by_rank = core_columns(names_by_role)
            run = names.index(names_by_role["run"]) if "run" in names_by_role else None
            return {
                "by_rank": by_rank,
                "kind": "delimited",
                "delimiter": delimiter,
                "quotes": delimiter == ",",
                "columns": len(names),
                "skip": mark + (len(first) + 1 if has_header else 0),
                **{role: names.index(name) for role, name in roles.items()},
            }, run
    if table == "run" and _is_marco(head[mark:]):
        places = {"query": 0, "doc": 1, "value": 2, "columns": 3}
        return {"kind": "delimited", "delimiter": "\t", "quotes": False, "skip": mark, "by_rank": True,
                **places}, None  # fmt: skip
    return {"kind": "trec", "skip": mark, **_trec_columns(where, table, columns)}, None


def _require_header(
    names: list[str], table: TableKind, columns: Mapping[str, str] | None, where: str
) -> None:
    """Refuse a first line of values: databases may export tables without the names of their columns."""
    if columns or looks_like_header(names, table) or not any(map(_is_number, names)):
        return
    number = "score" if table == "run" else "gain"
    places = {"query": "1", "doc": "2", number: "3"}
    option = ",".join(f"{role}={place}" for role, place in places.items())
    raise InputError(
        f"the first line has values, not names of columns: '{', '.join(names):.80}'",
        where=where,
        hint=f"choose columns by place: columns={places} (--columns {option})",
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _trec_columns(
    where: str, table: TableKind, columns: Mapping[str, str] | None
) -> dict[str, Any]:
    """TREC files have no names of columns; only the second one of qrels may be chosen, as the aspect."""
    if table == "run" or "aspect" not in (columns or {}):
        return {}
    if columns and columns["aspect"] == "iteration":
        return {"has_aspects": True}
    raise InputError(
        f"column '{(columns or {})['aspect']}' not found",
        where=where,
        hint="the columns of TREC qrels are: query iteration doc gain",
    )


def _is_marco(head: bytes) -> bool:
    """Lines of query, document and rank, separated by tabs, as MS MARCO submits runs: ranks count from 1."""
    lines = head.split(b"\n")[:1000]
    expected: dict[bytes, int] = {}
    for line in lines[: len(lines) - (len(head) >= HEAD)]:
        row = line.rstrip(b"\r").split(b"\t")
        if row == [b""]:
            continue
        if len(row) != 3 or not row[2].isdigit():  # of nearly all files in the first line
            return False
        expected[row[0]] = expected.get(row[0], 0) + 1
        if int(row[2]) != expected[row[0]]:
            return False
    return bool(expected)


def _fields(line: str, delimiter: str) -> list[str]:
    if delimiter == "\t" or delimiter not in line:
        return line.split(delimiter)
    import csv

    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return []


def first_fields(line: bytes, form: str | None) -> list[str]:
    """The fields of the first line of a CSV or TSV file."""
    text = line.removeprefix(BYTE_ORDER_MARK).decode("utf-8", "replace").rstrip("\r\n")
    return _fields(text, "\t" if form == "tsv" else ",")


def _json_format(
    first: bytes, table: TableKind, where: str, columns: Mapping[str, str] | None
) -> tuple[dict[str, Any], str | None]:
    import json

    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        if not first.strip():
            raise InputError(
                "the file is empty or starts with an empty line", where=f"{where}:1", hint=EMPTY
            )
        raise InputError(
            "the first line is not a JSON object",
            where=f"{where}:1",
            hint='expected one object per line, for example {"query": "q1", "doc": "d1", '
            + ('"score": 1.5}' if table == "run" else '"gain": 2}'),
        )
    names = find_columns(row, table, f"{where}:1", columns)
    roles, by_rank = core_columns(names)
    refused = {"refused": score_names()} if by_rank and "rank" not in (columns or {}) else {}
    return {"kind": "json", "by_rank": by_rank, **roles, **refused}, names.get("run")
