"""Ranked lists as retrieval frameworks return them: ids, dictionaries or objects, best first.

LangChain's and Haystack's documents, LlamaIndex's nodes, rows of Elasticsearch and dictionaries all
become `{query: [id, ...]}` or, where every result has a score, `{query: [(id, score), ...]}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from operator import index

from goodgain.errors import InputError
from goodgain.io.columns import find_columns, has_column, looks_like_header

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    Ranking = Literal["score", "rank", "order"]

_NESTED = ("document", "node", "doc")  # fields that hold the document of a result
_METADATA = ("metadata", "meta", "_source", "payload")
_ATTRIBUTES = (
    "id", "id_", "node_id", "doc_id", "docid", "score", "rank", "metadata", "meta", "payload",
)  # fmt: skip


def is_id(item: Any) -> bool:
    """Whether a list item is a document id rather than a result with fields."""
    return isinstance(item, str | bytes) or (_is_integer(item) and item is not True)


def _is_integer(item: Any) -> bool:
    """Arrays convert to an integer, too, if they have one element."""
    return hasattr(item, "__index__") and not hasattr(item, "__len__")


def id_text(item: Any) -> str | None:
    """An id as the core reads it; None where it is neither text nor an integer."""
    if isinstance(item, str):
        return str.__str__(item)  # of an Enum, str() is its name
    if _is_integer(item) and not isinstance(item, bool):
        return str(index(item))
    return None


def finite_number(value: Any) -> float | None:
    """A score or gain as the core reads it; None for anything else than a finite number."""
    # numpy makes numbers of what is none: durations, dates, complex numbers.
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if isinstance(value, str | bytes | bytearray) or kind in ("m", "M", "c", "S", "U"):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if isfinite(number) else None


def is_list(docs: Any) -> bool:
    """Whether the documents of a query are listed, rather than mapped to scores."""
    return isinstance(docs, list | tuple)


def rank_lists(
    table: Mapping[Any, Any], columns: Mapping[str, str] | None, name: str
) -> tuple[dict[Any, Any], Ranking]:
    """A run in which lists of results are lists of ids or pairs, and what ranks its documents.

    Anything that is not a list of results stays as it is: the core reads it, or reports it.
    """
    plain = table if isinstance(table, dict) else dict(table)
    first = next((docs[0] for docs in plain.values() if is_list(docs) and docs), None)
    if first is None or _is_pair(first):
        return plain, "score"
    if is_id(first):
        return plain, "order"
    reader = _ResultReader(columns or {}, name)
    lists = {query: reader.read(query, docs) for query, docs in plain.items()}
    return lists, reader.ranking


def rank_list(results: Sequence[Any], name: str) -> tuple[list[Any], Ranking]:
    """One list of results as ids or (id, value) pairs, and what ranks them."""
    reader = _ResultReader({}, name)
    return reader.read(None, list(results)), reader.ranking


def read_results(
    queries: Sequence[Any], lists: Sequence[Any], columns: Mapping[str, str] | None, name: str
) -> tuple[list[tuple[Any, Any]], Ranking]:
    """The (id, value) pairs of all lists of results, and what ranks them; without scores the place does."""
    reader = _ResultReader(columns or {}, name)
    read = [reader.read(query, docs) for query, docs in zip(queries, lists, strict=True)]
    if reader.ranking == "order":
        return [(doc, place) for docs in read for place, doc in enumerate(docs, 1)], "order"
    return [pair for pairs in read for pair in pairs], reader.ranking


def has_fields(item: Any) -> bool:
    """Whether a result is a dictionary, an object with an id, or one of them with its score."""
    return not is_id(item) and not is_list(item) and _fields(item) is not None


def is_query_row(row: Any, columns: Mapping[str, str] | None = None) -> bool:
    """Whether a row holds a query and the list of its results."""
    if not isinstance(row, Mapping):
        return False
    if columns and "results" in columns:
        return columns["results"] in row
    names = [str(name) for name in row]
    if looks_like_header(names, "run"):
        return False
    lists = [str(name) for name, value in row.items() if is_list(value)]
    return has_column(lists, "result lists", "results") and has_column(
        names, "result lists", "query"
    )


def rows_to_lists(
    rows: Sequence[Any], columns: Mapping[str, str] | None, name: str
) -> dict[Any, Any]:
    """{query: results} from rows that each hold a query and the list of its results."""
    chosen = {role: c for role, c in (columns or {}).items() if role in ("query", "results")}
    table: dict[Any, Any] = {}
    for number, row in enumerate(rows, 1):
        where = f"{name} row {number}"
        if not isinstance(row, Mapping):
            raise InputError(f"not a row: {row!r:.80}", where=where)
        roles = find_columns(row, "result lists", where, chosen)
        query, results = row[roles["query"]], row[roles["results"]]
        if not is_list(results):
            raise InputError(
                f"the results of query {query!r} are not a list: {results!r:.80}", where=where
            )
        if query in table:
            raise InputError(f"duplicate query {query!r}", where=where)
        table[query] = results
    return table


def _is_pair(item: Any) -> bool:
    """(document id, number)."""
    return isinstance(item, list | tuple) and len(item) == 2 and is_id(item[0])


class _ResultReader:
    """Reads results query by query; all must name their id, and their score if any, in the same field."""

    def __init__(self, columns: Mapping[str, str], name: str) -> None:
        self._columns = columns
        self._name = name
        self._id_path: str = columns.get("doc", "")
        self._value_name: str | None = columns.get("score") or columns.get("rank")
        self._chosen = self._value_name is not None
        self._started = False
        self.ranking: Ranking = "rank" if "rank" in columns else "score"

    def read(self, query: Any, results: Any) -> list[Any]:
        if not is_list(results):
            raise InputError(
                f"expected the list of results of query {query!r}, got {results!r:.80}",
                where=self._name,
            )
        ids, values = [], []
        for number, item in enumerate(results, 1):
            where = f"{self._name}, result {number}{_of(query)}"
            fields = _fields(item)
            if fields is None:
                raise InputError(
                    f"not a result: {item!r:.80}",
                    where=where,
                    hint="expected an id, a (document, score) pair, or a dictionary or object with an id",
                )
            if not self._started:
                self._start(fields, where)
            ids.append(self._id(fields, where))
            values.append(self._value(fields, where))
        if self.ranking == "order":
            return ids
        if self.ranking == "score" and not self._chosen:
            self._require_order(query, ids, values)
        return list(zip(ids, values, strict=True))

    def _start(self, fields: Mapping[str, Any], where: str) -> None:
        """Choose the fields by the first result."""
        self._started = True
        self._id_path = self._id_path or _id_path(fields, where)
        if self._value_name is None:
            present = [name for name, value in fields.items() if value is not None]
            roles = find_columns(present, "result", where)
            self._value_name = roles.get("value") or roles.get("rank")
            is_score = "value" in roles
            self.ranking = "score" if is_score else "rank" if self._value_name else "order"

    def _id(self, fields: Mapping[str, Any], where: str) -> Any:
        doc = _at(fields, self._id_path)
        if doc is None or not is_id(doc):
            raise InputError(
                f"the result has no id in '{self._id_path}'",
                where=where,
                hint="name the field with columns={'doc': ...}, for example 'metadata.source'",
            )
        return doc

    def _value(self, fields: Mapping[str, Any], where: str) -> Any:
        if self._value_name is None:
            roles = find_columns([n for n, v in fields.items() if v is not None], "result")
            if other := roles.get("value") or roles.get("rank"):
                raise InputError(
                    f"the result has a {other}, but the first one has none",
                    where=where,
                    hint="a run has scores for all of its documents or for none",
                )
            return None
        value = _at(fields, self._value_name)
        if value is None:
            raise InputError(
                f"the result has no {self._value_name}, but the first one has one",
                where=where,
                hint="a run has scores for all of its documents or for none",
            )
        return value

    def _require_order(self, query: Any, ids: list[Any], values: list[Any]) -> None:
        """Scores must agree with the order: an ascending list may hold distances, or stale scores."""
        for (above, one), (below, other) in zip(
            zip(ids, values, strict=True), list(zip(ids, values, strict=True))[1:], strict=False
        ):
            if isinstance(one, int | float) and isinstance(other, int | float) and one < other:
                raise InputError(
                    f"the results{_of(query)} are not in the order of their scores: {above!r} "
                    f"({one:g}) comes before {below!r} ({other:g})",
                    where=self._name,
                    hint="to rank by score, name it with columns={'score': ...}; "
                    "to rank by the order of the list, leave the scores out",
                )


def _of(query: Any) -> str:
    return "" if query is None else f" of query {query!r}"


def _fields(item: Any) -> Mapping[str, Any] | None:
    """The fields of a result; those of the document inside it count as its own."""
    if isinstance(item, tuple) and len(item) == 2:  # (document, score)
        inner = _fields(item[0])
        return None if inner is None else {**inner, "score": item[1]}
    if isinstance(item, Mapping):
        fields = dict(item)
    else:
        fields = {name: getattr(item, name, None) for name in (*_ATTRIBUTES, *_NESTED)}
        fields = {name: value for name, value in fields.items() if value is not None}
    for name in _NESTED:
        held = fields.get(name)
        if held is None or is_id(held) or is_list(held):
            continue
        inner = _fields(held)
        if inner is not None:
            own = {key: value for key, value in fields.items() if key != name and value is not None}
            fields = {**inner, **own}
    return fields or None


def _id_path(fields: Mapping[str, Any], where: str) -> str:
    """Where the id of a result is: a field of its own, or of its metadata."""
    present = {str(name): value for name, value in fields.items() if value is not None}
    roles = find_columns(present, "result", where) if present else {}
    if "doc" in roles:
        return roles["doc"]
    for holder in _METADATA:
        inner = present.get(holder)
        if isinstance(inner, Mapping):
            names = [str(name) for name, value in inner.items() if value is not None]
            roles = find_columns(names, "result metadata", where)
            if "doc" in roles:
                return f"{holder}.{roles['doc']}"
    listed = ", ".join(present) or "none"
    raise InputError(
        "the result has no id",
        where=where,
        hint=f"available fields: {listed}; name one with columns={{'doc': ...}}, such as 'metadata.source'",
    )


def _at(fields: Mapping[str, Any], path: str) -> Any:
    """The value at a path such as "metadata.source"; a name with dots of its own wins."""
    if path in fields:
        return fields[path]
    value: Any = fields
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
        if value is None:
            return None
    return value
