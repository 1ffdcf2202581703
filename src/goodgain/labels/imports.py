"""Import labels: what `export` wrote, judgments in any form, and the exports of annotation tools."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.data.qrels import Qrels
from goodgain.errors import InputError, UsageError
from goodgain.io.columns import has_column
from goodgain.io.files import is_store, is_stream, read_json
from goodgain.io.naming import display_name, format_of
from goodgain.io.tables import load_table
from goodgain.labels.entries import Entry, Reading
from goodgain.labels.judges.protocol import STATUSES
from goodgain.labels.pairs import collected, read_objects, table_rows
from goodgain.labels.people import ADJUDICATED_BY, ADJUDICATION, Vote, read_votes
from goodgain.labels.result import Labels, PeopleLabels, judgments_of
from goodgain.labels.scale import Scale
from goodgain.labels.store import PairRow, ReplyRow, Setting, Store, digest, document_hash
from goodgain.labels.tools import check_form, form_of, read_records

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TABLES = ("csv", "tsv", "json", "jsonl", "parquet", "arrow")
_BATCH = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import has added, and what it has left out and why."""

    form: str
    replies: int = 0
    votes: int = 0
    left_out: tuple[tuple[str, int], ...] = ()


def import_labels(
    store: Store,
    source: Any,
    model: str | None = None,
    *,
    annotator: str | None = None,
    form: str | None = None,
    name: str | None = None,
    gains: Mapping[str, float] | None = None,
    scale: Any = None,
    keep: str = "hash",
) -> Imported:
    """Add labels to a store: an export of one, judgments in any form, or the export of an annotation tool.

    Labels of people become votes, so that several of one pair are kept; labels of models become replies.
    `annotator` or `model` says whose they are where the source does not. `form` is the tool that wrote it
    (default: by its content), `name` the question or score to read if there are several, and `gains` the
    gains for labels that are words. `scale` declares the lowest and the highest gain; `keep` is what is
    stored of the documents' texts. What the store has already is not added again.
    """
    if model is not None and annotator is not None:
        raise UsageError("labels are of a model or of a person; choose model= or annotator=")
    if form is not None:
        check_form(form)
    reading = Reading(
        gains=dict(gains or {}), name=name, annotator=annotator or "", model=model or ""
    )
    declared = Scale.of(scale)
    source = collected(source)
    with store.transaction():
        before = _counts(store)
        rows = None if form else _exported(source)
        if rows is not None:
            used = "export"
            import_replies(store, rows)
        else:
            used, entries = _entries(source, form, reading)
            _add(store, (_scaled(entry, declared) for entry in entries), used, source, keep)
        replies, votes = (new - old for new, old in zip(_counts(store), before, strict=True))
    return Imported(
        form=used, replies=replies, votes=votes, left_out=tuple(reading.left_out.most_common())
    )


def _entries(source: Any, form: str | None, reading: Reading) -> tuple[str, Iterator[Entry]]:
    """The form of a source, and its labels."""
    if isinstance(source, str | os.PathLike) and os.fspath(source).endswith(".zip"):
        return "doccano", _zip_entries(os.fspath(source), reading)
    records = _records(source, form)
    first = next(records, None) if records is not None else None
    if records is None or first is None or (form is None and _is_judgments(first[1])):
        return "judgments", _judgment_entries(source, reading)
    used = form or form_of(first[1])
    if used == "doccano" and isinstance(source, str | os.PathLike):
        reading = _of_user(reading, os.fspath(source))
    return used, read_records(used, chain([first], records), reading)


def _records(source: Any, form: str | None) -> Iterator[tuple[str, dict[str, Any]]] | None:
    """The records of a source with their places; None if it does not hold any."""
    if isinstance(source, Store | Labels | PeopleLabels | Qrels):
        return None
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        if is_store(path) or (form is None and (is_stream(path) or format_of(path) not in _TABLES)):
            return None
        if format_of(path) == "json":
            return _json_records(read_json(path), display_name(path))
        return read_objects(path) if format_of(path) == "jsonl" else table_rows(load_table(path))
    if hasattr(source, "columns") or hasattr(source, "__arrow_c_stream__"):
        return table_rows(load_table(source, "labels"))
    if isinstance(source, Mapping) and form is None and not _is_document(source):
        return None
    if isinstance(source, Mapping) or (
        isinstance(source, list | tuple) and source and isinstance(source[0], Mapping)
    ):
        return _json_records(source, "labels")
    return None


def _is_document(source: Mapping[Any, Any]) -> bool:
    return bool({"data", "query_doc_pairs", "queries"} & source.keys())


def _json_records(content: Any, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a JSON document: a list of them, a page of an API with `data`, or the document."""
    page = content.get("data") if isinstance(content, Mapping) else None
    rows = page if isinstance(page, list) else content
    rows = rows if isinstance(rows, list | tuple) else [rows]
    for number, row in enumerate(rows, 1):
        where = f"{name}, item {number}" if len(rows) > 1 or page is not None else name
        if not isinstance(row, dict):
            raise InputError(f"expected an object, got {row!r:.60}", where=where)
        yield where, row


def _is_judgments(row: dict[str, Any]) -> bool:
    """Whether a record is a judgment of nobody in particular: a query, a document and a gain."""
    names = list(row)
    if form_of(row) != "table":
        return False
    if not has_column(names, "votes", "value"):
        return not has_column(names, "votes", "status")
    more = ("annotator", "model", "note", "created", "status", "seconds")
    own = any(has_column(names, "votes", role) for role in more)
    return has_column(names, "qrels", "value") and not own


def _judgment_entries(source: Any, reading: Reading) -> Iterator[Entry]:
    qrels = judgments_of(source)
    values = qrels.to_dict()
    if not any(values.values()):
        raise InputError("no judgments to import", where=qrels.name)
    annotator = "" if reading.model else reading.person("", qrels.name)
    for query, docs in values.items():
        for doc, gain in docs.items():
            yield Entry(
                where=qrels.name,
                query=query,
                doc=doc,
                gain=gain,
                annotator=annotator,
                model=reading.model,
            )


def _zip_entries(path: str, reading: Reading) -> Iterator[Entry]:
    """An export of doccano: a file of JSON lines for each user."""
    import zipfile
    import zlib
    from tempfile import TemporaryDirectory

    from goodgain.io.limits import byte_counter

    count = byte_counter(path)
    try:
        with zipfile.ZipFile(path) as archive, TemporaryDirectory(prefix="goodgain-") as folder:
            for number, member in enumerate(archive.namelist()):
                if not member.endswith((".jsonl", ".csv")):
                    reading.left_out[f"files like {Path(member).suffix or member}"] += 1
                    continue
                copy = Path(folder) / str(number) / Path(member).name
                copy.parent.mkdir()
                with archive.open(member) as packed, copy.open("wb") as plain:
                    while piece := packed.read(1 << 20):
                        if count is not None:
                            count(len(piece))
                        plain.write(piece)
                records = _records(copy, "doccano") if copy.stat().st_size else iter(())
                yield from read_records("doccano", records or iter(()), _of_user(reading, member))
    except (zipfile.BadZipFile, OSError, EOFError, RuntimeError, zlib.error) as error:
        raise InputError(
            f"invalid zip file: {error}", where=path, hint="export it again, without a password"
        ) from None


def _of_user(reading: Reading, path: str) -> Reading:
    """The annotator whose file this is, unless it is everybody's or another one was chosen."""
    user = Path(path).name.partition(".")[0]
    if reading.annotator or reading.model or user == "all":
        return reading
    return replace(reading, annotator=user)


def _scaled(entry: Entry, scale: Scale | None) -> Entry:
    if scale is None or entry.gain is None:
        return entry
    if not scale.low <= entry.gain <= scale.high:
        raise InputError(
            f"label {entry.gain:g} of query '{entry.query}', document '{entry.doc}' is outside the "
            f"scale {scale}",
            where=entry.where,
        )
    return replace(entry, low=scale.low, high=scale.high)


def _add(store: Store, entries: Iterator[Entry], form: str, source: Any, keep: str) -> None:
    """Add labels of people as votes and those of models as replies."""
    name = display_name(os.fspath(source)) if isinstance(source, str | os.PathLike) else form
    current = {(vote.annotator, vote.query, vote.doc): vote for vote in read_votes(store)}
    machine: list[Entry] = []
    nothing = True
    for entry in entries:
        nothing = False
        if entry.model:
            machine.append(entry)
            if len(machine) >= _BATCH:
                _add_machine(store, machine)
                machine = []
            continue
        vote = _vote(entry, name)
        place = vote.annotator, vote.query, vote.doc
        last = current.get(place)
        if not vote.created and last is not None and _same(last, vote):
            continue  # a second import of a file that has no times
        if store.add_votes([vote]):
            current[place] = vote
        if keep == "text" and entry.text:
            store.add_documents([entry.text])
    _add_machine(store, machine)
    if nothing:
        raise InputError("no labels to import", where=name)


def _vote(entry: Entry, source: str) -> Vote:
    if entry.annotator.startswith(ADJUDICATED_BY):  # other tools know only the name
        source = f"{ADJUDICATION}, {source}"
    return Vote(
        annotator=entry.annotator, query=entry.query, doc=entry.doc, question=entry.question,
        gain=entry.gain, status=entry.status, low=entry.low,
        high=entry.high, reason=entry.reason, note=entry.note, seconds=entry.seconds,
        document=entry.document or (document_hash(entry.text) if entry.text else None), source=source,
        created=entry.created,
    )  # fmt: skip


def _same(first: Vote, second: Vote) -> bool:
    names = ("gain", "status", "reason", "note")
    return all(getattr(first, name) == getattr(second, name) for name in names)


def _add_machine(store: Store, entries: list[Entry]) -> None:
    """The key of an imported label contains its gain: a corrected one is another, and the last counts."""
    for model, group in groupby(sorted(entries, key=lambda e: e.model), key=lambda e: e.model):
        own = [entry for entry in group if entry.gain is not None]
        values = [entry.gain for entry in own if entry.gain is not None]
        setting = Setting(
            prompt="import",
            model=model,
            parameters={},
            low=int(min(0, *values)),
            high=int(max(1, *values)),
        )
        keys = [digest("import", model, e.query, e.doc, e.gain) for e in own]
        store.add_pairs(setting, [
            PairRow(e.query, e.doc, key, 0, e.question or e.query,
                    document_hash(e.text) if e.text else None)
            for key, e in zip(keys, own, strict=True)
        ])  # fmt: skip
        done = store.done(keys)
        for key, e in zip(keys, own, strict=True):
            if key not in done:
                reply = ReplyRow(key=key, replicate=0, status="ok", gain=e.gain, detail=e.note)
                store.add_replies(setting, [reply], e.created or None)


def import_replies(
    store: Store, rows: Iterable[tuple[str, dict[str, Any]]], *, spending: bool = True
) -> None:
    """Add the rows of an export with their places; without `spending` the caller records the costs."""
    stored = set(store.db.stream("SELECT key, created, status, seconds FROM replies"))
    spent: dict[str, tuple[Setting, _Spent]] = {}
    for where, written in rows:
        row = _reply_fields(written, where)
        try:
            setting = Setting(**{field.name: row[field.name] for field in fields(Setting)})
            pair = PairRow(**{name: row[name] for name in PairRow._fields[:-1]})
            pair = pair._replace(document=row.get("document"))
            reply = ReplyRow(**{name: row[name] for name in ReplyRow._fields})
            created = row["created"]
        except KeyError as error:
            raise InputError(f"field {error} not found in the label", where=where) from None
        if reply.status not in STATUSES or (reply.status == "ok") != (reply.gain is not None):
            raise InputError(
                f"inconsistent label: status '{reply.status}' and gain {reply.gain}", where=where
            )
        store.add_pairs(setting, [pair])
        identity = (reply.key, created, reply.status, reply.seconds)
        if identity not in stored:
            store.add_replies(setting, [reply], created)
            stored.add(identity)
            if reply.tokens_in or reply.tokens_out or reply.cost:
                _spend(spent.setdefault(setting.digest, (setting, _Spent())), reply)
    for setting, calls in spent.values() if spending else ():
        store.add_spending(setting, [asdict(calls)])


def _reply_fields(row: dict[str, Any], where: str) -> dict[str, Any]:
    """A row of an export; a table has no objects, and a data frame has NaN for what is missing."""
    fields_of_row = {name: None if value != value else value for name, value in row.items()}
    parameters = row.get("parameters")
    if isinstance(parameters, str):
        try:
            fields_of_row["parameters"] = json.loads(parameters)
        except ValueError:
            raise InputError(f"invalid parameters {parameters!r:.60}", where=where) from None
    return fields_of_row


@dataclass(slots=True)
class _Spent:
    """What imported replies have cost, which counts towards the budget of the store."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    estimated: int = 0


def _spend(item: tuple[Setting, _Spent], reply: ReplyRow) -> None:
    _, spent = item
    spent.calls += 1
    spent.tokens_in += reply.tokens_in
    spent.tokens_out += reply.tokens_out
    if reply.cost is not None:
        spent.cost = (spent.cost or 0.0) + reply.cost


def _counts(store: Store) -> tuple[int, int]:
    replies, votes = (
        int(store.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
        for table in ("replies", "votes")
    )
    return replies, votes


def _exported(source: Any) -> Iterator[tuple[str, dict[str, Any]]] | None:
    """The rows of an export of replies, in JSONL, Parquet or a data frame of it; None for anything else."""
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        if is_store(path) or format_of(path) not in ("jsonl", "parquet"):
            return None
        rows = read_objects(path) if format_of(path) == "jsonl" else table_rows(load_table(path))
    elif hasattr(source, "__arrow_c_stream__"):
        rows = table_rows(load_table(source, "labels"))
    else:
        return None
    first = next(rows, None)
    if first is None or not {"key", "status", "parameters"} <= first[1].keys():
        return None
    return chain([first], rows)
