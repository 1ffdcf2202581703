"""What a folder keeps of an experiment's data, so that its page can be made when the data are elsewhere.

The judgements whole, the texts of the queries, and the beginnings of the documents that were found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.io.rows import rows_of
from goodgain.results.text import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from goodgain.data import Qrels, Run

QRELS, QUERIES, DOCUMENTS = "qrels.jsonl", "queries.jsonl", "documents.jsonl"
RANKS = 20  # of each query, whose documents are kept
CHARACTERS = 300  # of each document


def kept_texts(
    qrels: Qrels, queries: Mapping[str, str], documents: Mapping[str, str], runs: Iterable[Run]
) -> dict[str, str]:
    """File name to content."""
    found = dict.fromkeys(
        doc for run in runs for docs in run.source.value.values() for doc in list(docs)[:RANKS]
    )
    beginnings = [[doc, documents[doc][:CHARACTERS]] for doc in found if doc in documents]
    return {
        QRELS: _judged(qrels),
        QUERIES: render("jsonl", ["id", "text"], list(queries.items())),
        DOCUMENTS: render("jsonl", ["id", "text"], beginnings),
    }


def _judged(qrels: Qrels) -> str:
    """All columns of the judgements; gains alone where they came by a stream that is spent."""
    try:
        rows = rows_of(qrels.source, "qrels")._asdict()
    except InputError:
        plain = [[q, d, gain] for q, docs in qrels.to_dict().items() for d, gain in docs.items()]
        return render("jsonl", ["query", "doc", "gain"], plain)
    rows["gain"] = rows.pop("value")
    columns = {name: values for name, values in rows.items() if set(values) != {None}}
    return render("jsonl", list(columns), list(zip(*columns.values(), strict=True)))


def kept_qrels(folder: Path) -> Qrels | None:
    """The judgements, where the folder has them."""
    from goodgain.data import Qrels

    path = folder / QRELS
    return Qrels(str(path)) if path.exists() else None


def kept_of(folder: Path, name: str) -> dict[str, Any]:
    """Id to text of `QUERIES` or `DOCUMENTS`, where the folder has them."""
    import json

    path = folder / name
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    return {row["id"]: row["text"] for row in map(json.loads, filter(None, lines))}
