"""Results as data frames; each library is imported only when used."""

from __future__ import annotations

from goodgain.results.hints import HintsForNames

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class AsFrames(HintsForNames):
    """Adds `to_pandas`, `to_polars` and `to_arrow` to a result with `_frame_rows`.

    Their arguments go to `_frame_rows`, for example whether to return a row per query.
    """

    __slots__ = ()

    def _frame_rows(self) -> tuple[list[str], list[list[Any]]]:
        """Column names and rows in long format."""
        raise NotImplementedError

    def to_pandas(self, *which: bool, **named: bool) -> Any:
        """A pandas data frame in long format."""
        import pandas as pd

        columns, rows = self._frame_rows(*which, **named)
        return pd.DataFrame(rows, columns=columns)

    def to_polars(self, *which: bool, **named: bool) -> Any:
        """A polars data frame in long format."""
        import polars as pl

        columns, rows = self._frame_rows(*which, **named)
        return pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)

    def to_arrow(self, *which: bool, **named: bool) -> Any:
        """A pyarrow table in long format."""
        import pyarrow as pa

        columns, rows = self._frame_rows(*which, **named)
        return pa.table({c: [row[i] for row in rows] for i, c in enumerate(columns)})
