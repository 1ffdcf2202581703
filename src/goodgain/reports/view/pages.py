"""What the viewer serves: the list of results, and the same pages that `goodgain report` writes."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from goodgain.reports.page import palette_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goodgain.reports.view.library import Entry

_ASSETS = Path(__file__).parent / "assets"
SHELL = {
    "": ("shell.html", "text/html"),
    "shell.css": ("shell.css", "text/css"),
    "shell.js": ("shell.js", "text/javascript"),
}
PAGE_POLICY = "frame-ancestors 'self'"  # the page has its own policy for the rest


def shell(path: str) -> tuple[str, bytes]:
    """Content type and content of a file of the viewer's own page."""
    name, kind = SHELL[path]
    content = (_ASSETS / name).read_text(encoding="utf-8")
    return kind, (palette_text() + content if kind == "text/css" else content).encode()


def state(folder: str, entries: Iterable[Entry]) -> bytes:
    """The list of entries with their versions."""
    fields = ("key", "name", "kind", "version", "changed")
    items = [{field: getattr(entry, field) for field in fields} for entry in entries]
    return json.dumps({"folder": folder, "entries": items}).encode("utf-8", "replace")


def error_page(message: str) -> bytes:
    """A page that explains why the report cannot be shown."""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Error</title>'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
        '<meta name="color-scheme" content="light dark">'
        f"<h1>This result cannot be shown</h1><pre>{escape(message)}</pre>"
    ).encode("utf-8", "replace")


def page(paths: list[Path]) -> bytes:
    """The page that `goodgain report` writes; with two results, the first is the baseline."""
    from goodgain.reports import report_text
    from goodgain.results.loading import load

    return report_text(*map(load, paths)).encode("utf-8")
