"""Tables of per-query scores made elsewhere: CSV, TSV, JSON, JSON lines, Parquet, data frames, rows.

Wide (a column for each measure) or long (columns measure and value), with a system and a query column and
optionally a seed.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.io.tables import Table, load_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodgain.comparison.scores import Columns, ScoreSet

# The usual names of each role; the first that is there is taken.
_NAMES = {
    "system": ("system", "run", "method", "model", "retriever", "variant", "name"),
    "query": ("query", "query_id", "qid", "query-id", "q_id", "queryid", "topic", "topic_id",
              "question", "question_id", "conversation", "unit"),
    "seed": ("seed",),
    "measure": ("measure", "metric"),
    "value": ("value", "score"),
}  # fmt: skip
_UNDEFINED = {"", "nan", "na", "n/a", "null", "none", "-"}
_TRUTH = {"true": 1.0, "false": 0.0}


def read_scores(
    source: Any, into: ScoreSet, given: Mapping[str, str], by: str | None = None
) -> list[str]:
    """Add the systems of a table; `given` names columns by role: system, query, seed, measure, value.

    `into.groups` gets the column `by` where the table has it.
    """
    table = load_table(source)
    if isinstance(source, str | os.PathLike):
        into.inputs.append(_provenance(os.fspath(source)))
    roles = _roles(table, given)
    length = len(table.columns[roles["query"]])
    if not length:
        raise InputError("the table has no rows", where=table.name)
    units = [_id(v, table, i, "query") for i, v in enumerate(table.columns[roles["query"]])]
    if "system" in roles:
        systems = [_id(v, table, i, "system") for i, v in enumerate(table.columns[roles["system"]])]
    else:
        systems = [_stem(table.name)] * length
    seeds = [str(v) for v in table.columns[roles["seed"]]] if "seed" in roles else [""] * length
    if by is not None and by in table.columns:
        _add_groups(table, by, units, into)
    taken = {*roles.values(), by}
    if "measure" in roles and "value" in roles:
        names = [str(v) for v in table.columns[roles["measure"]]]
        values = _numbers(table, roles["value"])
        if values is None:
            raise InputError(f"the column '{roles['value']}' holds no numbers", where=table.name)
        triples = [(range(length), names, values)]
    else:
        triples = []
        for column in table.columns:
            if column in taken:
                continue
            values = _numbers(table, column)
            if values is None:
                into.notes.append(f"the column '{column}' holds no numbers and is not compared")
            else:
                triples.append((range(length), [column] * length, values))
        if not triples:
            raise InputError(
                "no column of the table holds scores",
                where=table.name,
                hint=f"the columns are: {', '.join(table.columns)}",
            )
    found: dict[str, dict[str, Columns]] = {}
    for rows, names, values in triples:
        for i in rows:
            measures = found.setdefault(systems[i], {}).setdefault(seeds[i], {})
            scores = measures.setdefault(names[i], {})
            if units[i] in scores:
                raise InputError(
                    f"query '{units[i]}' of system '{systems[i]}' is there twice",
                    where=table.where(i),
                    hint="several seeds need a column 'seed', or name it (--seed-column COLUMN)",
                )
            scores[units[i]] = values[i]
    return [into.add(system, list(by_seed.values())) for system, by_seed in found.items()]


def read_groups(source: Any, column: str, into: ScoreSet, given: Mapping[str, str]) -> None:
    """Take the group of each query from a table of its own: query and `column`."""
    table = load_table(source)
    roles = _roles(table, given)
    if column not in table.columns:
        raise _no_column(table, column)
    units = [_id(v, table, i, "query") for i, v in enumerate(table.columns[roles["query"]])]
    _add_groups(table, column, units, into)


def _add_groups(table: Table, column: str, units: Sequence[str], into: ScoreSet) -> None:
    groups = into.groups.setdefault(column, {})
    for i, (unit, value) in enumerate(zip(units, table.columns[column], strict=True)):
        group = "" if value is None else str(value)
        if groups.setdefault(unit, group) != group:
            raise InputError(
                f"query '{unit}' is in the groups '{groups[unit]}' and '{group}' of '{column}'",
                where=table.where(i),
            )


def _roles(table: Table, given: Mapping[str, str]) -> dict[str, str]:
    roles = {}
    folded = {name.strip().casefold(): name for name in reversed(list(table.columns))}
    for role, usual in _NAMES.items():
        if given.get(role):
            if given[role] not in table.columns:
                raise _no_column(table, given[role])
            roles[role] = given[role]
            continue
        name = next(
            (folded[u] for u in usual if u in folded and folded[u] not in given.values()), None
        )
        if name is not None:
            roles[role] = name
    if "query" not in roles:
        raise InputError(
            "there is no column for the query id",
            where=table.name,
            hint=f"the columns are: {', '.join(table.columns)}; name it with columns={{'query': ...}} "
            "(--query COLUMN)",
        )
    if ("measure" in roles) != ("value" in roles):
        roles.pop("measure", None)
        roles.pop("value", None)
    return roles


def _no_column(table: Table, column: str) -> InputError:
    return InputError(
        f"there is no column '{column}'",
        where=table.name,
        hint=f"the columns are: {', '.join(table.columns)}",
    )


def _id(value: Any, table: Table, row: int, role: str) -> str:
    if value is None or value == "" or value != value:
        raise InputError(f"a row has no {role}", where=table.where(row))
    return str(value)


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

    from goodgain.io.files import shown_name

    facts: dict[str, Any] = {"name": shown_name(path), "kind": "scores"}
    if path != "-":
        content = Path(path).read_bytes()
        facts |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    return facts


def _stem(name: str) -> str:
    from pathlib import Path

    return Path(name).name.split(".")[0] or name
