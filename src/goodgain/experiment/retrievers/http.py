"""A search service with a JSON endpoint."""

from __future__ import annotations

import json
import os
import re
import threading
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from goodgain.errors import InputError, UsageError
from goodgain.experiment.retrievers.base import (
    DEPTH,
    Retriever,
    ScoredDocument,
    check_ranking,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_VARIABLE = re.compile(r"\$\{(\w+)\}")


class Http(Retriever):
    """A JSON endpoint.

    Without a `body` the request is a GET, with `{query}` and `{depth}` in the URL replaced; with a body (any
    JSON) it is a POST, with them replaced in the body. `hits` is the path of the list in the response
    ("result.hits"), `id` and `score` are paths within its items; without a score the order of the list
    counts. `${NAME}` in a header is read from the environment, and headers are never saved. Connections
    are reused, as a real client would.
    """

    name = "http"
    secret = ("headers",)

    def __init__(
        self,
        url: str = "",
        *,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        hits: str = "hits",
        id: str = "id",  # noqa: A002
        score: str = "score",
        timeout: float = 30.0,
        depth: int = DEPTH,
    ) -> None:
        address = urlsplit(url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise UsageError(f"invalid url='{url}'", hint='for example url = "https://..."')
        if body is None and "{query}" not in url:
            raise UsageError(
                "neither the URL nor the body contains {query}",
                hint='url = "https://.../search?q={query}", or body = {query = "{query}"}',
            )
        self.url, self.body, self.headers = url, body, headers
        self.hits, self.id, self.score = hits, id, score
        self.timeout, self.depth = timeout, depth
        self._resolved_headers = {
            name: _VARIABLE.sub(_from_environment, v) for name, v in (headers or {}).items()
        }
        self._local = threading.local()

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """Query the service."""
        if self.body is None:
            url = self.url.replace("{query}", quote(query, safe="")).replace("{depth}", str(depth))
            answer = self._request("GET", url, None)
        else:
            text = json.dumps(fill_template(self.body, query, depth))
            answer = self._request("POST", self.url.replace("{depth}", str(depth)), text.encode())
        items = _at(answer, self.hits)
        if not isinstance(items, list):
            raise InputError(
                f"the response has no list at '{self.hits}'",
                hint="set hits to the path of the list",
            )
        return check_ranking([self._scored(item, rank) for rank, item in enumerate(items)], depth)

    def _scored(self, item: Any, rank: int) -> ScoredDocument:
        doc = item if isinstance(item, str) else _at(item, self.id)
        score = None if isinstance(item, str) else _at(item, self.score)
        if doc is None:
            raise InputError(f"a result has no '{self.id}': {item!r:.80}")
        return str(doc), -float(rank) if score is None else float(score)

    def _request(self, method: str, url: str, body: bytes | None) -> Any:
        address = urlsplit(url)
        target = address.path + (f"?{address.query}" if address.query else "") or "/"
        headers = {"Accept": "application/json", **self._resolved_headers}
        if body is not None:
            headers["Content-Type"] = "application/json"
        for attempt in (1, 2):
            connection = self._connection()
            try:
                connection.request(method, target, body, headers)
                response = connection.getresponse()
                content = response.read()
                break
            except TimeoutError:
                self._local.connection = None
                raise
            except (HTTPException, OSError):  # the service closed an idle connection
                self._local.connection = None
                if attempt == 2:
                    raise
        if response.status >= 400:
            raise InputError(
                f"the service returned {response.status} {response.reason}: {content[:200]!r}"
            )
        try:
            return json.loads(content)
        except ValueError:
            raise InputError(f"the response is not JSON: {content[:80]!r}") from None

    def _connection(self) -> HTTPConnection:
        connection: HTTPConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            address = urlsplit(self.url)
            kind = HTTPSConnection if address.scheme == "https" else HTTPConnection
            connection = self._local.connection = kind(
                str(address.hostname), address.port, timeout=self.timeout
            )
        return connection


def _from_environment(match: re.Match[str]) -> str:
    if match[1] not in os.environ:
        raise UsageError(f"environment variable '{match[1]}' of a header is not set")
    return os.environ[match[1]]


def fill_template(value: Any, query: str, depth: int) -> Any:
    """A body with query and depth in place; "{depth}" on its own becomes a number."""
    if isinstance(value, dict):
        return {key: fill_template(each, query, depth) for key, each in value.items()}
    if isinstance(value, list):
        return [fill_template(each, query, depth) for each in value]
    if value == "{depth}":
        return depth
    return value.replace("{query}", query) if isinstance(value, str) else value


def _at(value: Any, path: str) -> Any:
    """The value at a path such as "result.hits", or None."""
    for key in filter(None, path.split(".")):
        value = value.get(key) if isinstance(value, dict) else None
    return value
