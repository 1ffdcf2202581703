"""Parquet files that tasks read by themselves: rows that Spark need not make cost half of the time.

Spark turns columns into rows and rows into columns again before Python sees them. Where a DataFrame is a
table of Parquet files and nothing else, and they are files of a file system, tasks open them as Arrow.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from goodgain.io.sources import stat_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_BATCH = 100_000  # rows that are read at once
_SPARK = "org.apache.spark.sql."
_RELATION = _SPARK + "execution.datasources.LogicalRelation"
_FILES = _SPARK + "execution.datasources.HadoopFsRelation"
_PARQUET = (
    _SPARK + "execution.datasources.parquet.ParquetFileFormat"
)  # not what Delta derives from it
_PROJECT = _SPARK + "catalyst.plans.logical.Project"
_ATTRIBUTE = _SPARK + "catalyst.expressions.AttributeReference"
_ALIAS = _SPARK + "catalyst.expressions.Alias"
_TYPES = {
    "string": "string", "tinyint": "int8", "smallint": "int16", "int": "int32", "bigint": "int64",
    "float": "float32", "double": "float64",
}  # fmt: skip


class Split(NamedTuple):
    """The row groups of a file that begin between two of its bytes."""

    path: str
    begin: int
    end: int


class Column(NamedTuple):
    """A column under the name that the DataFrame gives it."""

    name: str
    stored: str  # its name in the files
    type: str
    repeats: bool  # whether rows that stand together often hold the same text


@dataclass(frozen=True, slots=True)
class Files:
    """What each task reads; goes to the executors with the function."""

    tasks: tuple[tuple[Split, ...], ...]
    columns: tuple[Column, ...]
    version: str  # of their contents: another one when a file may have changed

    def numbers(self, spark: Any) -> Any:
        """A DataFrame of the numbers of the tasks, each in a partition of its own."""
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
        """How many rows they have, from their ends; nothing if one cannot be read."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return sum(int(pq.read_metadata(path).num_rows) for path in self.paths)
        except (OSError, pa.ArrowException):
            return None

    def _read(self, split: Split) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        types = [_type(column) for column in self.columns]
        names = [column.name for column in self.columns]
        repeats = [column.stored for column in self.columns if column.repeats]
        with pq.ParquetFile(split.path, read_dictionary=repeats) as file:
            stored = [_found(column.stored, file.schema_arrow.names) for column in self.columns]
            groups = [
                group
                for group in range(file.metadata.num_row_groups)
                if split.begin <= _offset(file.metadata.row_group(group)) < split.end
            ]
            wanted = list(dict.fromkeys(name for name in stored if name is not None))
            for batch in file.iter_batches(
                _BATCH, row_groups=groups, columns=wanted, use_threads=False
            ):
                found = [
                    batch.column(name) if name else pa.nulls(batch.num_rows) for name in stored
                ]
                yield pa.RecordBatch.from_arrays(list(map(_as, found, types)), names)


def _found(wanted: str, names: list[str]) -> str | None:
    """A column as Spark looks for it: without regard to case."""
    alike = [name for name in names if name.lower() == wanted.lower()]
    return wanted if wanted in alike else next(iter(alike), None)


def _offset(group: Any) -> int:
    first = group.column(0)
    return int(first.dictionary_page_offset or first.data_page_offset)


def _type(column: Column) -> Any:
    """As Spark has it; texts that repeat stay numbers of a dictionary, as they are stored."""
    import pyarrow as pa

    kind = getattr(pa, column.type)()
    return pa.dictionary(pa.int32(), kind) if column.repeats else kind


def _as(array: Any, kind: Any) -> Any:
    return array if array.type == kind else array.cast(kind)


def files_of(data: Any, types: Mapping[str, str], query: str) -> Files | None:
    """The files of a DataFrame whose columns `types` are wanted, unless only Spark can tell its rows."""
    plan = _plan(data)
    stored = _stored(plan, types) if plan is not None else None
    if stored is None:
        return None
    columns = tuple(
        Column(name, stored[name], _TYPES[types[name]], name == query and types[name] == "string")
        for name in types
    )
    paths = [_path(uri) for uri in sorted(data.inputFiles())]
    found = {path: stat for path in paths if path and (stat := stat_of(path))}
    if not found or len(found) < len(paths):
        return None
    most = _bytes(data.sparkSession.conf.get("spark.sql.files.maxPartitionBytes"))
    sizes = {path: size for path, (size, _) in found.items()}
    version = sha256(repr(found).encode()).hexdigest()
    return Files(tuple(_tasks(sizes, most)), columns, version)


def _plan(data: Any) -> Any:
    """What Spark would do for a DataFrame; none of one that is kept in memory, or of a server's."""
    if not hasattr(data, "_jdf") or data.storageLevel.useMemory or data.storageLevel.useDisk:
        return None
    return data._jdf.queryExecution().optimizedPlan()


def _stored(plan: Any, wanted: Mapping[str, str]) -> dict[str, str] | None:
    """For each wanted column its name in the files; nothing if there is more to do than to read them."""
    if not all(kind in _TYPES for kind in wanted.values()):
        return None
    names = {name: name for name in wanted}
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
    beside = {field.name().lower() for field in relation.partitionSchema().fields()}
    found = {name: names[name] for name in wanted if name in names}
    if len(found) < len(wanted) or any(s.lower() in beside or "." in s for s in found.values()):
        return None
    return found


def _each(sequence: Any) -> list[Any]:
    return [sequence.apply(i) for i in range(sequence.size())]


def _is(thing: Any, kind: str) -> bool:
    return str(thing.getClass().getName()) == kind


def _path(uri: str) -> str | None:
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" and not parts.netloc else None


def _bytes(setting: str) -> int:
    """`134217728b`, `32m`."""
    text = setting.strip().lower().removesuffix("b")
    factors = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
    return int(text[:-1]) * factors[text[-1]] if text[-1] in factors else int(text)


def _tasks(sizes: Mapping[str, int], most: int) -> Iterator[tuple[Split, ...]]:
    """Large files in parts, small ones together, in the order of their names, so that neighbours meet."""
    waiting: list[Split] = []
    held = 0
    for path, size in sizes.items():
        parts = max(1, round(size / most))
        for part in range(parts):
            if waiting and held + size // parts > most:
                yield tuple(waiting)
                waiting, held = [], 0
            waiting.append(Split(path, size * part // parts, size * (part + 1) // parts))
            held += size // parts
    if waiting:
        yield tuple(waiting)
