"""Queries with filters and metadata, and how a retriever receives them.

A query is its text. What else its row of the queries has goes with the text, so that it reaches the
retrievers inside a hybrid, too.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError

if TYPE_CHECKING:
    from goodgain.experiment.retrievers.base import SearchFunction

FILTERS, METADATA = "filters", "metadata"


class QueryText(str):
    """The text of a query, with its filters ({field: value or values}) and the rest of its columns."""

    __slots__ = (FILTERS, METADATA)
    filters: dict[str, Any]
    metadata: dict[str, Any]

    def __new__(
        cls,
        text: str,
        filters: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> QueryText:
        """A text with its fields."""
        query = super().__new__(cls, text)
        query.filters, query.metadata = dict(filters or {}), dict(metadata or {})
        return query


def filters_of(query: str) -> dict[str, Any]:
    """The filters of a query; a plain text has none."""
    return query.filters if isinstance(query, QueryText) else {}


def metadata_of(query: str) -> dict[str, Any]:
    """The other columns of a query; a plain text has none."""
    return query.metadata if isinstance(query, QueryText) else {}


def with_fields(
    texts: Mapping[str, str],
    columns: Mapping[str, Mapping[str, Any]],
    filters: str | Sequence[str] | None = None,
) -> dict[str, str]:
    """The queries with their filters and metadata.

    `filters` names the columns that filter the documents. Without it a column `filters` may hold them all,
    as an object or as its JSON.
    """
    names = [filters] if isinstance(filters, str) else list(filters or ())
    for name in names:
        if name not in columns:
            raise UsageError(
                f"column '{name}' of filters not found in the queries",
                hint=f"available: {', '.join(columns) or 'none'}",
            )
    if not columns:
        return dict(texts)
    whole = columns.get(FILTERS, {}) if filters is None else {}
    queries: dict[str, str] = {}
    for key, text in texts.items():
        own = _object(whole.get(key), key) if filters is None else {}
        own |= {n: columns[n][key] for n in names if columns[n].get(key) not in (None, "")}
        others = {n: v.get(key) for n, v in columns.items() if n not in (*names, FILTERS)}
        queries[key] = QueryText(text, own, {n: v for n, v in others.items() if v is not None})
    return queries


def _object(value: Any, query: str) -> dict[str, Any]:
    """The filters of one query: an object, its JSON, or nothing."""
    if value is None or value == "":
        return {}
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = None
    if not isinstance(value, Mapping):
        raise InputError(
            f"the filters of query '{query}' are not an object",
            hint='for example {"language": "en", "year": [2024, 2025]}',
        )
    return dict(value)


def field_names(search: Any) -> tuple[str, ...]:
    """Which of `filters` and `metadata` a function or object takes as parameters of these names."""
    try:
        parameters = inspect.signature(search).parameters
    except (TypeError, ValueError):
        return ()
    return tuple(name for name in (FILTERS, METADATA) if name in parameters)


def with_arguments(search: SearchFunction) -> SearchFunction:
    """A function of the query alone; filters and metadata are passed where it has such parameters."""
    from goodgain.experiment.retrievers.base import Retriever

    names = () if isinstance(search, Retriever) else field_names(search)
    if not names:
        return search
    readers = {FILTERS: filters_of, METADATA: metadata_of}

    def call(query: str) -> Any:
        return search(query, **{name: readers[name](query) for name in names})

    return call


def takes_filters(search: Any) -> bool:
    """Whether filters reach the documents that a retriever searches."""
    from goodgain.experiment.retrievers.base import Retriever

    if not isinstance(search, Retriever):
        return FILTERS in field_names(search)
    components = search.components()
    if components and not search.takes_filters:
        return all(map(takes_filters, components))
    return search.takes_filters


def reads_fields(search: Any) -> bool:
    """Whether answers may depend on the filters or the metadata of a query."""
    from goodgain.experiment.retrievers.base import Retriever

    if not isinstance(search, Retriever):
        return bool(field_names(search))
    return search.takes_filters or any(map(reads_fields, search.components()))


def accepted_values(value: Any) -> list[Any]:
    """The values that a filter allows: one, or those of a list."""
    return list(value) if isinstance(value, list | tuple | set | frozenset) else [value]
