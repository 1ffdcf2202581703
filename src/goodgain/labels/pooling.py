"""Pools: the top documents of several runs, as pairs to judge."""

from __future__ import annotations

import heapq
import os
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError
from goodgain.io.columns import BACKGROUND, find_columns
from goodgain.io.files import read_head
from goodgain.io.naming import display_name
from goodgain.io.tables import load_table
from goodgain.io.texts import read_texts
from goodgain.labels.pairs import (
    Pair,
    has_json_lines,
    read_objects,
    row_fields,
    table_rows,
    text_of,
)
from goodgain.labels.result import gains_of

if TYPE_CHECKING:
    from goodgain.data.run import Run


def pool(
    runs: Any,
    depth: int = 10,
    *,
    queries: Any = None,
    documents: Any = None,
    qrels: Any = None,
    columns: Mapping[str, str] | None = None,
) -> list[Pair]:
    """The documents in the top `depth` of any run, as pairs to judge.

    `runs` takes every form that `evaluate` takes, and ranks are the same: by descending score, then by
    descending document id. Documents that `qrels` judges are left out. `queries` and `documents` hold
    the texts behind the ids: a file, {id: text}, rows or a data frame. Without them the pairs have ids
    only; `label` needs the texts too.

    >>> import goodgain as gg
    >>> runs = {"bm25": {"q1": ["a", "b", "c"]}, "dense": {"q1": ["b", "d"]}}
    >>> [pair.doc for pair in gg.pool(runs, depth=2, qrels={"q1": {"a": 1}})]
    ['b', 'd']
    """
    from goodgain.ranking.evaluator import several_runs

    if depth < 1:
        raise UsageError(f"depth must be a positive integer, got {depth}")
    judged = {} if qrels is None else gains_of(qrels)
    pooled: dict[
        str, dict[str, None]
    ] = {}  # a set of documents per query, in the order of the runs
    for run in several_runs(runs, columns):
        for query, docs in top_documents(run, depth).items():
            skip = judged.get(query, {})
            pooled.setdefault(query, {}).update((doc, None) for doc in docs if doc not in skip)
    questions = texts_by_id(queries, {query for query, docs in pooled.items() if docs}, "query")
    texts = texts_by_id(documents, {doc for docs in pooled.values() for doc in docs}, "document")
    if queries is not None:
        _require_texts([query for query, docs in pooled.items() if docs], questions)
    background = _background(queries, pooled.keys())
    return [
        Pair(
            query=query,
            doc=doc,
            question=questions.get(query, ""),
            text=texts.get(doc, ""),
            **background.get(query, {}),
        )
        for query, docs in pooled.items()
        for doc in docs
    ]


def _background(queries: Any, ids: Collection[str]) -> dict[str, dict[str, str]]:
    """Narrative and gold answer of the queries that have them."""
    if queries is None or not ids:
        return {}
    if isinstance(queries, str | os.PathLike) and _is_streamed(os.fspath(queries)):
        rows = read_objects(os.fspath(queries), tabs=True)
        fields = (row_fields(row, "texts", where) for where, row in rows)
        return {f["id"]: {n: f[n] for n in BACKGROUND if n in f} for f in fields if f["id"] in ids}
    columns = read_texts(queries, "query").columns
    background: dict[str, dict[str, str]] = {}
    for field, role in BACKGROUND.items():
        name = next((n for group in role.names for n in group if n in columns), None)
        for query, text in columns[name].items() if name else ():
            if text and query in ids:
                background.setdefault(query, {})[field] = text
    return background


def top_documents(run: Run, depth: int | None) -> dict[str, list[str]]:
    """The first documents of every query, or all of them, in the order in which `evaluate` ranks them."""
    return {
        query: [
            doc
            for doc, _ in heapq.nlargest(
                len(docs) if depth is None else depth,
                docs.items(),
                key=lambda item: (item[1], item[0].encode()),
            )
        ]
        for query, docs in run.to_dict().items()
    }


def _require_texts(queries: list[str], questions: Mapping[str, str]) -> None:
    missing = [query for query in queries if not questions.get(query)]
    if missing:
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise InputError(
            f"no text for query '{missing[0]}'{more}",
            hint="queries= (--queries) must have the id and the text of every pooled query",
        )


def texts_by_id(source: Any, ids: set[str], kind: str) -> dict[str, str]:
    """The texts of these queries or documents; JSON lines and id<TAB>text are streamed."""
    if source is None or not ids:
        return {}
    if isinstance(source, str | os.PathLike) and _is_streamed(os.fspath(source)):
        return _stream_texts(os.fspath(source), ids)
    by_id = isinstance(source, Mapping) and not any(isinstance(v, list) for v in source.values())
    if by_id:  # rather than a table by column
        source = {str(key): text for key, text in source.items() if str(key) in ids}
    if by_id and not source:
        return {}
    texts = read_texts(source, kind).texts
    return {key: texts[key] for key in ids if key in texts}


def rows_by_id(source: str | None, ids: set[str]) -> dict[str, dict[str, Any]]:
    """Whole rows of a file of queries or documents, by id."""
    if source is None or not ids:
        return {}
    rows = (
        read_objects(source, tabs=True) if _is_streamed(source) else table_rows(load_table(source))
    )
    by_id: dict[str, dict[str, Any]] = {}
    for where, row in rows:
        key = row_fields(row, "texts", where).get("id")
        if key in ids and by_id.setdefault(key, row) != row:
            raise InputError(f"id '{key}' has two texts", where=where, hint="remove one of them")
    if not by_id:
        raise _none_of(ids, source)
    return by_id


def _none_of(ids: set[str], path: str) -> InputError:
    return InputError(
        f"none of the {len(ids):,} ids is in the file, for example '{min(ids)}'",
        where=display_name(path),
        hint="expected a table of id and text, with the ids of the runs",
    )


def _stream_texts(path: str, ids: set[str]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for where, row in read_objects(path, tabs=True):
        fields = row_fields(row, "texts", where)
        key = fields["id"]
        if key in ids:
            text = text_of(fields) or fields.get("question", "")
            if texts.setdefault(key, text) != text:
                raise InputError(
                    f"id '{key}' has two different texts",
                    where=where,
                    hint="an id must have only one text",
                )
    if not texts:
        raise _none_of(ids, path)
    return texts


def _is_streamed(path: str) -> bool:
    """Whether a file has JSON lines, or an id and a text separated by a tab without a header."""
    if path == "-" or has_json_lines(path):
        return True
    first = read_head(path).split("\n", 1)[0]
    return "\t" in first and not _is_header(first.split("\t"))


def _is_header(names: list[str]) -> bool:
    try:
        return bool({"text", "question"} & find_columns(names, "texts").keys())
    except InputError:  # no id
        return False
