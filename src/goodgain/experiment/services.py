"""Calls of a JSON service over HTTP: templates, variables of the environment, and reused connections."""

from __future__ import annotations

import json
import os
import re
import threading
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from goodgain.errors import InputError, UsageError
from goodgain.experiment.queries import filters_of, metadata_of
from goodgain.redaction import hide_secrets, is_secret, remember_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_VARIABLE = re.compile(r"\$\{(\w+)\}")
_FIELD = re.compile(r"\{(?P<holder>filters|metadata)(?:\.(?P<name>[\w-]+))?\}")
_PLACE = re.compile(r"\{query\}|\{depth\}|" + _FIELD.pattern)
_PUBLIC_HEADERS = ("accept", "content-type", "user-agent")
_ABSENT = object()  # a filter that the query does not have


class ServiceError(InputError):
    """A status of 400 or above; `again` says after how many seconds the service would take the call."""

    def __init__(self, status: int, reason: str, content: bytes, after: float | None) -> None:
        super().__init__(f"the service returned {status} {reason}: {_start_of(content, 200)}")
        self.status = status
        self.after = after

    @property
    def may_pass(self) -> bool:
        """Whether the same call may succeed later."""
        return self.status in (408, 425, 429, 500, 502, 503, 504)


class JsonService:
    """A JSON endpoint.

    Without a `body` the request is a GET, with `{query}` and `{depth}` in the URL replaced; with a body
    (any JSON) it is a POST, with them replaced in the body. So are `{filters}`, `{filters.NAME}` and
    `{metadata.NAME}`, by those of the query. `${NAME}` in the URL, the body and the headers is
    read from the environment. Connections are reused, as a real client would, one per thread.
    """

    def __init__(
        self,
        url: str,
        *,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        method: str | None = None,
        timeout: float = 30.0,
    ) -> None:
        self._url = from_environment(url)
        self._body = from_environment(body)
        self._headers = headers_from_environment(headers)
        self._method = method or ("GET" if body is None else "POST")
        self._timeout = timeout
        self._local = threading.local()
        self._connections: list[HTTPConnection] = []
        address = urlsplit(self._url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise UsageError(f"invalid url='{url}'", hint='for example url = "https://..."')
        if "{query}" not in self._url and "{query}" not in json.dumps(self._body):
            raise UsageError(
                "neither the URL nor the body contains {query}",
                hint='url = "https://.../search?q={query}", or body = {query = "{query}"}',
            )

    def call(self, query: str, depth: int) -> Any:
        """The response to a query, parsed."""
        url = _in_place(self._url, query, depth, lambda value: quote(str(value), safe=""))
        body = None
        if self._body is not None:
            body = json.dumps(fill_template(self._body, query, depth)).encode()
        content = self._request(url, body)
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise InputError(f"the response is not JSON: {_start_of(content, 80)}") from None

    def close(self) -> None:
        """Close the connections of all threads."""
        for connection in self._connections:
            connection.close()

    def _request(self, url: str, body: bytes | None) -> bytes:
        address = urlsplit(url)
        target = address.path + (f"?{address.query}" if address.query else "") or "/"
        headers = {"Accept": "application/json", **self._headers}
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
        for attempt in (1, 2):
            connection = self._connection(address.scheme, str(address.hostname), address.port)
            try:
                connection.request(self._method, target, body, headers)
                response = connection.getresponse()
                content = response.read()
                break
            except TimeoutError:
                self._drop(connection)
                raise
            except (HTTPException, OSError):  # the service closed an idle connection
                self._drop(connection)
                if attempt == 2:
                    raise
        if response.status >= 400:
            after = response.headers.get("Retry-After", "")
            seconds = float(after) if after.isdigit() else None
            raise ServiceError(response.status, response.reason, content, seconds)
        return content

    def _drop(self, connection: HTTPConnection) -> None:
        """Close a connection that failed; the next call opens another."""
        connection.close()
        self._connections.remove(connection)
        self._local.connection = None

    def _connection(self, scheme: str, host: str, port: int | None) -> HTTPConnection:
        connection: HTTPConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            kind = HTTPSConnection if scheme == "https" else HTTPConnection
            connection = self._local.connection = kind(host, port, timeout=self._timeout)
            self._connections.append(connection)
        return connection


def from_environment(value: Any, name: str = "") -> Any:
    """`${NAME}` in texts, at any depth, replaced from the environment; an unset variable is an error.

    Whatever is secret by its name or by that of its variable is hidden in errors from then on.
    """

    def variable(match: re.Match[str]) -> str:
        if match[1] not in os.environ:
            raise UsageError(f"environment variable '{match[1]}' is not set")
        if is_secret(match[1], os.environ[match[1]]):
            remember_secret(os.environ[match[1]])
        return os.environ[match[1]]

    if isinstance(value, dict):
        return {key: from_environment(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [from_environment(each, name) for each in value]
    if not isinstance(value, str):
        return value
    text = _VARIABLE.sub(variable, value)
    if is_secret(name, text):
        remember_secret(text)
    return text


def headers_from_environment(headers: Mapping[str, str] | None) -> dict[str, str]:
    """Headers with variables in place; any of them may hold a key, whatever its name."""
    filled: dict[str, str] = from_environment(dict(headers or {}))
    for name, value in filled.items():
        if name.lower() not in _PUBLIC_HEADERS:
            remember_secret(value)
    return filled


def _start_of(content: bytes, size: int) -> str:
    """The start of a response, quoted, without the secrets that it may repeat."""
    return repr(hide_secrets(content[:10_000].decode("utf-8", "replace"))[:size])


def fill_template(value: Any, query: str, depth: int) -> Any:
    """A template with query and depth in place; "{depth}" and filters on their own keep their type."""
    if isinstance(value, dict):
        filled = {key: fill_template(each, query, depth) for key, each in value.items()}
        return {key: each for key, each in filled.items() if each is not _ABSENT}
    if isinstance(value, list):
        filled_items = [fill_template(each, query, depth) for each in value]
        return [each for each in filled_items if each is not _ABSENT]
    if not isinstance(value, str):
        return value
    if value == "{depth}":
        return depth
    if match := _FIELD.fullmatch(value):
        return _field(match, query)
    return _in_place(value, query, depth, str)


def _in_place(text: str, query: str, depth: int, write: Callable[[Any], str]) -> str:
    """A text with query, depth and the query's own fields in place."""

    def value(match: re.Match[str]) -> str:
        if match[0] == "{query}":
            return write(str(query))
        if match[0] == "{depth}":
            return str(depth)
        own = _field(_FIELD.fullmatch(match[0]), query)
        if own is _ABSENT:
            return ""
        return write(own if isinstance(own, str | int | float) else json.dumps(own))

    return _PLACE.sub(value, text)


def _field(match: re.Match[str] | None, query: str) -> Any:
    """One of the query's filters or columns, or all filters; a filter that it lacks is left out."""
    assert match is not None
    fields = filters_of(query) if match["holder"] == "filters" else metadata_of(query)
    return fields.get(match["name"], _ABSENT) if match["name"] else fields


def value_at(value: Any, path: str) -> Any:
    """The value at a path such as "result.hits" or "groups.0.docs", or None."""
    for key in filter(None, path.split(".")):
        if isinstance(value, list) and key.isdigit():
            value = value[int(key)] if int(key) < len(value) else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value
