"""The data that an experiment's folder stores, so that its page needs no other files.

All judgments, the texts of the queries, and the beginnings of the retrieved documents.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.io.rows import rows_of
from goodgain.results.text import render
from goodgain.spans.pieces import parse_chunk_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from goodgain.data import Qrels, Run
    from goodgain.experiment.judgments import Judgments

QRELS, QUERIES, DOCUMENTS = "qrels.jsonl", "queries.jsonl", "documents.jsonl"
SPANS = "spans.jsonl"
JUDGED_BY = "judged_by.json"  # whose labels the judgments are, and the passport; null for people's
RANKS = 20  # documents stored per query
CHARACTERS = 300  # stored per document


def snapshot_files(
    qrels: Qrels,
    queries: Mapping[str, str],
    documents: Mapping[str, str],
    runs: Iterable[Run],
    spans: Sequence[Mapping[str, Any]] = (),
) -> dict[str, str]:
    """The content of each file by its name."""
    retrieved = dict.fromkeys(
        doc for run in runs for docs in run.source.value.values() for doc in list(docs)[:RANKS]
    )
    beginnings = [
        [doc, text[:CHARACTERS]]
        for doc in retrieved
        if (text := text_of(doc, documents)) is not None
    ]
    columns = ["query", "doc", "start", "end", "quote", "gain"]
    judged = [[row[column] for column in columns] for row in spans]
    return {
        **({SPANS: render("jsonl", columns, judged)} if spans else {}),
        QRELS: _qrels_text(qrels),
        JUDGED_BY: json.dumps(qrels.source.judge, indent=1) + "\n",
        QUERIES: render("jsonl", ["id", "text"], list(queries.items())),
        DOCUMENTS: render("jsonl", ["id", "text"], beginnings),
    }


def _qrels_text(qrels: Qrels) -> str:
    """All columns of the judgments; only gains where the source is a stream that cannot be read again."""
    try:
        rows = rows_of(qrels.source, "qrels")._asdict()
    except InputError:
        gains = [[q, d, gain] for q, docs in qrels.to_dict().items() for d, gain in docs.items()]
        return render("jsonl", ["query", "doc", "gain"], gains)
    rows["gain"] = rows.pop("value")
    columns = {name: values for name, values in rows.items() if set(values) != {None}}
    return render("jsonl", list(columns), list(zip(*columns.values(), strict=True)))


def text_of(name: str, documents: Mapping[str, str]) -> str | None:
    """The text of a document or of a chunk of one."""
    if name in documents:
        return documents[name]
    piece = parse_chunk_id(name)
    whole = None if piece is None else documents.get(piece.doc)
    return None if whole is None or piece is None else whole[piece.start : piece.end]


def load_judgments(folder: Path, by: str) -> Judgments | None:
    """The judgments, if the folder has them."""
    from goodgain.data import Qrels
    from goodgain.experiment.judgments import Judgments

    path = folder / QRELS
    if not path.exists():
        return None
    spans = folder / SPANS
    rows: list[dict[str, Any]] = []
    if spans.exists():
        lines = spans.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
        rows = [json.loads(line) for line in lines if line]
    judge = folder / JUDGED_BY
    facts = json.loads(judge.read_text(encoding="utf-8")) if judge.exists() else None
    return Judgments(by, Qrels(str(path)).judged_by(facts), tuple(rows))


def load_texts(folder: Path, name: str) -> dict[str, Any]:
    """Text by id from `QUERIES` or `DOCUMENTS`, if the folder has that file."""
    path = folder / name
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    return {row["id"]: row["text"] for row in map(json.loads, filter(None, lines))}
