"""Golden sets: queries with what a search must return, written by hand and reviewed like code."""

from __future__ import annotations

import operator
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, keyword_hint
from goodgain.io.files import parse_row
from goodgain.io.whole import read_document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

VERSION = 1
_EXAMPLE = "cases: [{query: rotate keys, relevant: [keys.md]}]; see docs/check.md"
DEFAULT_AT = 10  # how deep `forbidden` and `must: true` look
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}
_COMPARISON = re.compile(r"\s*(>=|<=|==|>|<|=)?\s*([-+]?[\d.]+(?:e[-+]?\d+)?)\s*")
_MUST = ("hit", "all")
CASE_FIELDS = (
    "id", "query", "tags", "relevant", "primary", "acceptable", "irrelevant", "quotes", "forbidden",
    "must", "at", "expect", "answer", "note",
)  # fmt: skip
_CASE_ALIASES = {"intents": "tags", "tag": "tags", "intent": "tags", "question": "query"}
SET_FIELDS = ("version", "cases", "target", "measures", "floors", "margin", "baseline", "at",
              "complete", "latency", "depth", "tags")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Expectation:
    """A bound on the value that a measure has for one case, such as nDCG@10 >= 0.6."""

    measure: str
    comparison: str
    value: float

    def holds(self, value: float) -> bool:
        """Whether a value meets it; an undefined one does not."""
        return _COMPARISONS[self.comparison](value, self.value)

    def __str__(self) -> str:
        return f"{self.measure} {self.comparison} {self.value:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A query and what its results must and must not hold.

    `relevant` and `quotes` map what a result is recognised by to its grade: an id, a URL or a glob; and
    text that a result contains, for targets whose chunks have no stable ids.
    """

    id: str
    query: str
    relevant: Mapping[str, float] = field(default_factory=dict)
    quotes: Mapping[str, float] = field(default_factory=dict)
    irrelevant: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    must: Mapping[str, int] = field(default_factory=dict)
    expect: tuple[Expectation, ...] = ()
    tags: tuple[str, ...] = ()
    at: int = DEFAULT_AT
    answer: str | None = None
    where: str = ""

    @property
    def grades(self) -> dict[str, float]:
        """Everything that earns a grade."""
        return {**self.relevant, **self.quotes}


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenSet:
    """The cases of a file, and the settings at its head."""

    path: str
    cases: tuple[Case, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def highest_grade(self) -> float:
        """The highest grade of any case: what a result that nobody judged might have."""
        return max((grade for case in self.cases for grade in case.grades.values()), default=1.0)

    @property
    def tags(self) -> dict[str, list[Case]]:
        """The cases of each tag, in the order of their first case."""
        tags: dict[str, list[Case]] = {}
        for case in self.cases:
            for tag in case.tags:
                tags.setdefault(tag, []).append(case)
        return tags


def read_golden(path: str | os.PathLike[str]) -> GoldenSet:
    """Read a golden set: YAML or JSON with settings, or JSON lines or CSV with cases only."""
    name = os.fspath(path)
    suffix = Path(name).suffix.casefold()
    if suffix in (".yaml", ".yml", ".json"):
        settings, rows = _split_head(_read_yaml(name), name)
    elif suffix in (".jsonl", ".ndjson"):
        settings, rows = {}, list(_json_lines(name))
    elif suffix in (".csv", ".tsv"):
        settings, rows = {}, list(_csv_rows(name, "\t" if suffix == ".tsv" else ","))
    else:
        raise InputError(
            f"a golden set cannot have the ending '{suffix}'",
            where=name,
            hint="use .yaml, .json, .jsonl, .csv or .tsv",
        )
    at = _depth(settings.get("at", DEFAULT_AT), "at", name)
    cases = [_case(row, where, at) for row, where in rows]
    _refuse_duplicates(cases)
    if not cases:
        raise InputError("the golden set has no cases", where=name)
    return GoldenSet(path=name, cases=tuple(cases), settings=settings)


# --- files ---


def _read_yaml(name: str) -> Any:
    """YAML with the line of every mapping under the key `None`; JSON is YAML too."""
    from goodgain.checks.yaml_lines import load_yaml

    return load_yaml(read_document(name), name)


def _split_head(document: Any, name: str) -> tuple[dict[str, Any], list[tuple[Any, str]]]:
    """The settings and the cases of a document: an object with `cases`, or a list of cases."""
    if isinstance(document, list):
        return {}, [(row, _place(row, name)) for row in document]
    if not isinstance(document, dict):
        raise InputError(
            "a golden set is a list of cases or an object with 'cases'", where=name, hint=_EXAMPLE
        )
    settings = {key: value for key, value in document.items() if key is not None}
    for key in settings:
        if key not in SET_FIELDS:
            raise InputError(
                f"unknown setting '{key}'", where=name, hint=keyword_hint(str(key), SET_FIELDS)
            )
    if settings.pop("version", VERSION) != VERSION:
        raise InputError(
            f"the golden set has version {document['version']}, but this version reads {VERSION}",
            where=name,
            hint="pip install --upgrade goodgain",
        )
    rows = settings.pop("cases", None)
    if isinstance(rows, str):  # the cases are in a file of their own
        inner = Path(name).parent / rows
        if inner.resolve() == Path(name).resolve():
            raise InputError("'cases' names the golden set itself", where=name)
        other = read_golden(inner)
        return {**other.settings, **_without_lines(settings)}, [
            (case, case.where) for case in other.cases
        ]
    if not isinstance(rows, list):
        raise InputError("the golden set has no list 'cases'", where=_place(document, name))
    return _without_lines(settings), [(row, _place(row, name)) for row in rows]


def _place(row: Any, name: str) -> str:
    line = row.get(None) if isinstance(row, dict) else None
    return f"{name}:{line}" if line else name


def _without_lines(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_lines(v) for k, v in value.items() if k is not None}
    return [_without_lines(v) for v in value] if isinstance(value, list) else value


def _json_lines(name: str) -> Iterable[tuple[Any, str]]:
    for number, line in enumerate(read_document(name).split("\n"), 1):
        if line.strip():
            where = f"{name}:{number}"
            row = parse_row(line, where)
            if row is None:
                raise InputError(
                    "the line is not valid JSON",
                    where=where,
                    hint="expected one JSON object per line",
                )
            yield row, where


def _csv_rows(name: str, delimiter: str) -> Iterable[tuple[Any, str]]:
    """Rows of a table: lists are separated by ';', and `id=3` in `relevant` has a grade."""
    import csv
    import io

    rows = csv.reader(io.StringIO(read_document(name)), delimiter=delimiter, strict=True)
    try:
        header = [column.strip() for column in next(rows, [])]
        for row in rows:
            where = f"{name}:{rows.line_num}"
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(header):
                raise InputError(
                    f"expected {len(header)} cells, got {len(row)}",
                    where=where,
                    hint="quote cells that contain the separator",
                )
            cells = zip(header, row, strict=True)
            yield {key: _cell(key, text) for key, text in cells if text.strip()}, where
    except csv.Error as error:
        raise InputError(f"invalid CSV: {error}", where=f"{name}:{rows.line_num}") from None


def _cell(column: str, text: str) -> Any:
    name = _CASE_ALIASES.get(column, column)
    text = text.strip()
    if name in ("tags", "forbidden", "irrelevant", "primary", "acceptable"):
        return [item.strip() for item in text.split(";") if item.strip()]
    if name in ("relevant", "quotes"):
        items: dict[str, Any] = {}
        for item in filter(None, map(str.strip, text.split(";"))):
            key, equals, grade = item.rpartition("=")
            graded = equals and re.fullmatch(r"[\d.]+", grade.strip())
            items[key.strip() if graded else item] = float(grade) if graded else 1
        return items
    if name == "expect":
        return dict(_expectation_cell(item) for item in text.split(";") if item.strip())
    if name == "must":
        return True if text.casefold() in ("true", "yes", "1") else _must_cell(text)
    return int(text) if name == "at" and text.isdigit() else text


def _expectation_cell(item: str) -> tuple[str, str]:
    match = re.fullmatch(r"\s*(\S+?)\s*((?:>=|<=|>|<|=).*)", item)
    return (match[1], match[2]) if match else (item.strip(), "")


def _must_cell(text: str) -> Any:
    pairs = [item.partition("=") for item in text.split(";") if item.strip()]
    return {key.strip(): value.strip() for key, _, value in pairs}


# --- cases ---


def _case(row: Any, where: str, at: int) -> Case:
    if isinstance(row, Case):
        return row
    if not isinstance(row, dict):
        raise InputError(f"a case must be an object, got {row!r:.60}", where=where)
    fields: dict[str, Any] = {}
    for key, value in row.items():
        if key is None or value is None:
            continue
        name = _CASE_ALIASES.get(str(key), str(key))
        if name not in CASE_FIELDS:
            raise InputError(
                f"unknown field '{key}' in a case",
                where=where,
                hint=keyword_hint(str(key), CASE_FIELDS),
            )
        if name in fields:
            raise InputError(f"the case has '{name}' twice", where=where)
        fields[name] = _without_lines(value)
    query = fields.get("query")
    if not isinstance(query, str) or not query.strip():
        raise InputError("the case has no query", where=where, hint="query: what people search for")
    relevant = _grades(fields.get("relevant"), "relevant", where)
    for name, grade in (("primary", 2.0), ("acceptable", 1.0)):
        relevant |= dict.fromkeys(_texts(fields.get(name), name, where), grade)
    quotes = _grades(fields.get("quotes"), "quotes", where)
    forbidden = _texts(fields.get("forbidden"), "forbidden", where)
    irrelevant = _texts(fields.get("irrelevant"), "irrelevant", where)
    irrelevant += [key for key, grade in relevant.items() if grade == 0]
    relevant = {key: grade for key, grade in relevant.items() if grade > 0}
    expect = _expectations(fields.get("expect"), where)
    if not (relevant or quotes or forbidden or expect):
        raise InputError(
            f"the case '{query:.60}' expects nothing",
            where=where,
            hint="add relevant, quotes, forbidden or expect",
        )
    both = sorted(set(relevant) & {*forbidden, *irrelevant})
    if both:
        raise InputError(f"'{both[0]}' is relevant and also forbidden or irrelevant", where=where)
    depth = _depth(fields["at"], "at", where) if "at" in fields else at
    must = _must(fields.get("must"), depth, where)
    if must and not (relevant or quotes):
        raise InputError("'must' needs something relevant to look for", where=where)
    return Case(
        id=str(fields.get("id", query)).strip(),
        query=query,
        relevant=relevant,
        quotes={key: grade for key, grade in quotes.items() if grade > 0},
        irrelevant=tuple(irrelevant),
        forbidden=tuple(forbidden),
        must=must,
        expect=expect,
        tags=tuple(dict.fromkeys(_texts(fields.get("tags"), "tags", where))),
        at=depth,
        answer=None if fields.get("answer") is None else str(fields["answer"]),
        where=where,
    )


def _grades(value: Any, name: str, where: str) -> dict[str, float]:
    """{what: grade}; a list has grade 1 throughout."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        return dict.fromkeys(_texts(value, name, where), 1.0)
    grades: dict[str, float] = {}
    for key, grade in value.items():
        is_number = isinstance(grade, int | float) and not isinstance(grade, bool)
        if not (is_number and 0 <= grade <= sys.float_info.max):
            raise InputError(
                f"the grade of '{key}' must be a number of at least 0, got {grade!r:.40}",
                where=where,
            )
        grades[str(key)] = float(grade)
    return grades


def _texts(value: Any, name: str, where: str) -> list[str]:
    items = [] if value is None else value if isinstance(value, list) else [value]
    for item in items:
        if (
            not isinstance(item, str | int | float)
            or isinstance(item, bool)
            or not str(item).strip()
        ):
            raise InputError(f"'{name}' must be a list of texts, got {item!r:.60}", where=where)
    return [str(item) for item in items]


def _depth(value: Any, name: str, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"'{name}' must be a positive integer, got {value!r:.40}", where=where)
    return value


def _must(value: Any, at: int, where: str) -> dict[str, int]:
    if value is None or value is False:
        return {}
    if value is True:
        return {"hit": at}
    if isinstance(value, str) and value in _MUST:
        return {value: at}
    if not isinstance(value, dict):
        raise InputError(
            f"'must' is true or an object, got {value!r:.40}", where=where, hint="must: {hit: 3}"
        )
    for key in value:
        if key not in _MUST:
            raise InputError(
                f"unknown requirement '{key}' in 'must'",
                where=where,
                hint=keyword_hint(str(key), _MUST),
            )
    numbers = {k: int(v) if isinstance(v, str) and v.isdigit() else v for k, v in value.items()}
    return {key: _depth(depth, f"must.{key}", where) for key, depth in numbers.items()}


def _expectations(value: Any, where: str) -> tuple[Expectation, ...]:
    if value is None:
        return ()
    if not isinstance(value, dict):
        raise InputError(
            f"'expect' is an object, got {value!r:.40}",
            where=where,
            hint='expect: {nDCG@10: ">= 0.6"}',
        )
    return tuple(parse_expectation(str(m), bound, where) for m, bound in value.items())


def parse_expectation(measure: str, bound: Any, where: str) -> Expectation:
    """A measure and ">= 0.6"; a bare number is a minimum, or a maximum where lower is better."""
    from goodgain.errors import MeasureError
    from goodgain.measures import parse_all

    try:
        (parsed,) = parse_all(measure)
    except MeasureError as error:
        raise InputError(error.message, where=where, hint=error.hint) from None
    except ValueError:
        raise InputError(f"expected one measure, got '{measure}'", where=where) from None
    match = _COMPARISON.fullmatch(str(bound))
    if not match or isinstance(bound, bool):
        raise InputError(
            f"invalid bound '{bound}' for {measure}", where=where, hint=f'{measure}: ">= 0.6"'
        )
    default = "<=" if parsed.lower_is_better else ">="
    sign = (match[1] or default).replace("==", "=")
    return Expectation(parsed.label, sign, float(match[2]))


def _refuse_duplicates(cases: list[Case]) -> None:
    by_id: dict[str, Case] = {}
    for case in cases:
        earlier = by_id.setdefault(case.id, case)
        if earlier is not case:
            raise InputError(
                f"duplicate case '{case.id}'", where=case.where, hint=f"first at {earlier.where}"
            )
