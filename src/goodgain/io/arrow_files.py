"""Parquet and Arrow files, one or many, of which only what is needed is read.

A table is read row group by row group, and of each only the columns of the roles. Where judgments are known,
the column of queries is read first: rows of queries without judgments are counted, and their documents are
never read. So that a bad row is an error wherever it stands, their scores are looked at, unless the file's
statistics say that none is missing.
"""

from __future__ import annotations

import os
from functools import cached_property

from goodgain.errors import InputError, MissingExtraError, out_of_memory
from goodgain.io.locations import File, Files, open_random, store_errors
from goodgain.io.naming import format_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from goodgain._core import Prepared, SeenQueries

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


class ArrowFiles:
    """The files of one table; what it holds is read when it is used."""

    def __init__(self, files: Files) -> None:
        _require_pyarrow(files.name)
        self._files = files.files
        self._name = files.name
        self._keys = _partition_types(files)
        self._schema = self._read_schema()

    @property
    def column_names(self) -> list[str]:
        """The columns of the files, and the keys of folders `key=value`."""
        return [*self._schema.names, *(key for key in self._keys if key not in self._schema.names)]

    @property
    def schema(self) -> Any:
        """The columns with their types."""
        import pyarrow as pa

        return pa.schema([pa.field(name, self._type(name)) for name in self.column_names])

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.read(self.column_names).__arrow_c_stream__(requested_schema)

    def read(self, columns: Sequence[str]) -> Any:
        """A table of these columns."""
        import pyarrow as pa

        with read_errors(self._name, self._form):
            tables = list(self._each(lambda group: group.read(columns), self._groups))
            return pa.concat_tables([self._empty(columns), *tables])

    def read_judged(self, roles: Mapping[str, str], prepared: Prepared, seen: SeenQueries) -> Any:
        """A table of the rows whose queries are judged; `seen` counts the others.

        `roles` are the core's; a bad row is never left out.
        """
        import pyarrow as pa

        from goodgain import _core

        first = [roles[role] for role in ("query", "run") if role in roles]
        columns = list(dict.fromkeys(name for role, name in roles.items() if role != "only"))
        run, only = roles.get("run", ""), roles.get("only", "")

        def judged_of(table: Any) -> Any:
            arrow = _core.ArrowTable.of(table, self._name)
            bits = prepared.judged(arrow, roles["query"], run, only, seen)
            return pa.Array.from_buffers(pa.bool_(), len(table), [None, pa.py_buffer(bits)])

        with read_errors(self._name, self._form):
            masks = [
                (group, judged_of(table))
                for group, table in zip(
                    self._groups, self._each(lambda g: g.read(first), self._groups), strict=True
                )
            ]
            tables = list(
                self._each(lambda pair: _judged_rows(pair[0], pair[1], columns, roles), masks)
            )
            return pa.concat_tables([self._empty(columns), *filter(None, tables)])

    # --- pieces ---

    @cached_property
    def _form(self) -> str:
        return format_of(self._files[0].name) or "parquet"

    @cached_property
    def _groups(self) -> list[_Group]:
        """The row groups of all files; an Arrow file is one group."""
        groups: list[_Group] = []
        for file in self._files:
            reader = self._reader(file)
            groups += (_Group(self, file, reader, i) for i in range(reader.groups))
        return groups

    def _reader(self, file: File) -> _Parquet | _Feather:
        kind = _Parquet if self._form == "parquet" else _Feather
        with read_errors(file.name, self._form):
            return kind(file.name)

    def _each(self, work: Any, items: Sequence[Any]) -> Iterator[Any]:
        """The results in order, from as many threads as there are cores."""
        if len(items) < 2:
            yield from map(work, items)
            return
        from concurrent.futures import ThreadPoolExecutor

        from goodgain.cores import available_cores

        with ThreadPoolExecutor(min(available_cores(), len(items))) as pool:
            yield from pool.map(work, items)

    def _read_schema(self) -> Any:
        """One schema for all files: types that differ are widened where nothing is lost."""
        import pyarrow as pa

        schemas: dict[Any, str] = {}
        for file in self._files:
            schema = self._reader(file).schema.remove_metadata()
            schemas.setdefault(schema, file.name)
        first, *others = schemas
        for other in others:
            try:
                first = pa.unify_schemas([first, other], promote_options="permissive")
            except pa.ArrowException as error:
                raise InputError(
                    f"the files of '{self._name}' have different columns",
                    where=schemas[other],
                    hint=str(error).split("\n")[0],
                ) from None
        return first

    def _type(self, name: str) -> Any:
        return self._keys.get(name) or self._schema.field(name).type

    def _empty(self, columns: Sequence[str]) -> Any:
        import pyarrow as pa

        return pa.schema([pa.field(name, self._type(name)) for name in columns]).empty_table()

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
                arrays.append(column if column.type == kind else column.cast(kind))
            else:
                arrays.append(pa.chunked_array([pa.nulls(len(table), kind)]))
        return pa.table(arrays, names=list(columns))


class _Group:
    """One row group of a file."""

    def __init__(self, table: ArrowFiles, file: File, reader: Any, number: int) -> None:
        self._table, self._file, self._reader, self._number = table, file, reader, number

    def read(self, columns: Sequence[str]) -> Any:
        return self._table.complete(self._reader.read(self._number, columns), columns, self._file)

    def kind(self, column: str) -> Any:
        """The type of a column."""
        return self._table.schema.field(column).type

    def nulls(self, column: str) -> int | None:
        """How many values are missing, if that is known without reading them."""
        if column in dict(self._file.keys):
            return 0
        return self._reader.nulls(self._number, column)  # type: ignore[no-any-return]


class _Parquet:
    """A Parquet file: columns are read from disk or store as they are needed."""

    def __init__(self, name: str) -> None:
        import pyarrow.parquet as pq

        self._name = name
        self._pq = pq
        file = pq.ParquetFile(open_random(name))
        self._metadata = file.metadata
        self.schema = file.schema_arrow
        self.groups = self._metadata.num_row_groups
        self._leaves = {file.schema.column(i).path: i for i in range(len(file.schema))}
        self._file = file

    def read(self, number: int, columns: Sequence[str]) -> Any:
        import pyarrow as pa

        here = [name for name in columns if name in self.schema.names]
        if not here:  # all of them are folders
            return pa.table({"": pa.nulls(self._metadata.row_group(number).num_rows)})
        file = self._pq.ParquetFile(open_random(self._name), metadata=self._metadata)
        return file.read_row_group(number, columns=here, use_threads=False)

    def nulls(self, number: int, column: str) -> int | None:
        leaf = self._leaves.get(column)
        statistics = (
            None if leaf is None else self._metadata.row_group(number).column(leaf).statistics
        )
        if statistics is None or not statistics.has_null_count:
            return None
        return int(statistics.null_count)


class _Feather:
    """An Arrow file or stream, read whole."""

    groups = 1

    def __init__(self, name: str) -> None:
        import pyarrow as pa
        import pyarrow.ipc as ipc

        from goodgain.io.files import plain_descriptor

        with os.fdopen(plain_descriptor(name), "rb") as file:
            file.seek(0)
            data = pa.py_buffer(file.read())
        try:
            table = ipc.open_file(data).read_all()
        except pa.ArrowInvalid:
            table = ipc.open_stream(data).read_all()
        table.validate(full=True)  # a damaged file must not be read outside its buffers
        self._table = table
        self.schema = table.schema

    def read(self, number: int, columns: Sequence[str]) -> Any:
        here = [name for name in columns if name in self.schema.names]
        return self._table.select(here)

    def nulls(self, number: int, column: str) -> int | None:
        return int(self._table.column(column).null_count) if column in self.schema.names else None


def _judged_rows(
    group: _Group, judged: Any, columns: Sequence[str], roles: Mapping[str, str]
) -> Any:
    """The rows of a group whose queries are judged; all of them if another row is bad."""
    import pyarrow as pa
    import pyarrow.compute as pc

    size = judged.true_count
    if size == len(judged):
        return group.read(columns)
    doc, value = roles["doc"], roles["value"]
    if size == 0 and group.nulls(doc) == 0:
        if group.nulls(value) == 0 and not pa.types.is_floating(group.kind(value)):
            return None
        if _are_finite(group.read([value]).column(0)):
            return None
    table = group.read(columns)
    others = pc.invert(judged)
    if table.column(doc).filter(others).null_count or not _are_finite(
        table.column(value).filter(others)
    ):
        return table
    return table.filter(judged)


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


def _partition_types(files: Files) -> dict[str, Any]:
    """The types of the keys of folders: integers if all values are written as such, else text."""
    import pyarrow as pa

    values: dict[str, set[str]] = {}
    for file in files.files:
        for key, value in file.keys:
            values.setdefault(key, set()).add(value)

    def is_integer(text: str) -> bool:
        return text == _NO_VALUE or (text.isascii() and text.isdigit() and str(int(text)) == text)

    return {
        key: pa.int64() if all(map(is_integer, texts)) else pa.string()
        for key, texts in values.items()
    }


def _require_pyarrow(name: str) -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtraError.for_package(
            "pyarrow", "arrow", f"reading the file '{name}'"
        ) from None


class read_errors(store_errors):  # noqa: N801
    """Turn what pyarrow raises about a file into an error that names it."""

    def __init__(self, name: str, form: str) -> None:
        super().__init__(name)
        self._title = "Parquet" if form == "parquet" else "Arrow"

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        import pyarrow as pa

        if isinstance(error, MemoryError | pa.ArrowMemoryError):
            raise out_of_memory() from None
        if isinstance(error, pa.ArrowException | OSError) and not isinstance(
            error, FileNotFoundError
        ):
            raise InputError(
                f"invalid {self._title} file",
                where=self._name,
                hint=str(error).splitlines()[0].split(". ")[0],
            ) from None
        super().__exit__(kind, error, trace)
