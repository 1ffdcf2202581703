"""The data of an experiment, with ids as text: documents, queries, answers and judgments must match."""

from __future__ import annotations

from typing import Any

from goodgain.data import Qrels
from goodgain.io.rows import rows_of


def with_text_ids(qrels: Qrels) -> Qrels:
    """Judgments whose ids are texts, as the ids of documents and queries are: 1 and "1" would not match."""
    if qrels.source.kind == "file" or not _has_numbers(qrels):
        return qrels
    return Qrels(qrels_rows(qrels), name=qrels.name).judged_by(qrels.source.judge)


def qrels_rows(qrels: Qrels) -> list[dict[str, Any]]:
    """Judgments as rows with ids as text, targets and aspects where there are any."""
    columns: dict[str, Any] = rows_of(qrels.source, "qrels")._asdict()
    columns["gain"] = columns.pop("value")
    columns = {name: values for name, values in columns.items() if set(values) != {None}}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _has_numbers(qrels: Qrels) -> bool:
    source = qrels.source
    if source.kind == "dict":
        ids = (each for query, docs in source.value.items() for each in (query, *docs))
    elif source.kind == "rows":
        ids = (each for row in source.value for each in row[:2])
    else:
        return True  # columns of a table, whose types differ by library
    return any(not isinstance(each, str) for each in ids)
