"""Small tables that go to every executor with its task, and are built once a process there."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from goodgain._core import Qrels
    from goodgain.engines.spark.files import Files

_PARTITION_ROWS = 40  # bits of a place that count the rows of a partition
_kept: dict[str, Qrels] = {}


def stream_of(table: Any, compression: str | None = None) -> bytes:
    """An Arrow table as the bytes of a stream."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    stream: bytes = sink.getvalue().to_pybytes()
    return stream


@dataclass(frozen=True, slots=True)
class ShippedQrels:
    """Judgements or labels as Arrow streams, which Spark broadcasts, or as files that every process reads."""

    streams: tuple[bytes, ...]
    files: Files | None
    columns: Mapping[str, str]
    name: str
    key: str

    @classmethod
    def of(cls, streams: Iterable[bytes], columns: Mapping[str, str], name: str) -> ShippedQrels:
        """Judgements that were packed for the way, in one part or several."""
        parts = tuple(streams)
        return cls(parts, None, dict(columns), name, _key(columns, *parts))

    @classmethod
    def of_files(cls, files: Files, columns: Mapping[str, str], name: str) -> ShippedQrels:
        """Judgements that need not go by way of the driver."""
        return cls((), files, dict(columns), name, _key(columns, repr(files).encode()))

    def open(self) -> Qrels:
        """The judgements in the core; kept for the next tasks of this process."""
        if self.key not in _kept:
            import pyarrow as pa

            from goodgain._core import ArrowTable

            _kept.clear()
            if self.files:
                rows = pa.Table.from_batches(self.files.all_rows())
            else:
                rows = pa.concat_tables([pa.ipc.open_stream(s).read_all() for s in self.streams])
            _kept[self.key] = ArrowTable.of(rows, self.name).qrels(self.columns)
        return _kept[self.key]


def _key(columns: Mapping[str, str], *parts: bytes) -> str:
    """Another one for other rows, and for the same rows read otherwise: processes keep judgements by it."""
    digests = [sha256(part).digest() for part in (repr(sorted(columns.items())).encode(), *parts)]
    return sha256(b"".join(digests)).hexdigest()


def first_place() -> int:
    """The place of this task's first row: rows of earlier partitions have smaller places."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return (context.partitionId() if context else 0) << _PARTITION_ROWS
