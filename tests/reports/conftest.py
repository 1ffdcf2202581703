"""Pages in a real browser, looked at as people see them.

What a page does after a key or a click may come a moment later, on a busy machine seconds later. So tests
`expect` it, which waits, before they read more of the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page


class Opened:
    """A page that was opened from disk, and everything that went wrong on it."""

    def __init__(self, page: Page, path: Path) -> None:
        self.page = page
        self.path = path
        self.problems: list[str] = []
        self.requests: list[str] = []
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("dialog", lambda dialog: self.problems.append(f"dialog: {dialog.message}"))
        page.goto(path.as_uri())

    def _heard(self, message: object) -> None:
        if getattr(message, "type", "") in ("error", "warning"):
            self.problems.append(f"console: {getattr(message, 'text', '')}")

    def unfold(self) -> None:
        """Open every section, as the button does."""
        self.page.evaluate(
            "for (const fold of document.querySelectorAll('main details.fold')) fold.open = true"
        )

    def draw_charts(self) -> None:
        """Every chart, by scrolling to it; after that nothing moves below the pointer."""
        for canvas in self.page.locator(".canvas").all():
            canvas.evaluate("e => e.scrollIntoView({behavior: 'instant'})")
            canvas.locator("svg").wait_for(state="attached")

    def well(self) -> None:
        """Nothing was written to the console, nothing ran that should not, nothing was fetched."""
        assert self.problems == []
        fetched = {url.partition("#")[0] for url in self.requests if not url.startswith("blob:")}
        assert fetched == {self.path.as_uri()}
        assert self.page.evaluate("window.ran") is None


@pytest.fixture
def look(browser: Browser) -> Iterator[Callable[..., Opened]]:
    """Opens a page: `look(path)`, `look(path, dark=True, width=390)`; at the end all must be well.

    Sections are unfolded, unless a test is about folds: `look(path, folded=True)`.
    """
    opened: list[tuple[object, Opened]] = []

    def open_page(
        path: Path, *, dark: bool = False, width: int = 1280, folded: bool = False
    ) -> Opened:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            accept_downloads=True,
        )
        page = Opened(context.new_page(), path)
        if not folded:
            page.unfold()
        opened.append((context, page))
        return page

    yield open_page
    for context, page in opened:
        page.well()
        context.close()  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def schema():
    """Of Vega-Lite."""
    import jsonschema
    from altair.vegalite.v6.schema import load_schema

    return jsonschema.Draft7Validator(load_schema())
