"""Tables of per-query scores made elsewhere: CSV, TSV, JSON, JSON lines, Parquet, data frames, rows.

Wide (a column for each measure) or long (columns measure and value), with a system and a query column and
optionally a seed.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.comparison.replication import (
    Replication,
    changed_queries,
    required_id,
    table_roles,
    unit_ids,
)
from goodgain.errors import InputError
from goodgain.io.columns import column_not_found
from goodgain.io.naming import display_name, system_name
from goodgain.io.tables import Table, load_table
from goodgain.measures.custom import column_measure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goodgain.comparison.scores import Bounds, Columns, ScoreSet
    from goodgain.measures.definition import Direction

_UNDEFINED = {"", "nan", "na", "n/a", "null", "none", "-"}
_TRUTH = {"true": 1.0, "false": 0.0}


def read_scores(
    source: Any,
    scores: ScoreSet,
    columns: Mapping[str, str | Sequence[str]],
    by: str | None = None,
) -> list[int]:
    """Add the systems of a table; `columns` names those of system, query, seed, measure and value.

    `scores.groups` gets the column `by` if the table has it. A table of iterations, as `goodgain trace
    --per-conversation` writes it, counts with each conversation's last iteration.
    """
    table = load_table(source)
    if isinstance(source, str | os.PathLike):
        scores.inputs.append(_provenance(os.fspath(source)))
    roles, query_names = _roles(table, columns)
    length = len(table.columns[roles["query"]])
    if not length:
        raise InputError("the table has no rows", where=table.name)
    units = unit_ids(table, query_names)
    if "system" in roles:
        names = table.columns[roles["system"]]
        systems = [required_id(v, table, i, "system") for i, v in enumerate(names)]
    else:
        systems = [system_name(table.name)] * length
    replication = Replication.of(table, roles, length)
    seeds = replication.labels
    if by is not None and by in table.columns:
        _add_groups(table, by, units, scores, replication.factor if any(seeds) else "")
    rows, is_agentic = _final_rows(table, roles, list(zip(systems, units, seeds, strict=True)))
    taken = {*roles.values(), *query_names}
    values = _long(table, roles, rows) if "measure" in roles else None
    if values is None:
        values = _wide(table, {*taken, by}, rows, scores)
    note = changed_queries(table, taken, systems, units, replication)
    column = next(n for n in reversed(query_names))
    scores.notes += [note.replace("{query column}", column)] if note else []
    scores.notes += replication.notes()
    scores.factor = replication.factor if any(seeds) else scores.factor
    scores.add_measures(
        {
            name: column_measure(name, values.direction(name), is_agentic) for name in values.names
        }.values()
    )
    by_system: dict[str, dict[str, Columns]] = {}
    limits: dict[str, dict[str, Bounds]] = {}
    repeated: dict[tuple[str, str, str, str], list[tuple[float, float, float]]] = {}
    for i, name, *numbers in values.cells:
        value, low, high = numbers
        seed_columns = by_system.setdefault(systems[i], {}).setdefault(seeds[i], {})
        cells = seed_columns.setdefault(name, {})
        if units[i] in cells and not replication.averaged:
            raise InputError(
                f"duplicate query '{units[i]}' of system '{systems[i]}'",
                where=table.where(i),
                hint="several seeds need a column 'seed', or name it (--seed-column COLUMN); several "
                "columns can identify a query (--query COLUMN,COLUMN)",
            )
        if is_agentic and low == low and high != high and "upper" in roles:
            high = math.inf  # as JSON writes an upper bound that does not exist
        if replication.averaged:
            cell = repeated.setdefault((systems[i], seeds[i], name, units[i]), [])
            cell.append((value, low, high))
            value, low, high = (_defined_mean(side) for side in zip(*cell, strict=True))
        cells[units[i]] = value
        if low == low and high == high and low != high:
            own = limits.setdefault(systems[i], {}).setdefault(seeds[i], {})
            own.setdefault(name, {})[units[i]] = (low, high)
    if is_agentic:
        from goodgain.agentic.tables import DEFAULT_COMPARED

        scores.default_measures += [
            m for m in DEFAULT_COMPARED if m in values.names and m not in scores.default_measures
        ]
    return [
        scores.add(
            system,
            list(by_seed.values()),
            seed_labels=list(by_seed) if list(by_seed) != [""] else None,
            bounds=[limits[system].get(seed, {}) for seed in by_seed] if system in limits else None,
            coverage=_coverage(by_seed.values()) if is_agentic else None,
        )
        for system, by_seed in by_system.items()
    ]


def _defined_mean(values: Sequence[float]) -> float:
    defined = [v for v in values if v == v]
    return math.fsum(defined) / len(defined) if defined else math.nan


def _coverage(seeds: Iterable[Columns]) -> float | None:
    """The mean share of labelled results, where the table has it."""
    shares = [v for seed in seeds for v in seed.get("Coverage", {}).values() if v == v]
    return math.fsum(shares) / len(shares) if shares else None


@dataclass
class _Values:
    """The scores of a table: (row, measure, value, lower, upper), and stated directions."""

    cells: list[tuple[int, str, float, float, float]]
    names: list[str]
    directions: Mapping[str, str]

    def direction(self, name: str) -> Direction | None:
        """What the table itself says about the direction of a measure."""
        word = self.directions.get(name, "").strip().casefold()
        if word in ("lower", "true", "1", "min", "minimize", "minimise"):
            return "lower"
        return "higher" if word in ("higher", "false", "0", "max", "maximize", "maximise") else None


def _long(table: Table, roles: Mapping[str, str], rows: Sequence[int]) -> _Values:
    """A row per value: columns measure and value, perhaps lower, upper, and a direction."""
    names = [str(v) for v in table.columns[roles["measure"]]]
    values = _numbers(table, roles["value"])
    if values is None:
        raise InputError(f"the column '{roles['value']}' holds no numbers", where=table.name)
    nothing = [math.nan] * len(values)
    lower, upper = (
        (_numbers(table, roles[role]) if role in roles else None) or nothing
        for role in ("lower", "upper")
    )
    stated = roles.get("direction")
    directions = {names[i]: str(table.columns[stated][i]) for i in rows} if stated else {}
    cells = [(i, names[i], values[i], lower[i], upper[i]) for i in rows]
    return _Values(cells, list(dict.fromkeys(names)), directions)


def _wide(table: Table, others: set[str | None], rows: Sequence[int], scores: ScoreSet) -> _Values:
    """A column per measure."""
    cells: list[tuple[int, str, float, float, float]] = []
    names = []
    for name in table.columns:
        if name in others:
            continue
        values = _numbers(table, name)
        if values is None:
            scores.notes.append(f"the column '{name}' holds no numbers and is not compared")
            continue
        names.append(name)
        cells += [(i, name, values[i], math.nan, math.nan) for i in rows]
    if not names:
        raise InputError(
            "no column of the table holds scores",
            where=table.name,
            hint=f"available columns: {', '.join(table.columns)}",
        )
    return _Values(cells, names, {})


def _final_rows(
    table: Table, roles: Mapping[str, str], runs: Sequence[tuple[str, str, str]]
) -> tuple[Sequence[int], bool]:
    """The rows that count: all, or of a table of iterations the last of each (system, unit, seed)."""
    if "iteration" not in roles or roles["query"].strip().casefold() != "conversation":
        return range(len(runs)), False
    iterations = _numbers(table, roles["iteration"]) or []
    last: dict[tuple[str, str, str], float] = {}
    for run, iteration in zip(runs, iterations, strict=True):
        if iteration == iteration:
            last[run] = max(iteration, last.get(run, 0))
    return [i for i, iteration in enumerate(iterations) if iteration == last.get(runs[i])], True


def read_groups(
    source: Any, column: str, into: ScoreSet, columns: Mapping[str, str | Sequence[str]]
) -> None:
    """Take the group of each query from a table of its own: query and `column`."""
    table = load_table(source)
    chosen = {role: name for role, name in columns.items() if role == "query"}
    _, names = table_roles(table, "groups", chosen)
    if column not in table.columns:
        raise column_not_found(column, table.columns, table.name)
    _add_groups(table, column, unit_ids(table, names), into)


def _add_groups(
    table: Table, column: str, units: Sequence[str], into: ScoreSet, factor: str = ""
) -> None:
    groups = into.groups.setdefault(column, {})
    for i, (unit, value) in enumerate(zip(units, table.columns[column], strict=True)):
        group = "" if value is None else str(value)
        if groups.setdefault(unit, group) != group:
            raise InputError(
                f"query '{unit}' is in the groups '{groups[unit]}' and '{group}' of '{column}'",
                where=table.where(i),
                hint=f"if each {factor} drew its own queries, name both columns (--query {factor},...)"
                if factor
                else "",
            )


def _roles(
    table: Table, columns: Mapping[str, str | Sequence[str]]
) -> tuple[dict[str, str], list[str]]:
    """The columns by role; in a wide table those of a long one are measures like any other."""
    roles, queries = table_roles(table, "scores", columns)
    if "measure" in roles and "value" in roles:
        return roles, queries
    long = ("measure", "value", "lower", "upper", "direction")
    return {role: name for role, name in roles.items() if role not in long}, queries


def _numbers(table: Table, column: str) -> list[float] | None:
    """The column as numbers, undefined as NaN; None where it holds text."""
    numbers: list[float] = []
    bad: int | None = None
    good = False
    for i, value in enumerate(table.columns[column]):
        number = _number(value)
        if number is None:
            bad = i if bad is None else bad
            if not good and i > 20:
                return None
            number = math.nan
        elif number == number:
            good = True
        numbers.append(number)
    if bad is not None:
        if not good:
            return None
        raise InputError(
            f"'{table.columns[column][bad]}' in column '{column}' is not a number",
            where=table.where(bad),
            hint="undefined is an empty field; leave a column out by naming the measures (-m)",
        )
    return numbers if good else None


def _number(value: Any) -> float | None:
    if value is None:
        return math.nan
    if isinstance(value, str):
        text = value.strip().casefold()
        if text in _UNDEFINED:
            return math.nan
        if text in _TRUTH:
            return _TRUTH[text]
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return None if math.isinf(number) else number


def _provenance(path: str) -> dict[str, Any]:
    import hashlib
    from pathlib import Path

    from goodgain.io.files import is_stream

    facts: dict[str, Any] = {"name": display_name(path), "kind": "scores"}
    if not is_stream(path):
        content = Path(path).read_bytes()
        facts |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    return facts
