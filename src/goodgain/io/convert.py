"""Conversion of runs and judgments between formats, with a list of what the new format cannot hold."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError
from goodgain.io import naming
from goodgain.io.columns import kinds_of_header
from goodgain.io.files import is_stream, is_text, read_head, read_json
from goodgain.io.line_formats import EMPTY
from goodgain.io.result_lists import is_query_row, rank_lists
from goodgain.io.rows import Rows, has_scores, rows_of
from goodgain.io.sources import Source, resolve, run_names
from goodgain.io.writers import WRITERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.io.columns import TableKind

FORMATS = {
    "trec": "whitespace-separated columns, as trec_eval reads them",
    "csv": "comma-separated values with a header",
    "tsv": "tab-separated values with a header",
    "jsonl": "one JSON object per line",
    "json": "{query: {document: number}}, as ranx and pytrec_eval read it",
    "beir": "BEIR's qrels: query-id, corpus-id and score, separated by tabs",
    "parquet": "Apache Parquet",
    "arrow": "an Arrow file (Feather)",
}
_WITH_TARGETS = ("csv", "tsv", "jsonl", "parquet", "arrow")


@dataclass(frozen=True, slots=True)
class Converted:
    """What was written, and what the new format could not hold."""

    kind: TableKind
    format: str
    rows: int
    queries: int
    losses: tuple[str, ...]


def convert(
    source: Any,
    target: str,
    *,
    to: str | None = None,
    kind: str | None = None,
    columns: Mapping[str, str] | None = None,
    name: str | None = None,
) -> Converted:
    """Read a run or judgments and write them in the format `to`, by default that of `target`'s suffix.

    `name` is the last column of a TREC run; by default the one of the input. `target` is a path,
    compressed if its suffix says so.

    >>> from pathlib import Path
    >>> import goodgain as gg
    >>> gg.convert({"q1": {"a": 2.5, "b": 1.0}}, "bm25.run", to="trec", name="bm25")
    Converted(kind='run', format='trec', rows=2, queries=1, losses=())
    >>> print(Path("bm25.run").read_text().rstrip())
    q1 Q0 a 1 2.5 bm25
    q1 Q0 b 2 1.0 bm25
    """
    from goodgain.io.atomic import write_files

    data, converted = converted_bytes(
        source, target_format(target, to), kind=kind, columns=columns, name=name
    )
    write_files({target: data})
    return converted


def converted_bytes(
    source: Any,
    form: str,
    *,
    kind: str | None = None,
    columns: Mapping[str, str] | None = None,
    name: str | None = None,
) -> tuple[bytes, Converted]:
    """The bytes of the new file, and a summary of them."""
    table = _table_kind(source, kind)
    resolved = resolve(source, table, columns)
    if table == "run" and len(names := run_names(resolved)) > 1:
        raise UsageError(
            f"the table holds {len(names):,} runs, such as '{names[0]}' and '{names[1]}'",
            hint="a file of the new format would mix them: write each to a separate file first",
        )
    rows = _without_iterations(rows_of(resolved, table), form)
    if not rows:
        raise InputError("there are no rows to convert", where=resolved.name, hint=EMPTY)
    losses = _losses(rows, table, form, resolved)
    name = name or (_run_tag(resolved) if table == "run" else None) or "goodgain"
    data = WRITERS[form](rows, table, name, resolved.name)
    return data, Converted(table, form, len(rows.query), len(set(rows.query)), tuple(losses))


def target_format(target: str, to: str | None = None) -> str:
    """The format to write: `to`, or the one that the suffix names."""
    if to is not None:
        if to not in FORMATS:
            raise UsageError(f"unknown format '{to}'", hint=f"one of: {', '.join(FORMATS)}")
        return to
    form = naming.format_of(target)
    if form not in FORMATS:
        raise UsageError(
            f"cannot tell the format of '{target}' from its suffix",
            hint=f"choose one with --to {'|'.join(FORMATS)}",
        )
    return form


# --- run or judgments? ---


def _table_kind(source: Any, kind: str | None) -> TableKind:
    """What the input is: the user's choice, or what it looks like."""
    if kind is not None:
        kinds: dict[str, TableKind] = {"run": "run", "qrels": "qrels"}
        if kind not in kinds:
            raise UsageError(f"invalid kind '{kind}'", hint="one of: run, qrels")
        return kinds[kind]
    candidates = _kinds(source)
    if len(candidates) == 1:
        return candidates.pop()
    name = f"'{source}'" if isinstance(source, str) else "the input"
    raise UsageError(
        f"{name} could be a run or judgments", hint="choose with --kind run or --kind qrels"
    )


def table_kinds(source: Any) -> set[TableKind]:
    """What a source looks like: a run, judgments, both, or no table at all."""
    try:
        return _kinds(source)
    except InputError:
        return set()


def _kinds(source: Any) -> set[TableKind]:
    if isinstance(source, str) and is_text(source):
        return _kinds_of_line(_first_line(source))
    name = None
    if isinstance(source, str) and naming.format_of(source) == "json":
        name, source = naming.display_name(source), read_json(source)
        if not isinstance(source, list | dict):  # a text in it is no path
            return set()
    if isinstance(source, list) and source and is_query_row(source[0]):
        return {"run"}
    resolved = resolve(source, "qrels", name=name)
    if resolved.kind == "dict":
        if resolved.value and all(isinstance(docs, list) for docs in resolved.value.values()):
            return {"run"} if _are_results(resolved.value) else set()
        values = [
            v for docs in resolved.value.values() if isinstance(docs, dict) for v in docs.values()
        ]
        if values and all(isinstance(v, int) for v in values):
            return {"qrels"}
        return {"run"} if values and all(isinstance(v, float) for v in values) else set()
    if resolved.kind == "arrow":
        from goodgain import _core

        return kinds_of_header(_core.ArrowTable.of(resolved.value, resolved.name).columns())
    return set()


def _are_results(lists: dict[Any, Any]) -> bool:
    """Whether the lists of a dictionary hold results with ids, rather than messages or the like."""
    try:
        rank_lists(lists, None, "")
    except InputError:
        return False
    return True


def _kinds_of_line(line: str) -> set[TableKind]:
    if line.startswith("{"):
        try:
            row = json.loads(line)
            return {"run"} if is_query_row(row) else kinds_of_header(list(row))
        except (ValueError, TypeError, RecursionError):
            return set()
    for delimiter in ("\t", ","):
        if kinds := kinds_of_header([f.strip('"') for f in line.split(delimiter)]):
            return kinds
    by_columns: dict[int, TableKind] = {4: "qrels", 6: "run"}
    return {by_columns[n]} if (n := len(line.split())) in by_columns else set()


# --- what cannot be held ---


def _without_iterations(rows: Rows, form: str) -> Rows:
    """The rows without aspects that are none.

    One value in all rows, such as the 0 of TREC qrels, carries no information; 0.5 or -1 is the round in
    which something was judged, and only TREC has a column for it.
    """
    constant = len(set(rows.aspect)) == 1
    return rows.without_aspects() if constant or (form != "trec" and rows.by_round()) else rows


def _losses(rows: Rows, table: TableKind, form: str, source: Source) -> list[str]:
    losses = []
    if table == "run" and not has_scores(source):
        losses.append("the run has no scores: negated ranks are written as scores")
    if any(t is not None for t in rows.target) and form not in _WITH_TARGETS:
        losses.append(f"{form} cannot hold targets: they are left out")
    if any(a is not None for a in rows.aspect) and form in ("json", "beir"):
        losses.append(f"{form} cannot hold aspects: they are left out")
    if table == "run" and form != "trec" and _run_tag(source):
        losses.append(f"{form} cannot hold the run's name and the ranks: they are left out")
    if (
        form in ("trec", "beir")
        and table == "qrels"
        and any(not v.is_integer() for v in rows.value)
    ):
        losses.append("fractional gains are written as they are; trec_eval truncates them")
    if form == "json" and not _is_grouped(rows.query):
        losses.append("json groups the rows of a query: their order changes")
    return losses


def _is_grouped(queries: list[str]) -> bool:
    """Whether the rows of each query follow one another."""
    starts = [q for i, q in enumerate(queries) if i == 0 or queries[i - 1] != q]
    return len(set(starts)) == len(starts)


def _run_tag(source: Source) -> str | None:
    """The run's name in the first of its TREC lines."""
    if (
        source.kind != "file"
        or is_stream(source.value)
        or naming.format_of(source.value) in ("csv", "jsonl")
    ):
        return None
    first = _first_line(source.value)
    columns = first.split()
    return columns[5] if len(columns) == 6 and not first.startswith("{") else None


def _first_line(path: str) -> str:
    lines = read_head(path).splitlines()
    return next((line for line in lines if line.strip() and line[:1] != "#"), "")
