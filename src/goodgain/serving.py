"""HTTP for people on this machine: loopback with a secret in the URL, or shared with a password.

`goodgain view` and `goodgain judge` serve their pages through it.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import secrets
import socket
import sys
import time
from collections import deque
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from goodgain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

LOOPBACK = "127.0.0.1"
SHELL_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
    "frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
PASSWORD_LENGTH = 8  # of a shared page, at least
_MOST_BYTES = 1_000_000  # of a request's body
_COOKIE = "goodgain"
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


@dataclass(frozen=True, slots=True)
class Request:
    """What a page asks for: a path below the secret, the query of the URL, and the posted object."""

    path: str
    query: dict[str, list[str]]
    posted: dict[str, Any] | None = None  # None for GET


class Response(NamedTuple):
    """What it gets."""

    kind: str
    content: bytes
    policy: str = SHELL_POLICY
    status: int = 200


def json_response(value: Any, status: int = 200) -> Response:
    """An object as JSON; text that is not valid Unicode is escaped."""
    content = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return Response("application/json", content.encode("ascii"), status=status)


class LocalServer(ThreadingHTTPServer):
    """Answers requests below a secret path until `shutdown`.

    Without a password it listens on loopback only. With one it may listen elsewhere: then `open_paths` are
    readable by all who know the secret, and the rest needs the password, too.
    """

    daemon_threads = True
    accepts_posts = False
    open_paths: frozenset[str] = frozenset()

    def __init__(
        self,
        port: int = 0,
        *,
        host: str = LOOPBACK,
        secret: str | None = None,
        password: str | None = None,
    ) -> None:
        if password is None and host != LOOPBACK:
            raise UsageError(f"listening on '{host}' needs a password")
        if password is not None and len(password) < PASSWORD_LENGTH:
            raise UsageError(f"the password must have at least {PASSWORD_LENGTH} characters")
        self.host = host
        self.secret = secret or secrets.token_urlsafe(24)
        self.attempts = Attempts()
        self._session = None if password is None else _session(self.secret, password)
        if ":" in host:
            self.address_family = socket.AF_INET6
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError):
            place = f"port {port}" if host == LOOPBACK else f"'{host}', port {port}"
            raise UsageError(
                f"cannot bind {place}", hint="omit --port to use a free port"
            ) from None

    @property
    def url(self) -> str:
        """The URL to open; without a password, anyone who has it can read the page."""
        host = socket.gethostname() if self.host in ("0.0.0.0", "::") else self.host
        host = f"[{host}]" if ":" in host else host
        return f"http://{host}:{self.server_port}/{self.secret}/"

    def answer(self, request: Request) -> Response:
        """The response to a request that was checked."""
        raise NotFoundError

    def is_local_name(self, header: str) -> bool:
        """Whether a Host header names this server; others are DNS rebinding.

        A shared server may also be called by any address: rebinding needs a name.
        """
        names = {LOOPBACK, "localhost"}
        if self._session is None:
            return header in {f"{name}:{self.server_port}" for name in names}
        try:
            name = urlsplit(f"//{header}").hostname or ""
        except ValueError:
            return False
        own = {socket.gethostname().lower(), socket.getfqdn().lower(), self.host.lower()}
        return name in names | own or _is_address(name)

    def is_open(self, path: str, cookies: str) -> bool:
        """Whether a path needs no password, or the cookie proves that it was entered."""
        if self._session is None or path in self.open_paths:
            return True
        try:
            cookie = SimpleCookie(cookies).get(_COOKIE)
        except CookieError:
            return False
        return cookie is not None and _are_equal(cookie.value, self._session)

    def log_in(self, password: str, address: str) -> tuple[Response, str | None]:
        """The response to a password, and the cookie if it is right."""
        wait = self.attempts.wait(address)
        if wait:
            error = f"too many wrong passwords: try again in {wait:.0f} seconds"
            return json_response({"error": error, "wait": wait}, 429), None
        if self._session is None or not _are_equal(_session(self.secret, password), self._session):
            self.attempts.failed(address)
            return json_response({"error": "wrong password"}, 403), None
        self.attempts.succeeded(address)
        cookie = f"{_COOKIE}={self._session}; Path=/{self.secret}/; HttpOnly; SameSite=Lax"
        return json_response({}), cookie

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore readers that disconnect; report anything else."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class Attempts:
    """Slows down guessing: wrong passwords double the wait of an address, and all share a limit."""

    FREE = 5  # wrong passwords of an address before it has to wait
    LONGEST = 300.0  # seconds
    ALL = 50  # wrong passwords of all addresses within LONGEST

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._by_address: dict[str, tuple[int, float]] = {}  # failures, time of the last
        self._all: deque[float] = deque(maxlen=self.ALL)

    def wait(self, address: str) -> float:
        """Seconds until the address may try again."""
        with self._lock:
            now = self._clock()
            ends = [0.0]
            count, last = self._by_address.get(address, (0, 0.0))
            if count >= self.FREE:
                ends.append(last + min(self.LONGEST, 2.0 ** (count - self.FREE + 1)))
            if len(self._all) == self.ALL:
                ends.append(self._all[0] + self.LONGEST)
            return max(0.0, max(ends) - now)

    def failed(self, address: str) -> None:
        """Count a wrong password."""
        with self._lock:
            now = self._clock()
            if len(self._by_address) >= 10_000:  # a scan; the limit of all holds
                self._by_address.clear()
            count, _ = self._by_address.get(address, (0, 0.0))
            self._by_address[address] = (count + 1, now)
            self._all.append(now)

    def succeeded(self, address: str) -> None:
        """Forget the failures of an address."""
        with self._lock:
            self._by_address.pop(address, None)


def _session(secret: str, password: str) -> str:
    """The cookie of those who know the password; it stays valid when the server is started again."""
    return hmac.new(
        secret.encode(), password.encode("utf-8", "replace"), hashlib.sha256
    ).hexdigest()


def _are_equal(one: str, other: str) -> bool:
    """In constant time, whatever the texts are."""
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class _Handler(BaseHTTPRequestHandler):
    server: LocalServer
    server_version = "goodgain"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        self._serve(self.wfile.write)

    def do_HEAD(self) -> None:
        self._serve(lambda content: None)

    def do_POST(self) -> None:
        if not self.server.accepts_posts:
            self.send_error(501)
            return
        self._serve(self.wfile.write, posted=True)

    def _serve(self, send: Callable[[bytes], Any], posted: bool = False) -> None:
        try:
            url = urlsplit(self.path)
        except ValueError:
            self.send_error(404)
            return
        secret, slash, path = url.path.removeprefix("/").partition("/")
        if not (slash and self._is_authorised(secret)):
            self.send_error(404)
            return
        value = None
        if posted:
            status, value = self._posted()
            if status:
                self.send_error(status)
                return
        cookie = None
        if path == "login" and value is not None:
            password = value.get("password")
            response, cookie = self.server.log_in(
                password if isinstance(password, str) else "", self.client_address[0]
            )
        elif not self.server.is_open(path, self.headers.get("Cookie", "")):
            response = json_response({"error": "the password is needed", "login": True}, 401)
        else:
            try:
                response = self.server.answer(Request(path, parse_qs(url.query), value))
            except NotFoundError:
                self.send_error(404)
                return
        self.send_response(response.status)
        self.send_header("Content-Type", f"{response.kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(response.content)))
        self.send_header("Content-Security-Policy", response.policy)
        if cookie:
            self.send_header("Set-Cookie", cookie)
        self.end_headers()
        send(response.content)

    def _is_authorised(self, secret: str) -> bool:
        """Whether the secret is right and the Host header is local, which prevents DNS rebinding."""
        return self.server.is_local_name(self.headers.get("Host", "")) and _are_equal(
            secret, self.server.secret
        )

    def _posted(self) -> tuple[int, dict[str, Any] | None]:
        """The posted object, or the status of a refusal.

        Only the server's own page may post. A browser says where a request comes from: in Sec-Fetch-Site
        where the connection is trusted, else in Origin.
        """
        site, origin = self.headers.get("Sec-Fetch-Site"), self.headers.get("Origin")
        own = site == "same-origin" if site else origin == f"http://{self.headers.get('Host')}"
        if not own:
            return 403, None
        if self.headers.get("Content-Type", "").partition(";")[0].strip() != "application/json":
            return 415, None
        try:
            size = int(self.headers.get("Content-Length", ""))
        except ValueError:
            return 411, None
        if not 0 <= size <= _MOST_BYTES:
            return 413, None
        try:
            value = json.loads(self.rfile.read(size))
        except (ValueError, RecursionError):
            return 400, None
        return (0, value) if isinstance(value, dict) else (400, None)

    def end_headers(self) -> None:
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing: URLs contain the secret."""
