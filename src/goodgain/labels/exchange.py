"""Export labels from a store, import labels into it, and summarise what it holds."""

from __future__ import annotations

import json
import os
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.io.naming import format_of
from goodgain.labels.judges.protocol import STATUSES
from goodgain.labels.pairs import read_objects
from goodgain.labels.result import Labels, judgments_of, whole
from goodgain.labels.store import PairRow, ReplyRow, Setting, digest

if TYPE_CHECKING:
    from goodgain.labels.store import Store

EXPORTS = ("qrels", "csv", "jsonl")

_REPLIES = (
    "SELECT s.prompt, s.model, s.parameters, s.low, s.high, a.query, a.doc, q.text, r.key, a.replicate, "
    "r.status, r.gain, r.detail, r.raw, r.tokens_in, r.tokens_out, r.cost, r.seconds, r.cut, r.created "
    "FROM replies r JOIN asked a ON a.key = r.key JOIN settings s ON s.id = a.setting JOIN questions q ON q.id = a.question ORDER BY r.id, a.id"
)
_FIELDS = (
    "prompt", "model", "parameters", "low", "high", "query", "doc", "question", "key", "replicate",
    "status", "gain", "detail", "raw", "tokens_in", "tokens_out", "cost", "seconds", "cut", "created",
)  # fmt: skip


def export(labels: Labels, format: str) -> str:  # noqa: A002
    """Gains as qrels, labels as CSV, or every reply as JSONL, which `import_labels` reads."""
    if format == "qrels":
        gains = labels.to_dict()
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
    if format == "csv":
        return labels.render("csv")
    replies = (dict(zip(_FIELDS, row, strict=True)) for row in labels.store.db.stream(_REPLIES))
    setting = labels.setting
    return "".join(
        json.dumps({**row, "parameters": json.loads(row["parameters"])}, ensure_ascii=False) + "\n"
        for row in replies
        if (row["prompt"], row["model"]) == (setting.prompt, setting.model)
        and json.loads(row["parameters"]) == setting.parameters
    )


def import_labels(store: Store, source: Any, model: str | None = None) -> int:
    """Import a JSONL file that `export` wrote, or judgments in any form under the name `model`.

    Returns the number of new replies. Replies that the store already has stay unchanged.
    """
    before = _reply_count(store)
    if _is_export(source):
        _import_replies(store, os.fspath(source))
    else:
        _import_judgments(store, source, model)
    return _reply_count(store) - before


def _import_replies(store: Store, path: str) -> None:
    stored = set(store.db.stream("SELECT key, created, status, seconds FROM replies"))
    with store.transaction():
        for where, row in read_objects(path):
            try:
                setting = Setting(**{field.name: row[field.name] for field in fields(Setting)})
                pair = PairRow(
                    **{name: row[name] for name in PairRow._fields if name != "document"}
                )
                reply = ReplyRow(**{name: row[name] for name in ReplyRow._fields})
                created = row["created"]
            except KeyError as error:
                raise InputError(f"field {error} not found in the label", where=where) from None
            if reply.status not in STATUSES or (reply.status == "ok") != (reply.gain is not None):
                raise InputError(
                    f"inconsistent label: status '{reply.status}' and gain {reply.gain}",
                    where=where,
                )
            store.add_pairs(setting, [pair])
            identity = (reply.key, created, reply.status, reply.seconds)
            if identity not in stored:
                store.add_replies(setting, [reply], created)
                stored.add(identity)


def _import_judgments(store: Store, source: Any, model: str | None) -> None:
    qrels = judgments_of(source)
    gains = qrels.to_dict()
    values = [gain for docs in gains.values() for gain in docs.values()]
    if not values:
        raise InputError("no judgments to import", where=qrels.name)
    setting = Setting(
        prompt="import",
        model=model or Path(qrels.name).name,
        parameters={},
        low=int(min(0, *values)),
        high=int(max(1, *values)),
    )
    with store.transaction():
        for query, docs in gains.items():
            keys = {doc: digest("import", setting.model, query, doc) for doc in docs}
            store.add_pairs(setting, [PairRow(query, doc, keys[doc], 0, query) for doc in docs])
            store.add_replies(
                setting,
                [
                    ReplyRow(key=keys[doc], replicate=0, status="ok", gain=gain)
                    for doc, gain in docs.items()
                ],
            )


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
        agreeing = sum(label.spread == 0 for label in replicated)
        failures = ", ".join(f"{n} {s}" for s, n in statuses.items() if s != "ok")
        rows.append([
            setting.model, setting.prompt, json.dumps(setting.parameters, sort_keys=True),
            sum(statuses.values()), statuses.get("ok", 0), failures or "none", replies,
            int(tokens_in), int(tokens_out), cost, cuts,
            agreeing / len(replicated) if replicated else None,
        ])  # fmt: skip
    columns = ["model", "prompt", "parameters", "pairs", "ok", "failures", "replies", "tokens in",
               "tokens out", "cost", "cut", "replicates agree"]  # fmt: skip
    return columns, rows


def _reply_count(store: Store) -> int:
    return int(store.db.execute("SELECT count(*) FROM replies").fetchone()[0])


def _is_export(source: Any) -> bool:
    """Whether this is the path of a JSONL file of replies."""
    if not isinstance(source, str | os.PathLike):
        return False
    path = os.fspath(source)
    if format_of(path) != "jsonl":
        return False
    _, first = next(read_objects(path), ("", {}))
    return "key" in first and "status" in first
