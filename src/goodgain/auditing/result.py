"""What an audit found: conventions, meanings of columns, and what is left over, cell by cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.auditing.conventions import meaning
from goodgain.results.text import html_table, render

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_LISTED = 4  # of equally good measures; the record has all


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A published value and the one computed under the conventions."""

    run: str
    column: str
    measure: str
    printed: str
    computed: float
    reproduced: bool
    left_over: float  # computed - printed


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """The measure behind a column of the table."""

    name: str
    measure: str
    changes: tuple[str, ...]  # what differs from the usual meaning of the name
    values: int
    reproduced: int
    meanings: int  # measures that the name may stand for
    meanings_tried: (
        int  # of these, under every combination of conventions; the others under simple ones
    )
    alternatives: tuple[str, ...]  # measures that reproduce as much
    own_conventions: dict[str, str]  # under which it is reproduced, if not under the table's

    def line(self) -> str:
        """The column in words."""
        text = f"{self.measure}: {self.reproduced} of {self.values} values"
        if self.alternatives:
            first, rest = self.alternatives[:_MOST_LISTED], len(self.alternatives) - _MOST_LISTED
            others = f" and {rest} more" if rest > 0 else ""
            text += f" (as many: {', '.join(first)}{others})"
        if self.own_conventions:
            own = ", ".join(f"{axis}={choice}" for axis, choice in self.own_conventions.items())
            text += f"; all {self.values} under {own}"
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The conventions that reproduce a table best."""

    cells: tuple[Cell, ...]
    conventions: dict[str, str]
    possible: dict[str, tuple[str, ...]]  # choices that reproduce as much, by axis
    columns: tuple[Column, ...]
    combinations: int  # of conventions (ranking, averaging, rounding), all of them tried
    without_effect: tuple[str, ...]  # axes that, on their own, change no value of these runs
    tools: tuple[str, ...]
    ignored_columns: tuple[str, ...] = ()
    ignored_rows: tuple[str, ...] = ()
    runs_without_row: tuple[str, ...] = ()

    @property
    def reproduced(self) -> bool:
        """Whether every value is reproduced to its last digit."""
        return all(cell.reproduced for cell in self.cells)

    @property
    def decided(self) -> dict[str, str]:
        """The conventions that the table decides."""
        return {a: c for a, c in self.conventions.items() if len(self.possible[a]) == 1}

    @property
    def undecided(self) -> dict[str, tuple[str, ...]]:
        """The conventions that it leaves open, with the choices that fit."""
        return {a: c for a, c in self.possible.items() if len(c) > 1}

    @property
    def left_over(self) -> tuple[Cell, ...]:
        """The values that are not reproduced."""
        return tuple(cell for cell in self.cells if not cell.reproduced)

    def render(self, format: str = "table") -> str:  # noqa: A002
        """The result as text; in other formats a row per value."""
        if format != "table":
            return render(format, *self._table(self.cells))
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> list[str]:
        done = sum(cell.reproduced for cell in self.cells)
        runs = len({cell.run for cell in self.cells})
        lines = [
            f"{done:,} of {len(self.cells):,} values reproduced to the last digit "
            f"({runs} run{'s' * (runs != 1)}, {len(self.columns)} "
            f"measure{'s' * (len(self.columns) != 1)})"
        ]
        if self.tools:
            lines.append(f"as computed by: {', '.join(self.tools)}")
        if self.decided:
            lines += ["", "conventions:"]
            size = max(len(f"{a}={c}") for a, c in self.decided.items())
            lines += [
                f"  {f'{axis}={choice}':<{size}}  {meaning(axis, choice)}"
                for axis, choice in self.decided.items()
            ]
        lines += ["", "columns:"]
        size = max(len(column.name) for column in self.columns)
        lines += [f"  {column.name:<{size}}  {column.line()}" for column in self.columns]
        open_axes = [f"{axis} ({' or '.join(choices)})" for axis, choices in self.undecided.items()]
        open_axes += [f"{axis} (no effect by itself)" for axis in self.without_effect]
        if open_axes:
            lines += ["", f"not decided by this table: {', '.join(open_axes)}"]
        lines += ["", *self._extent()]
        if self.left_over:
            lines += ["", "left over:", *_indented(render("table", *self._table(self.left_over)))]
        return lines

    def _extent(self) -> list[str]:
        """What was searched, because decided, not decided and left over are relative to it."""
        every = f"tried all {self.combinations:,} combinations of conventions"
        partly = [c for c in self.columns if c.meanings_tried < c.meanings]
        if not partly:
            count = sum(column.meanings for column in self.columns)
            return [f"{every} with all {count:,} meanings of the columns"]
        return [
            f"{every}, but not with all meanings of the columns:",
            *(f"  {c.name}: {c.meanings_tried:,} of {c.meanings:,}" for c in partly),
            "the others were tried with at most one unusual convention; what is decided, not decided",
            "and left over is relative to that (state parameters as in AP(rel=2) to try fewer)",
        ]

    @property
    def exhaustive(self) -> bool:
        """Whether every meaning of every column was tried under every combination of conventions."""
        return all(column.meanings_tried == column.meanings for column in self.columns)

    def notes(self) -> list[str]:
        """What was left out of the table or of the runs."""
        notes = []
        if self.ignored_columns:
            notes.append(f"columns that name no measure: {', '.join(self.ignored_columns)}")
        if self.ignored_rows:
            notes.append(f"{len(self.ignored_rows):,} rows of the table have no run here")
        if self.runs_without_row:
            notes.append(f"runs that are not in the table: {', '.join(self.runs_without_row)}")
        return notes

    @staticmethod
    def _table(cells: Iterable[Cell]) -> tuple[list[str], list[list[Any]]]:
        columns = ["run", "column", "measure", "printed", "computed", "left over"]
        return columns, [
            [c.run, c.column, c.measure, c.printed, c.computed, c.left_over] for c in cells
        ]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        from dataclasses import asdict

        return {**asdict(self), "reproduced": self.reproduced, "exhaustive": self.exhaustive}

    def __str__(self) -> str:
        return self.render().rstrip("\n")

    def __repr__(self) -> str:
        done = sum(cell.reproduced for cell in self.cells)
        return f"Audit({done} of {len(self.cells)} values reproduced)"

    def _repr_html_(self) -> str:
        return html_table(*self._table(self.cells))


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.rstrip("\n").split("\n")]
