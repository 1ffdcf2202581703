"""Read-only HTTP server for one reader on this machine: loopback only, with a secret in the URL."""

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
_CACHED_PAGES = 8
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",  # links must not leak the secret in the URL
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
}


class NotFoundError(Exception):
    """The URL does not exist."""


class Viewer(ThreadingHTTPServer):
    """Serves the pages of a library until `shutdown`."""

    daemon_threads = True

    def __init__(self, library: Library, port: int = 0) -> None:
        self.library = library
        self.secret = secrets.token_urlsafe(24)
        self._pages: OrderedDict[tuple[str, ...], bytes] = OrderedDict()
        self._lock = Lock()  # build one page at a time, and none twice
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except (OSError, OverflowError):
            raise UsageError(
                f"cannot bind port {port}", hint="omit --port to use a free port"
            ) from None

    @property
    def url(self) -> str:
        """The URL to open; anyone who has it can read the results."""
        return f"http://{LOOPBACK}:{self.server_port}/{self.secret}/"

    def answer(self, path: str, query: dict[str, list[str]]) -> tuple[str, bytes, str]:
        """Content type, content and policy of a path below the secret."""
        if path in pages.SHELL:
            return *pages.shell(path), pages.SHELL_POLICY
        entries = self.library.entries()
        if path == "state":
            state = pages.state(self.library.folder.name, entries.values())
            return "application/json", state, pages.SHELL_POLICY
        if path == "page":
            return "text/html", self._page(_selected(entries, query)), pages.PAGE_POLICY
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

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore readers that disconnect; report anything else."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


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
        url = urlsplit(self.path)
        secret, slash, path = url.path.removeprefix("/").partition("/")
        try:
            if not (slash and self._is_authorised(secret)):
                raise NotFoundError
            kind, content, policy = self.server.answer(path, parse_qs(url.query))
        except NotFoundError:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Content-Security-Policy", policy)
        self.end_headers()
        send(content)

    def _is_authorised(self, secret: str) -> bool:
        """Whether the secret is right and the Host header is local, which prevents DNS rebinding."""
        hosts = {f"{name}:{self.server.server_port}" for name in (LOOPBACK, "localhost")}
        return self.headers.get("Host") in hosts and secrets.compare_digest(
            secret.encode(), self.server.secret.encode()
        )

    def end_headers(self) -> None:
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing: URLs contain the secret."""
