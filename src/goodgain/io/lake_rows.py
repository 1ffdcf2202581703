"""Tables of a lake whose rows are not those of their files: the format's own package reads them."""

from __future__ import annotations

from goodgain.io.arrow_pieces import ArrowPieces, numbered
from goodgain.io.lakes import lake_errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from goodgain.io.locations import Files

_ROW_BYTES = 16  # of a file, at least about


class LakeRows(ArrowPieces):
    """The rows that are not deleted, under the names that columns have now."""

    def __init__(self, files: Files) -> None:
        assert files.lake is not None, files.name
        self.name, self._table, self._size = files.name, files.lake, files.stat[0]
        self.schema = files.lake.columns

    @property
    def rows(self) -> int:
        """About how many rows there are, at most."""
        return self._size // _ROW_BYTES

    def read_pieces(self, columns: Sequence[str], memory: int) -> Iterator[tuple[int, Any]]:
        """The batches of a scan; the package decides how large they are."""
        return numbered(self._tables(columns))

    def _tables(self, columns: Sequence[str]) -> Iterator[Any]:
        import pyarrow as pa

        rows = self._table.rows
        assert rows is not None, self.name  # refused when it was opened
        empty = self._empty(columns)
        yield empty
        with lake_errors(self._table.place, self._table.form, "read"):
            for batch in rows(columns):
                table = pa.Table.from_batches([batch]).select(list(columns))
                yield table.cast(empty.schema)
