"""Export labels from a store, and summarise what it holds."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, MissingExtraError
from goodgain.labels.exports import WRITERS
from goodgain.labels.people import Vote, annotators_of, read_votes
from goodgain.labels.result import Labels, PeopleLabels, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.labels.scale import Gains
    from goodgain.labels.store import Store

EXPORTS = ("qrels", "csv", "jsonl", *WRITERS)

_REPLIES = (
    "SELECT s.prompt, s.model, s.parameters, s.low, s.high, a.query, a.doc, q.text, r.key, a.replicate, "
    "r.status, r.gain, r.detail, r.raw, r.tokens_in, r.tokens_out, r.cost, r.seconds, r.cut, r.created, "
    "a.document "
    "FROM replies r JOIN asked a ON a.key = r.key JOIN settings s ON s.id = a.setting "
    "JOIN questions q ON q.id = a.question WHERE s.id = ? ORDER BY r.id, a.id"
)
_FIELDS = (
    "prompt", "model", "parameters", "low", "high", "query", "doc", "question", "key", "replicate",
    "status", "gain", "detail", "raw", "tokens_in", "tokens_out", "cost", "seconds", "cut", "created",
    "document",
)  # fmt: skip
_REAL = ("gain", "low", "high", "cost", "seconds")


def export(labels: Labels | PeopleLabels, format: str) -> str:  # noqa: A002
    """Gains as qrels, labels as CSV, all replies or votes as JSONL, or the form of an annotation tool.

    `import_labels` reads all of them.
    """
    if format in WRITERS:
        return WRITERS[format](labels)
    if format == "qrels":
        return qrels_text(labels.to_dict())
    if format == "csv":
        return labels.render("csv")
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in _all_rows(labels))


def qrels_text(gains: Gains) -> str:
    """Gains as a qrels file, with the ids that it allows."""
    for name in (*gains, *(doc for docs in gains.values() for doc in docs)):
        if not name or any(c.isspace() for c in name):
            raise InputError(
                f"id '{name:.60}' is empty or contains white space, which qrels files do not allow",
                hint="export csv or jsonl instead",
            )
    return "".join(
        f"{query} 0 {doc} {whole(gain)}\n"
        for query, docs in gains.items()
        for doc, gain in docs.items()
    )


def export_parquet(labels: Labels | PeopleLabels) -> bytes:
    """All replies or votes as a Parquet file, which `import_labels` reads."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError.for_package("pyarrow", "arrow", "writing Parquet") from None
    rows = list(_all_rows(labels))
    names = list(rows[0]) if rows else ["query", "doc"]
    columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in names}
    if "parameters" in columns:
        columns["parameters"] = [
            json.dumps(value, sort_keys=True) for value in columns["parameters"]
        ]
    types = {name: pa.float64() for name in _REAL if name in columns}
    out = io.BytesIO()
    arrays = {name: pa.array(values, types.get(name)) for name, values in columns.items()}
    pq.write_table(pa.table(arrays), out)
    return out.getvalue()


def _all_rows(labels: Labels | PeopleLabels) -> Iterator[dict[str, Any]]:
    return _vote_rows(labels) if isinstance(labels, PeopleLabels) else _reply_rows(labels)


def described(labels: Labels | PeopleLabels) -> str:
    """One sentence on what an export holds: how many gains, whose, and by which rule."""
    count = sum(map(len, labels.to_dict().values()))
    if isinstance(labels, Labels):
        return f"{count:,} gains of {labels.name}"
    if labels.annotator is not None:
        return f"{count:,} gains of annotator {labels.annotator}"
    names = annotators_of(labels.store)
    people = f"{len(names)} annotators" if len(names) > 1 else f"annotator {names[0]}"
    return f"{count:,} gains by {labels.method} of the votes of {people}"


def _reply_rows(labels: Labels) -> Iterator[dict[str, Any]]:
    number = labels.store.find_setting(labels.setting)
    for values in labels.store.db.stream(_REPLIES, (number,)):
        row = dict(zip(_FIELDS, values, strict=True))
        yield {**row, "parameters": json.loads(row["parameters"])}


def _vote_rows(labels: PeopleLabels) -> Iterator[dict[str, Any]]:
    """Every vote, those that were replaced too."""
    for vote in read_votes(labels.store, labels.annotator, history=True):
        row = {name: getattr(vote, name) for name in Vote.__slots__}
        document = row.pop("document")
        yield {**row, "document_hash": document}


def statistics(store: Store) -> tuple[list[str], list[list[Any]]]:
    """Column names and a row for every setting: labels, failures, tokens, cost."""
    rows: list[list[Any]] = []
    for number, setting in store.settings():
        labels = Labels(store, setting)
        statuses = labels.statuses
        replicated = [label for label in labels if label.replicates > 1]
        tokens_in, tokens_out, cost, replies, cuts = store.db.execute(
            "SELECT coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0), sum(cost), count(*), "
            "count(cut) FROM replies WHERE setting = ?",
            (number,),
        ).fetchone()
        (spent,) = store.db.execute(
            "SELECT sum(cost) FROM spending WHERE setting = ?", (number,)
        ).fetchone()
        agreeing = sum(label.spread == 0 for label in replicated)
        failures = ", ".join(f"{n} {s}" for s, n in statuses.items() if s != "ok")
        rows.append([
            setting.model, setting.prompt, json.dumps(setting.parameters, sort_keys=True),
            sum(statuses.values()), statuses.get("ok", 0), failures or "none", replies,
            int(tokens_in), int(tokens_out), cost, cuts,
            agreeing / len(replicated) if replicated else None, spent, setting.digest[:8],
        ])  # fmt: skip
    for name in annotators_of(store):
        votes = read_votes(store, name)
        skipped = sum(vote.gain is None for vote in votes)
        rows.append([
            name, "person", None, len(votes), len(votes) - skipped,
            f"{skipped} skipped" if skipped else "none", len(read_votes(store, name, history=True)),
            None, None, None, None, None, None, None,
        ])  # fmt: skip
    columns = ["model", "prompt", "parameters", "pairs", "ok", "failures", "replies", "tokens in",
               "tokens out", "cost", "cut", "replicates agree", "spent", "setting"]  # fmt: skip
    return columns, rows
