"""Judgments, runs and traces as Spark DataFrames, from any kind of source."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.engines.spark.files import Files, files_of
from goodgain.engines.spark.session import arrow_only, is_frame
from goodgain.engines.spark.worker import PACKED, packed
from goodgain.errors import InputError
from goodgain.io.columns import core_columns, find_columns, has_column, looks_like_header
from goodgain.io.naming import format_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.engines.spark.worker import Job
    from goodgain.io.columns import TableKind
    from goodgain.io.rows import Rows
    from goodgain.io.sources import Source

_FORMATS = ("parquet", "delta", "iceberg", "orc", "avro", "csv", "tsv", "json", "trec", "table")
_UNTYPED = ("csv", "tsv", "trec")  # 1 may be a number or text
_DRIVER_FORMATS = ("json", "arrow")  # read on the driver: not splittable
_TREC = {
    "run": (6, {"query": 0, "doc": 2, "score": 4}),
    "qrels": (4, {"query": 0, "aspect": 1, "doc": 2, "gain": 3}),
}
_INTEGERS = ("tinyint", "smallint", "int", "bigint")


@dataclass(frozen=True, slots=True)
class Frame:
    """A DataFrame with the relevant columns and their roles."""

    data: Any
    columns: dict[str, str]  # role -> name
    name: str
    files: Files | None = None  # set if tasks can read its rows without Spark
    kinds: Mapping[str, str] | None = None  # of ids, by role, if column types do not tell
    by_rank: bool = False  # a run without scores

    def kind(self, role: str) -> str | None:
        """Whether the ids of a role are text or integers; None for untyped files."""
        if self.kinds is not None:
            return self.kinds.get(role)
        types = dict(self.data.dtypes)
        return "integers" if types[self.columns[role]] in _INTEGERS else "text"

    def read_by_spark(self) -> Frame:
        """The same, with files opened by Spark instead of the tasks."""
        return replace(self, files=None)


def frame_of(
    spark: Any,
    source: Any,
    table: TableKind,
    columns: Mapping[str, str] | None = None,
    name: str | None = None,
    kinds: Mapping[str, str] | None = None,
) -> Frame:
    """Turn a source into a frame: a DataFrame, a path or URL that Spark reads, or local data."""
    from_file = False
    if is_frame(source):
        data, name = source, name or table
    elif isinstance(source, str | os.PathLike) and format_of(source) not in _DRIVER_FORMATS:
        path = os.fspath(source)
        data, name, from_file = read(spark, path, table), name or path, True
        kinds = {} if _format(path)[0] in _UNTYPED else None
    else:
        data, name = _from_driver(spark, source, table, columns), name or table
        columns = None
    if table == "run":
        data = _exploded(data, name)
    roles, by_rank = core_columns(find_columns(data.columns, table, name, columns))
    types = {column: kind for column, kind in data.dtypes if column in roles.values()}
    files = files_of(data, types, roles["query"]) if types[roles["value"]] != "string" else None
    selected = _select(data, roles, from_file)
    return Frame(selected, roles, name, files, kinds, by_rank)


def _exploded(data: Any, name: str) -> Any:
    """A row per document, where a row holds a query and the list of its documents' ids, best first."""
    types = dict(data.dtypes)
    lists = [column for column, kind in types.items() if kind == "array<string>"]
    names = list(data.columns)
    if looks_like_header(names, "run") or not has_column(lists, "result lists", "results"):
        return data
    from pyspark.sql import functions as sql

    roles = find_columns(names, "result lists", name)
    position = sql.posexplode(sql.col(f"`{roles['results']}`")).alias("place", "doc")
    rows = data.select(sql.col(f"`{roles['query']}`").alias("query"), position)
    return rows.select("query", "doc", (sql.col("place") + 1).alias("rank"))


def id_kinds(source: Source) -> dict[str, str] | None:
    """The kinds of ids in local data; empty for files, None for data frames with types of their own."""
    if source.kind == "file" or source.stat is not None:
        return {}
    if source.kind == "arrow" or not source.value:
        return None
    from goodgain.io.rows import dict_rows

    rows = dict_rows(source.value) if source.kind == "dict" else source.value
    return {
        role: "text" if isinstance(value, str) else "integers"
        for role, value in zip(("query", "doc"), next(iter(rows), ()), strict=False)
    }


def same_kinds(qrels: Frame, run: Frame) -> None:
    """Raise an error if ids differ in type, rather than silently matching nothing."""
    for role, word in (("query", "query"), ("doc", "document")):
        ours, theirs = qrels.kind(role), run.kind(role)
        if ours and theirs and ours != theirs:
            raise InputError(
                f"{word} ids are {ours} in the judgments but {theirs} in the run",
                where=run.name,
                hint="1 and '1' are different ids: convert one side, for example with cast",
            )


def read(spark: Any, path: str, table: TableKind) -> Any:
    """Read a path or URL; `FORMAT:PATH` and `table:NAME` override the suffix."""
    form, place = _format(path)
    if form != "table" and Path(place).exists():  # Spark may have started in another folder
        place = Path(place).absolute().as_uri()
    from pyspark.errors import AnalysisException

    try:
        if form == "table":
            return spark.table(place)
        if form == "trec":
            return _trec(spark.read.text(place), table)
        if form in ("csv", "tsv"):
            separator = "\t" if form == "tsv" else ","
            return spark.read.csv(place, header=True, sep=separator, quote='"', escape='"')
        return spark.read.format(form).load(place)
    except AnalysisException as error:
        raise InputError(
            f"Spark cannot read '{path}': {str(error).splitlines()[0]}",
            hint=f"to name the format, write FORMAT:PATH with one of: {', '.join(_FORMATS)}",
        ) from None


def is_trec(path: str) -> bool:
    """Whether a path is that of a TREC file."""
    return _format(path)[0] == "trec"


def _format(path: str) -> tuple[str, str]:
    """The format of a path, and the path without its prefix."""
    prefix, colon, rest = path.partition(":")
    if colon and prefix in _FORMATS:
        return prefix, rest
    form = format_of(path) or "parquet"
    return {"jsonl": "json"}.get(form, form), path


def from_rows(spark: Any, rows: Rows, table: TableKind) -> Any:
    """A DataFrame from columns in memory."""
    import pyarrow as pa

    value = "score" if table == "run" else "gain"
    text = pa.string()
    columns = {
        "query": pa.array(rows.query, text),
        "doc": pa.array(rows.doc, text),
        value: pa.array(rows.value, pa.float64()),
    }
    if table == "qrels":
        for role in ("target", "aspect"):
            if any(v is not None for v in getattr(rows, role)):
                columns[role] = pa.array(getattr(rows, role), text)
    with arrow_only():
        return spark.createDataFrame(pa.table(columns))


def pieces_of(frame: Frame, *, is_run: bool, here: Job | None = None) -> Any:
    """The rows of a table as pieces; tasks read files themselves where possible."""
    columns, name, files = frame.columns, frame.name, frame.files
    source = files.numbers(frame.data.sparkSession) if files else frame.data
    with arrow_only():
        return source.mapInArrow(
            lambda batches: packed(batches, columns, is_run, name, files, here), PACKED
        )


def provenance(frame: Frame) -> Source:
    """The source that saved results record for a table on the cluster."""
    from goodgain.io.sources import Source

    return Source("arrow", None, frame.name)


def _select(data: Any, columns: Mapping[str, str], from_file: bool) -> Any:
    """Only the relevant columns, with decimals and numbers in text files as doubles."""
    from pyspark.sql import functions as sql

    types = dict(data.dtypes)
    selected = []
    for name in dict.fromkeys(columns.values()):
        column = sql.col(f"`{name}`")
        is_text = from_file and types[name] == "string" and name == columns["value"]
        if types[name].startswith("decimal") or is_text:
            column = column.try_cast("double").alias(name)  # an invalid number makes a bad row
        selected.append(column)
    return data.select(*selected)


def _from_driver(
    spark: Any, source: Any, table: TableKind, columns: Mapping[str, str] | None
) -> Any:
    from goodgain.io.rows import rows_of
    from goodgain.io.sources import resolve

    if hasattr(source, "__arrow_c_stream__"):
        import pyarrow as pa

        with arrow_only():
            return spark.createDataFrame(pa.table(source))
    return from_rows(spark, rows_of(resolve(source, table, columns), table), table)


def _trec(lines: Any, table: TableKind) -> Any:
    """Parse lines of `query Q0 doc rank score tag` or `query iteration doc gain`; others get no value."""
    from pyspark.sql import functions as sql

    count, places = _TREC[table]
    text = lines.where("trim(value) != '' and not startswith(value, '#')")
    tokens = sql.split(sql.trim(sql.col("value")), r"[ \t]+")
    complete = sql.size(tokens) == count
    return text.select(
        *(
            (
                sql.when(complete, tokens[at].try_cast("double"))
                if role in ("score", "gain")
                else tokens[at]
            ).alias(role)
            for role, at in places.items()
        )
    )
