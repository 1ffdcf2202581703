"""Reports for people: charts, images and HTML pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os


def report(
    *results: Any,
    output: str | os.PathLike[str],
    title: str | None = None,
    baseline: str | None = None,
    queries: Any = None,
    documents: Any = None,
    command: str | None = None,
) -> None:
    """Write one self-contained HTML page about any results (atomically).

    Results are objects, or paths of saved ones. `queries` and `documents` are texts (a file, {id: text},
    rows, a data frame); with them the page shows the queries and documents themselves. `baseline` names
    the system that evaluations are compared with.

    >>> from pathlib import Path
    >>> import goodgain as gg
    >>> result = gg.evaluate({"q1": {"a": 1}}, {"q1": ["x", "a"]}, "RR")
    >>> gg.report(result, output="report.html", title="First look")
    >>> Path("report.html").read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    import os

    from goodgain.io.atomic import write_texts
    from goodgain.results.loading import load

    loaded = [load(r) if isinstance(r, str | os.PathLike) else r for r in results]
    text = report_text(
        *loaded, title=title, baseline=baseline, queries=queries, documents=documents,
        command=command,
    )  # fmt: skip
    write_texts({os.fspath(output): text})


def report_text(
    *results: Any,
    title: str | None = None,
    baseline: str | None = None,
    queries: Any = None,
    documents: Any = None,
    command: str | None = None,
) -> str:
    """The HTML that `report` writes."""
    from goodgain.reports.card import opening
    from goodgain.reports.contents import gather_contents
    from goodgain.reports.page import page_html
    from goodgain.reports.sections import sections

    contents = gather_contents(
        results, title=title, baseline=baseline, queries=queries, documents=documents,
        command=command,
    )  # fmt: skip
    return page_html(contents.title, sections(contents), opening(contents).html())
