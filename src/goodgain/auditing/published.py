"""A published table: values as they are printed, by run and measure."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, MeasureError
from goodgain.io.columns import find_columns
from goodgain.io.tables import load_table
from goodgain.measures.grammar import parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodgain.measures.definition import Measure

_NUMBER = re.compile(r"^[\s(]*([-+]?(?:\d+\.?\d*|\.\d+))\s*(%?)[\s*†‡§^a-z)]*$")
_EMPTY = ("", "-", "--", "–", "—", "n/a", "na", "nan", "none", "null")


@dataclass(frozen=True, slots=True)
class Printed:
    """A number as it was printed: its value, its digits after the point, and whether it is a percentage."""

    text: str
    value: float
    digits: int
    percent: bool = False

    def reproduces(self, number: float, rounding: str) -> bool:
        """Whether a computed number would be printed like this."""
        if number != number:
            return False
        scaled: float = (number * 100 if self.percent else number) * 10**self.digits
        wanted: float = self.value * 10**self.digits
        if rounding == "truncated":
            return math.floor(scaled + 1e-7) == round(wanted)
        return bool(abs(scaled - wanted) <= 0.5 + 1e-7)

    def left_over(self, number: float) -> float:
        """How far a computed number is from the printed one, in units of what is printed."""
        return (number * 100 if self.percent else number) - self.value


@dataclass(frozen=True, slots=True)
class Published:
    """The cells of a table, its measures by column, and what was left out of it."""

    cells: dict[tuple[str, str], Printed]  # (run, column) -> number
    measures: dict[str, Measure]  # column -> measure
    ignored_columns: tuple[str, ...]
    ignored_rows: tuple[str, ...]  # runs of the table that were not passed

    @property
    def runs(self) -> list[str]:
        """The runs with a value, in the order of the table."""
        return list(dict.fromkeys(run for run, _ in self.cells))


def read_published(
    source: Any, runs: Sequence[str], measures: Mapping[str, str] | None = None
) -> Published:
    """Read a table with a row per run and a column per measure, or long: run, measure, value."""
    table = load_table(source, "the table")
    roles = find_columns(table.columns, "published", table.name)
    is_long = "measure" in roles and "value" in roles
    system = roles.get("system") or _run_column(table.columns, runs, table.name)
    names = {str(name): _matching(str(name), runs) for name in table.columns[system]}
    cells: dict[tuple[str, str], Printed] = {}
    known: dict[str, Measure] = {}
    ignored_columns = []
    if is_long:
        listed = [
            (str(run), str(column), value)
            for run, column, value in zip(
                table.columns[system],
                table.columns[roles["measure"]],
                table.columns[roles["value"]],
                strict=True,
            )
        ]
    else:
        listed = [
            (str(run), column, value)
            for column, values in table.columns.items()
            if column != system
            for run, value in zip(table.columns[system], values, strict=True)
        ]
    for column in dict.fromkeys(column for _, column, _ in listed):
        measure = _measure_of(column, measures or {})
        if measure is None:
            ignored_columns.append(column)
        else:
            known[column] = measure
    for number, (run, column, value) in enumerate(listed):
        matched = names[run]
        if column not in known or matched is None:
            continue
        printed = _printed(value, known[column], f"{table.name}, '{column}' of '{run}'")
        if printed is None:
            continue
        if (matched, column) in cells:
            raise InputError(
                f"two values of '{column}' for run '{run}'", where=f"{table.name} row {number + 1}"
            )
        cells[matched, column] = printed
    if not known:
        raise InputError(
            "no column of the table names a measure",
            where=table.name,
            hint=f"columns: {', '.join(table.columns)}; see: goodgain measures",
        )
    if not cells:
        raise InputError(
            f"no run of the table was passed: it has {', '.join(list(names)[:5])}",
            where=table.name,
            hint=f"runs passed: {', '.join(runs)}; name them as in the table",
        )
    ignored = tuple(name for name, matched in names.items() if matched is None)
    used = {column: known[column] for column in known if any(c == column for _, c in cells)}
    return Published(cells, used, tuple(ignored_columns), ignored)


def _run_column(columns: Mapping[str, Sequence[Any]], runs: Sequence[str], where: str) -> str:
    """The column that holds the names of the runs."""
    for name, values in columns.items():
        if any(_matching(str(value), runs) for value in values):
            return name
    raise InputError(
        "no column of the table names the runs",
        where=where,
        hint=f"columns: {', '.join(columns)}; name one 'run'",
    )


def _matching(name: str, runs: Sequence[str]) -> str | None:
    """The run of a name: exactly, else without regard to case, else the only one that ends in it."""
    if name in runs:
        return name
    folded = name.strip().casefold()
    for same in (
        [run for run in runs if run.casefold() == folded],
        [run for run in runs if folded and run.casefold().endswith(f".{folded}")],
    ):
        if len(same) == 1:
            return same[0]
    return None


def _measure_of(column: str, chosen: Mapping[str, str]) -> Measure | None:
    text = chosen.get(column, column).strip()
    for spelling in (text, text[:1].upper() + text[1:], text.upper(), text.lower()):
        try:
            return parse(spelling).complete()
        except MeasureError:
            continue
    if column in chosen:
        parse(text)  # raises the error
    return None


def _printed(value: Any, measure: Measure, where: str) -> Printed | None:
    text = repr(value) if isinstance(value, float) else str(value)
    if value is None or text.strip().casefold() in _EMPTY:
        return None
    match = _NUMBER.match(text)
    if match is None:
        raise InputError(f"not a number: '{text}'", where=where)
    number = float(match[1])
    digits = len(match[1].partition(".")[2])
    is_share = measure.definition.range.high <= 1.5
    percent = bool(match[2]) or (is_share and number > 1.5)
    return Printed(text.strip(), number, digits, percent)
