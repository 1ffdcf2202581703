"""What every result can do for people who look: `report` and `plot`.

The one place where an earlier stage reaches for a later one (`report`), and only when it is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os

    from goodgain.reports.chart import Chart


class Plottable:
    """A result with charts."""

    __slots__ = ()

    def plot(self, kind: str | None = None, **options: Any) -> Chart:
        """A chart of it: `.save("file.svg")` writes a picture, and notebooks show it.

        `kind` is one of those that `goodgain plot --help` lists, by default the first that fits;
        `options` say what the chart is about, such as `measure="AP"`.
        """
        from goodgain.reports.charts import plot

        return plot(self, kind, **options)


class Reportable(Plottable):
    """A result with an HTML report and charts."""

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
        from goodgain.reports import write_report

        write_report(
            path, self, title=title, baseline=baseline, queries=queries, documents=documents
        )
