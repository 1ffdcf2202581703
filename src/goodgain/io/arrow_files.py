"""Parquet and Arrow files, one or many, of which only what is needed is read.

A table is read row group by row group, and of each only the columns of the roles. Where judgments are known,
the column of queries is read first: rows of queries without judgments are counted, and their documents are
never read. So that a bad row is an error wherever it stands, their scores are looked at, unless the file's
statistics say that none is missing.
"""

from __future__ import annotations

from functools import cached_property

from goodgain.cores import available_cores
from goodgain.errors import InputError, MissingExtraError
from goodgain.io.arrow_groups import Group, IpcReader, ParquetReader, in_order, read_errors
from goodgain.io.arrow_pieces import PIECE_ROWS, ArrowPieces, used_columns
from goodgain.io.limits import LIMITED_ROWS, TableLimit, in_these_limits, limits_tables
from goodgain.io.naming import format_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from goodgain._core import LeftOut, Prepared, Scores
    from goodgain.io.locations import File, Files

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


class ArrowFiles(ArrowPieces):
    """The files of one table; what it holds is read when it is used."""

    def __init__(self, files: Files) -> None:
        _require_pyarrow(files.name)
        self._files = files.files
        self.name = files.name
        self._lake = files.lake
        self._keys = _partition_types(files)
        self._schema = self._read_schema()

    @cached_property
    def schema(self) -> Any:
        """The columns of the files with their types, and the keys of folders `key=value`."""
        import pyarrow as pa

        # Fields by place: columns that nobody uses may share a name.
        fields = [
            pa.field(f.name, self._keys.get(f.name) or f.type, metadata=_extension(f))
            for f in self._schema
        ]
        new = [pa.field(k, kind) for k, kind in self._keys.items() if k not in self._schema.names]
        return pa.schema([*fields, *new])

    @property
    def rows(self) -> int:
        """About how many rows there are."""
        return sum(group.rows for group in self._groups)

    def read_pieces(self, columns: Sequence[str], memory: int) -> Iterator[tuple[int, Any]]:
        """Row groups, or some rows of one at a time where it is too large."""
        return self._pieces(
            columns, memory, lambda group: [(group.read(columns), None)], None, limits_tables()
        )

    def read_judged_pieces(
        self, roles: Mapping[str, str], prepared: Prepared, left_out: LeftOut
    ) -> Iterator[tuple[int, Any]]:
        """The same with only the rows of judged queries, where those are few; the others are counted.

        `roles` are the core's; a bad row is never left out.
        """
        left_out.clear()
        judged = _JudgedRows(roles, prepared, self.name)
        return self._pieces(judged.columns, prepared.memory, judged.read, left_out, limits_tables())

    def scores(self, prepared: Prepared, roles: Mapping[str, str]) -> Scores:
        """The core's scores of a run with these columns, from the rows of judged queries if possible."""
        from goodgain._core import CoreError, LeftOut

        left_out = LeftOut()
        pieces = in_these_limits(self.read_judged_pieces, roles, prepared, left_out)
        try:
            return prepared.arrow_pieces(pieces, self.rows, self.name, roles, left_out)
        except CoreError:  # read all of it, for the place of what is wrong
            return super().scores(prepared, roles)

    # --- pieces ---

    def _pieces(
        self,
        columns: Sequence[str],
        memory: int,
        read: Any,
        left_out: LeftOut | None,
        limit: TableLimit | None,
    ) -> Iterator[tuple[int, Any]]:
        """Pieces in order: groups on several threads where they fit into memory, else part by part.

        Where rows or bytes are limited, a few rows are decoded at a time: a small file may hold huge texts.
        """
        with read_errors(self.name, self._form):
            yield 0, self._empty(columns)
            before = 0
            largest = max((group.size for group in self._groups), default=0)
            ahead = min(available_cores(), int(memory / 4 / max(largest, 1)))
            if ahead == 0 or limit is not None:
                rows = PIECE_ROWS if limit is None else LIMITED_ROWS
                for group in self._groups:
                    for table in group.batches(columns, rows):
                        if limit is not None:
                            limit.add(table, self.name)
                        yield before, table
                        before += len(table)
                return
            current, end = None, 0
            for group, (table, own) in in_order(read, self._groups, ahead):
                if group is not current:
                    current, before, end = group, end, end + group.rows
                if left_out is not None and own is not None:
                    left_out.add(own)
                if table is not None:
                    yield before, table
                    before += len(table)

    @cached_property
    def _form(self) -> str:
        return format_of(self._files[0].name) or "parquet"

    @cached_property
    def _groups(self) -> list[Group]:
        """The row groups of all files; an Arrow file is one group."""
        groups: list[Group] = []
        for file in self._files:
            reader = self._reader(file)
            groups += (Group(self, file, reader, i) for i in range(reader.groups))
        return groups

    def _reader(self, file: File) -> ParquetReader | IpcReader:
        kind = ParquetReader if self._form == "parquet" else IpcReader
        with read_errors(file.name, self._form):
            return kind(file.name)

    def _read_schema(self) -> Any:
        """One schema for all files: types that differ are widened where nothing is lost."""
        import pyarrow as pa

        schemas: dict[Any, str] = {}
        for file in self._files:
            schema = _without_views(self._reader(file).schema.remove_metadata())
            schemas.setdefault(schema, file.name)
        first, *others = map(_plain, schemas) if len(schemas) > 1 else schemas
        for other, name in zip(others, list(schemas.values())[1:], strict=True):
            try:
                first = pa.unify_schemas([first, other], promote_options="permissive")
            except pa.ArrowException as error:
                raise InputError(
                    f"the files of '{self.name}' have different columns",
                    where=name,
                    hint=str(error).split("\n")[0],
                ) from None
        if self._lake is not None:  # files may hold columns that were dropped
            first = pa.schema([field for field in first if field.name in self._lake.names])
        return first

    def _type(self, name: str) -> Any:
        return self._keys.get(name) or self._schema.field(name).type

    def complete(self, table: Any, columns: Sequence[str], file: File) -> Any:
        """A piece of a file with all columns: those of its folders, and null where a file lacks one."""
        import pyarrow as pa

        values = dict(file.keys)
        arrays = []
        for name in columns:
            kind = self._type(name)
            if name in self._keys:
                value = values.get(name, _NO_VALUE)
                text = None if value == _NO_VALUE else value
                number = int(text) if text is not None and pa.types.is_integer(kind) else text
                arrays.append(pa.chunked_array([pa.repeat(pa.scalar(number, kind), len(table))]))
            elif name in table.column_names:
                column = table.column(name)
                is_coded = pa.types.is_dictionary(column.type) and column.type.value_type == kind
                arrays.append(column if is_coded or column.type == kind else column.cast(kind))
            else:
                arrays.append(pa.chunked_array([pa.nulls(len(table), kind)]))
        kinds = {field.name: _extension(field) for field in self._schema}
        fields = [
            pa.field(name, array.type, metadata=kinds.get(name))
            for name, array in zip(columns, arrays, strict=True)
        ]
        return pa.table(arrays, schema=pa.schema(fields))


def _extension(field: Any) -> Any:
    """The metadata of a column with an extension type that pyarrow does not know: the core refuses it."""
    metadata = field.metadata or {}
    return metadata if b"ARROW:extension:name" in metadata else None


def _plain(schema: Any) -> Any:
    """A schema with the types of values: a dictionary is only a way to write them."""
    import pyarrow as pa

    def plain(field: Any) -> Any:
        coded = pa.types.is_dictionary(field.type)
        return field.with_type(field.type.value_type) if coded else field

    return pa.schema([plain(field) for field in schema])


class _JudgedRows:
    """Reads the rows of a group whose queries are judged.

    The column of queries is read first, as long as most rows turn out not to be needed.
    """

    def __init__(self, roles: Mapping[str, str], prepared: Prepared, name: str) -> None:
        self.columns = used_columns(roles)
        self._roles, self._prepared, self._name = roles, prepared, name
        self._rows = self._judged = 0  # of the groups looked at

    def read(self, group: Group) -> Iterator[tuple[Any, LeftOut | None]]:
        """Tables, or None if no row is needed, and what was left out."""
        import pyarrow as pa

        from goodgain._core import ArrowTable, LeftOut

        if self._judged * 2 > self._rows:
            for part in self._tables(group):
                yield part, None
            return
        roles, left_out = self._roles, LeftOut()
        names = [roles[role] for role in ("query", "run") if role in roles]
        first = group.read(names, roles["query"])
        arrow = ArrowTable.of(first, self._name)
        run, only = roles.get("run", ""), roles.get("only", "")
        bits = self._prepared.judged(arrow, roles["query"], run, only, left_out)
        judged = pa.Array.from_buffers(pa.bool_(), len(first), [None, pa.py_buffer(bits)])
        self._rows += len(judged)
        self._judged += judged.true_count
        if judged.true_count == len(judged):
            for part in self._tables(group):
                yield part, None
            return
        table, all_rows = _judged_rows(group, judged, self.columns, roles)
        yield table, None if all_rows else left_out

    def _tables(self, group: Group) -> Iterator[Any]:
        """All rows of a group."""
        return group.batches(self.columns, PIECE_ROWS, self._roles["query"])


def _judged_rows(
    group: Group, judged: Any, columns: Sequence[str], roles: Mapping[str, str]
) -> tuple[Any, bool]:
    """The rows of a group whose queries are judged, and whether these are all: they are if a row is bad."""
    import pyarrow as pa

    size = judged.true_count
    doc, value = roles["doc"], roles["value"]
    if size == 0 and group.nulls(doc) == 0:
        if group.nulls(value) == 0 and not pa.types.is_floating(group.kind(value)):
            return None, False
        if _are_finite(group.read([value]).column(0)):
            return None, False
    table = group.read(columns)
    if table.column(doc).null_count or not _are_finite(table.column(value)):
        return table, True
    return table.filter(judged), False


def _are_finite(values: Any) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    if values.null_count:
        return False
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    return (
        not pa.types.is_floating(values.type) or pc.all(pc.is_finite(values)).as_py() is not False
    )


def _without_views(schema: Any) -> Any:
    """The schema with the usual types for texts that are stored as views: pyarrow cannot filter those."""
    import pyarrow as pa

    usual = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    return pa.schema([field.with_type(usual.get(field.type, field.type)) for field in schema])


def _partition_types(files: Files) -> dict[str, Any]:
    """The types of the keys of folders: integers if all values are written as such, else text."""
    import pyarrow as pa

    if files.lake is not None:
        return files.lake.partition_types()
    values: dict[str, set[str]] = {}
    for file in files.files:
        for key, value in file.keys:
            values.setdefault(key, set()).add(value)

    return {
        key: pa.int64() if all(map(is_integer_key, texts)) else pa.string()
        for key, texts in values.items()
    }


def is_integer_key(text: str) -> bool:
    """Whether the value of a folder `key=value` is written as integers are, or missing."""
    return text == _NO_VALUE or (text.isascii() and text.isdigit() and str(int(text)) == text)


def _require_pyarrow(name: str) -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtraError.for_package(
            "pyarrow", "arrow", f"reading the file '{name}'"
        ) from None
