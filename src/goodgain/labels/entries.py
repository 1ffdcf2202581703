"""One label on its way into a store or out of it, whatever tool it comes from or goes to."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.labels.pairs import pair_of_fields, row_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.labels.pairs import Pair


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A label of a person (`annotator`) or of a model, for one query and document."""

    where: str
    query: str
    doc: str
    question: str = ""
    text: str = ""
    document: str = ""  # the hash of the text, if only that is known
    annotator: str = ""
    model: str = ""
    gain: float | None = None
    status: str = "label"  # as in `Vote`
    reason: str = ""
    note: str = ""
    seconds: float | None = None
    created: str = ""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How the labels of a file are read, and what was left out of it."""

    gains: Mapping[str, float] = field(default_factory=dict)  # of labels that are words
    name: str | None = None  # which of several questions, controls or scores of a file
    annotator: str = ""  # where the file does not say
    model: str = ""
    left_out: Counter[str] = field(default_factory=Counter)
    names: dict[str, None] = field(default_factory=dict)  # that were read, where none was chosen

    def gain(self, value: Any, where: str) -> float:
        """A label as a number."""
        if isinstance(value, list | tuple) and len(value) == 1:
            value = value[0]
        if isinstance(value, str) and value.strip() in self.gains:
            return float(self.gains[value.strip()])
        try:
            if isinstance(value, list | tuple | dict) or value is None:
                raise ValueError
            number = float(value)
        except (OverflowError, TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise InputError(
                f"the label {value!r:.60} is not a number",
                where=where,
                hint="give words their gains: gains={'relevant': 1, 'irrelevant': 0} "
                "(--gains relevant=1,irrelevant=0)",
            )
        return number

    def choose(self, names: list[str], where: str) -> str | None:
        """The one question, control or score to read, of those that a record has."""
        if self.name is not None:
            return self.name if self.name in names else None
        for name in names:
            self.require_one(name, where)
        return names[0] if names else None

    def require_one(self, name: str, where: str) -> None:
        """Refuse a second question, control or score: labels of one pair would replace each other."""
        if self.name is None:
            self.names[name] = None
        if len(self.names) > 1:
            raise InputError(
                f"there are several labels: {', '.join(self.names)}",
                where=where,
                hint=f"choose one: name='{next(iter(self.names))}' (--question {next(iter(self.names))})",
            )

    def person(self, value: Any, where: str) -> str:
        """The annotator that the record names, or else the one chosen for the file."""
        name = "" if is_missing(value) else str(value).strip()
        if not (name or self.annotator):
            raise InputError(
                "the label does not say who gave it",
                where=where,
                hint="name them: annotator='NAME' (--annotator NAME), or model='NAME' (--model NAME)",
            )
        return name or self.annotator


def pair_fields(row: Mapping[str, Any], where: str) -> Pair:
    """The query and the document of a record, by the usual names of their columns."""
    flat = {key: value for key, value in row.items() if not isinstance(value, dict | list)}
    fields = row_fields(flat, "pairs", where)
    if not ({"question", "query"} & fields.keys()):
        raise InputError(
            "the record has no query",
            where=where,
            hint=f"fields: {', '.join(map(str, row))}; usual names: query_id, question, query",
        )
    if not ({"doc", "text", "title"} & fields.keys()):
        raise InputError(
            "the record has no document",
            where=where,
            hint=f"fields: {', '.join(map(str, row))}; usual names: doc_id, docid, text",
        )
    return pair_of_fields(fields)


def entry(pair: Pair, where: str, **more: Any) -> Entry:
    """An entry for a pair."""
    return Entry(
        where=where, query=pair.query, doc=pair.doc, question=pair.question, text=pair.text, **more
    )


def is_missing(value: Any) -> bool:
    """Whether a cell is empty: None, an empty text, or NaN."""
    return value is None or value == "" or value != value


def number_or_none(value: Any, where: str) -> float | None:
    """A cell that should be a number if it is not empty."""
    if is_missing(value):
        return None
    try:
        return float(value)
    except (OverflowError, TypeError, ValueError):
        raise InputError(f"not a number: {value!r:.60}", where=where) from None


def time_of(value: Any, where: str) -> str:
    """A time in UTC as the store writes it; without a zone it is taken for UTC."""
    if is_missing(value):
        return ""
    try:
        if isinstance(value, int | float):
            moment = datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
        elif isinstance(value, datetime):
            moment = value
        else:
            moment = datetime.fromisoformat(str(value).strip())
    except (ValueError, OverflowError, OSError):
        raise InputError(f"not a time: {value!r:.60}", where=where, hint="use ISO 8601") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
