"""Text files on a cluster: Spark delivers the bytes, and the core reads the lines, as it does locally.

Spark's own readers have other rules: they take `1d` for a number, fold ids that are not UTF-8 together,
and decode columns before anybody can say which line was bad.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain._core import ArrowTable, require_text
from goodgain.engines.spark.failures import cluster_errors
from goodgain.engines.spark.places import local_path
from goodgain.engines.spark.session import fresh_reader
from goodgain.errors import InputError, core_errors
from goodgain.io.files import decompressed
from goodgain.io.lakes import lake_form
from goodgain.io.line_formats import BYTE_ORDER_MARK, HEAD, line_format
from goodgain.io.naming import FORMATS, compression_of, format_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goodgain._core import Packer
    from goodgain.io.columns import TableKind

TEXTS = ("trec", "csv", "tsv", "jsonl")
_SPLITTABLE = (None, "gzip", "bz2")  # what Spark reads as lines; the rest is read file by file
_SUFFIXES = {form: suffix for suffix, form in reversed(FORMATS.items())}
_SAMPLE = 1000  # lines that determine the format of a remote file


@dataclass(frozen=True, slots=True)
class Lines:
    """How tasks read lines; sent to the executors with the function."""

    place: str
    format: dict[str, Any]  # the core's
    header: bytes | None  # the first line of each file, if it names columns
    whole: bool = False  # whether a row of the DataFrame is a file rather than a line

    def data(self, spark: Any) -> Any:
        """The lines as a DataFrame of bytes, with the place of their block where a header must be skipped."""
        from pyspark.sql import functions as sql

        if self.whole:
            files = fresh_reader(spark).format("binaryFile").load(self.place)
            return files.select("path", sql.col("content").alias("line"))
        lines = fresh_reader(spark).text(self.place, lineSep="\n")
        line = sql.col("value").cast("binary").alias("line")
        if self.header is None:
            return lines.select(line)
        file = sql.xxhash64(sql.col("_metadata.file_path")).alias("file")
        return lines.select(line, file, sql.col("_metadata.file_block_start").alias("begin"))

    def pack(self, batch: Any, packer: Packer, name: str, last: list[Any]) -> None:
        """Add the lines of a batch; `last` holds the file of the last line of the batch before."""
        for lines in (
            self._files(batch, name) if self.whole else [self._without_headers(batch, name, last)]
        ):
            packer.add_lines(ArrowTable.of(lines, name), self.format)

    def _files(self, batch: Any, name: str) -> Iterator[Any]:
        """The lines of whole files, decompressed, a table each."""
        import pyarrow as pa

        paths = batch.column("path").to_pylist()
        for path, content in zip(paths, batch.column("line"), strict=True):
            try:
                data = decompressed(content.as_py(), path).removeprefix(BYTE_ORDER_MARK)
            except InputError as error:
                raise InputError(error.message, where=name, hint=error.hint) from None
            if self.header is not None and data:
                first, _, data = data.partition(b"\n")
                self._require_header(first, name)
            yield pa.table({"line": pa.array([data], pa.large_binary())})

    def _without_headers(self, batch: Any, name: str, last: list[Any]) -> Any:
        import numpy as np
        import pyarrow as pa

        table = pa.Table.from_batches([batch])
        if self.header is None or not len(table):
            return table.select(["line"])
        files, begins = (table.column(c).to_numpy() for c in ("file", "begin"))
        starts = np.append(files[0] != last[0] if last else True, files[1:] != files[:-1])
        last[:] = [files[-1]]
        first = starts & (begins == 0)
        for line in table.column("line").filter(pa.array(first)).to_pylist():
            self._require_header(line.removeprefix(BYTE_ORDER_MARK), name)
        return table.select(["line"]).filter(pa.array(~first))

    def _require_header(self, line: bytes, name: str) -> None:
        """Columns are taken by position, so the header of every file must be the same."""
        if line.rstrip(b"\r") != self.header:
            quoted = [text.decode("utf-8", "replace")[:60] for text in (line, self.header or b"")]
            raise InputError(
                f"the header '{quoted[0]}' differs from that of another file, '{quoted[1]}'",
                where=name,
            )


def lines_of(
    spark: Any,
    path: str,
    form: str | None,
    place: str,
    table: TableKind,
    columns: Mapping[str, str] | None,
) -> tuple[Lines, bool]:
    """How the text file or files at `place` are read, and whether their values are ranks."""
    whole = compression_of(place) not in _SPLITTABLE
    head = _head(spark, place, whole)
    with core_errors():
        core_format, run = line_format(path, head, table, columns, form)
        require_text(head, path)
    if run is not None:
        _require_one_run_of_text(path, place, columns)
    mark = len(BYTE_ORDER_MARK) if head.startswith(BYTE_ORDER_MARK) else 0
    by_rank = core_format.pop("by_rank", False)
    skipped = core_format.pop("skip", 0)
    header = head[mark:].split(b"\n", 1)[0].rstrip(b"\r") if skipped > mark else None
    return Lines(place, core_format, header, whole), by_rank


def _require_one_run_of_text(path: str, place: str, columns: Mapping[str, str] | None) -> None:
    from goodgain.io.sources import resolve, run_names

    local = local_path(place)
    if local is None:
        raise InputError(
            "a column names the run of each line, which Spark does not read from text",
            where=path,
            hint="write Parquet, or leave the column out",
        )
    require_one_run(run_names(resolve(str(local), "run", columns)), "run", path)


def require_one_run(names: Sequence[str], column: str, where: str) -> None:
    """Refuse a table of several runs: as one run they would be a mixture."""
    if len(names) > 1:
        raise InputError(
            f"the column '{column}' names several runs: {', '.join(map(repr, names[:2]))}",
            where=where,
            hint="on Spark each run is a separate table: {'NAME': frame.where(...)}",
        )


def _head(spark: Any, place: str, whole: bool) -> bytes:
    """The first bytes of the first file."""
    local = local_path(place)
    if local is not None:
        first = _first_file(local)
        with first.open("rb") as file:
            return decompressed(file, str(first), HEAD)
    from pyspark.sql import functions as sql

    with cluster_errors(place):
        if whole:
            rows = (
                fresh_reader(spark)
                .format("binaryFile")
                .load(place)
                .select("path", "content")
                .limit(1)
                .collect()
            )
            return decompressed(bytes(rows[0].content), rows[0].path, HEAD) if rows else b""
        value = sql.col("value").cast("binary").alias("line")
        rows = fresh_reader(spark).text(place, lineSep="\n").select(value).limit(_SAMPLE).collect()
    return b"\n".join(bytes(row.line) for row in rows)[:HEAD]


def _first_file(path: Path) -> Path:
    """The file itself, or the first one in a folder that Spark does not ignore."""
    if path.is_file():
        return path
    files = [
        file for file in sorted(path.rglob("*")) if file.is_file() and file.name[:1] not in "._"
    ]
    if not files:
        raise InputError("the folder is empty", where=str(path))
    return files[0]


def fetched(spark: Any, place: str, form: str | None, folder: str) -> str:
    """A local copy of text files, all in one: judgments are read on the driver, like a local file."""
    with cluster_errors(place):
        files = fresh_reader(spark).format("binaryFile").load(place).orderBy("path")
        contents = [decompressed(bytes(row.content), row.path) for row in files.toLocalIterator()]
    header = contents[0].split(b"\n", 1)[0] if contents and form in ("csv", "tsv") else None
    path = Path(folder) / f"judgments{_SUFFIXES[form] if form else '.unknown'}"
    with path.open("wb") as copy:
        for i, content in enumerate(contents):
            if i and header is not None and content.startswith(header + b"\n"):
                content = content[len(header) + 1 :]
            copy.write(content if content.endswith(b"\n") or not content else content + b"\n")
    return str(path)


def form_by_content(place: str) -> str | None:
    """The format of a local file or folder without a known ending; None if it is text."""
    local = local_path(place)
    if local is None:
        return None if Path(place.rstrip("/")).suffix else "parquet"
    if local.is_dir():
        if lake := lake_form(local):
            return lake
        first = _first_file(local)
        return format_of(first) or form_by_content(str(first))
    with local.open("rb") as file:
        magic = file.read(8)
    known = {b"PAR1": "parquet", b"ORC": "orc", b"ARRO": "arrow", b"Obj\x01": "avro"}
    return next((form for start, form in known.items() if magic.startswith(start)), None)


def text_array(texts: Sequence[str | None]) -> Any:
    """Ids as an Arrow array; those that were not UTF-8 keep their bytes."""
    import pyarrow as pa

    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError:
        raw = [None if t is None else t.encode("utf-8", "surrogateescape") for t in texts]
        array = pa.array(raw, pa.binary())
        return pa.Array.from_buffers(pa.string(), len(array), array.buffers())


def texts_of(array: Any) -> list[str]:
    """The inverse of `text_array`."""
    import pyarrow as pa

    return [t.decode("utf-8", "surrogateescape") for t in array.cast(pa.binary()).to_pylist()]
