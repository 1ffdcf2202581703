"""Parquet files that tasks read themselves, which halves the time.

Spark converts columns to rows and back to columns before Python sees them. If a DataFrame is just a table
of Parquet files on a mounted file system or in a store that pyarrow opens, tasks read them as Arrow instead.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from goodgain.errors import InputError
from goodgain.io.locations import open_random
from goodgain.io.naming import is_url
from goodgain.io.sources import stat_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_BATCH = 100_000  # rows per batch
_REQUESTS = 16  # to an object store at once
_STORES = ("s3", "s3a", "gs", "abfs", "abfss", "hdfs")
_SPARK = "org.apache.spark.sql."
_RELATION = _SPARK + "execution.datasources.LogicalRelation"
_FILES = _SPARK + "execution.datasources.HadoopFsRelation"
_PARQUET = _SPARK + "execution.datasources.parquet.ParquetFileFormat"  # not Delta's subclass of it
_PROJECT = _SPARK + "catalyst.plans.logical.Project"
_ATTRIBUTE = _SPARK + "catalyst.expressions.AttributeReference"
_ALIAS = _SPARK + "catalyst.expressions.Alias"
_TYPES = {
    "string": "string", "tinyint": "int8", "smallint": "int16", "int": "int32", "bigint": "int64",
    "float": "float32", "double": "float64",
}  # fmt: skip


class Split(NamedTuple):
    """The row groups of a file that start within a range of bytes."""

    path: str
    begin: int
    end: int
    size: int  # of the file when it was listed; ranges of another file would leave rows out


class Column(NamedTuple):
    """A column under its name in the DataFrame."""

    name: str
    stored: str  # its name in the files
    type: str
    repeats: bool  # whether adjacent rows often hold the same text


@dataclass(frozen=True, slots=True)
class Files:
    """The splits that each task reads; sent to the executors with the function."""

    tasks: tuple[tuple[Split, ...], ...]
    columns: tuple[Column, ...]
    version: str  # changes when a file may have changed

    def numbers(self, spark: Any) -> Any:
        """A DataFrame with one partition per task, which holds the number of the task."""
        return spark.range(0, len(self.tasks), 1, len(self.tasks))

    def rows(self, numbers: Iterator[Any]) -> Iterator[Any]:
        """The rows of the tasks with these numbers, in batches."""
        for batch in numbers:
            for task in batch.column(0).to_pylist():
                yield from self._rows_of(self.tasks[task])

    def all_rows(self) -> Iterator[Any]:
        """The rows of all files, in batches."""
        return self._rows_of(chain.from_iterable(self.tasks))

    def _rows_of(self, splits: Iterable[Split]) -> Iterator[Any]:
        for split in splits:
            yield from self._read(split)

    @property
    def paths(self) -> list[str]:
        """Each file once."""
        return list(dict.fromkeys(split.path for task in self.tasks for split in task))

    def count(self) -> int | None:
        """The number of rows, from the file footers; None if one cannot be read."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return sum(int(pq.read_metadata(_opened(path)).num_rows) for path in self.paths)
        except (OSError, pa.ArrowException):
            return None

    def _read(self, split: Split) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        types = [_type(column) for column in self.columns]
        names = [column.name for column in self.columns]
        repeats = [column.stored for column in self.columns if column.repeats]
        source = _opened(split.path)
        if split.size != (source.size() if is_url(split.path) else Path(split.path).stat().st_size):
            raise OSError(f"'{split.path}' has changed")
        try:
            opened = pq.ParquetFile(source, read_dictionary=repeats, pre_buffer=is_url(split.path))
        except KeyError:  # of a column that is not there, or not under just this name
            raise OSError(f"'{split.path}' does not have all columns") from None
        with opened as file:
            stored = [
                _match_column(column.stored, file.schema_arrow.names) for column in self.columns
            ]
            if None in stored:  # null, or the table's default: Spark knows
                raise OSError(f"'{split.path}' does not have all columns")
            _require_readable(split.path, file)
            groups = [
                group
                for group in range(file.metadata.num_row_groups)
                if split.begin <= _offset(file.metadata.row_group(group)) < split.end
            ]
            for batch in file.iter_batches(
                _BATCH, row_groups=groups, columns=list(dict.fromkeys(stored)), use_threads=False
            ):
                arrays = [batch.column(name) for name in stored]
                yield pa.RecordBatch.from_arrays(list(map(_as, arrays, types)), names)


def _opened(path: str) -> Any:
    """A file for pyarrow; what cannot be opened here Spark may still read."""
    try:
        return open_random(path)
    except InputError as error:
        raise OSError(str(error)) from None


def _match_column(name: str, names: list[str]) -> str | None:
    """Find a column as Spark does, ignoring case."""
    matches = [other for other in names if other.lower() == name.lower()]
    return name if name in matches else next(iter(matches), None)


def _require_readable(path: str, file: Any) -> None:
    """An error if the first column is encrypted or damaged: asked where it lies, pyarrow ends the process."""
    import pyarrow.parquet as pq

    if file.metadata.num_row_groups:
        first = file.schema.column(0).path
        probe = pq.ParquetFile(_opened(path), metadata=file.metadata, buffer_size=1 << 16)
        next(probe.iter_batches(1, [0], columns=[first], use_threads=False), None)


def _offset(group: Any) -> int:
    first = group.column(0)
    return int(first.dictionary_page_offset or first.data_page_offset)


def _type(column: Column) -> Any:
    """The Arrow type; repeated texts stay dictionary-encoded, as they are stored."""
    import pyarrow as pa

    kind = getattr(pa, column.type)()
    return pa.dictionary(pa.int32(), kind) if column.repeats else kind


def _as(array: Any, kind: Any) -> Any:
    return array if array.type == kind else array.cast(kind)


def files_of(
    data: Any, types: Mapping[str, str], query: str, *, is_plain: bool = False
) -> Files | None:
    """The files with the columns `types` of a DataFrame; None if only Spark can produce its rows.

    Spark Connect does not show its plans: there `is_plain` says that the DataFrame only reads files.
    """
    plan = _plan(data)
    if plan is not None:
        stored = _stored(plan, types)
    else:
        stored = _stored_under(data, types) if is_plain and not hasattr(data, "_jdf") else None
    if stored is None:
        return None
    columns = tuple(
        Column(name, stored[name], _TYPES[types[name]], name == query and types[name] == "string")
        for name in types
    )
    stats = _stats(data, plan)
    if stats is None:
        return None
    most = _bytes(data.sparkSession.conf.get("spark.sql.files.maxPartitionBytes"))
    sizes = {path: size for path, (size, _) in stats.items()}
    version = sha256(repr(stats).encode()).hexdigest()
    return Files(tuple(_tasks(sizes, most)), columns, version)


def _stats(data: Any, plan: Any) -> dict[str, tuple[int, int]] | None:
    """Size and time of change of each file, by the path or URL that tasks open; None if one cannot be."""
    spark = data.sparkSession
    paths = [_path(uri, None if plan is None else spark) for uri in sorted(data.inputFiles())]
    if not paths or None in paths:
        return None
    with ThreadPoolExecutor(_REQUESTS) as pool:
        listed = list(pool.map(stat_of, paths))
    stats = {path: stat for path, stat in zip(paths, listed, strict=True) if path and stat}
    if len(stats) < len(paths):
        return None
    if any(map(is_url, stats)):  # the store that pyarrow opens must be the one that Spark reads
        if plan is None:
            return None
        relation = plan.child() if _is(plan, _PROJECT) else plan
        if sum(size for size, _ in stats.values()) != relation.relation().location().sizeInBytes():
            return None
    return stats


def size_of(data: Any) -> dict[str, int]:
    """The number of files behind a DataFrame and their bytes, if it only reads files."""
    if not hasattr(data, "_jdf"):
        return {}
    leaves = _each(data._jdf.queryExecution().analyzed().collectLeaves())
    if not leaves or not all(_is(x, _RELATION) and _is(x.relation(), _FILES) for x in leaves):
        return {}
    places = [leaf.relation().location() for leaf in leaves]
    return {
        "files": sum(len(place.inputFiles()) for place in places),
        "bytes": sum(int(place.sizeInBytes()) for place in places),
    }


def _plan(data: Any) -> Any:
    """Spark's plan for a DataFrame; None if it is cached or comes from Spark Connect."""
    if not hasattr(data, "_jdf") or data.storageLevel.useMemory or data.storageLevel.useDisk:
        return None
    return data._jdf.queryExecution().optimizedPlan()


def _stored(plan: Any, types: Mapping[str, str]) -> dict[str, str] | None:
    """The name of each column in the files; None if the plan does more than read them."""
    if not all(kind in _TYPES for kind in types.values()):
        return None
    names = {name: name for name in types}
    if _is(plan, _PROJECT):
        names = {}
        for column in _each(plan.projectList()):
            inner = column.child() if _is(column, _ALIAS) else column
            if not _is(inner, _ATTRIBUTE):
                return None
            names[column.name()] = inner.name()
        plan = plan.child()
    if not _is(plan, _RELATION) or not _is(plan.relation(), _FILES):
        return None
    relation = plan.relation()
    if not _is(relation.fileFormat(), _PARQUET):
        return None
    partitions = {field.name().lower() for field in relation.partitionSchema().fields()}
    stored = {name: names[name] for name in types if name in names}
    if len(stored) < len(types) or any(
        s.lower() in partitions or "." in s for s in stored.values()
    ):
        return None
    return stored


def _stored_under(data: Any, types: Mapping[str, str]) -> dict[str, str] | None:
    """Each column under its own name; None if one is not in the files but in the names of folders."""
    in_folders = {
        name for name in types for uri in data.inputFiles() if f"/{name}=" in unquote(uri)
    }
    if in_folders or not all(kind in _TYPES for kind in types.values()):
        return None
    return {name: name for name in types}


def _each(sequence: Any) -> list[Any]:
    return [sequence.apply(i) for i in range(sequence.size())]


def _is(thing: Any, kind: str) -> bool:
    return str(thing.getClass().getName()) == kind


def _path(uri: str, spark: Any) -> str | None:
    """A path of this machine, or a URL that pyarrow opens; None for other places."""
    url = urlsplit(uri)
    if url.scheme == "file" and not url.netloc:
        return unquote(url.path)
    if url.scheme not in _STORES or spark is None:
        return None
    return f"{url.scheme}://{url.netloc}{unquote(url.path)}{_options(url.scheme, spark)}"


def _options(scheme: str, spark: Any) -> str:
    """Where Hadoop finds an object store, as options of pyarrow; keys are those of the environment."""
    if not scheme.startswith("s3"):
        return ""
    hadoop = spark._jsc.hadoopConfiguration()
    endpoint, region = (hadoop.get(f"fs.s3a.endpoint{part}") or "" for part in ("", ".region"))
    scheme, _, host = endpoint.rpartition("://")
    if host.endswith("amazonaws.com"):  # pyarrow knows it by the region
        scheme = host = ""
    options = {"endpoint_override": host, "scheme": scheme, "region": region}
    pairs = [f"{name}={quote(value)}" for name, value in options.items() if value]
    return f"?{'&'.join(pairs)}" if pairs else ""


def _bytes(setting: str) -> int:
    """Parse a size such as `134217728b` or `32m`."""
    text = setting.strip().lower().removesuffix("b")
    factors = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
    return int(text[:-1]) * factors[text[-1]] if text[-1] in factors else int(text)


def _tasks(sizes: Mapping[str, int], most: int) -> Iterator[tuple[Split, ...]]:
    """Split large files and group small ones, in the order of their names."""
    task: list[Split] = []
    task_size = 0
    for path, size in sizes.items():
        count = max(1, round(size / most))
        for i in range(count):
            if task and task_size + size // count > most:
                yield tuple(task)
                task, task_size = [], 0
            task.append(Split(path, size * i // count, size * (i + 1) // count, size))
            task_size += size // count
    if task:
        yield tuple(task)
