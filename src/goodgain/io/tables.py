"""Small tables with named columns from any source: CSV, TSV, JSON, JSON lines, Parquet, data frames, rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, MissingExtraError
from goodgain.io.limits import check_rows, counted_rows, limited_arrow

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of equal length, and the place of each row in the source."""

    columns: dict[str, Sequence[Any]]
    name: str
    lines: Sequence[int] = ()  # the line of each row, if the source has lines

    def where(self, row: int) -> str:
        """The place of a row, for messages."""
        return f"{self.name}:{self.lines[row]}" if self.lines else f"{self.name} row {row + 1}"


def load_table(source: Any, name: str = "scores") -> Table:
    """Read a table into memory; `name` is for messages about one that is no file."""
    if isinstance(source, str | os.PathLike):
        return _load_file(os.fspath(source))
    if isinstance(source, Mapping):
        return Table({str(c): list(v) for c, v in source.items()}, name)
    if hasattr(source, "to_dict") and hasattr(source, "columns"):
        try:
            columns = source.to_dict("list")  # pandas
        except (TypeError, ValueError):
            columns = source.to_dict(as_series=False)  # polars
        return Table({str(c): v for c, v in columns.items()}, name)
    if hasattr(source, "__arrow_c_stream__"):
        return Table(_arrow_columns(source, name), name)
    rows = list(counted_rows(source, name))
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        raise InputError("the rows have no named fields", hint="expected dictionaries")
    return Table(_by_column(rows), name)


def _load_file(path: str) -> Table:
    from goodgain.io.files import open_arrow, read_json
    from goodgain.io.naming import display_name, format_of

    name = display_name(path)
    match format_of(path):
        case "parquet" | "arrow":
            return Table(_arrow_columns(open_arrow(path), name), name)
        case "json":
            content = read_json(path)
            if isinstance(content, list) and all(isinstance(row, dict) for row in content):
                check_rows(len(content), name)
                return Table(_by_column(content), name)
            raise InputError(
                "the JSON is not a list of objects", where=name,
                hint='expected rows such as [{"query": "q1", ...}, ...]',
            )  # fmt: skip
    return _load_lines(path, name)


def load_headerless(
    path: str, layouts: Mapping[int, Sequence[str]], names: Iterable[str] = ()
) -> Table | None:
    """A text file of fields separated by tabs, without a header; None if it is none.

    `layouts` are the columns by their number. The first line has an id with a digit or a text of several
    words: names of columns have neither, and `names` are known to be some. Quotation marks are text.
    """
    from goodgain.io.naming import display_name, format_of

    if format_of(path) in ("parquet", "arrow", "json"):
        return None
    name = display_name(path)
    text = _text_of(path, name)
    first = [field.strip() for field in text.partition("\n")[0].split("\t")]
    if len(first) not in layouts or first[0].startswith("{"):
        return None
    if {first[0].casefold(), first[-1].casefold()} & set(names):
        return None
    if not any(c.isdigit() for c in first[0]) and len(first[-1].split()) < 2:
        return None
    columns = layouts[len(first)]
    lines = enumerate(text.split("\n"), 1)  # a text may hold other line separators
    numbered = [(number, line.rstrip("\r")) for number, line in lines if line.strip()]
    rows = []
    for number, line in numbered:
        rows.append(line.split("\t", len(columns) - 1))
        check_rows(len(rows), name)
        if len(rows[-1]) < len(columns):
            expected = ", a tab and ".join(f"{'an' if c == 'id' else 'a'} {c}" for c in columns)
            raise InputError(
                f"expected {expected}", where=f"{name}:{number}",
                hint="a table of other columns starts with their names",
            )  # fmt: skip
    values: dict[str, Sequence[Any]] = dict(zip(columns, zip(*rows, strict=True), strict=True))
    values[columns[0]] = [key.strip() for key in values[columns[0]]]
    return Table(values, name, [number for number, _ in numbered])


def _text_of(path: str, name: str) -> str:
    from goodgain.io.files import plain_descriptor
    from goodgain.io.line_formats import EMPTY

    with os.fdopen(plain_descriptor(path), "rb") as file:
        file.seek(0)
        try:
            text = file.read().decode("utf-8-sig", "surrogateescape")
        except UnicodeDecodeError:
            raise InputError("the file is not UTF-8 text", where=name) from None
    if not text.strip():
        raise InputError("the file is empty", where=name, hint=EMPTY)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError(
            "the file is not text: it holds a NUL byte", where=f"{name}:{line}",
            hint="expected CSV, TSV, JSON or JSON lines in UTF-8",
        )  # fmt: skip
    return text


def _load_lines(path: str, name: str) -> Table:
    import csv

    from goodgain.io.files import parse_row

    text = _text_of(path, name)
    first = text.split("\n", 1)[0]
    if first.lstrip().startswith("{"):
        rows, lines = [], []
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            row = parse_row(line, f"{name}:{number}")
            if not isinstance(row, dict):
                raise InputError(
                    "the line is not a JSON object", where=f"{name}:{number}",
                    hint="expected one complete object per line",
                )  # fmt: skip
            rows.append(row)
            lines.append(number)
            check_rows(len(rows), name)
        return Table(_by_column(rows), name, lines)
    try:
        return _load_delimited(text, first, name)
    except csv.Error as error:
        reason = (
            "a line ends with a lone carriage return" if "new-line" in str(error) else str(error)
        )
        raise InputError(
            f"invalid table: {reason}", where=name, hint="expected CSV, TSV, JSON or JSON lines"
        ) from None


def _load_delimited(text: str, first: str, name: str) -> Table:
    import csv
    import io

    delimiter = "\t" if "\t" in first else ";" if ";" in first and "," not in first else ","
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    header = [h.strip() for h in next(reader)]
    if len(set(header)) != len(header):
        duplicate = next(h for h in header if header.count(h) > 1)
        raise InputError(
            f"duplicate column '{duplicate:.80}'", where=f"{name}:1", hint="rename one of them"
        )
    columns: list[list[str]] = [[] for _ in header]
    lines = []
    for fields in reader:
        if not fields:
            continue
        if len(fields) != len(header):
            raise InputError(
                f"expected {len(header)} fields as in the header, got {len(fields)}",
                where=f"{name}:{reader.line_num}",
                hint="is a separator or a quotation mark missing?",
            )
        for column, value in zip(columns, fields, strict=True):
            column.append(value)
        lines.append(reader.line_num)
        check_rows(len(lines), name)
    return Table(dict(zip(header, columns, strict=True)), name, lines)


def _by_column(rows: Iterable[Mapping[str, Any]]) -> dict[str, Sequence[Any]]:
    listed = list(rows)
    names = {str(name): name for row in listed for name in row}
    return {text: [row.get(name) for row in listed] for text, name in names.items()}


def _arrow_columns(source: Any, name: str) -> dict[str, Sequence[Any]]:
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError.for_package("pyarrow", "arrow", f"reading {name}") from None
    table = source if isinstance(source, pa.Table) else pa.table(limited_arrow(source, name))
    return {column: table.column(column).to_pylist() for column in table.column_names}
