"""The HTTP client that the official clients are given: it does what they ask for, and nothing twice.

Of a call through httpx2 more than half is spent on merging headers and URLs a second time, on cookies, on
authentication by rounds and on streams, all of which a short JSON request and its short reply do without.
Proxies and redirects are left to httpx2.
"""

from __future__ import annotations

import asyncio
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast
from urllib.request import getproxies, proxy_bypass

import httpx2

from goodgain.labels.judges.wire import Connection

if TYPE_CHECKING:
    from goodgain.labels.judges.wire import Answer

_REDIRECTS = (301, 302, 303, 307, 308)
_PORTS = {"http": 80, "https": 443}
Origin = tuple[str, str, int]

# The parts of a request that are the same in every call.
_url = lru_cache(16)(httpx2.URL)
_headers = lru_cache(16)(httpx2.Headers)


class DirectClient(httpx2.AsyncClient):
    """Builds what it is told to build, sends it over a kept connection, and reads the reply whole."""

    def __init__(self, timeout: float) -> None:
        self._ssl = httpx2.create_ssl_context()
        super().__init__(verify=self._ssl, timeout=timeout, follow_redirects=True)
        self._seconds = timeout
        self._proxies = getproxies()  # once, not on every call
        self._unused: dict[Origin, list[Connection]] = {}

    def build_request(
        self, method: str, url: Any, *, content: Any = None, headers: Any = None, **_: Any
    ) -> httpx2.Request:
        """A request of just these parts: the official clients have merged them already."""
        fields = headers if isinstance(headers, httpx2.Headers) else _headers(tuple(headers))
        stream = httpx2.ByteStream(content or b"")
        return httpx2.Request(method, _url(str(url)), headers=fields, stream=stream)

    async def send(self, request: httpx2.Request, **_: Any) -> httpx2.Response:
        """The reply, or an error of httpx2's, which the official clients know."""
        if self._proxies and self._proxied(request.url):
            return await self._by_httpx2(request)
        url = str(request.url)
        head, origin = _head(request.method, url, tuple(request.headers.raw)), _origin(url)
        try:
            connection = await self._connection(origin)
            try:
                answer = await connection.ask(head, request.read(), self._seconds)
            finally:
                connection.rest()
        except TimeoutError as error:
            raise httpx2.ReadTimeout(str(error), request=request) from error
        except OSError as error:
            said = f"{type(error).__name__}: {error}"
            raise httpx2.NetworkError(said, request=request) from error
        self._unused.setdefault(origin, []).append(connection)
        if answer.status in _REDIRECTS:
            return await self._by_httpx2(request)
        return _Whole(answer, request)

    async def aclose(self) -> None:
        """Close the connections."""
        unused, self._unused = self._unused, {}
        for connection in (each for kept in unused.values() for each in kept):
            connection.close()
        await asyncio.sleep(0)  # it is the loop that closes them, and it may be about to end
        await super().aclose()

    async def _connection(self, origin: Origin) -> Connection:
        """One that has nothing to do, or a new one."""
        unused = self._unused.get(origin)
        while unused:
            connection = unused.pop()
            if connection.usable:
                return connection
            connection.close()
        scheme, host, port = origin
        context = self._ssl if scheme == "https" else None
        loop = asyncio.get_running_loop()
        # Where IPv6 leads nowhere, IPv4 need not wait for that; a loop like uvloop's does not know how.
        both = {"happy_eyeballs_delay": 0.25} if isinstance(loop, asyncio.BaseEventLoop) else {}
        async with asyncio.timeout(self._seconds):
            _, opened = await loop.create_connection(
                Connection,
                host,
                port,
                ssl=context,
                **both,  # type: ignore[call-overload]
            )
        return cast("Connection", opened)

    def _proxied(self, url: httpx2.URL) -> bool:
        known = url.scheme in self._proxies or "all" in self._proxies
        return known and not proxy_bypass(url.host)

    async def _by_httpx2(self, request: httpx2.Request) -> httpx2.Response:
        """The same request with all that httpx2 does for one."""
        whole = super().build_request(
            request.method, request.url, headers=request.headers, content=request.read()
        )
        return await super().send(whole)


class _Whole(httpx2.Response):
    """A reply that need not be read any more."""

    def __init__(self, answer: Answer, request: httpx2.Request) -> None:
        stream = httpx2.ByteStream(answer.body)
        super().__init__(answer.status, headers=answer.headers, stream=stream, request=request)
        self._body = answer.body

    @property
    def content(self) -> bytes:
        """Its body, unpacked where it is packed."""
        return self.read() if "content-encoding" in self.headers else self._body


@lru_cache(16)
def _origin(url: str) -> Origin:
    parsed = _url(url)
    return parsed.scheme, parsed.host, parsed.port or _PORTS[parsed.scheme]


@lru_cache(16)
def _head(method: str, url: str, fields: tuple[tuple[bytes, bytes], ...]) -> bytes:
    """What comes before the length of the body."""
    parsed = _url(url)
    lines = [b"%b %b HTTP/1.1" % (method.encode(), parsed.raw_path), b"host: " + parsed.netloc]
    lines += [b"%b: %b" % field for field in fields]
    if any(mark in line for line in lines for mark in (b"\r", b"\n", b"\0")):
        raise httpx2.LocalProtocolError("a header has a line break in it")
    return b"\r\n".join([*lines, b"content-length: "])
