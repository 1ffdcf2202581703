"""Labels in the forms that annotation tools read; `tools.py` reads the same forms."""

from __future__ import annotations

import csv
import io
import json
from itertools import groupby
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.labels.entries import Entry
from goodgain.labels.people import read_votes
from goodgain.labels.result import Labels, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goodgain.labels.result import PeopleLabels

    AnyLabels = Labels | PeopleLabels

_NAME = "gain"  # of the question, control or score


def entries_of(labels: AnyLabels) -> list[Entry]:
    """Every label with its text, where the store has it: each vote of people, or each gain of a model."""
    store = labels.store
    texts = dict(store.db.stream("SELECT hash, text FROM documents WHERE text IS NOT NULL"))
    if not isinstance(labels, Labels):
        return [
            Entry(
                where="", query=vote.query, doc=vote.doc, question=vote.question,
                text=texts.get(vote.document, ""), annotator=vote.annotator, gain=vote.gain,
                status=vote.status, reason=vote.reason, note=vote.note, seconds=vote.seconds,
                created=vote.created, low=vote.low, high=vote.high,
            )
            for vote in read_votes(store, labels.annotator)
        ]  # fmt: skip
    documents = {
        (query, doc): document
        for query, doc, document in store.db.stream(
            "SELECT query, doc, document FROM asked WHERE setting = ? ORDER BY created, id",
            (store.find_setting(labels.setting),),
        )
    }
    return [
        Entry(
            where="", query=label.query, doc=label.doc, question=label.question, gain=label.gain,
            text=texts.get(documents.get((label.query, label.doc)), ""),
            model=labels.setting.model, note=label.detail,
        )
        for label in labels
        if label.gain is not None
    ]  # fmt: skip


def _by_pair(labels: AnyLabels) -> Iterator[list[Entry]]:
    entries = sorted(entries_of(labels), key=lambda e: (e.query, e.doc))
    for _, group in groupby(entries, key=lambda e: (e.query, e.doc)):
        yield list(group)


def _data(entry: Entry) -> dict[str, str]:
    return {
        "query_id": entry.query, "doc_id": entry.doc, "question": entry.question or entry.query,
        "text": entry.text,
    }  # fmt: skip


def quepid(labels: AnyLabels) -> str:
    """Ratings as CSV: of a case for a model's labels, of a book with a column per judge for people's."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    people = sorted({entry.annotator for entry in entries_of(labels)} - {""})
    table.writerow(["query", "docid", *(people or ["rating"])])
    for entries in _by_pair(labels):
        gains = {entry.annotator: whole(entry.gain) for entry in entries}
        query = entries[0].question or entries[0].query
        table.writerow([query, entries[0].doc, *(gains.get(name) for name in people or [""])])
    return out.getvalue()


def label_studio(labels: AnyLabels) -> str:
    """Tasks with annotations of people, or predictions of a model."""
    return _json([
        {
            "data": _data(entries[0]),
            "annotations": [
                {
                    "completed_by": {"email": entry.annotator},
                    "result": _result(entry),
                    "was_cancelled": entry.gain is None,
                    "lead_time": entry.seconds,
                    "created_at": entry.created,
                    "updated_at": entry.created,
                }
                for entry in entries
                if entry.annotator
            ],
            "predictions": [
                {"model_version": entry.model, "result": _result(entry)}
                for entry in entries
                if entry.model
            ],
        }
        for entries in _by_pair(labels)
    ])  # fmt: skip


def _result(entry: Entry) -> list[dict[str, Any]]:
    if entry.gain is None:
        return []
    value = {"number": whole(entry.gain)}
    return [{"from_name": _NAME, "to_name": "text", "type": "number", "value": value}]


def argilla(labels: AnyLabels) -> str:
    """Records with responses of people, or a suggestion of a model."""
    return _json([
        {
            "id": f"{entries[0].query} {entries[0].doc}",
            "fields": {key: _data(entries[0])[key] for key in ("question", "text")},
            "metadata": {key: _data(entries[0])[key] for key in ("query_id", "doc_id")},
            "suggestions": _suggestion(entries[0]) if entries[0].model else {},
            "responses": {
                _NAME: [
                    {
                        "value": whole(entry.gain),
                        "user_id": entry.annotator,
                        "status": "discarded" if entry.gain is None else "submitted",
                    }
                    for entry in entries
                    if entry.annotator
                ]
            },
            "vectors": {},
        }
        for entries in _by_pair(labels)
    ])  # fmt: skip


def _suggestion(entry: Entry) -> dict[str, Any]:
    return {_NAME: {"value": whole(entry.gain), "score": None, "agent": entry.model}}


def doccano(labels: AnyLabels) -> str:
    """A line per document with its one gain: of an annotator, or of all by the rule."""
    texts = {(entry.query, entry.doc): entry for entry in entries_of(labels)}
    rows = (
        {
            "id": number,
            **_data(texts[label.query, label.doc]),
            "label": [f"{whole(label.gain)}"],
        }
        for number, label in enumerate((each for each in labels if each.gain is not None), 1)
    )
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def phoenix(labels: AnyLabels) -> str:
    """Annotations of documents in spans: the query is the span, the document its position there."""
    return _json({"data": [
        {
            "name": _NAME,
            "annotator_kind": "HUMAN" if entry.annotator else "LLM",
            "span_id": entry.query,
            "document_position": _position(entry),
            "result": {"score": whole(entry.gain), "label": None, "explanation": entry.note or None},
            "identifier": entry.annotator,
            "metadata": {} if entry.annotator else {"model": entry.model},
            "updated_at": entry.created or None,
        }
        for entry in entries_of(labels)
        if entry.gain is not None
    ]})  # fmt: skip


def _position(entry: Entry) -> int:
    if not (entry.doc.isascii() and entry.doc.isdigit()):
        raise InputError(
            f"document '{entry.doc:.60}' of query '{entry.query:.60}' is not a position in a span",
            hint="Phoenix knows documents by span and position; export another form",
        )
    return int(entry.doc)


def langfuse(labels: AnyLabels) -> str:
    """Scores: the query is the trace; the document is in the metadata."""
    return _json({"data": [
        {
            "traceId": entry.query,
            "name": _NAME if entry.annotator else entry.model,
            "source": "ANNOTATION" if entry.annotator else "EVAL",
            "authorUserId": entry.annotator or None,
            "dataType": "NUMERIC",
            "value": whole(entry.gain),
            "comment": entry.note or None,
            "timestamp": entry.created or None,
            "metadata": {key: _data(entry)[key] for key in ("query_id", "doc_id", "question")},
        }
        for entry in entries_of(labels)
        if entry.gain is not None
    ]})  # fmt: skip


def _json(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


WRITERS: dict[str, Callable[[AnyLabels], str]] = {
    "quepid": quepid,
    "label-studio": label_studio,
    "argilla": argilla,
    "doccano": doccano,
    "phoenix": phoenix,
    "langfuse": langfuse,
}
