"""Mix-ins that give results `report` and `plot`.

The only place where an earlier stage uses a later one (`reports`), imported when called.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Any

    from goodgain.reports.chart import Chart


class Plottable:
    """A result with charts."""

    __slots__ = ()

    def plot(self, kind: str | None = None, **options: Any) -> Chart:
        """A chart of the result: `.save("file.svg")` writes an image, and notebooks display it.

        `goodgain plot --help` lists the kinds; the default is the first that supports the result.
        `options` select what the chart shows, such as `measure="AP"`.
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
        """Write a self-contained HTML report of the result.

        `queries` and `documents` are texts (a file, {id: text}, rows, a data frame) to show on the page.
        `baseline` names the system that runs are compared with, if the result does not have one.
        """
        from goodgain.reports import report

        report(
            self,
            output=path,
            title=title,
            baseline=baseline,
            queries=queries,
            documents=documents,
        )
