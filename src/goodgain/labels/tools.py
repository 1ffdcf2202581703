"""Labels in the export forms of annotation tools; tests/labels/forms/README.md says where each comes from.

A reader yields entries from the records of a file; what it leaves out, it counts.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from goodgain.errors import GoodgainError, InputError
from goodgain.io.columns import find_columns, has_column
from goodgain.labels.entries import (
    Entry,
    Reading,
    entry,
    is_missing,
    number_or_none,
    pair_fields,
    time_of,
)
from goodgain.labels.pairs import Pair
from goodgain.labels.people import VOTE_STATUSES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Records = Iterable[tuple[str, dict[str, Any]]]

_CONTROLS = ("rating", "choices", "number")  # of Label Studio that can be a gain


# --- tables: CSV, Parquet, data frames, JSON lines ---


def read_table(records: Records, reading: Reading) -> Iterator[Entry]:
    """A row per label: query, document and gain, and who gave it, in columns of the usual names."""
    for where, row in records:
        columns = find_columns(row, "votes", where)
        if reading.name is not None and reading.name in row:
            columns["value"] = reading.name
        get = {role: row[column] for role, column in columns.items()}
        status = get.get("status")
        if status not in VOTE_STATUSES:  # a status of something else
            status = "label"
        if status == "label" and is_missing(get.get("value")):
            reading.left_out["rows without a label"] += 1
            continue
        model = reading.model if is_missing(get.get("model")) else str(get["model"])
        if "annotator" in get or reading.annotator:
            model = ""  # a person used it, or it is a column about something else
        yield entry(
            pair_fields({k: v for k, v in row.items() if k not in columns.values()}, where),
            where,
            annotator="" if model else reading.person(get.get("annotator"), where),
            model=model,
            document=_text(row.get("document_hash")),
            gain=reading.gain(get.get("value"), where) if status == "label" else None,
            status=status,
            reason=_text(get.get("reason")),
            note=_text(get.get("note")),
            seconds=number_or_none(get.get("seconds"), where),
            created=time_of(get.get("created"), where),
            low=number_or_none(get.get("low"), where),
            high=number_or_none(get.get("high"), where),
        )


# --- Quepid ---


def read_quepid(records: Records, reading: Reading) -> Iterator[Entry]:
    """A book as JSON, ratings of a case as JSON, or either as CSV, with a column per judge for a book."""
    for where, row in records:
        if "query_doc_pairs" in row:
            yield from _quepid_book(where, row, reading)
        elif "queries" in row:
            for query in row["queries"]:
                for doc, rating in (query.get("ratings") or {}).items():
                    yield _quepid_label(where, query["query"], doc, reading, rating=rating)
        else:
            query, doc = _quepid_query(row["query"]), row.get("docid")
            if is_missing(doc):
                reading.left_out["queries without ratings"] += 1
                continue
            for name, rating in row.items():
                if name in ("query", "docid"):
                    continue
                if is_missing(rating):
                    reading.left_out["pairs that a judge has not rated"] += 1
                    continue
                who = None if name == "rating" else name
                yield _quepid_label(where, query, doc, reading, rating=rating, who=who)


def _quepid_book(where: str, book: dict[str, Any], reading: Reading) -> Iterator[Entry]:
    for number, pair in enumerate(book["query_doc_pairs"], 1):
        place = f"{where}, pair {number}"
        fields = pair.get("document_fields") or {}
        fields = json.loads(fields) if isinstance(fields, str) else fields
        text = "\n".join(str(value) for value in fields.values() if isinstance(value, str))
        for judgment in pair.get("judgements") or []:
            if judgment.get("judge_later"):
                reading.left_out["pairs to judge later"] += 1
                continue
            label = _quepid_label(
                place, pair["query_text"], pair["doc_id"], reading, who=judgment.get("user_email"),
                rating=None if judgment.get("unrateable") else judgment.get("rating"), text=text,
                note=judgment.get("explanation"),
            )  # fmt: skip
            if label.gain is None and not judgment.get("unrateable"):
                reading.left_out["pairs that a judge has not rated"] += 1
                continue
            yield label


def _quepid_label(
    where: str, query: str, doc: Any, reading: Reading, *, rating: Any, who: Any = None,
    text: str = "", note: Any = None,
) -> Entry:  # fmt: skip
    return entry(
        Pair(query, str(doc), query, text),
        where,
        **_source(reading, who, where),
        gain=None if is_missing(rating) else reading.gain(rating, where),
        status="skipped" if is_missing(rating) else "label",
        reason="unrateable" if is_missing(rating) else "",
        note=_text(note),
    )


def _quepid_query(text: str) -> str:
    """Quepid puts a space before what a spreadsheet would take for a formula."""
    return text[1:] if len(text) > 1 and text[0] == " " and text[1] in "-=+@" else text


# --- Label Studio ---


def read_label_studio(records: Records, reading: Reading) -> Iterator[Entry]:
    """Tasks with annotations of people and predictions of models."""
    for where, task in records:
        pair = pair_fields({**(task.get("meta") or {}), **task["data"]}, where)
        for annotation in task.get("annotations") or []:
            who = annotation.get("completed_by")
            if isinstance(who, dict):
                who = who.get("email") or who.get("id")
            if annotation.get("was_cancelled"):
                gain = None
            else:
                value = _control(annotation.get("result") or [], reading, where)
                if value is None:
                    reading.left_out["annotations without a rating or choice"] += 1
                    continue
                gain = reading.gain(value, where)
            yield entry(
                pair,
                where,
                annotator=reading.person(who, where),
                gain=gain,
                status="skipped" if gain is None else "label",
                reason="cancelled" if gain is None else "",
                seconds=number_or_none(annotation.get("lead_time"), where),
                created=time_of(annotation.get("updated_at"), where),
            )
        for prediction in task.get("predictions") or []:
            if not isinstance(prediction, dict):
                continue  # an export without predictions has their ids
            value = _control(prediction.get("result") or [], reading, where)
            if value is None:
                reading.left_out["predictions without a rating or choice"] += 1
                continue
            yield entry(
                pair,
                where,
                model=str(prediction.get("model_version") or "Label Studio prediction"),
                gain=reading.gain(value, where),
                created=time_of(prediction.get("created_at"), where),
            )


def _control(results: list[dict[str, Any]], reading: Reading, where: str) -> Any:
    values = {r["from_name"]: r["value"][r["type"]] for r in results if r.get("type") in _CONTROLS}
    name = reading.choose(list(values), where)
    return None if name is None else values[name]


# --- Argilla ---


def read_argilla(records: Records, reading: Reading) -> Iterator[Entry]:
    """Records, nested (`to_json`) or flat (`to_list(flatten=True)`): responses and suggestions."""
    for where, record in records:
        if "responses" in record or "fields" in record:
            data = {**(record.get("metadata") or {}), **(record.get("fields") or {})}
            responses = record.get("responses") or {}
            suggestions = record.get("suggestions") or {}
        else:
            data, responses, suggestions = _flat_argilla(record)
        pair = pair_fields(data, where)
        if name := reading.choose([n for n, answers in responses.items() if answers], where):
            for answer in responses[name]:
                status = answer.get("status") or "submitted"
                if status not in ("submitted", "discarded"):
                    reading.left_out[f"responses with status '{status}'"] += 1
                    continue
                skipped = status == "discarded"
                yield entry(
                    pair,
                    where,
                    annotator=reading.person(answer.get("user_id"), where),
                    gain=None if skipped else reading.gain(answer.get("value"), where),
                    status="skipped" if skipped else "label",
                    reason="discarded" if skipped else "",
                )
        else:
            reading.left_out["records without a response"] += 1
        machine = reading.choose([n for n, s in suggestions.items() if s], where)
        if machine and not is_missing(suggestions[machine].get("value")):
            suggestion = suggestions[machine]
            yield entry(
                pair,
                where,
                model=str(suggestion.get("agent") or "Argilla suggestion"),
                gain=reading.gain(suggestion["value"], where),
            )


def _flat_argilla(record: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    responses: dict[str, Any] = {}
    suggestions: dict[str, Any] = {}
    data: dict[str, Any] = {}
    for key, value in record.items():
        name, mark, _ = key.partition(".responses")
        if mark:
            if key == f"{name}.responses" and value:
                users = record.get(f"{key}.users") or [None] * len(value)
                statuses = record.get(f"{key}.status") or [None] * len(value)
                responses[name] = [
                    {"value": v, "user_id": u, "status": s}
                    for v, u, s in zip(value, users, statuses, strict=True)
                ]
        elif ".suggestion" in key:
            name = key.partition(".suggestion")[0]
            if key == f"{name}.suggestion" and value is not None:
                suggestions[name] = {"value": value, "agent": record.get(f"{key}.agent")}
        else:
            data[key] = value
    return data, responses, suggestions


# --- doccano ---


def read_doccano(records: Records, reading: Reading) -> Iterator[Entry]:
    """Lines of a classification project; an export has a file for each user, which is named after them."""
    for where, row in records:
        labels = row.get("label", row.get("cats"))
        if not labels:
            reading.left_out["examples without a label"] += 1
            continue
        others = ("label", "cats", "entities", "Comments", "meta", "id")
        data = {k: v for k, v in row.items() if k not in others}
        meta = row.get("meta") if isinstance(row.get("meta"), dict) else {}
        comments = row.get("Comments") or []
        yield entry(
            pair_fields({**(meta or {}), **data}, where),
            where,
            **_source(reading, None, where),
            gain=reading.gain(labels, where),
            note="; ".join(map(str, comments)) if isinstance(comments, list) else _text(comments),
        )


# --- Phoenix ---


def read_phoenix(records: Records, reading: Reading) -> Iterator[Entry]:
    """Annotations of spans and of the documents in them, as the REST API or the client's data frame has them.

    A document is found by the columns of pairs beside the annotation or in its metadata; without them the
    span is the query, and the document its position in the span.
    """
    for where, row in records:
        name = row.get("name") or row.get("annotation_name")
        if reading.name is not None and name != reading.name:
            reading.left_out[f"annotations named '{name}'"] += 1
            continue
        result = row["result"] if isinstance(row.get("result"), dict) else {
            field: row.get(f"result.{field}", row.get(field))
            for field in ("score", "label", "explanation")
        }  # fmt: skip
        value = result.get("score")
        if is_missing(value):
            value = result.get("label")
        if is_missing(value):
            reading.left_out["annotations without a score or label"] += 1
            continue
        metadata = row["metadata"] if isinstance(row.get("metadata"), dict) else {}
        position = row.get("document_position")
        pair = _known_pair({**row, **metadata}, where)
        if pair is None:
            if is_missing(position):
                reading.left_out["annotations of whole spans"] += 1
                continue
            pair = Pair(str(row["span_id"]), str(int(float(str(position)))), "", "")
        kind = row.get("annotator_kind") or "HUMAN"
        who: dict[str, Any] = {"model": str(metadata.get("model") or f"{kind} {name}")}
        if kind == "HUMAN" or metadata.get("model"):  # the name is not part of who that is
            reading.require_one(str(name), where)
        if kind == "HUMAN":
            first = next((row.get(k) for k in ("user_id", "identifier") if row.get(k)), None)
            who = {"annotator": reading.person(first or metadata.get("reviewer"), where)}
        yield entry(
            pair,
            where,
            **who,
            gain=reading.gain(value, where),
            note=_text(result.get("explanation")),
            created=time_of(row.get("updated_at") or row.get("created_at"), where),
        )


def _known_pair(row: dict[str, Any], where: str) -> Pair | None:
    """The pair in the fields of a record, if it has a query and a document."""
    flat = [name for name, value in row.items() if not isinstance(value, dict | list | None)]
    has = {role for role in ("query", "question", "doc", "text") if has_column(flat, "pairs", role)}
    return (
        pair_fields(row, where) if has & {"query", "question"} and has & {"doc", "text"} else None
    )


# --- Langfuse ---


def read_langfuse(records: Records, reading: Reading) -> Iterator[Entry]:
    """Scores as the API has them (version 2 or 3): those of people, of evaluators and of programs.

    A document is found in the metadata (`query_id`, `doc_id`); without it the trace is the query and the
    observation the document. A score of a whole trace has no document, and is left out.
    """
    for where, row in records:
        if reading.name is not None and row.get("name") != reading.name:
            reading.left_out[f"scores named '{row.get('name')}'"] += 1
            continue
        subject = row["subject"] if isinstance(row.get("subject"), dict) else {}
        trace = row.get("traceId") or subject.get("traceId")
        observation = row.get("observationId")
        if subject.get("kind") == "observation":
            observation = subject.get("id")
        metadata = row.get("metadata") if isinstance(row.get("metadata"), dict) else {}
        pair = _known_pair(metadata or {}, where)
        if pair is None:
            if is_missing(trace) or is_missing(observation):
                reading.left_out["scores of whole traces or sessions"] += 1
                continue
            pair = Pair(str(trace), str(observation), "", "")
        if row.get("source") == "ANNOTATION":
            reading.require_one(str(row.get("name")), where)
            who = {"annotator": reading.person(row.get("authorUserId"), where)}
        else:
            who = {"model": f"{row.get('source', 'API')} {row.get('name')}"}
        yield entry(
            pair,
            where,
            **who,
            gain=reading.gain(_langfuse_value(row, reading), where),
            note=_text(row.get("comment")),
            created=time_of(
                row.get("updatedAt") or row.get("timestamp") or row.get("createdAt"), where
            ),
        )


def _langfuse_value(row: dict[str, Any], reading: Reading) -> Any:
    """Version 2 gives a category the number 0 unless a configuration has one for it."""
    word = row.get("stringValue")
    if row.get("dataType") == "CATEGORICAL" and word is not None:
        return row.get("value") if row.get("configId") and word not in reading.gains else word
    return row.get("value")


# --- which of them ---


def _source(reading: Reading, who: Any, where: str) -> dict[str, str]:
    if reading.model and is_missing(who):
        return {"model": reading.model}
    return {"annotator": reading.person(who, where)}


def _text(value: Any) -> str:
    return "" if is_missing(value) else str(value)


READERS: dict[str, Callable[[Records, Reading], Iterator[Entry]]] = {
    "table": read_table,
    "quepid": read_quepid,
    "label-studio": read_label_studio,
    "argilla": read_argilla,
    "doccano": read_doccano,
    "phoenix": read_phoenix,
    "langfuse": read_langfuse,
}


def read_records(form: str, records: Records, reading: Reading) -> Iterator[Entry]:
    """The labels in a tool's records; a record of another shape is refused with its place."""
    place = ""

    def with_places() -> Records:
        nonlocal place
        for where, record in records:
            place = where
            yield where, record

    try:
        yield from READERS[form](with_places(), reading)
    except GoodgainError:  # which says more, with its own place
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(
            f"the record is not of the form '{form}': {error or type(error).__name__}",
            where=place,
            hint="is it an export of this tool?",
        ) from None


def form_of(record: dict[str, Any], path: str = "") -> str:
    """The form of a file by its first record."""
    names = set(record)
    if "query_doc_pairs" in names or {"queries", "case_id"} <= names:
        return "quepid"
    if isinstance(record.get("data"), dict) and names & {"annotations", "predictions"}:
        return "label-studio"
    if "responses" in names or any(name.endswith(".responses") for name in names):
        return "argilla"
    if "annotator_kind" in names:
        return "phoenix"
    if "dataType" in names and names & {"traceId", "subject"}:
        return "langfuse"
    if {"id", "text"} <= names and isinstance(record.get("label", record.get("cats")), list):
        return "doccano"
    if list(record)[:2] == ["query", "docid"] and not has_column(list(names), "votes", "value"):
        return "quepid"
    if list(record) == ["query", "docid", "rating"]:
        return "quepid"
    return "table"


def check_form(name: str) -> None:
    """Refuse an unknown form."""
    if name not in READERS:
        raise InputError(f"unknown form of labels: '{name}'", hint=f"one of: {', '.join(READERS)}")
