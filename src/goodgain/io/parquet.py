"""Parquet files of flat columns, which the core reads without pyarrow and its start-up.

They may be those of a Delta or Iceberg table. Anything else (nested columns, other encodings and
compressions, keys in the names of folders, object stores) and anything wrong is left to `ArrowFiles`, which
reads with pyarrow and says where the problem is.
"""

from __future__ import annotations

import os

from goodgain.io.arrow_pieces import ArrowPieces
from goodgain.io.files import is_stream
from goodgain.io.limits import limits_tables
from goodgain.io.naming import compression_of, format_of, is_url

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from goodgain._core import ParquetTable, Prepared, Qrels, Scores
    from goodgain.io.locations import Files

_MOST_FILES = 256  # that are open at a time


def open_files(files: Files) -> ArrowPieces:
    """The files of one table, read by the core if it can read them."""
    table = _core_table(files)
    if table is not None:
        names = table.columns()
        if files.lake is not None:  # files may hold columns that were dropped
            names = [name for name in names if name in files.lake.names]
        return ParquetFiles(files, names)
    from goodgain.io.arrow_files import ArrowFiles

    return ArrowFiles(files)


def _core_table(files: Files) -> ParquetTable | None:
    if len(files.files) > _MOST_FILES or limits_tables() is not None:
        return None
    for file in files.files:
        name = file.name
        if format_of(name) != "parquet" or compression_of(name) or is_stream(name) or is_url(name):
            return None
        if file.keys:
            return None
    from goodgain._core import CoreError, ParquetTable
    from goodgain.io.compression import gzip_page, zstd_page

    table, columns = ParquetTable(files.name, gzip_page, zstd_page), None
    try:
        for file in files.files:
            table.add(os.open(file.name, os.O_RDONLY | getattr(os, "O_BINARY", 0)), file.name)
            if columns not in (None, table.columns()):
                return None
            columns = table.columns()
    except (CoreError, OSError):
        return None
    return table


class ParquetFiles(ArrowPieces):
    """The files of one table, opened anew whenever they are read: they may have been rewritten."""

    def __init__(self, files: Files, columns: list[str]) -> None:
        self._files, self._columns, self.name = files, columns, files.name

    @property
    def _arrow(self) -> ArrowPieces:
        """The same, read with pyarrow."""
        from goodgain.io.arrow_files import ArrowFiles

        return ArrowFiles(self._files)

    @property
    def schema(self) -> Any:
        """The columns with their types."""
        return self._arrow.schema

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self._columns

    @property
    def rows(self) -> int:
        """How many rows there are."""
        table = _core_table(self._files)
        return self._arrow.rows if table is None else table.rows

    def read_pieces(self, columns: Sequence[str], memory: int) -> Iterator[tuple[int, Any]]:
        """Row groups, or some rows of one at a time where it is too large."""
        return self._arrow.read_pieces(columns, memory)

    def distinct(self, column: str) -> list[str]:
        """The values of a column of ids, in order of appearance."""
        from goodgain._core import CoreError

        table = _core_table(self._files)
        if table is not None:
            try:
                return table.distinct(column)
            except CoreError:  # said better below
                pass
        return self._arrow.distinct(column)

    def scores(self, prepared: Prepared, roles: Mapping[str, str]) -> Scores:
        """The core's scores of a run with these columns."""
        from goodgain._core import CoreError

        table = _core_table(self._files)
        if table is not None and table.has(roles, True):
            try:
                return prepared.parquet(table, roles)
            except CoreError:  # said better below
                pass
        return self._arrow.scores(prepared, roles)

    def qrels(self, roles: Mapping[str, str]) -> Qrels | None:
        """Judgments in these columns, if the core can read them."""
        from goodgain._core import CoreError

        table = _core_table(self._files)
        if table is None or not table.has(roles, False):
            return None
        try:
            return table.qrels(roles)
        except CoreError:
            return None
