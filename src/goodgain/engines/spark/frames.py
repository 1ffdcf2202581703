"""Judgments, runs and traces as Spark DataFrames, from any kind of source."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from goodgain.engines.spark.failures import cluster_errors, reading_errors, same_version
from goodgain.engines.spark.files import Files, files_of, size_of
from goodgain.engines.spark.lakes import lake_frame
from goodgain.engines.spark.places import local_path, place_of
from goodgain.engines.spark.session import arrow_only, fresh_reader, is_frame
from goodgain.engines.spark.texts import (
    TEXTS,
    Lines,
    form_by_content,
    lines_of,
    require_one_run,
    text_array,
)
from goodgain.engines.spark.worker import PACKED, SPLIT, PackTask, packed
from goodgain.errors import InputError, UsageError, file_not_found
from goodgain.io.arrow_files import is_integer_key
from goodgain.io.columns import core_columns, find_columns, has_column, looks_like_header
from goodgain.io.files import query_rows
from goodgain.io.lakes import LAKES, lake_form
from goodgain.io.locations import check_glob
from goodgain.io.naming import format_of, is_glob, is_metadata

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goodgain.engines.spark.worker import Job
    from goodgain.io.columns import TableKind
    from goodgain.io.rows import Rows
    from goodgain.io.sources import Source

_FORMATS = ("parquet", "delta", "iceberg", "orc", "avro", "csv", "tsv", "json", "trec", "table")
_DRIVER_FORMATS = ("json", "arrow")  # read on the driver: not splittable
_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_KEY = re.compile("([^/=]+)=([^/]*)(?=/)")  # of a folder, in the URI of a file


@dataclass(frozen=True, slots=True)
class Frame:
    """A DataFrame with the relevant columns and their roles."""

    data: Any
    columns: dict[str, str]  # role -> name
    name: str
    files: Files | None = None  # set if tasks can read its rows without Spark
    kinds: Mapping[str, str] | None = None  # of ids, by role, if column types do not tell
    by_rank: bool = False  # a run without scores
    lines: Lines | None = None  # set if the rows are lines of text, which the core reads
    facts: Mapping[str, Any] | None = None  # what saved results record besides the name

    def kind(self, role: str) -> str | None:
        """Whether the ids of a role are text or integers; None for untyped files."""
        if self.kinds is not None:
            return self.kinds.get(role)
        types = dict(self.data.dtypes)
        return "integers" if types[self.columns[role]] in _INTEGERS else "text"

    def read_by_spark(self) -> Frame:
        """The same, with files opened by Spark instead of the tasks."""
        return replace(self, files=None)

    def read_whole(self) -> Frame:
        """The same text, file by file instead of line by line."""
        if self.lines is None:
            return self
        whole = replace(self.lines, whole=True)
        return replace(self, lines=whole, data=whole.data(self.data.sparkSession))


def frame_of(
    spark: Any,
    source: Any,
    table: TableKind,
    columns: Mapping[str, str] | None = None,
    name: str | None = None,
    kinds: Mapping[str, str] | None = None,
) -> Frame:
    """Turn a source into a frame: a DataFrame, a path or URL that Spark reads, or local data."""
    facts: dict[str, Any] = {}
    is_plain = False  # nothing but the rows of Parquet files
    if is_frame(source):
        data, name = current(source, name or table), name or table
    elif isinstance(source, str | os.PathLike) and _named_format(source) not in _DRIVER_FORMATS:
        path = os.fspath(source)
        name = name or path
        form, _ = format_and_place(path)
        if form == "arrow" or (table == "run" and _holds_lists(path, form, columns)):
            data, columns = _from_driver(spark, source, table, columns), None
        elif form is None or form in TEXTS:
            return _text_frame(spark, path, table, columns, name)
        else:
            data, facts = read(spark, path)
            is_plain = form == "parquet" or "version" in facts
    else:
        data, name = _from_driver(spark, source, table, columns), name or table
        columns = None
    if table == "run":
        whole, data = data, _exploded(data, name)
        is_plain = is_plain and data is whole
    chosen = find_columns(data.columns, table, name, columns)
    if "run" in chosen:
        require_one_run(_values(data, chosen["run"]), chosen["run"], name)
    roles, by_rank = core_columns(chosen)
    types = {column: kind for column, kind in data.dtypes if column in roles.values()}
    is_number = types[roles["value"]] != "string"
    files = files_of(data, types, roles["query"], is_plain=is_plain) if is_number else None
    facts |= size_of(data)
    return Frame(_select(data, roles), roles, name, files, kinds, by_rank, facts=facts)


def _values(data: Any, column: str) -> list[str]:
    """Two or three of the different values in a column."""
    from pyspark.sql import functions as sql

    with cluster_errors(column):
        rows = data.select(sql.col(f"`{column}`").cast("string")).distinct().limit(3).collect()
    return sorted(str(row[0]) for row in rows)


def current(data: Any, name: str) -> Any:
    """The DataFrame, of the files as they are now; a stream has no end, so it cannot be evaluated."""
    if data.isStreaming:
        raise UsageError(
            f"the {name} is a streaming DataFrame, which has no end",
            hint="evaluate its batches: stream.writeStream.foreachBatch(...)",
        )
    if hasattr(data, "_jdf"):
        data._jdf.queryExecution().analyzed().refresh()  # files may have been rewritten since
    return data


def _text_frame(
    spark: Any, path: str, table: TableKind, columns: Mapping[str, str] | None, name: str
) -> Frame:
    """A run in lines of text, which the core reads in the tasks."""
    form, place = format_and_place(path)
    _require_path(spark, path, place)
    lines, by_rank = lines_of(spark, path, form, place, table, columns)
    roles = {"query": "query", "doc": "doc", "value": "score"}
    data = lines.data(spark)
    return Frame(data, roles, name, None, {}, by_rank, lines, size_of(data))


def _require_path(spark: Any, path: str, place: str) -> None:
    with _spark_errors(path):
        spark.read.text(place).schema  # noqa: B018 - analysed now, so that a missing path is an error here


def _holds_lists(path: str, form: str | None, columns: Mapping[str, str] | None) -> bool:
    """Whether the lines of a local file are JSON objects that hold the results of a query each."""
    return (
        form in ("jsonl", None) and Path(path).is_file() and query_rows(path, columns) is not None
    )


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


def read(spark: Any, path: str) -> tuple[Any, dict[str, Any]]:
    """Read a path or URL; `FORMAT:PATH` and `table:NAME` override the suffix. With facts about it."""
    form, place = format_and_place(path)
    with _spark_errors(path):
        if form == "table":
            spark.catalog.refreshTable(place)  # its files may have been rewritten since
            return spark.table(place), {}
        if form in LAKES:
            return lake_frame(spark, form, place)
        reader = fresh_reader(spark).format("json" if form == "jsonl" else form or "text")
        return _with_keys_as_written(reader, place), {}


def _with_keys_as_written(reader: Any, place: str) -> Any:
    """The table, with keys of folders `key=value` as text unless all are written as integers, as locally.

    Spark would fold 01 and 1, and take what looks like a date or a decimal for one.
    """
    data = reader.load(place)
    types = dict(data.dtypes)
    values: dict[str, set[str]] = {}
    for uri in data.inputFiles():
        for key, value in _KEY.findall(uri):
            values.setdefault(unquote(key), set()).add(unquote(value))
    texts = {
        key
        for key, written in values.items()
        if types.get(key, "string") != "string"
        and not (types[key] in _INTEGERS and all(map(is_integer_key, written)))
    }
    if not texts:
        return data
    from pyspark.sql.types import StringType, StructField, StructType

    fields = [
        StructField(field.name, StringType()) if field.name in texts else field
        for field in data.schema.fields
    ]
    return reader.schema(StructType(fields)).load(place)


@contextmanager
def _spark_errors(path: str) -> Iterator[None]:
    hint = f"to name the format, write FORMAT:PATH with one of: {', '.join(_FORMATS)}"
    try:
        with reading_errors(f"Spark cannot read '{path}'", hint=hint):
            yield
    except InputError as error:
        if "Path does not exist: " in error.message:
            raise file_not_found(path) from None
        is_file = (local := local_path(path)) is not None and local.is_file()
        if "Could not read footer" in error.message or (
            is_file and "Unable to infer schema for Parquet" in error.message
        ):
            raise InputError("invalid Parquet file", where=path, hint=hint) from None
        raise


def is_text(path: str) -> bool:
    """Whether a path is that of lines of text."""
    form, _ = format_and_place(path)
    return form is None or form in TEXTS


def format_and_place(path: str) -> tuple[str | None, str]:
    """The format of a path (None for text of any kind), and the path without its prefix, as a URL."""
    form, place = _named_format(path), path
    if path.startswith(f"{form}:"):
        place = path.removeprefix(f"{form}:")
    if form != "table" and Path(place).exists():  # Spark may have started in another folder
        place = place_of(place)
    if form is None:
        form = form_by_content(place)
    elif form == "parquet" and (local := local_path(place)):
        form = lake_form(local) or form  # whose folder also holds files that are no longer its own
    elif form == "parquet" and is_glob(place):
        check_glob(place)
    return {"json": "jsonl"}.get(form or "", form), place


def _named_format(path: str | os.PathLike[str]) -> str | None:
    """The format that the prefix of a path names, or its suffix."""
    if is_metadata(os.fspath(path)):
        return "iceberg"
    prefix, colon, _ = os.fspath(path).partition(":")
    return prefix if colon and prefix in _FORMATS else format_of(path)


def from_rows(spark: Any, rows: Rows, table: TableKind) -> Any:
    """A DataFrame from columns in memory."""
    import pyarrow as pa

    value = "score" if table == "run" else "gain"
    columns = {
        "query": text_array(rows.query),
        "doc": text_array(rows.doc),
        value: pa.array(rows.value, pa.float64()),
    }
    if table == "qrels":
        for role in ("target", "aspect"):
            if any(v is not None for v in getattr(rows, role)):
                columns[role] = text_array(getattr(rows, role))
    with arrow_only():
        return spark.createDataFrame(pa.table(columns))


def pieces_of(frame: Frame, *, is_run: bool, here: Job | None = None, number: int = 0) -> Any:
    """The rows of a table as pieces of a run; tasks read files themselves where possible."""
    task = PackTask(
        columns=frame.columns, is_run=is_run, name=frame.name, number=number, files=frame.files,
        lines=frame.lines, here=here,
    )  # fmt: skip
    source = frame.files.numbers(frame.data.sparkSession) if frame.files else frame.data
    with arrow_only():
        return source.mapInArrow(same_version(lambda batches: packed(batches, task)), PACKED)


def with_splits(frame: Frame) -> Frame:
    """The table with a column that tells which piece of a file a row is from, if all rows are from files."""
    if frame.files or frame.lines:
        return frame
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as sql

    split = sql.xxhash64(sql.input_file_name(), sql.expr("input_file_block_start()")).alias(SPLIT)
    try:
        data = frame.data.select("*", split)
        data.schema  # noqa: B018  (where the analysis is remote, it happens here)
    except AnalysisException:  # rows of several tables have no one file
        return frame
    return replace(frame, data=data)


def provenance(frame: Frame) -> Source:
    """The source that saved results record for a table on the cluster."""
    from goodgain.io.sources import Source

    return Source("arrow", None, frame.name, facts=frame.facts)


def _select(data: Any, columns: Mapping[str, str]) -> Any:
    """Only the relevant columns, with decimals as doubles."""
    from pyspark.sql import functions as sql

    types = dict(data.dtypes)
    selected = []
    for name in dict.fromkeys(columns.values()):
        column = sql.col(f"`{name}`")
        if types[name].startswith("decimal"):
            column = column.cast("double").alias(name)
        selected.append(column)
    return data.select(*selected)


def _from_driver(
    spark: Any, source: Any, table: TableKind, columns: Mapping[str, str] | None
) -> Any:
    from goodgain.io.rows import rows_of
    from goodgain.io.sources import resolve

    if hasattr(source, "__arrow_c_stream__"):
        with arrow_only():
            return spark.createDataFrame(_plain_table(source, table, columns))
    rows = rows_of(resolve(source, table, columns), table, checked=False)  # the tasks do that
    return from_rows(spark, rows, table)


def _plain_table(source: Any, table: TableKind, columns: Mapping[str, str] | None) -> Any:
    """The relevant columns of Arrow data, in types that Spark has: no views or dictionaries."""
    import pyarrow as pa

    data = pa.table(source)
    roles = find_columns(data.column_names, table, table, columns)
    data = data.select(list(dict.fromkeys(roles.values())))
    types = pa.types
    fields = []
    for column in data.schema:
        kind = column.type.value_type if types.is_dictionary(column.type) else column.type
        if types.is_string_view(kind) or types.is_large_string(kind):
            kind = pa.string()
        elif types.is_binary_view(kind) or types.is_large_binary(kind):
            kind = pa.binary()
        elif types.is_unsigned_integer(kind):
            kind = pa.int64()
        elif types.is_float16(kind):
            kind = pa.float32()
        fields.append(column.with_type(kind))
    return data.cast(pa.schema(fields))
