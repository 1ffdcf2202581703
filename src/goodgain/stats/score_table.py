"""Tables of per-query scores made elsewhere: CSV, TSV, JSON, JSON lines, Parquet, data frames, rows.

Wide (a column for each measure) or long (columns measure and value), with a system and a query column and
optionally a seed.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodgain.stats.scores import Columns, ScoreSet

# The usual names of each role; the first that is there is taken.
_NAMES = {
    "system": ("system", "run", "method", "model", "retriever", "variant", "name"),
    "query": ("query", "query_id", "qid", "query-id", "q_id", "queryid", "topic", "topic_id",
              "question", "question_id", "conversation", "unit"),
    "seed": ("seed",),
    "measure": ("measure", "metric"),
    "value": ("value", "score"),
}  # fmt: skip
_UNDEFINED = {"", "nan", "na", "n/a", "null", "none", "-"}
_TRUTH = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of equal length, and where a row of them is."""

    columns: dict[str, Sequence[Any]]
    name: str
    lines: Sequence[int] = ()  # the line of each row, where lines can be told

    def where(self, row: int) -> str:
        """The place of a row, for messages."""
        return f"{self.name}:{self.lines[row]}" if self.lines else f"{self.name} row {row + 1}"


def read_scores(
    source: Any, into: ScoreSet, given: Mapping[str, str], by: str | None = None
) -> list[str]:
    """Add the systems of a table; `given` names columns by role: system, query, seed, measure, value.

    `into.groups` gets the column `by` where the table has it.
    """
    table = load_table(source)
    if isinstance(source, str | os.PathLike):
        into.inputs.append(_provenance(os.fspath(source)))
    roles = _roles(table, given)
    length = len(table.columns[roles["query"]])
    if not length:
        raise InputError("the table has no rows", where=table.name)
    units = [_id(v, table, i, "query") for i, v in enumerate(table.columns[roles["query"]])]
    if "system" in roles:
        systems = [_id(v, table, i, "system") for i, v in enumerate(table.columns[roles["system"]])]
    else:
        systems = [_stem(table.name)] * length
    seeds = [str(v) for v in table.columns[roles["seed"]]] if "seed" in roles else [""] * length
    if by is not None and by in table.columns:
        _add_groups(table, by, units, into)
    taken = {*roles.values(), by}
    if "measure" in roles and "value" in roles:
        names = [str(v) for v in table.columns[roles["measure"]]]
        values = _numbers(table, roles["value"])
        if values is None:
            raise InputError(f"the column '{roles['value']}' holds no numbers", where=table.name)
        triples = [(range(length), names, values)]
    else:
        triples = []
        for column in table.columns:
            if column in taken:
                continue
            values = _numbers(table, column)
            if values is None:
                into.notes.append(f"the column '{column}' holds no numbers and is not compared")
            else:
                triples.append((range(length), [column] * length, values))
        if not triples:
            raise InputError(
                "no column of the table holds scores",
                where=table.name,
                hint=f"the columns are: {', '.join(table.columns)}",
            )
    found: dict[str, dict[str, Columns]] = {}
    for rows, names, values in triples:
        for i in rows:
            measures = found.setdefault(systems[i], {}).setdefault(seeds[i], {})
            scores = measures.setdefault(names[i], {})
            if units[i] in scores:
                raise InputError(
                    f"query '{units[i]}' of system '{systems[i]}' is there twice",
                    where=table.where(i),
                    hint="several seeds need a column 'seed', or name it (--seed-column COLUMN)",
                )
            scores[units[i]] = values[i]
    return [into.add(system, list(by_seed.values())) for system, by_seed in found.items()]


def read_groups(source: Any, column: str, into: ScoreSet, given: Mapping[str, str]) -> None:
    """Take the group of each query from a table of its own: query and `column`."""
    table = load_table(source)
    roles = _roles(table, given)
    if column not in table.columns:
        raise _no_column(table, column)
    units = [_id(v, table, i, "query") for i, v in enumerate(table.columns[roles["query"]])]
    _add_groups(table, column, units, into)


def _add_groups(table: Table, column: str, units: Sequence[str], into: ScoreSet) -> None:
    groups = into.groups.setdefault(column, {})
    for i, (unit, value) in enumerate(zip(units, table.columns[column], strict=True)):
        group = "" if value is None else str(value)
        if groups.setdefault(unit, group) != group:
            raise InputError(
                f"query '{unit}' is in the groups '{groups[unit]}' and '{group}' of '{column}'",
                where=table.where(i),
            )


def _roles(table: Table, given: Mapping[str, str]) -> dict[str, str]:
    roles = {}
    folded = {name.strip().casefold(): name for name in reversed(list(table.columns))}
    for role, usual in _NAMES.items():
        if given.get(role):
            if given[role] not in table.columns:
                raise _no_column(table, given[role])
            roles[role] = given[role]
            continue
        name = next(
            (folded[u] for u in usual if u in folded and folded[u] not in given.values()), None
        )
        if name is not None:
            roles[role] = name
    if "query" not in roles:
        raise InputError(
            "there is no column for the query id",
            where=table.name,
            hint=f"the columns are: {', '.join(table.columns)}; name it with columns={{'query': ...}} "
            "(--query COLUMN)",
        )
    if ("measure" in roles) != ("value" in roles):
        roles.pop("measure", None)
        roles.pop("value", None)
    return roles


def _no_column(table: Table, column: str) -> InputError:
    return InputError(
        f"there is no column '{column}'",
        where=table.name,
        hint=f"the columns are: {', '.join(table.columns)}",
    )


def _id(value: Any, table: Table, row: int, role: str) -> str:
    if value is None or value == "" or value != value:
        raise InputError(f"a row has no {role}", where=table.where(row))
    return str(value)


def _numbers(table: Table, column: str) -> list[float] | None:
    """The column as numbers, undefined as NaN; None where it holds text."""
    numbers: list[float] = []
    bad: int | None = None
    good = False
    for i, value in enumerate(table.columns[column]):
        number = _number(value)
        if number is None:
            bad = i if bad is None else bad
            if not good and i > 20:
                return None
            number = math.nan
        elif number == number:
            good = True
        numbers.append(number)
    if bad is not None:
        if not good:
            return None
        raise InputError(
            f"'{table.columns[column][bad]}' in column '{column}' is not a number",
            where=table.where(bad),
            hint="undefined is an empty field; leave a column out by naming the measures (-m)",
        )
    return numbers if good else None


def _number(value: Any) -> float | None:
    if value is None:
        return math.nan
    if isinstance(value, str):
        text = value.strip().casefold()
        if text in _UNDEFINED:
            return math.nan
        if text in _TRUTH:
            return _TRUTH[text]
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return None if math.isinf(number) else number


# --- loading ---


def load_table(source: Any) -> Table:
    """Any table by its columns, all of it in memory."""
    if isinstance(source, str | os.PathLike):
        return _load_file(os.fspath(source))
    if isinstance(source, Mapping):
        return Table({str(c): list(v) for c, v in source.items()}, "scores")
    if hasattr(source, "to_dict") and hasattr(source, "columns"):
        try:
            columns = source.to_dict("list")  # pandas
        except (TypeError, ValueError):
            columns = source.to_dict(as_series=False)  # polars
        return Table({str(c): v for c, v in columns.items()}, "scores")
    if hasattr(source, "__arrow_c_stream__"):
        return Table(_arrow_columns(source, "scores"), "scores")
    rows = list(source)
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        raise InputError("the rows are not objects with named fields", hint="rows are dictionaries")
    return Table(_by_column(rows), "scores")


def _load_file(path: str) -> Table:
    from goodgain.read.files import kind_of, open_arrow, read_json, shown_name

    name = shown_name(path)
    match kind_of(path):
        case "parquet" | "arrow":
            return Table(_arrow_columns(open_arrow(path), name), name)
        case "json":
            content = read_json(path)
            if isinstance(content, list) and all(isinstance(row, dict) for row in content):
                return Table(_by_column(content), name)
            raise InputError("the file is not a list of objects", where=name)
    return _load_lines(path, name)


def _load_lines(path: str, name: str) -> Table:
    import csv
    import json

    from goodgain.read.files import plain_descriptor

    with os.fdopen(plain_descriptor(path), "rb") as file:
        file.seek(0)
        try:
            text = file.read().decode("utf-8-sig", "surrogateescape")
        except UnicodeDecodeError:
            raise InputError("the file is not UTF-8 text", where=name) from None
    if not text.strip():
        raise InputError("the file is empty", where=name)
    first = text.split("\n", 1)[0]
    if first.lstrip().startswith("{"):
        rows, lines = [], []
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if not isinstance(row, dict):
                raise InputError("the line is not a JSON object", where=f"{name}:{number}")
            rows.append(row)
            lines.append(number)
        return Table(_by_column(rows), name, lines)
    try:
        return _load_delimited(text, first, name)
    except csv.Error as error:
        raise InputError(f"the file is no table: {error}", where=name) from None


def _load_delimited(text: str, first: str, name: str) -> Table:
    import csv
    import io

    delimiter = "\t" if "\t" in first else ";" if ";" in first and "," not in first else ","
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    header = [h.strip() for h in next(reader)]
    if len(set(header)) != len(header):
        twice = next(h for h in header if header.count(h) > 1)
        raise InputError(f"the column '{twice}' is there twice", where=f"{name}:1")
    columns: list[list[str]] = [[] for _ in header]
    lines = []
    for fields in reader:
        if not fields:
            continue
        if len(fields) != len(header):
            raise InputError(
                f"the line has {len(fields)} fields, the header {len(header)}",
                where=f"{name}:{reader.line_num}",
            )
        for column, value in zip(columns, fields, strict=True):
            column.append(value)
        lines.append(reader.line_num)
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
    table = source if isinstance(source, pa.Table) else pa.table(source)
    return {column: table.column(column).to_pylist() for column in table.column_names}


def _provenance(path: str) -> dict[str, Any]:
    import hashlib
    from pathlib import Path

    from goodgain.read.files import shown_name

    facts: dict[str, Any] = {"name": shown_name(path), "kind": "scores"}
    if path != "-":
        content = Path(path).read_bytes()
        facts |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    return facts


def _stem(name: str) -> str:
    from pathlib import Path

    return Path(name).name.split(".")[0] or name
