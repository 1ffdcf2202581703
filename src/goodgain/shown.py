"""What every result can do for people who look: `report`.

The one place where an earlier stage reaches for a later one (`report`), and only when it is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os


class Shown:
    """A result that can be made into a page."""

    __slots__ = ()

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        baseline: str | None = None,
        queries: Any = None,
        documents: Any = None,
    ) -> None:
        """Write one self-contained HTML file about it.

        `queries` and `documents` are texts (a file, {id: text}, rows, a data frame): with them the page
        shows what was asked and found. `baseline` names the system that runs are compared with, where
        this result does not know one.
        """
        from goodgain.report import write_report

        write_report(
            path, self, title=title, baseline=baseline, queries=queries, documents=documents
        )
