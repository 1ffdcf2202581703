"""Any search service with a JSON endpoint."""

from __future__ import annotations

import json
import os
import re
import threading
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from goodgain.errors import InputError, UsageError
from goodgain.experiment.retrievers.base import DEPTH, Hit, Retriever, checked

if TYPE_CHECKING:
    from collections.abc import Mapping

_VARIABLE = re.compile(r"\$\{(\w+)\}")


class Http(Retriever):
    """A JSON endpoint.

    Without a `body` the URL is asked with GET, and `{query}` and `{depth}` in it are filled in; with a
    body (any JSON) they are filled in there and the URL is asked with POST. `hits` is the path of the
    list in the answer ("result.hits"), `id` and `score` those in each of its items; without a score, the
    order counts. `${NAME}` in a header is read from the environment, and headers are never saved.
    Connections are kept open, so that a call costs what a client of yours would pay.
    """

    name = "http"
    secret = ("headers",)

    def __init__(
        self,
        url: str = "",
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        hits: str = "hits",
        id: str = "id",  # noqa: A002
        score: str = "score",
        timeout: float = 30.0,
        depth: int = DEPTH,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"'{url}' is not the URL of a service", hint='url = "https://..."')
        if body is None and "{query}" not in url:
            raise UsageError(
                "neither the URL nor a body has a place for the query",
                hint='url = "https://.../search?q={query}", or body = {query = "{query}"}',
            )
        self.url, self.body, self.headers = url, body, headers
        self.hits, self.id, self.score = hits, id, score
        self.timeout, self.depth = timeout, depth
        self._sent = {
            name: _VARIABLE.sub(_from_environment, v) for name, v in (headers or {}).items()
        }
        self._local = threading.local()

    def search(self, query: str, depth: int) -> list[Hit]:
        """Ask the service."""
        if self.body is None:
            url = self.url.replace("{query}", quote(query, safe="")).replace("{depth}", str(depth))
            answer = self._ask("GET", url, None)
        else:
            text = json.dumps(filled(self.body, query, depth))
            answer = self._ask("POST", self.url.replace("{depth}", str(depth)), text.encode())
        items = _at(answer, self.hits)
        if not isinstance(items, list):
            raise InputError(
                f"the answer has no list at '{self.hits}'", hint="hits = the path of the list"
            )
        return checked([self._hit(item, rank) for rank, item in enumerate(items)], depth)

    def _hit(self, item: Any, rank: int) -> tuple[str, float]:
        doc = item if isinstance(item, str) else _at(item, self.id)
        score = None if isinstance(item, str) else _at(item, self.score)
        if doc is None:
            raise InputError(f"a hit has no '{self.id}': {item!r:.80}")
        return str(doc), -float(rank) if score is None else float(score)

    def _ask(self, method: str, url: str, body: bytes | None) -> Any:
        parts = urlsplit(url)
        place = parts.path + (f"?{parts.query}" if parts.query else "") or "/"
        headers = {"Accept": "application/json", **self._sent}
        if body is not None:
            headers["Content-Type"] = "application/json"
        for attempt in (1, 2):
            connection = self._connection()
            try:
                connection.request(method, place, body, headers)
                response = connection.getresponse()
                content = response.read()
                break
            except TimeoutError:
                self._local.connection = None
                raise
            except (HTTPException, OSError):  # the service closed a connection that was kept open
                self._local.connection = None
                if attempt == 2:
                    raise
        if response.status >= 400:
            raise InputError(
                f"the service answered {response.status} {response.reason}: {content[:200]!r}"
            )
        try:
            return json.loads(content)
        except ValueError:
            raise InputError(f"the answer is not JSON: {content[:80]!r}") from None

    def _connection(self) -> HTTPConnection:
        kept: HTTPConnection | None = getattr(self._local, "connection", None)
        if kept is None:
            parts = urlsplit(self.url)
            kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
            kept = self._local.connection = kind(
                str(parts.hostname), parts.port, timeout=self.timeout
            )
        return kept


def _from_environment(found: re.Match[str]) -> str:
    if found[1] not in os.environ:
        raise UsageError(f"the environment has no variable '{found[1]}' for a header")
    return os.environ[found[1]]


def filled(value: Any, query: str, depth: int) -> Any:
    """The body with query and depth; "{depth}" alone becomes a number."""
    if isinstance(value, dict):
        return {key: filled(each, query, depth) for key, each in value.items()}
    if isinstance(value, list):
        return [filled(each, query, depth) for each in value]
    if value == "{depth}":
        return depth
    return value.replace("{query}", query) if isinstance(value, str) else value


def _at(value: Any, path: str) -> Any:
    """What stands at a path such as "result.hits"; None where there is nothing."""
    for part in filter(None, path.split(".")):
        value = value.get(part) if isinstance(value, dict) else None
    return value
