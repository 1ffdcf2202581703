"""Documents and queries: an id and a text, from a file, a dictionary, rows or a data frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from goodgain.errors import InputError
from goodgain.io.tables import Table, load_table

_IDS = {
    "document": ("doc", "doc_id", "docno", "docid", "corpus-id", "corpus_id", "document_id", "_id", "id"),
    "query": ("query_id", "qid", "query-id", "q_id", "queryid", "topic", "topic_id", "_id", "id",
              "question_id"),
}  # fmt: skip
_TEXTS = {
    "document": ("text", "content", "contents", "body", "passage", "abstract", "document"),
    "query": ("text", "question", "title", "query"),
}


class Texts(NamedTuple):
    """Texts by id, and the other columns of their table by id."""

    texts: dict[str, str]
    columns: dict[str, dict[str, str]]


def read_texts(source: Any, what: str) -> Texts:
    """Read the corpus (`what` is "document") or the queries ("query").

    A dictionary is {id: text}, or {id: {"text": ..., "title": ...}}; a table has columns for the id and
    the text. A document's title stands before its text.
    """
    if isinstance(source, Mapping) and not all(
        isinstance(v, list | tuple) for v in source.values()
    ):
        source = [
            {"id": k, **(v if isinstance(v, Mapping) else {"text": v})} for k, v in source.items()
        ]
    elif isinstance(source, list | tuple) and source and isinstance(source[0], list | tuple):
        source = [{"id": row[0], "text": row[1]} for row in source]
    if isinstance(source, list | tuple | Mapping) and not source:
        raise _empty(what, "")
    table = load_table(source)
    name = table.name if table.name != "scores" else f"the {_plural(what)}"
    table = Table(table.columns, name, table.lines)
    if not table.columns or not len(next(iter(table.columns.values()))):
        raise _empty(what, name)
    return _texts(table, what)


def _texts(table: Table, what: str) -> Texts:
    text_column = _column(table, _TEXTS[what], f"text of a {what}")
    usual = _IDS[what] if text_column == "query" or what == "document" else (*_IDS[what], "query")
    id_column = _column(table, usual, f"id of a {what}")
    titles = table.columns.get("title") if what == "document" else None
    texts: dict[str, str] = {}
    ids = []
    for row, (key, text) in enumerate(
        zip(table.columns[id_column], table.columns[text_column], strict=True)
    ):
        if key is None or str(key) == "":
            raise InputError(f"a {what} has no id", where=table.where(row))
        if str(key) in texts:
            raise InputError(f"the {what} '{key}' is there twice", where=table.where(row),
                             hint="ids must differ")  # fmt: skip
        title = str(titles[row] or "") if titles else ""
        body = "" if text is None else str(text)
        if what == "query" and not body.strip():
            raise InputError(f"the query '{key}' has no text", where=table.where(row))
        texts[str(key)] = f"{title}\n{body}" if title else body
        ids.append(str(key))
    others = {
        name: {key: "" if v is None else str(v) for key, v in zip(ids, values, strict=True)}
        for name, values in table.columns.items()
        if name not in (id_column, text_column)
    }
    return Texts(texts, others)


def _column(table: Table, usual: tuple[str, ...], role: str) -> str:
    folded = {name.strip().casefold(): name for name in reversed(list(table.columns))}
    for name in usual:
        if name in folded:
            return folded[name]
    raise InputError(
        f"there is no column for the {role}",
        where=table.name,
        hint=f"it may be called {', '.join(usual)}; the columns are: {', '.join(table.columns)}",
    )


def _plural(what: str) -> str:
    return "queries" if what == "query" else f"{what}s"


def _empty(what: str, where: str) -> InputError:
    return InputError(
        "the corpus is empty" if what == "document" else "there are no queries", where=where
    )
