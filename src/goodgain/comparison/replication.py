"""What identifies a row of a score table: its query, and the seed, repeat or annotator it belongs to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.io.columns import column_not_found, find_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodgain.io.tables import Table

FACTORS = ("seed", "annotator", "repeat")  # the first that varies repeats the scores of a query
_QUESTIONS = {"question", "query", "query_text", "text", "question_text", "prompt"}


def query_columns(value: str | Sequence[str], names: Sequence[str]) -> list[str]:
    """The columns that identify a query together: one, a list, or several separated by commas."""
    if not isinstance(value, str):
        return list(value)
    if value in names or "," not in value:
        return [value]
    return [part.strip() for part in value.split(",") if part.strip()]


def table_roles(
    table: Table, kind: str, columns: Mapping[str, str | Sequence[str]]
) -> tuple[dict[str, str], list[str]]:
    """The columns by role, and those that identify a query."""
    names = list(table.columns)
    chosen = {role: value for role, value in columns.items() if isinstance(value, str)}
    queries: list[str] = []
    if "query" in columns:
        queries = query_columns(columns["query"], names)
        for name in queries:
            if name not in names:
                raise column_not_found(name, names, table.name)
        chosen["query"] = next((n for n in queries if n != columns.get("seed", "seed")), queries[0])
    roles = find_columns(names, kind, table.name, chosen)
    return roles, queries or [roles["query"]]


def unit_ids(table: Table, columns: Sequence[str]) -> list[str]:
    """The id of the query of each row; several columns are joined by a slash."""
    listed = [[required_id(v, table, i, "query") for i, v in enumerate(table.columns[c])]
              for c in columns]  # fmt: skip
    if len(listed) == 1:
        return listed[0]
    escaped = ([v.replace("\\", "\\\\").replace("/", "\\/") for v in column] for column in listed)
    return ["/".join(row) for row in zip(*escaped, strict=True)]


def required_id(value: Any, table: Table, row: int, role: str) -> str:
    """The value as text; it must not be missing."""
    if value is None or value == "" or value != value:
        raise InputError(f"a row has no {role}", where=table.where(row))
    return str(value)


@dataclass
class Replication:
    """The replicate of each row ("" if it has none), and which column says so."""

    factor: str
    labels: list[str]
    averaged: tuple[str, ...]  # other such columns: scores are averaged over them

    @classmethod
    def of(cls, table: Table, roles: Mapping[str, str], length: int) -> Replication:
        """From the columns of a table."""
        columns = {
            role: [_label(v) for v in table.columns[roles[role]]]
            for role in FACTORS
            if role in roles
        }
        columns = {role: own for role, own in columns.items() if any(own)}
        varied = [role for role, own in columns.items() if len(set(own)) > 1]
        # One annotator or one round is nothing to generalise from; one seed is said to be one.
        chosen = varied[0] if varied else "seed"
        labels = columns.pop(chosen, [""] * length)
        averaged = tuple(role for role, own in columns.items() if len(set(own)) > 1)
        return cls(chosen, labels, averaged)

    def notes(self) -> list[str]:
        """What is averaged."""
        return [
            f"scores are averaged over {role}s within each query and {self.factor}; the result does "
            f"not cover other {role}s"
            for role in self.averaged
            if role != "repeat"
        ]


def _label(value: Any) -> str:
    return "" if value is None or value != value else str(value).strip()


def changed_queries(
    table: Table,
    taken: set[str],
    systems: Sequence[str],
    units: Sequence[str],
    replication: Replication,
) -> str:
    """A note if ids stand for other queries in other seeds: a column that describes the query differs.

    Such a column has one value for all systems in a seed; with one system, its name must say it.
    """
    if len(set(replication.labels)) < 2:
        return ""
    several = len(set(systems)) > 1
    numbers_vary = (
        False  # a number that all systems share describes the query only if others differ
    )
    candidates = {}
    for name, values in table.columns.items():
        if name in taken or (not several and name.strip().casefold() not in _QUESTIONS):
            continue
        changed = _changed(values, systems, units, replication.labels)
        is_number = _is_number(next((v for v in values if v not in (None, "")), None))
        numbers_vary = numbers_vary or (is_number and changed is None)
        if changed:
            candidates[name] = changed, is_number
    for name, (changed, is_number) in candidates.items():
        if numbers_vary or not is_number:
            unit, first, second = changed[0]
            more = f" and {len(changed) - 1:,} more" if len(changed) > 1 else ""
            return (
                f"query '{unit}'{more} differ{'s' * (not more)} in '{name}' between {replication.factor}s "
                f"{first} and {second}: if each {replication.factor} drew its own queries, name both columns "
                f"(--query {replication.factor},{{query column}})"
            )
    return ""


def _changed(
    values: Sequence[Any], systems: Sequence[str], units: Sequence[str], labels: Sequence[str]
) -> list[tuple[str, str, str]] | None:
    """Queries with different values in two seeds; None if systems differ within a seed."""
    by_cell: dict[tuple[str, str], Any] = {}
    shared = False
    for value, unit, label in zip(values, units, labels, strict=True):
        if (unit, label) not in by_cell:
            by_cell[unit, label] = value
            continue
        shared = True
        known = by_cell[unit, label]
        if known != value and not (_is_nan(known) and _is_nan(value)):
            return None
    if len(set(systems)) > 1 and not shared:
        return []
    first: dict[str, tuple[str, Any]] = {}
    changed: dict[str, tuple[str, str, str]] = {}
    for (unit, label), value in by_cell.items():
        other, known = first.setdefault(unit, (label, value))
        if known != value and not (_is_nan(known) and _is_nan(value)):
            changed.setdefault(unit, (unit, other, label))
    return list(changed.values())


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
