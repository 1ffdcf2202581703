"""A lean HTTP client for the official API clients.

More than half of the time of a call through httpx2 goes into merging headers and URLs a second time,
cookies, authentication flows and streaming, none of which a short JSON request with a short reply needs.
Proxies and redirects are left to httpx2.
"""

from __future__ import annotations

import asyncio
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast
from urllib.request import getproxies, proxy_bypass

import httpx2

from goodgain.labels.judges.http_connection import Connection

if TYPE_CHECKING:
    from goodgain.labels.judges.http_connection import RawResponse

_REDIRECTS = (301, 302, 303, 307, 308)
_PORTS = {"http": 80, "https": 443}
Origin = tuple[str, str, int]

# These are the same in every call, so they are parsed once.
_url = lru_cache(16)(httpx2.URL)
_headers = lru_cache(16)(httpx2.Headers)


class LeanClient(httpx2.AsyncClient):
    """Sends requests over pooled connections and reads each response completely."""

    def __init__(self, timeout: float) -> None:
        self._ssl = httpx2.create_ssl_context()
        super().__init__(verify=self._ssl, timeout=timeout, follow_redirects=True)
        self._seconds = timeout
        self._proxies = getproxies()  # read once, not on every call
        self._idle: dict[Origin, list[Connection]] = {}

    def build_request(
        self, method: str, url: Any, *, content: Any = None, headers: Any = None, **_: Any
    ) -> httpx2.Request:
        """Build a request as it stands: the official clients have merged its headers already."""
        fields = headers if isinstance(headers, httpx2.Headers) else _headers(tuple(headers))
        stream = httpx2.ByteStream(content or b"")
        return httpx2.Request(method, _url(str(url)), headers=fields, stream=stream)

    async def send(self, request: httpx2.Request, **_: Any) -> httpx2.Response:
        """Send a request; failures are raised as httpx2 errors, which the official clients handle."""
        if self._proxies and self._uses_proxy(request.url):
            return await self._send_with_httpx2(request)
        url = str(request.url)
        head, origin = _head(request.method, url, tuple(request.headers.raw)), _origin(url)
        try:
            connection = await self._connect(origin)
        except TimeoutError as error:
            raise httpx2.ConnectTimeout(str(error), request=request) from error
        except OSError as error:
            message = f"{type(error).__name__}: {error}"
            raise httpx2.ConnectError(message, request=request) from error
        try:
            try:
                response = await connection.request(head, request.read(), self._seconds)
            finally:
                connection.release()
        except TimeoutError as error:
            raise httpx2.ReadTimeout(str(error), request=request) from error
        except OSError as error:
            message = f"{type(error).__name__}: {error}"
            raise httpx2.NetworkError(message, request=request) from error
        self._idle.setdefault(origin, []).append(connection)
        if response.status in _REDIRECTS:
            return await self._send_with_httpx2(request)
        return _CompleteResponse(response, request)

    async def aclose(self) -> None:
        """Close the connections."""
        idle, self._idle = self._idle, {}
        for connection in (each for connections in idle.values() for each in connections):
            connection.close()
        await asyncio.sleep(0)  # the loop does the closing, and it may be about to stop
        await super().aclose()

    async def _connect(self, origin: Origin) -> Connection:
        """Reuse an idle connection, or open a new one."""
        idle = self._idle.get(origin)
        while idle:
            connection = idle.pop()
            if connection.usable:
                return connection
            connection.close()
        scheme, host, port = origin
        context = self._ssl if scheme == "https" else None
        loop = asyncio.get_running_loop()
        # IPv4 need not wait for an IPv6 that does not answer; loops such as uvloop's lack this option.
        options = {"happy_eyeballs_delay": 0.25} if isinstance(loop, asyncio.BaseEventLoop) else {}
        async with asyncio.timeout(self._seconds):
            _, opened = await loop.create_connection(
                Connection,
                host,
                port,
                ssl=context,
                **options,  # type: ignore[call-overload]
            )
        return cast("Connection", opened)

    def _uses_proxy(self, url: httpx2.URL) -> bool:
        configured = url.scheme in self._proxies or "all" in self._proxies
        return configured and not proxy_bypass(url.host)

    async def _send_with_httpx2(self, request: httpx2.Request) -> httpx2.Response:
        """Send the same request the usual way, with proxies and redirects."""
        complete = super().build_request(
            request.method, request.url, headers=request.headers, content=request.read()
        )
        return await super().send(complete)


class _CompleteResponse(httpx2.Response):
    """A response whose body has been read already."""

    def __init__(self, response: RawResponse, request: httpx2.Request) -> None:
        stream = httpx2.ByteStream(response.body)
        super().__init__(response.status, headers=response.headers, stream=stream, request=request)
        self._body = response.body

    @property
    def content(self) -> bytes:
        """The body, decompressed if necessary."""
        return self.read() if "content-encoding" in self.headers else self._body


@lru_cache(16)
def _origin(url: str) -> Origin:
    parsed = _url(url)
    return parsed.scheme, parsed.host, parsed.port or _PORTS[parsed.scheme]


@lru_cache(16)
def _head(method: str, url: str, fields: tuple[tuple[bytes, bytes], ...]) -> bytes:
    """Everything before the value of the content-length header."""
    parsed = _url(url)
    lines = [b"%b %b HTTP/1.1" % (method.encode(), parsed.raw_path), b"host: " + parsed.netloc]
    lines += [b"%b: %b" % field for field in fields]
    if any(mark in line for line in lines for mark in (b"\r", b"\n", b"\0")):
        raise httpx2.LocalProtocolError("a header contains a line break")
    return b"\r\n".join([*lines, b"content-length: "])
