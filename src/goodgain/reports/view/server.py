"""Pages over HTTP for one reader on this machine: loopback only, a secret in the address, read only."""

from __future__ import annotations

import secrets
import sys
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from goodgain.errors import GoodgainError, UsageError
from goodgain.reports.view import pages

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodgain.reports.view.library import Entry, Library

LOOPBACK = "127.0.0.1"
_KEPT_PAGES = 8
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",  # the secret of the address stays here when a link is followed
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
}


class NotThereError(Exception):
    """Nothing has this address."""


class Viewer(ThreadingHTTPServer):
    """Serves the pages of a library until `shutdown`."""

    daemon_threads = True

    def __init__(self, library: Library, port: int = 0) -> None:
        self.library = library
        self.secret = secrets.token_urlsafe(24)
        self._pages: OrderedDict[tuple[str, ...], bytes] = OrderedDict()
        self._making = Lock()  # one page is made at a time, and none twice
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except (OSError, OverflowError):
            raise UsageError(
                f"port {port} cannot be had", hint="leave --port out to take a free one"
            ) from None

    @property
    def url(self) -> str:
        """The address to open; whoever has it can read the results."""
        return f"http://{LOOPBACK}:{self.server_port}/{self.secret}/"

    def answer(self, path: str, query: dict[str, list[str]]) -> tuple[str, bytes, str]:
        """Content type, content and policy of an address below the secret."""
        if path in pages.SHELL:
            return *pages.shell(path), pages.SHELL_POLICY
        entries = self.library.entries()
        if path == "state":
            listed = pages.state(self.library.folder.name, entries.values())
            return "application/json", listed, pages.SHELL_POLICY
        if path == "page":
            return "text/html", self._page(_chosen(entries, query)), pages.PAGE_POLICY
        raise NotThereError

    def _page(self, chosen: list[Entry]) -> bytes:
        key = tuple(f"{entry.key}/{entry.version}" for entry in chosen)
        with self._making:
            if key not in self._pages:
                self._pages[key] = _page_or_reason(chosen)
                while len(self._pages) > _KEPT_PAGES:
                    self._pages.popitem(last=False)
            self._pages.move_to_end(key)
            return self._pages[key]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader that goes away in the middle is no news; anything else is."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


def _page_or_reason(chosen: list[Entry]) -> bytes:
    try:
        return pages.page([entry.path for entry in chosen])
    except GoodgainError as error:
        return pages.reason(str(error))


def _chosen(entries: dict[str, Entry], query: dict[str, list[str]]) -> list[Entry]:
    """The one or two entries that an address names; with two, the first is the baseline."""
    keys = query.get("of", [])
    if not 1 <= len(keys) <= 2 or any(key not in entries for key in keys):
        raise NotThereError
    return [entries[key] for key in keys]


class _Handler(BaseHTTPRequestHandler):
    server: Viewer
    server_version = "goodgain"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        self._serve(self.wfile.write)

    def do_HEAD(self) -> None:
        self._serve(lambda content: None)

    def _serve(self, send: Callable[[bytes], Any]) -> None:
        asked = urlsplit(self.path)
        secret, slash, path = asked.path.removeprefix("/").partition("/")
        try:
            if not (slash and self._is_ours(secret)):
                raise NotThereError
            kind, content, policy = self.server.answer(path, parse_qs(asked.query))
        except NotThereError:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Content-Security-Policy", policy)
        self.end_headers()
        send(content)

    def _is_ours(self, secret: str) -> bool:
        """The secret is right, and the browser meant this machine: no name of elsewhere leads here."""
        hosts = {f"{name}:{self.server.server_port}" for name in (LOOPBACK, "localhost")}
        return self.headers.get("Host") in hosts and secrets.compare_digest(
            secret.encode(), self.server.secret.encode()
        )

    def end_headers(self) -> None:
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Addresses hold the secret: they are not written anywhere."""
