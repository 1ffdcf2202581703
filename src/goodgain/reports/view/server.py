"""Read-only pages for one reader on this machine."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Any

from goodgain.errors import GoodgainError
from goodgain.reports.view import pages
from goodgain.reports.view.history import history_page, points
from goodgain.reports.view.library import HISTORY
from goodgain.reports.view.summaries import Summaries, summarise, unit_of
from goodgain.serving import LocalServer, NotFoundError, Request, Response

if TYPE_CHECKING:
    from goodgain.reports.view.library import Entry, Library
    from goodgain.reports.view.summaries import Summary

_CACHED_PAGES = 8
MAX_COMPARED = 60  # results on one page


class Viewer(LocalServer):
    """Serves the pages of a library until `shutdown`."""

    def __init__(self, library: Library, port: int = 0) -> None:
        self.library = library
        self.summaries = Summaries()
        self._pages: OrderedDict[tuple[str, ...], bytes] = OrderedDict()
        self._lock = Lock()  # build one page at a time, and none twice
        self._states = States()
        super().__init__(port)

    def answer(self, request: Request) -> Response:
        """A file of the viewer's own page, the list of entries, or a report."""
        if request.path in pages.SHELL or request.path in pages.SHARED:
            return Response(*pages.shell(request.path))
        entries = self.library.entries()
        if request.path == "state":
            self.summaries.want(entries.values())
            since = request.query.get("since", [""])[0]
            return Response("application/json", pages.json_bytes(self._state(entries, since)))
        if request.path == "page":
            page = self._page(_selected(entries, request.query))
            return Response("text/html", page, pages.PAGE_POLICY)
        if request.path == "history":
            return Response("text/html", self._history(entries, request.query), pages.PAGE_POLICY)
        raise NotFoundError

    def _state(self, entries: dict[str, Entry], since: str) -> dict[str, Any]:
        """What changed since a state that the page has; all of it if it has none."""
        rows = {}
        pending = 0
        for key, entry in entries.items():
            summary, generation = self.summaries.get(entry)
            pending += summary is None
            rows[key] = f"{entry.version}/{generation}", entry, summary
        number, base = self._states.next({key: row[0] for key, row in rows.items()}, since)
        return {
            "folder": self.library.folder.name,
            "state": number,
            "isWhole": base is None,
            "total": len(entries),
            "pending": pending,
            "foreign": self.library.foreign,
            "problems": [[p.name, p.why] for p in self.library.problems[:100]],
            "problemCount": len(self.library.problems),
            "units": self._units(rows),
            "removed": [key for key in base or () if key not in rows],
            "entries": [
                pages.entry_data(entry, summary)
                for key, (version, entry, summary) in rows.items()
                if base is None or base.get(key) != version
            ],
        }

    def _units(self, rows: dict[str, tuple[str, Entry, Summary | None]]) -> dict[str, str]:
        """The units of time and cost among the measures of all results."""
        names = {
            name
            for _, _, summary in rows.values()
            for row in (summary.rows if summary else ())
            for name in row.values
        }
        return {name: unit for name in sorted(names) if (unit := unit_of(name))}

    def _history(self, entries: dict[str, Entry], query: dict[str, list[str]]) -> bytes:
        measure, search = (query.get(name, [""])[0] for name in ("measure", "search"))
        results = []
        for entry in entries.values():
            summary = self.summaries.get(entry)[0] or summarise(entry)
            results.append((entry, summary.rows))
        listed = points(results, measure, search)
        return history_page(listed, measure, search).encode("utf-8", "replace")

    def _page(self, selected: list[Entry]) -> bytes:
        key = tuple(f"{entry.key}/{entry.version}" for entry in selected)
        with self._lock:
            if key not in self._pages:
                self._pages[key] = _page_or_error(selected)
                while len(self._pages) > _CACHED_PAGES:
                    self._pages.popitem(last=False)
            self._pages.move_to_end(key)
            return self._pages[key]


class States:
    """The last states that pages have, so that they are sent only what changed."""

    COUNT = 8

    def __init__(self) -> None:
        self._lock = Lock()
        self._number = 0
        self._states: OrderedDict[str, dict[str, str]] = OrderedDict()

    def next(self, versions: dict[str, str], since: str) -> tuple[str, dict[str, str] | None]:
        """The number of this state, and the versions of the one that a page has."""
        with self._lock:
            base = self._states.get(since)
            if base == versions:
                return since, base
            self._number += 1
            self._states[str(self._number)] = versions
            while len(self._states) > self.COUNT:
                self._states.popitem(last=False)
            return str(self._number), base


def _page_or_error(selected: list[Entry]) -> bytes:
    try:
        if [entry.kind for entry in selected] == [HISTORY]:
            return _check_history(selected[0])
        return pages.page([entry.path for entry in selected])
    except GoodgainError as error:
        return pages.error_page(str(error))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return pages.error_page(f"it is damaged, or not complete ({type(error).__name__}: {error})")


def _check_history(entry: Entry) -> bytes:
    """Every measure of a check over time."""
    summary = summarise(entry)
    names = list(dict.fromkeys(name for row in summary.rows for name in row.values))
    if not names:
        return pages.error_page(summary.problem or "no run of the check has measures")
    listed = points([(entry, summary.rows)], names[0], "")
    return history_page(listed, names[0], "").encode("utf-8", "replace")


def _selected(entries: dict[str, Entry], query: dict[str, list[str]]) -> list[Entry]:
    """The entries of a URL; of several, the first is the baseline."""
    keys = query.get("of", [])
    if not 1 <= len(keys) <= MAX_COMPARED or len(set(keys)) < len(keys):
        raise NotFoundError
    if any(key not in entries for key in keys):
        raise NotFoundError
    return [entries[key] for key in keys]
