"""Judgements, runs and traces as Spark DataFrames, from whatever a user hands over."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.engines.spark.files import Files, files_of
from goodgain.engines.spark.session import arrow_only, is_frame
from goodgain.engines.spark.worker import PACKED, packed
from goodgain.errors import InputError
from goodgain.io.columns import find_columns
from goodgain.io.naming import format_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.engines.spark.worker import Job
    from goodgain.io.columns import TableKind
    from goodgain.io.rows import Rows
    from goodgain.io.sources import Source

_FORMATS = ("parquet", "delta", "iceberg", "orc", "avro", "csv", "tsv", "json", "trec", "table")
_UNTYPED = ("csv", "tsv", "trec")  # where 1 may be a number or a text
_HERE = ("json", "arrow")  # read on the driver: they cannot be divided
_TREC = {
    "run": (6, {"query": 0, "doc": 2, "score": 4}),
    "qrels": (4, {"query": 0, "aspect": 1, "doc": 2, "gain": 3}),
}
_INTEGERS = ("tinyint", "smallint", "int", "bigint")


@dataclass(frozen=True, slots=True)
class Frame:
    """A DataFrame with the columns that count, and which of them is which."""

    data: Any
    columns: dict[str, str]  # role to name
    name: str
    files: Files | None = None  # where tasks can read its rows without Spark
    kinds: Mapping[str, str] | None = None  # of ids, by role, where the types do not say it

    def kind(self, role: str) -> str | None:
        """Whether the ids of a role are text or whole numbers; nothing of a file that cannot say it."""
        if self.kinds is not None:
            return self.kinds.get(role)
        types = dict(self.data.dtypes)
        return "whole numbers" if types[self.columns[role]] in _INTEGERS else "text"

    def read_by_spark(self) -> Frame:
        """The same, but tasks do not open files by themselves."""
        return replace(self, files=None)


def frame_of(
    spark: Any,
    source: Any,
    table: TableKind,
    columns: Mapping[str, str] | None = None,
    name: str | None = None,
    kinds: Mapping[str, str] | None = None,
) -> Frame:
    """A DataFrame as it is, a path or URL as Spark reads it, anything else from this machine's memory."""
    of_text = False
    if is_frame(source):
        data, shown = source, name or table
    elif isinstance(source, str | os.PathLike) and format_of(source) not in _HERE:
        path = os.fspath(source)
        data, shown, of_text = read(spark, path, table), name or path, True
        kinds = {} if _format(path)[0] in _UNTYPED else None
    else:
        data, shown = _from_here(spark, source, table, columns), name or table
        columns = None
    roles = find_columns(data.columns, table, shown, columns)
    found = {str(role): column for role, column in roles.items()}
    types = {column: kind for column, kind in data.dtypes if column in found.values()}
    files = files_of(data, types, found["query"]) if types[found["value"]] != "string" else None
    return Frame(_only(data, found, of_text), found, shown, files, kinds)


def id_kinds(source: Source) -> dict[str, str] | None:
    """What ids in this machine's memory are; a file's are neither, and a data frame's types tell it."""
    if source.kind == "file" or source.stat is not None:
        return {}
    if source.kind == "arrow" or not source.value:
        return None
    from goodgain.io.rows import dict_rows

    rows = dict_rows(source.value) if source.kind == "dict" else source.value
    return {
        role: "text" if isinstance(value, str) else "whole numbers"
        for role, value in zip(("query", "doc"), next(iter(rows), ()), strict=False)
    }


def same_kinds(qrels: Frame, run: Frame) -> None:
    """Ids that differ only by their type are an error, not a mismatch in silence."""
    for role, word in (("query", "query"), ("doc", "document")):
        ours, theirs = qrels.kind(role), run.kind(role)
        if ours and theirs and ours != theirs:
            raise InputError(
                f"{word} ids are {ours} in the judgements but {theirs} in the run",
                where=run.name,
                hint="1 and '1' are two ids: turn one side into the other's type, for example with cast",
            )


def read(spark: Any, path: str, table: TableKind) -> Any:
    """A DataFrame of a path or URL; `FORMAT:PATH` and `table:NAME` say what the ending does not."""
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
            hint=f"the format is told by the ending, or named: {', '.join(_FORMATS)}, as in delta:PATH",
        ) from None


def _format(path: str) -> tuple[str, str]:
    """What a path is read as, and the path alone."""
    prefix, colon, rest = path.partition(":")
    if colon and prefix in _FORMATS:
        return prefix, rest
    form = format_of(path) or "parquet"
    return {"jsonl": "json"}.get(form, form), path


def from_rows(spark: Any, rows: Rows, table: TableKind) -> Any:
    """A DataFrame of columns that are in memory."""
    import pyarrow as pa

    value = "score" if table == "run" else "gain"
    text = pa.string()
    found = {
        "query": pa.array(rows.query, text),
        "doc": pa.array(rows.doc, text),
        value: pa.array(rows.value, pa.float64()),
    }
    if table == "qrels":
        for role in ("target", "aspect"):
            if any(v is not None for v in getattr(rows, role)):
                found[role] = pa.array(getattr(rows, role), text)
    with arrow_only():
        return spark.createDataFrame(pa.table(found))


def pieces_of(frame: Frame, *, is_run: bool, here: Job | None = None) -> Any:
    """The rows of a table as pieces, read by the tasks themselves if they can."""
    columns, name, files = frame.columns, frame.name, frame.files
    given = files.numbers(frame.data.sparkSession) if files else frame.data
    with arrow_only():
        return given.mapInArrow(
            lambda batches: packed(batches, columns, is_run, name, files, here), PACKED
        )


def provenance(frame: Frame) -> Source:
    """What a saved result says about a table that other machines hold."""
    from goodgain.io.sources import Source

    return Source("arrow", None, frame.name)


def _only(data: Any, columns: Mapping[str, str], of_text: bool) -> Any:
    """Without the columns that do not count; decimals, and the numbers of text files, as doubles."""
    from pyspark.sql import functions as sql

    types = dict(data.dtypes)
    wanted = []
    for name in dict.fromkeys(columns.values()):
        column = sql.col(f"`{name}`")
        is_text = of_text and types[name] == "string" and name == columns["value"]
        if types[name].startswith("decimal") or is_text:
            column = column.try_cast("double").alias(name)  # what is no number is a bad row
        wanted.append(column)
    return data.select(*wanted)


def _from_here(spark: Any, source: Any, table: TableKind, columns: Mapping[str, str] | None) -> Any:
    from goodgain.io.rows import rows_of
    from goodgain.io.sources import resolve

    if hasattr(source, "__arrow_c_stream__"):
        import pyarrow as pa

        with arrow_only():
            return spark.createDataFrame(pa.table(source))
    return from_rows(spark, rows_of(resolve(source, table, columns), table), table)


def _trec(lines: Any, table: TableKind) -> Any:
    """Lines of `query Q0 doc rank score tag` or `query iteration doc gain`; others have no value."""
    from pyspark.sql import functions as sql

    count, places = _TREC[table]
    text = lines.where("trim(value) != '' and not startswith(value, '#')")
    parts = sql.split(sql.trim(sql.col("value")), r"[ \t]+")
    whole = sql.size(parts) == count
    return text.select(
        *(
            (
                sql.when(whole, parts[at].try_cast("double"))
                if role in ("score", "gain")
                else parts[at]
            ).alias(role)
            for role, at in places.items()
        )
    )
