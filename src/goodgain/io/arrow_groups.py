"""The row groups of Parquet and Arrow files: one at a time, or, where one is too large, part by part."""

from __future__ import annotations

import math

from goodgain.errors import InputError, out_of_memory
from goodgain.io.descriptors import OpenFile
from goodgain.io.locations import open_random, store_errors
from goodgain.io.naming import is_url

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future
    from typing import Any, TypeVar

    from goodgain.io.arrow_files import ArrowFiles
    from goodgain.io.locations import File

    T = TypeVar("T")
    U = TypeVar("U")

_ROW_BYTES = 64  # of a row in memory, at least about


_END = object()


def in_order(
    work: Callable[[T], Iterable[U]], items: Iterable[T], ahead: int
) -> Iterator[tuple[T, U]]:
    """(item, part) for the parts of each item in turn; as many items are read ahead, each on a thread."""
    from collections import deque
    from queue import SimpleQueue

    from goodgain.threads import thread_pool

    def fill(item: T, queue: SimpleQueue[Any]) -> None:
        try:
            for part in work(item):
                queue.put(part)
        finally:
            queue.put(_END)

    with thread_pool(ahead) as pool:
        waiting: deque[tuple[T, SimpleQueue[Any], Future[None]]] = deque()

        def first() -> Iterator[tuple[T, U]]:
            item, queue, filling = waiting.popleft()
            for part in iter(queue.get, _END):
                yield item, part
            filling.result()

        for item in items:
            if len(waiting) == ahead:
                yield from first()
            queue: SimpleQueue[Any] = SimpleQueue()
            waiting.append((item, queue, pool.submit(fill, item, queue)))
        while waiting:
            yield from first()


class Group:
    """One row group of a file."""

    def __init__(self, table: ArrowFiles, file: File, reader: Any, number: int) -> None:
        self._table, self._file, self._reader, self._number = table, file, reader, number
        self.rows: int = reader.rows(number)
        self.size: float = max(reader.bytes(number), self.rows * _ROW_BYTES)  # in memory, about

    def read(self, columns: Sequence[str], coded: str | None = None) -> Any:
        """A table of these columns.

        Texts of the column `coded` may come as an Arrow dictionary, which takes a tenth of the time.
        """
        part = self._reader.read(self._number, columns, coded)
        return self._table.complete(part, columns, self._file)

    def batches(self, columns: Sequence[str], rows: int, coded: str | None = None) -> Iterator[Any]:
        """The same as several tables of at most so many rows, read one after another."""
        for part in self._reader.batches(self._number, columns, rows, coded):
            yield self._table.complete(part, columns, self._file)

    def kind(self, column: str) -> Any:
        """The type of a column."""
        return self._table.schema.field(column).type

    def nulls(self, column: str) -> int | None:
        """How many values are missing, if that is known without reading them."""
        if column in dict(self._file.keys):
            return 0
        return self._reader.nulls(self._number, column)  # type: ignore[no-any-return]


# Of other encodings pyarrow makes no Arrow dictionary.
_WITH_DICTIONARY = {"PLAIN", "PLAIN_DICTIONARY", "RLE_DICTIONARY", "RLE", "BIT_PACKED"}


class ParquetReader:
    """A Parquet file: columns are read from disk or store as they are needed."""

    def __init__(self, name: str) -> None:
        import pyarrow.parquet as pq

        self._name = name
        self._pq = pq
        file = pq.ParquetFile(open_random(name))
        self._metadata = file.metadata
        self.schema = file.schema_arrow
        self._names = self.schema.names
        self.groups = self._metadata.num_row_groups
        self._leaves = {file.schema.column(i).path: i for i in range(len(file.schema))}
        self._readable: set[tuple[int, str]] = set()

    def rows(self, number: int) -> int:
        """The rows of a group."""
        rows = int(self._metadata.row_group(number).num_rows)
        if not 0 <= rows <= self._metadata.num_rows:
            raise InputError(
                "damaged Parquet metadata",
                where=self._name,
                hint="write the file again, or copy it once more",
            )
        return rows

    def bytes(self, number: int) -> int:
        """The size of a group in memory, about."""
        return int(self._metadata.row_group(number).total_byte_size)

    def read(self, number: int, columns: Sequence[str], coded: str | None = None) -> Any:
        """These columns of a group, as far as the file has them."""
        import pyarrow as pa

        here = [name for name in columns if name in self._names]
        if not here:  # all of them are folders
            return pa.table({"": pa.nulls(self.rows(number))})
        table = self._open(number, coded).read_row_group(number, columns=here, use_threads=False)
        self._require_all(number, here, len(table))
        return table

    def batches(
        self, number: int, columns: Sequence[str], rows: int, coded: str | None = None
    ) -> Iterator[Any]:
        """The same, so many rows at a time."""
        import pyarrow as pa

        here = [name for name in columns if name in self._names]
        if not here:
            yield self.read(number, columns)
            return
        file = self._open(number, coded, pre_buffer=is_url(self._name), buffer_size=1 << 20)
        seen = 0
        for batch in file.iter_batches(rows, [number], columns=here, use_threads=False):
            seen += len(batch)
            yield pa.Table.from_batches([batch])
        self._require_all(number, here, seen)

    def _require_all(self, number: int, columns: Sequence[str], rows: int) -> None:
        """An error if a damaged group had other rows than it says: pyarrow reads as many as there are."""
        group = self._metadata.row_group(number)
        flat = [self._leaves[name] for name in columns if name in self._leaves]
        sizes = [rows, *(group.column(leaf).num_values for leaf in flat)]
        if wrong := [size for size in sizes if size != group.num_rows]:
            raise InputError(
                f"damaged Parquet file: row group {number} has {wrong[0]:,} rows of {group.num_rows:,}",
                where=self._name,
                hint="write the file again, or copy it once more",
            )

    def _open(self, number: int, coded: str | None, **options: Any) -> Any:
        names = [coded] if coded and self._is_coded(number, coded) else None
        return self._pq.ParquetFile(
            open_random(self._name), metadata=self._metadata, read_dictionary=names, **options
        )

    def _is_coded(self, number: int, column: str) -> bool:
        """Whether the file has texts as numbers of a dictionary: they take fewer than four bytes each."""
        import pyarrow as pa

        if column not in self._leaves or not pa.types.is_string(self.schema.field(column).type):
            return False
        chunk = self._chunk(number, column)
        if not _WITH_DICTIONARY.issuperset(chunk.encodings):
            return False
        return bool(chunk.total_uncompressed_size < 4 * self.rows(number))

    def _chunk(self, number: int, column: str) -> Any:
        """The metadata of a column in a group.

        Where they are damaged or encrypted, asking pyarrow for them ends the process; to read the first
        row is an error there. In a store each look is a request, so the first group stands for all.
        """
        looked_at = 0 if is_url(self._name) else number
        if (looked_at, column) not in self._readable:
            file = self._pq.ParquetFile(
                open_random(self._name), metadata=self._metadata, buffer_size=1 << 16
            )
            next(file.iter_batches(1, [looked_at], columns=[column], use_threads=False), None)
            self._readable.add((looked_at, column))
        return self._metadata.row_group(number).column(self._leaves[column])

    def nulls(self, number: int, column: str) -> int | None:
        """How many values are missing, if the file says so."""
        if column not in self._leaves:
            return None
        statistics = self._chunk(number, column).statistics
        if statistics is None or not statistics.has_null_count:
            return None
        return int(statistics.null_count)


class IpcReader:
    """An Arrow file or stream: one group, which is read part by part."""

    groups = 1

    def __init__(self, name: str) -> None:
        from goodgain.io.files import plain_descriptor

        self._file = OpenFile(plain_descriptor(name))
        self.schema = self._open().schema
        self._names = self.schema.names  # of a damaged file they may be no text

    def _open(self) -> Any:
        import pyarrow as pa

        try:
            return pa.ipc.open_file(self._file.reader())
        except pa.ArrowInvalid:
            return pa.ipc.open_stream(self._file.reader())

    def rows(self, number: int) -> int:
        """About how many there are."""
        return self._file.size // 32

    def bytes(self, number: int) -> float:
        """More than fits: it may be compressed."""
        return math.inf

    def batches(
        self, number: int, columns: Sequence[str], rows: int, coded: str | None = None
    ) -> Iterator[Any]:
        """These columns, as far as the file has them, in the batches that it has."""
        import pyarrow as pa

        here = [name for name in columns if name in self._names]
        reader = self._open()
        is_file = hasattr(reader, "num_record_batches")
        every = map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader
        for batch in every:
            table = pa.Table.from_batches([batch])
            table.validate(full=True)  # a damaged file must not be read outside its buffers
            yield table.select(here)


class read_errors(store_errors):  # noqa: N801
    """Turn what pyarrow raises about a file into an error that names it."""

    def __init__(self, name: str, form: str) -> None:
        super().__init__(name)
        self._title = "Parquet" if form == "parquet" else "Arrow"

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        import pyarrow as pa

        if isinstance(error, MemoryError | pa.ArrowMemoryError):
            raise out_of_memory() from None
        if isinstance(error, pa.ArrowException | OSError | UnicodeDecodeError) and not isinstance(
            error, FileNotFoundError
        ):
            raise InputError(
                f"invalid {self._title} file",
                where=self._name,
                hint=str(error).splitlines()[0].split(". ")[0],
            ) from None
        super().__exit__(kind, error, trace)
