"""Lists of results, whatever their notation: objects, (document, score) pairs, strings, rows, columns, maps."""

from __future__ import annotations

import json
from typing import Any

from goodgain.traces.results.names import LISTS, WRAPPERS, field_of, normal, role_of
from goodgain.traces.results.objects import read_object, read_text_item

# How much the objects of a list have to look like documents: less in a list that is named like one.
THRESHOLD = 2.0
NAMED_THRESHOLD = 1.5
_IDENTIFYING = ("url", "id", "ids", "title", "content", "snippet")
_ENVELOPES = frozenset((
    "results", "hits", "documents", "docs", "organic", "organic_results", "matches", "items", "search_results",
    "hits_containers", "children", "articles", "papers", "records", "points", "objects", "entries", "value",
    "webpages", "web_pages", "source_nodes", "result", "data", "output", "response", "retrieved_documents",
))  # fmt: skip
Results = tuple[
    list[dict[str, Any]], float
]  # and the mean strength of those that look like documents
NOTHING: Results = ([], 0.0)


def read_list(items: list[Any], named: bool) -> Results:
    """The results in a list, if at least half of its entries look like documents."""
    threshold = NAMED_THRESHOLD if named else THRESHOLD
    results: list[dict[str, Any]] = []
    documents, total, entries = 0, 0.0, 0
    for item in items:
        kind = type(item)
        if kind is str and item[:1] == "{":
            item = _decoded(item)
            kind = type(item)
        if kind is dict:
            result, strength = read_object(item)
            if "url" not in result and _is_envelope(item, result):
                strength = 0.0
        elif kind is str:
            result, strength = read_text_item(item)
            if not named and strength < 3:
                strength = 0.0
        elif kind is list or kind is tuple:
            result, strength = _read_pair(item)
            if not result:
                return NOTHING  # a list of lists
        elif item is None:
            continue
        else:
            entries += 1
            continue
        entries += 1
        if strength >= threshold:
            documents += 1
            total += strength
            results.append(result)
        elif kind is dict and strength > 0 and any(name in result for name in _IDENTIFYING):
            results.append(result)
    if not documents or 2 * documents < entries:
        return NOTHING
    return results, total / documents


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _is_envelope(item: dict[Any, Any], result: dict[str, Any]) -> bool:
    """Whether an object holds results of its own, as those of one of several queries."""
    if "content" in result and "title" in result:
        return False
    for key, value in item.items():
        if (type(value) is list or type(value) is dict) and field_of(str(key))[2] in _ENVELOPES:
            inner = value if type(value) is list else [v for v in value.values() if type(v) is list]
            while type(inner) is list and inner and type(inner[0]) is list:
                inner = inner[0]
            if type(inner) is list and inner and type(inner[0]) is dict:
                return read_object(inner[0])[1] >= NAMED_THRESHOLD
    return False


def _read_pair(item: Any) -> tuple[dict[str, Any], float]:
    """(document, score) or (score, document)."""
    if len(item) != 2:
        return {}, 0.0
    document, score = item
    if isinstance(document, int | float):
        document, score = score, document
    if isinstance(score, bool) or not isinstance(score, int | float):
        return {}, 0.0
    if isinstance(document, dict):
        result, strength = read_object(document)
        strength += 0.5
    elif isinstance(document, str):
        result, strength = read_text_item(document)
    else:
        return {}, 0.0
    if result and abs(score) < 1e300:
        result.setdefault("score", score)
    return result, strength


# --- rows, columns, maps ---


def read_rows(rows: list[Any]) -> Results:
    """Rows as lists of values: with a header, or told apart by what their columns hold."""
    if len(rows) < 1 or any(type(r) not in (list, tuple) for r in rows[:50]):
        return NOTHING
    width = len(rows[0])
    if not 2 <= width <= 100 or any(len(r) != width for r in rows if type(r) in (list, tuple)):
        return NOTHING
    if any(type(v) in (dict, list) for v in rows[0]):
        return NOTHING
    header = rows[0]
    if len(rows) > 1 and is_header(header):
        return table(header, rows[1:])
    return _read_untitled(rows)


def is_header(names: Any) -> bool:
    """Whether these are the names of columns of documents."""
    if not all(isinstance(n, str) and 0 < len(n) <= 40 for n in names):
        return False
    roles = [role_of(n) for n in names]
    known = [r for r in roles if r not in ("foreign", "neutral", "type", "speaker")]
    return len(known) >= 2 and bool({"url", "title", "content", "snippet", "doc"} & set(known))


def table(header: Any, rows: list[Any]) -> Results:
    """The results in rows under a header."""
    names = [str(n) for n in header]
    objects = [
        dict(zip(names, row, strict=False)) for row in rows if type(row) in (list, tuple) and row
    ]
    return read_list(objects, named=True)


def _read_untitled(rows: list[Any]) -> Results:
    """Rows of a database without the names of columns: (id, text, distance)."""
    objects = []
    for row in rows:
        if type(row) not in (list, tuple):
            return NOTHING
        item: dict[str, Any] = {}
        for value in row:
            if isinstance(value, str):
                if "://" in value[:40] and " " not in value:
                    item.setdefault("url", value)
                elif len(value) >= 25 and " " in value:
                    item.setdefault("content", value)
                elif len(value) <= 80:
                    item.setdefault("id" if " " not in value else "title", value)
            elif isinstance(value, int) and not isinstance(value, bool):
                item.setdefault("id", value)
        if "url" not in item and "content" not in item:
            return NOTHING
        objects.append(item)
    return read_list(objects, named=True)


_SINGULAR = {
    "ids": "id", "documents": "document_text", "metadatas": "metadata", "distances": "distance", "scores": "score",
    "titles": "title", "urls": "url", "links": "link", "snippets": "snippet", "texts": "text", "uris": "uri",
    "contents": "content", "passages": "passage", "names": "name", "descriptions": "description", "docs": "text",
    "doc_ids": "doc_id", "docids": "docid", "document_ids": "document_id", "similarities": "similarity",
    "chunks": "chunk", "abstracts": "abstract", "sources": "source", "metadata": "metadata", "pages": "page",
    "summaries": "summary", "bodies": "body", "hrefs": "href",
}  # fmt: skip


def read_columns(value: dict[Any, Any]) -> Results:
    """Parallel lists, one per field, as Chroma and data frames write them."""
    for names, rows in (("columns", "rows"), ("columns", "data"), ("columns", "values"), ("header", "rows"),
                        ("headers", "rows"), ("fields", "rows"), ("schema", "rows"), ("columns", "results")):  # fmt: skip
        header, body = value.get(names), value.get(rows)
        if type(header) is list and type(body) is list and body and type(body[0]) in (list, tuple):
            header = [h.get("name") if isinstance(h, dict) else h for h in header]
            return table(header, body)
    columns: dict[str, list[Any]] = {}
    for key, column in value.items():
        name = _SINGULAR.get(normal(str(key)), str(key))
        if (
            type(column) is dict
            and column
            and role_of(name) != "foreign"
            and normal(name) not in WRAPPERS
        ):
            column = list(column.values())
        if type(column) is list and column:
            columns[name] = _flat(column)
    roles = {role_of(n): n for n in columns}
    if len(columns) < 2 or not {"url", "content", "id", "doc", "title", "snippet"} & set(roles):
        return NOTHING
    known = {
        n: c
        for n, c in columns.items()
        if role_of(n) not in ("foreign", "neutral") or n == "metadata"
    }
    length = max((len(c) for c in known.values()), default=0)
    known = {n: c for n, c in columns.items() if len(c) == length}
    scalars = {n: c for n, c in known.items() if all(type(v) not in (dict, list) for v in c)}
    if sum(role_of(n) not in ("foreign", "neutral") for n in scalars) < 2 and not (
        scalars and {"metadata", "distance"} & set(known)
    ):
        return NOTHING
    objects = [
        {n: c[row] for n, c in known.items() if n in scalars or n == "metadata"}
        for row in range(length)
    ]
    return read_list(objects, named=True)


def _flat(column: list[Any]) -> list[Any]:
    """The lists of several queries as one."""
    if column and all(type(v) is list for v in column):
        return [v for inner in column for v in inner]
    return column


def read_map(value: dict[Any, Any]) -> Results:
    """Documents by key: {"doc1": {...}, "doc2": {...}} or {"doc1": "text", ...}."""
    entries = [(str(k), v) for k, v in value.items()]
    if not entries or any(_is_field(k) for k, _ in entries[:1000]):
        return NOTHING
    if all(type(v) is dict for _, v in entries):
        return _read_keyed_objects(entries)
    if len(entries) > 1 and all(type(v) is str for _, v in entries):
        return _read_keyed_texts(entries)
    return NOTHING


def _is_field(key: str) -> bool:
    role, _, name, _ = field_of(key)
    return role != "foreign" or name in WRAPPERS or name in LISTS


def _read_keyed_objects(entries: list[tuple[str, Any]]) -> Results:
    results, total = [], 0.0
    for key, item in entries:
        result, strength = read_object(item)
        if strength < THRESHOLD or _is_envelope(item, result):
            return NOTHING
        if len(entries) == 1 and not any(c.isdigit() or c in "/._-" for c in key):
            return NOTHING
        result.setdefault("url" if "://" in key[:40] else "id", key)
        results.append(result)
        total += strength
    return results, total / len(results)


def _read_keyed_texts(entries: list[tuple[str, str]]) -> Results:
    coded = sum(
        any(c.isdigit() for c in k) or "://" in k or "/" in k or "." in k for k, _ in entries
    )
    long = sum(len(v) >= 40 and " " in v for _, v in entries)
    passages = sum(len(v) >= 15 and " " in v for _, v in entries)
    if not (2 * coded > len(entries) and passages == len(entries)) and not (
        long == len(entries) and coded == len(entries)
    ):
        return NOTHING
    results = [
        {"url" if "://" in key[:40] else "id": key, "content": text} for key, text in entries
    ]
    return results, 3.0
