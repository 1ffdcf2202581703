"""Labels out of a store and into one: qrels, CSV, JSONL; and what a store holds."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.data.qrels import Qrels
from goodgain.errors import InputError
from goodgain.io.naming import format_of
from goodgain.labels.judges.protocol import STATUSES
from goodgain.labels.pairs import read_objects
from goodgain.labels.result import Labels, whole
from goodgain.labels.store import Asked, Row, Setting, digest

if TYPE_CHECKING:
    from goodgain.labels.store import Store

EXPORTS = ("qrels", "csv", "jsonl")

_REPLIES = (
    "SELECT s.prompt, s.model, s.parameters, s.low, s.high, a.query, a.doc, q.text, r.key, r.replicate, "
    "r.status, r.gain, r.detail, r.raw, r.tokens_in, r.tokens_out, r.cost, r.seconds, r.cut, r.created "
    "FROM replies r JOIN settings s ON s.id = r.setting JOIN asked a ON a.key = r.key "
    "AND a.setting = r.setting JOIN questions q ON q.id = a.question ORDER BY r.id, a.id"
)
_FIELDS = (
    "prompt", "model", "parameters", "low", "high", "query", "doc", "question", "key", "replicate",
    "status", "gain", "detail", "raw", "tokens_in", "tokens_out", "cost", "seconds", "cut", "created",
)  # fmt: skip


def export(labels: Labels, format: str) -> str:  # noqa: A002
    """Gains as qrels, labels as CSV, or every reply as JSONL (which `import_labels` takes back)."""
    if format == "qrels":
        gains = labels.to_dict()
        for name in (*gains, *(doc for docs in gains.values() for doc in docs)):
            if not name or any(c.isspace() for c in name):
                raise InputError(
                    f"the id '{name:.60}' cannot stand in a qrels file",
                    hint="ids there have no blanks; export csv or jsonl",
                )
        return "".join(
            f"{query} 0 {doc} {whole(gain)}\n"
            for query, docs in gains.items()
            for doc, gain in docs.items()
        )
    if format == "csv":
        return labels.render("csv")
    found = (dict(zip(_FIELDS, row, strict=True)) for row in labels.store.db.execute(_REPLIES))
    setting = labels.setting
    return "".join(
        json.dumps({**row, "parameters": json.loads(row["parameters"])}, ensure_ascii=False) + "\n"
        for row in found
        if (row["prompt"], row["model"]) == (setting.prompt, setting.model)
        and json.loads(row["parameters"]) == setting.parameters
    )


def import_labels(store: Store, source: str | os.PathLike[str], model: str | None = None) -> int:
    """Take in what `export` wrote as JSONL, or judgements of any form under the name `model`.

    Returns how many replies are new. What the store has already stays as it is.
    """
    path = os.fspath(source)
    before = _replies(store)
    with_keys = format_of(path) == "jsonl" and _has_keys(path)
    if with_keys:
        _import_replies(store, path)
    else:
        _import_judgements(store, path, model)
    return _replies(store) - before


def _import_replies(store: Store, path: str) -> None:
    seen = set(store.db.execute("SELECT key, created, status, seconds FROM replies"))
    with store.transaction():
        for where, row in read_objects(path):
            try:
                setting = Setting(
                    row["prompt"], row["model"], row["parameters"], row["low"], row["high"]
                )
                asked = Asked(*(row[n] for n in ("query", "doc", "key", "replicate", "question")))
                reply = Row(*(row[n] for n in Row._fields))
                created = row["created"]
            except KeyError as error:
                raise InputError(f"the label has no {error}", where=where) from None
            if reply.status not in STATUSES or (reply.status == "ok") != (reply.gain is not None):
                raise InputError(
                    f"the label has status '{reply.status}' and gain {reply.gain}", where=where
                )
            store.put_asked(setting, [asked])
            same = (reply.key, created, reply.status, reply.seconds)
            if same not in seen:
                store.put(setting, [reply], created)
                seen.add(same)


def _import_judgements(store: Store, path: str, model: str | None) -> None:
    gains = Qrels(path).to_dict()
    values = [gain for docs in gains.values() for gain in docs.values()]
    if not values:
        raise InputError("the file has no judgements", where=path)
    low, high = int(min(0, *values)), int(max(1, *values))
    setting = Setting("import", model or Path(path).name, {}, low, high)
    with store.transaction():
        for query, docs in gains.items():
            keys = {doc: digest("import", setting.model, query, doc) for doc in docs}
            store.put_asked(setting, [Asked(query, doc, keys[doc], 0, query) for doc in docs])
            store.put(setting, [Row(keys[doc], 0, "ok", gain) for doc, gain in docs.items()])


def statistics(store: Store) -> tuple[list[str], list[list[Any]]]:
    """Column names and a row for every setting: labels, failures, tokens, money, time."""
    rows: list[list[Any]] = []
    for number, setting in store.settings():
        found = Labels(store, setting)
        statuses = found.statuses
        several = [label for label in found if label.replicates > 1]
        tokens_in, tokens_out, cost, replies, cuts = store.db.execute(
            "SELECT total(tokens_in), total(tokens_out), sum(cost), count(*), count(cut) "
            "FROM replies WHERE setting = ?",
            (number,),
        ).fetchone()
        agreed = sum(label.spread == 0 for label in several)
        failures = ", ".join(f"{n} {s}" for s, n in statuses.items() if s != "ok")
        rows.append([
            setting.model, setting.prompt, json.dumps(setting.parameters, sort_keys=True),
            sum(statuses.values()), statuses.get("ok", 0), failures or "none", replies,
            int(tokens_in), int(tokens_out), cost, cuts,
            agreed / len(several) if several else None,
        ])  # fmt: skip
    columns = ["model", "prompt", "parameters", "pairs", "ok", "failures", "replies", "tokens in",
               "tokens out", "cost", "cut", "replicates agree"]  # fmt: skip
    return columns, rows


def _replies(store: Store) -> int:
    return int(store.db.execute("SELECT count(*) FROM replies").fetchone()[0])


def _has_keys(path: str) -> bool:
    _, first = next(read_objects(path), ("", {}))
    return "key" in first and "status" in first
