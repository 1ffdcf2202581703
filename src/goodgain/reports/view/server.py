"""Read-only pages for one reader on this machine."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

from goodgain.errors import GoodgainError
from goodgain.reports.view import pages
from goodgain.serving import LocalServer, NotFoundError, Request, Response

if TYPE_CHECKING:
    from goodgain.reports.view.library import Entry, Library

_CACHED_PAGES = 8


class Viewer(LocalServer):
    """Serves the pages of a library until `shutdown`."""

    def __init__(self, library: Library, port: int = 0) -> None:
        self.library = library
        self._pages: OrderedDict[tuple[str, ...], bytes] = OrderedDict()
        self._lock = Lock()  # build one page at a time, and none twice
        super().__init__(port)

    def answer(self, request: Request) -> Response:
        """A file of the viewer's own page, the list of entries, or a report."""
        if request.path in pages.SHELL:
            return Response(*pages.shell(request.path))
        entries = self.library.entries()
        if request.path == "state":
            state = pages.state(self.library.folder.name, entries.values())
            return Response("application/json", state)
        if request.path == "page":
            page = self._page(_selected(entries, request.query))
            return Response("text/html", page, pages.PAGE_POLICY)
        raise NotFoundError

    def _page(self, selected: list[Entry]) -> bytes:
        key = tuple(f"{entry.key}/{entry.version}" for entry in selected)
        with self._lock:
            if key not in self._pages:
                self._pages[key] = _page_or_error(selected)
                while len(self._pages) > _CACHED_PAGES:
                    self._pages.popitem(last=False)
            self._pages.move_to_end(key)
            return self._pages[key]


def _page_or_error(selected: list[Entry]) -> bytes:
    try:
        return pages.page([entry.path for entry in selected])
    except GoodgainError as error:
        return pages.error_page(str(error))


def _selected(entries: dict[str, Entry], query: dict[str, list[str]]) -> list[Entry]:
    """The one or two entries of a URL; with two, the first is the baseline."""
    keys = query.get("of", [])
    if not 1 <= len(keys) <= 2 or any(key not in entries for key in keys):
        raise NotFoundError
    return [entries[key] for key in keys]
