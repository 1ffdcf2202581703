"""Arrow data of any size, read in pieces: what is in memory at a time does not grow with the rows.

Tables that are in memory already are read where they are. A stream can be read only once, and measuring may
need to read twice: a short one is held in memory, a longer one is copied to a temporary file.
"""

from __future__ import annotations

from functools import cached_property
from itertools import chain

from goodgain.errors import InputError, out_of_memory
from goodgain.io.columns import find_columns
from goodgain.io.limits import in_these_limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from goodgain._core import Prepared, Scores

PIECE_ROWS = 1 << 16
_HELD = 16 << 20  # bytes of a stream in memory
_SCAN = 512 << 20  # bytes that pyarrow may need to scan a dataset on all cores
_IN_MEMORY = ("pandas", "polars", "narwhals", "cudf", "modin")


class ArrowPieces:
    """Arrow data that can be read more than once, piece by piece."""

    name: str
    schema: Any

    @property
    def rows(self) -> int:
        """About how many rows there are."""
        raise NotImplementedError

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema.names)

    def read_pieces(self, columns: Sequence[str], memory: int) -> Iterator[tuple[int, Any]]:
        """(number of rows before it, table) of each piece; no more of them at a time than fit into memory."""
        raise NotImplementedError

    def read(self, columns: Sequence[str]) -> Any:
        """A table of these columns."""
        import pyarrow as pa

        from goodgain.cores import USUAL_MEMORY

        tables = [table for _, table in self.read_pieces(columns, USUAL_MEMORY)]
        return pa.concat_tables([self._empty(columns), *tables])

    def distinct(self, column: str) -> list[str]:
        """The values of a column of ids, in order of appearance."""
        from goodgain import _core
        from goodgain.cores import USUAL_MEMORY

        values: dict[str, None] = {}
        for _, table in self.read_pieces([column], USUAL_MEMORY):
            values |= dict.fromkeys(_core.ArrowTable.of(table, self.name).distinct(column))
        return list(values)

    def scores(self, prepared: Prepared, roles: Mapping[str, str]) -> Scores:
        """The core's scores of a run with these columns."""
        pieces = in_these_limits(self.read_pieces, used_columns(roles), prepared.memory)
        return prepared.arrow_pieces(pieces, self.rows, self.name, roles)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.read(self.column_names).__arrow_c_stream__(requested_schema)

    def _empty(self, columns: Sequence[str]) -> Any:
        import pyarrow as pa

        return pa.schema([self.schema.field(name) for name in columns]).empty_table()


def used_columns(roles: Mapping[str, str]) -> list[str]:
    """The columns of a table that the core reads; `only` is the name of a run."""
    return list(dict.fromkeys(name for role, name in roles.items() if role != "only"))


def numbered(tables: Iterator[Any]) -> Iterator[tuple[int, Any]]:
    """Tables with the number of rows before each."""
    before = 0
    for table in tables:
        yield before, table
        before += len(table)


class ArrowDataset(ArrowPieces):
    """A dataset of pyarrow, scanned whenever it is read; pyarrow decodes a row group at a time."""

    def __init__(self, dataset: Any, name: str) -> None:
        self._dataset, self.name, self.schema = dataset, name, dataset.schema

    @cached_property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self._dataset.count_rows())

    def read_pieces(self, columns: Sequence[str], memory: int) -> Iterator[tuple[int, Any]]:
        """The batches of a scan."""
        return numbered(self._scan(list(columns), memory))

    def _scan(self, columns: list[str], memory: int) -> Iterator[Any]:
        import pyarrow as pa

        yield self._empty(columns)
        scans = [self._dataset] if memory >= _SCAN else self._pieces()
        for scan in scans:
            schema = {} if scan is self._dataset else {"schema": self.schema}
            scanner = scan.scanner(columns=columns, batch_size=PIECE_ROWS, **schema)
            for batch in scanner.to_reader():
                yield pa.Table.from_batches([batch])

    def _pieces(self) -> Iterator[Any]:
        """What can be scanned on its own: pyarrow reads ahead in whatever it scans."""
        try:
            fragments = list(self._dataset.get_fragments())
        except ValueError:  # of a filtered dataset there are none
            yield self._dataset
            return
        for fragment in fragments:
            split = getattr(fragment, "split_by_row_group", None)
            yield from split() if split else [fragment]


class ArrowSpool(ArrowPieces):
    """The columns of a stream in a temporary file."""

    def __init__(self, batches: Iterable[Any], schema: Any, name: str) -> None:
        import os
        import tempfile

        import pyarrow as pa

        from goodgain.io.descriptors import OpenFile
        from goodgain.io.files import temporary_errors
        from goodgain.io.limits import check_bytes

        self.name, self.schema, self._rows = name, schema, 0
        with temporary_errors(), tempfile.TemporaryFile(prefix="goodgain-") as file:
            with pa.ipc.new_stream(file, schema) as writer:
                for batch in batches:
                    writer.write_batch(batch)
                    self._rows += len(batch)
                    check_bytes(file.tell(), "the temporary copy of an input")
            file.flush()
            self._file = OpenFile(os.dup(file.fileno()))

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self._rows

    def read_pieces(self, columns: Sequence[str], memory: int) -> Iterator[tuple[int, Any]]:
        """The batches of the stream."""
        return numbered(self._tables(columns))

    def _tables(self, columns: Sequence[str]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in pa.ipc.open_stream(self._file.reader()):
            yield pa.Table.from_batches([batch.select(list(columns))])


def readable(value: Any, name: str, columns: Mapping[str, str] | None) -> Any:
    """Arrow data of a run that can be read more than once: a table of the core, or ArrowPieces."""
    from goodgain import _core

    if hasattr(value, "read_pieces"):
        return value
    in_memory = type(value).__module__.partition(".")[0] in _IN_MEMORY
    if in_memory or hasattr(type(value), "num_rows"):
        return _core.ArrowTable.of(value, name)
    try:
        import pyarrow as pa
    except ImportError:  # whoever made the stream can do without, and so must we: it is held
        return _core.ArrowTable.of(value, name)
    try:
        reader = pa.RecordBatchReader.from_stream(value)
    except Exception as error:  # whatever the maker's own are
        raise _unreadable(error, name) from None
    with stream_errors(name):
        roles = find_columns(reader.schema.names, "run", name, columns)
        return _held_or_spooled(reader, list(dict.fromkeys(roles.values())), name)


def _held_or_spooled(reader: Any, columns: list[str], name: str) -> Any:
    import pyarrow as pa

    from goodgain import _core

    schema = pa.schema([reader.schema.field(c) for c in columns])
    held: list[Any] = []
    size = 0
    batches = _checked(reader, columns, name)
    for batch in batches:
        held.append(batch)
        size += batch.nbytes
        if size > _HELD:
            return ArrowSpool(chain(held, batches), schema, name)
    return _core.ArrowTable.of(pa.Table.from_batches(held, schema), name)


def _checked(reader: Any, columns: list[str], name: str) -> Iterator[Any]:
    """The batches of a stream, of which damaged ones are refused before anything is done with them."""
    import pyarrow as pa

    from goodgain import _core

    for batch in reader:
        chosen = batch.select(columns)
        _core.ArrowTable.of(pa.Table.from_batches([chosen]), name).check()
        yield chosen


class stream_errors:  # noqa: N801 - used like contextlib.suppress
    """Turn what the maker of a stream raises into an error that names it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        import pyarrow as pa

        raised = MemoryError | pa.ArrowException | OSError | UnicodeDecodeError
        if isinstance(error, raised) and not isinstance(error, InputError):
            raise _unreadable(error, self._name) from None


def _unreadable(error: Exception, name: str) -> InputError:
    import pyarrow as pa

    if isinstance(error, MemoryError | pa.ArrowMemoryError):
        return out_of_memory()
    reason = str(error).split("\n")[0][:200]
    return InputError(f"cannot read the data: {reason}", where=name)
