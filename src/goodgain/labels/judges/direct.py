"""The HTTP client that the official clients are given: aiohttp, with none of what they do not use.

Of a call through httpx2 a third is spent on merging headers and URLs a second time, on cookies, on
authentication by rounds and on streams, all of which a short JSON request and its short reply do without.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx2

_url = lru_cache(16)(httpx2.URL)


class DirectClient(httpx2.AsyncClient):
    """Builds what it is told to build, sends it, and reads the reply whole."""

    def __init__(self, timeout: float) -> None:
        super().__init__(transport=_Nowhere(), timeout=timeout)
        self._limit = aiohttp.ClientTimeout(total=timeout)
        self._session: aiohttp.ClientSession | None = None
        self._proxies = getproxies()  # once: aiohttp would look for them on every call

    def build_request(
        self, method: str, url: Any, *, content: Any = None, headers: Any = None, **_: Any
    ) -> httpx2.Request:
        """A request of just these parts: the official clients have merged them already."""
        return httpx2.Request(method, _url(str(url)), headers=headers, content=content)

    async def send(self, request: httpx2.Request, **_: Any) -> httpx2.Response:
        """The reply, or an error of httpx2's, which the official clients know."""
        try:
            async with self._opened().request(
                request.method,
                str(request.url),
                headers=[(k.decode("ascii"), v.decode("latin-1")) for k, v in request.headers.raw],
                data=request.content,
                proxy=self._proxy(request.url),
            ) as reply:
                body = await reply.read()
        except TimeoutError as error:
            raise httpx2.ReadTimeout(str(error), request=request) from error
        except aiohttp.ClientError as error:
            raise httpx2.NetworkError(
                f"{type(error).__name__}: {error}", request=request
            ) from error
        return httpx2.Response(
            reply.status, headers=reply.raw_headers, content=body, request=request
        )

    async def aclose(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
        await super().aclose()

    def _proxy(self, url: httpx2.URL) -> str | None:
        if not self._proxies or proxy_bypass(url.host):
            return None
        return self._proxies.get(url.scheme) or self._proxies.get("all")

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:  # inside the loop that it will be used in
            connector = aiohttp.TCPConnector(limit=0, ssl=httpx2.create_ssl_context())
            self._session = aiohttp.ClientSession(
                connector=connector,
                timeout=self._limit,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,  # the response does that, by its headers
            )
        return self._session


class _Nowhere(httpx2.AsyncBaseTransport):
    """In place of the transport that httpx2 would make and that would never be used."""
