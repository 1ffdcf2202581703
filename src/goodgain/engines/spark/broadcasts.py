"""Small tables that are sent to every executor and built once per process."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from goodgain._core import Qrels
    from goodgain.engines.spark.files import Files

_PARTITION_ROWS = 40  # bits of a place for the row number within a partition
_opened: dict[str, Qrels] = {}


def stream_of(table: Any, compression: str | None = None) -> bytes:
    """Serialise an Arrow table as a stream."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    stream: bytes = sink.getvalue().to_pybytes()
    return stream


@dataclass(frozen=True, slots=True)
class ShippedQrels:
    """Judgments or labels as Arrow streams that Spark broadcasts, or as files that every process reads."""

    streams: tuple[bytes, ...]
    files: Files | None
    columns: Mapping[str, str]
    name: str
    key: str

    @classmethod
    def of(cls, streams: Iterable[bytes], columns: Mapping[str, str], name: str) -> ShippedQrels:
        """Judgments in one or several streams."""
        tables = tuple(streams)
        return cls(tables, None, dict(columns), name, _key(columns, *tables))

    @classmethod
    def of_files(cls, files: Files, columns: Mapping[str, str], name: str) -> ShippedQrels:
        """Judgments in files, which need not pass through the driver."""
        return cls((), files, dict(columns), name, _key(columns, repr(files).encode()))

    def open(self) -> Qrels:
        """The judgments in the core, cached for later tasks of this process."""
        if self.key not in _opened:
            import pyarrow as pa

            from goodgain._core import ArrowTable

            _opened.clear()
            if self.files:
                rows = pa.Table.from_batches(self.files.all_rows())
            else:
                rows = pa.concat_tables([pa.ipc.open_stream(s).read_all() for s in self.streams])
            _opened[self.key] = ArrowTable.of(rows, self.name).qrels(self.columns)
        return _opened[self.key]


def _key(columns: Mapping[str, str], *contents: bytes) -> str:
    """The cache key: it differs for other rows and for the same rows with other columns."""
    header = repr(sorted(columns.items())).encode()
    digests = [sha256(content).digest() for content in (header, *contents)]
    return sha256(b"".join(digests)).hexdigest()


def first_place() -> int:
    """The place of this task's first row; rows of earlier partitions have smaller places."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return (context.partitionId() if context else 0) << _PARTITION_ROWS
