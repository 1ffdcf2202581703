"""What is to be labelled: pairs of question and document, from rows, files, pools of runs."""

from __future__ import annotations

import heapq
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from goodgain.data.run import Run
from goodgain.errors import InputError
from goodgain.io.columns import find_columns
from goodgain.io.compression import open_decompressed
from goodgain.io.files import file_not_found


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and a document, by their ids and in words."""

    query: str
    doc: str
    question: str
    text: str


def pairs_of(source: Any) -> Iterator[Pair]:
    """Pairs from a JSONL file, or from rows: pairs, objects, or tuples.

    Tuples are (question, text) or (query, doc, question, text).
    """
    if isinstance(source, str | os.PathLike):
        for where, row in read_objects(os.fspath(source)):
            yield _pair(row, where)
        return
    if not isinstance(source, Iterable):
        raise InputError(f"pairs cannot be read from {source!r:.80}")
    for i, row in enumerate(source, 1):
        yield row if isinstance(row, Pair) else _pair(row, f"row {i}")


def is_pairs(path: str) -> bool:
    """Whether a file holds pairs rather than traces, by its first line."""
    if path == "-":
        return True
    try:
        _, first = next(read_objects(path), ("", {"question": ""}))
    except InputError:
        return False
    columns = find_columns(first, "pairs", path)
    return ("question" in columns or "text" in columns) and "turns" not in first


def _pair(row: Any, where: str) -> Pair:
    from goodgain.labels.store import digest

    if isinstance(row, tuple | list) and len(row) in (2, 4):
        query, doc, question, text = row if len(row) == 4 else (row[0], digest(row[1])[:12], *row)
        return Pair(str(query), str(doc), str(question), "" if text is None else str(text))
    if isinstance(row, Mapping):
        fields = _fields(row, "pairs", where)
        if "question" in fields:
            text = _text(fields)
            return Pair(
                fields.get("query", fields["question"]),
                fields["doc"] if "doc" in fields else digest(text)[:12],
                fields["question"],
                text,
            )
    raise InputError(
        f"{row!r:.60} is not a pair of question and document",
        where=where,
        hint='(question, text), or {"query_id": ..., "doc_id": ..., "question": ..., "text": ...}',
    )


def pool(
    runs: Iterable[Any],
    k: int,
    questions: str | os.PathLike[str] | Mapping[str, str],
    documents: str | os.PathLike[str] | Mapping[str, str],
    judged: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[Pair]:
    """The pairs in the top k of any run that are not judged yet.

    Ranks are those of `evaluate`: score descending, then document id descending.
    """
    if k < 1:
        raise InputError(f"a pool of depth {k} is empty", hint="--pool takes a number from 1 on")
    wanted: dict[str, dict[str, None]] = {}
    for run in runs:
        for query, docs in Run.of(run).to_dict().items():
            top = heapq.nlargest(k, docs.items(), key=lambda item: (item[1], item[0].encode()))
            known = (judged or {}).get(query, {})
            wanted.setdefault(query, {}).update((doc, None) for doc, _ in top if doc not in known)
    of_query = texts(questions, set(wanted))
    of_doc = texts(documents, {doc for docs in wanted.values() for doc in docs})
    missing = [query for query in wanted if wanted[query] and not of_query.get(query)]
    if missing:
        raise InputError(
            f"there is no text for query '{missing[0]}'"
            + (f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""),
            hint="--queries FILE with id and text",
        )
    return [
        Pair(query, doc, of_query[query], of_doc.get(doc, ""))
        for query, docs in wanted.items()
        for doc in docs
    ]


def texts(source: str | os.PathLike[str] | Mapping[str, str], wanted: set[str]) -> dict[str, str]:
    """{id: text} of the wanted ids: from JSONL (`_id` or `id`, `title`, `text`) or TSV (id, text)."""
    if isinstance(source, Mapping):
        return {key: str(source[key]) for key in wanted if key in source}
    path = os.fspath(source)
    found: dict[str, str] = {}
    for where, row in read_objects(path, tabs=True):
        fields = _fields(row, "texts", where)
        if fields["id"] in wanted:
            found[fields["id"]] = _text(fields) or fields.get("question", "")
    return found


def read_objects(path: str, tabs: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """The lines of a file as objects, each with where it stands."""
    import sys

    try:
        with sys.stdin.buffer if path == "-" else open_decompressed(path) as file:
            for number, line in enumerate(file, 1):
                where = f"{path}:{number}"
                if not line.strip():
                    continue
                if tabs and not line.lstrip().startswith(b"{"):
                    key, tab, text = line.decode("utf-8", "replace").rstrip("\r\n").partition("\t")
                    if not tab:
                        raise InputError("the line is neither JSON nor id, tab, text", where=where)
                    yield where, {"id": key, "text": text}
                    continue
                try:
                    row = json.loads(line)
                except ValueError:
                    row = None
                if not isinstance(row, dict):
                    raise InputError("the line is not a JSON object", where=where)
                yield where, row
    except FileNotFoundError:
        raise file_not_found(path) from None


def _fields(row: Mapping[str, Any], table: str, where: str) -> dict[str, str]:
    """The values of a row by role."""
    columns = find_columns([k for k, v in row.items() if v not in (None, "")], table, where)
    return {role: str(row[column]) for role, column in columns.items()}


def _text(fields: Mapping[str, str]) -> str:
    """Title and text; either may be absent."""
    return "\n".join(filter(None, (fields.get("title"), fields.get("text"))))
