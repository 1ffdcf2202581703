"""What the viewer sends: the list of results, and the same pages that `goodgain report` writes."""

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
SHELL_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
    "frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
PAGE_POLICY = "frame-ancestors 'self'"  # the page brings the rest itself


def shell(path: str) -> tuple[str, bytes]:
    """Content type and content of a part of the list's own page."""
    name, kind = SHELL[path]
    content = (_ASSETS / name).read_text(encoding="utf-8")
    return kind, (palette_text() + content if kind == "text/css" else content).encode()


def state(folder: str, entries: Iterable[Entry]) -> bytes:
    """What there is to look at, and in which version."""
    shown = ("key", "name", "kind", "version", "changed")
    listed = [{field: getattr(entry, field) for field in shown} for entry in entries]
    return json.dumps({"folder": folder, "entries": listed}).encode("utf-8", "replace")


def reason(message: str) -> bytes:
    """A page that says why there is no page."""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>no page</title>'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
        '<meta name="color-scheme" content="light dark">'
        f"<h1>No page can be made of this</h1><pre>{escape(message)}</pre>"
    ).encode("utf-8", "replace")


def page(paths: list[Path]) -> bytes:
    """The page that `goodgain report` writes; of two, the first is the baseline."""
    from goodgain.reports import report_text
    from goodgain.results.loading import load_result

    return report_text(*map(load_result, paths)).encode("utf-8")
