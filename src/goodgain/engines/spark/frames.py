"""Judgements, runs and traces as Spark DataFrames, from whatever a user hands over."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.engines.spark.session import arrow_only, is_frame
from goodgain.errors import InputError
from goodgain.read.columns import find_columns
from goodgain.read.files import plain_suffix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.read.columns import TableKind
    from goodgain.read.rows import Rows
    from goodgain.read.source import Source

_ENDINGS = {
    ".parquet": "parquet", ".orc": "orc", ".csv": "csv", ".tsv": "tsv", ".jsonl": "json", ".ndjson": "json",
    ".txt": "trec", ".run": "trec", ".trec": "trec", ".res": "trec", ".qrels": "trec",
}  # fmt: skip
_FORMATS = ("parquet", "delta", "iceberg", "orc", "avro", "csv", "tsv", "json", "trec", "table")
_HERE = (".json", ".arrow", ".feather", ".ipc")  # read on the driver: they cannot be divided
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

    def kind(self, role: str) -> str:
        """Whether the ids of a role are text or whole numbers."""
        types = dict(self.data.dtypes)
        return "whole numbers" if types[self.columns[role]] in _INTEGERS else "text"


def frame_of(
    spark: Any,
    source: Any,
    table: TableKind,
    columns: Mapping[str, str] | None = None,
    name: str | None = None,
) -> Frame:
    """A DataFrame as it is, a path or URL as Spark reads it, anything else from this machine's memory."""
    of_text = False
    if is_frame(source):
        data, shown = source, name or table
    elif isinstance(source, str | os.PathLike) and plain_suffix(os.fspath(source)) not in _HERE:
        path = os.fspath(source)
        data, shown, of_text = read(spark, path, table), name or path, True
    else:
        data, shown = _from_here(spark, source, table, columns), name or table
        columns = None
    roles = find_columns(data.columns, table, shown, columns)
    found = {str(role): column for role, column in roles.items()}
    return Frame(_only(data, found, of_text), found, shown)


def same_kinds(qrels: Frame, run: Frame) -> None:
    """Ids that differ only by their type are an error, not a mismatch in silence."""
    for role, word in (("query", "query"), ("doc", "document")):
        ours, theirs = qrels.kind(role), run.kind(role)
        if ours != theirs:
            raise InputError(
                f"{word} ids are {ours} in the judgements but {theirs} in the run",
                where=run.name,
                hint="1 and '1' are two ids: turn one side into the other's type, for example with cast",
            )


def read(spark: Any, path: str, table: TableKind) -> Any:
    """A DataFrame of a path or URL; `FORMAT:PATH` and `table:NAME` say what the ending does not."""
    prefix, colon, rest = path.partition(":")
    form, place = (prefix, rest) if colon and prefix in _FORMATS else (None, path)
    form = form or _ENDINGS.get(plain_suffix(path), "parquet")
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


def provenance(frame: Frame) -> Source:
    """What a saved result says about a table that other machines hold."""
    from goodgain.read.source import Source

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
    from goodgain.read.rows import rows_of
    from goodgain.read.source import resolve

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
