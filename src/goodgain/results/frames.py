"""Results as data of other libraries, none of which is needed before it is asked for."""

from __future__ import annotations

from typing import Any


class AsFrames:
    """A result with `_frame_rows` gets `to_pandas`, `to_polars` and `to_arrow`.

    What they are given goes to `_frame_rows`: whether the rows are of every query, for example.
    """

    __slots__ = ()

    def _frame_rows(self) -> tuple[list[str], list[list[Any]]]:
        """Column names and long rows."""
        raise NotImplementedError

    def to_pandas(self, *which: bool, **named: bool) -> Any:
        """A pandas data frame of the long rows."""
        import pandas as pd

        columns, rows = self._frame_rows(*which, **named)
        return pd.DataFrame(rows, columns=columns)

    def to_polars(self, *which: bool, **named: bool) -> Any:
        """A polars data frame of the long rows."""
        import polars as pl

        columns, rows = self._frame_rows(*which, **named)
        return pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)

    def to_arrow(self, *which: bool, **named: bool) -> Any:
        """A pyarrow table of the long rows."""
        import pyarrow as pa

        columns, rows = self._frame_rows(*which, **named)
        return pa.table({c: [row[i] for row in rows] for i, c in enumerate(columns)})
