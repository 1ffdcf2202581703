"""Small tables that go to every executor with its task, and are built once a process there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain._core import Qrels

_PARTITION_ROWS = 40  # bits of a place that count the rows of a partition
_kept: dict[str, Qrels] = {}


def stream_of(table: Any) -> bytes:
    """An Arrow table as the bytes of a stream."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    stream: bytes = sink.getvalue().to_pybytes()
    return stream


@dataclass(frozen=True, slots=True)
class ShippedQrels:
    """Judgements or labels as an Arrow stream; Spark broadcasts a function that holds much."""

    stream: bytes
    columns: Mapping[str, str]
    name: str
    key: str

    @classmethod
    def of(cls, table: Any, columns: Mapping[str, str], name: str) -> ShippedQrels:
        """Pack a table of judgements for the way."""
        import hashlib

        stream = stream_of(table)
        return cls(stream, dict(columns), name, hashlib.sha256(stream).hexdigest())

    def open(self) -> Qrels:
        """The judgements in the core; kept for the next tasks of this process."""
        if self.key not in _kept:
            import pyarrow as pa

            from goodgain._core import ArrowTable

            _kept.clear()
            table = ArrowTable.of(pa.ipc.open_stream(self.stream).read_all(), self.name)
            _kept[self.key] = table.qrels(self.columns)
        return _kept[self.key]


def first_place() -> int:
    """The place of this task's first row: rows of earlier partitions have smaller places."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return (context.partitionId() if context else 0) << _PARTITION_ROWS
