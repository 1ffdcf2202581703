"""What the viewer serves: the table of results, and the same pages that `goodgain report` writes."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.reports.page import asset, palette_text

if TYPE_CHECKING:
    from goodgain.reports.view.library import Entry
    from goodgain.reports.view.summaries import Summary

_ASSETS = Path(__file__).parent / "assets"
# The viewer's own files, and the scripts that it shares with reports.
SHELL = {
    "": ("shell.html", "text/html"),
    "shell.css": ("shell.css", "text/css"),
    "shell.js": ("shell.js", "text/javascript"),
}
SHARED = ("dom.js", "export.js", "table.js")
PAGE_POLICY = "frame-ancestors 'self'"  # the page has its own policy for the rest


def shell(path: str) -> tuple[str, bytes]:
    """Content type and content of a file of the viewer's own page."""
    if path in SHARED:
        return "text/javascript", asset(path).encode()
    name, kind = SHELL[path]
    content = (_ASSETS / name).read_text(encoding="utf-8")
    if kind == "text/css":
        content = palette_text() + asset("page.css") + content
    return kind, content.encode()


def entry_data(entry: Entry, summary: Summary | None) -> dict[str, Any]:
    """An entry with its rows as the viewer's page lists it."""
    fields = ("key", "name", "kind", "version", "changed")
    data: dict[str, Any] = {field: getattr(entry, field) for field in fields}
    if summary is not None:
        data["problem"] = summary.problem
        data["rows"] = [
            [row.system, row.values, row.queries, row.created, row.note] for row in summary.rows
        ]
    return data


def json_bytes(value: Any) -> bytes:
    """JSON for the viewer's page; text that is not valid Unicode is replaced."""
    return json.dumps(value, separators=(",", ":")).encode("utf-8", "replace")


def error_page(message: str) -> bytes:
    """A page that explains why the report cannot be shown."""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Error</title>'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
        '<meta name="color-scheme" content="light dark">'
        f"<h1>This result cannot be shown</h1><pre>{escape(message)}</pre>"
    ).encode("utf-8", "replace")


def page(paths: list[Path]) -> bytes:
    """The page that `goodgain report` writes; of several results, the first is the baseline."""
    from goodgain.reports import report_text
    from goodgain.results.loading import load

    return report_text(*map(load, paths)).encode("utf-8")
