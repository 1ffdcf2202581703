"""What a subject of the benchmark is: a module with a `SUBJECT` whose `run` returns a `Section`."""

from collections.abc import Callable
from dataclasses import dataclass, field

FULL_QUERIES = 6_980
QUICK_QUERIES = FULL_QUERIES // 8


@dataclass(frozen=True)
class Context:
    """How much to measure."""

    quick: bool = False

    @property
    def queries(self) -> int:
        return QUICK_QUERIES if self.quick else FULL_QUERIES

    def repeats(self, wanted: int) -> int:
        return min(wanted, 2) if self.quick else wanted


@dataclass(frozen=True)
class Bar:
    """A promise about speed or memory; `passed` is None where it could not be measured."""

    what: str
    wanted: str
    got: str
    passed: bool | None


@dataclass(frozen=True)
class Section:
    """What one subject found: a table, its bars, and `problems` where tools disagree."""

    columns: list[str]
    rows: list[list[str]]
    text: str = ""
    bars: list[Bar] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Subject:
    """A subject: its name on the command line, its heading, its place on the page."""

    name: str
    title: str
    order: int
    run: Callable[[Context], Section]


def at_least(what: str, wanted: float, got: float | None) -> Bar:
    """The bar of a ratio that must not be smaller."""
    shown = "not measured" if got is None else f"{got:.3g}x"
    return Bar(what, f">= {wanted:g}x", shown, None if got is None else got >= wanted)


def at_most(what: str, wanted: float, got: float | None) -> Bar:
    """The bar of a ratio that must not be larger."""
    shown = "not measured" if got is None else f"{got:.3g}x"
    return Bar(what, f"<= {wanted:g}x", shown, None if got is None else got <= wanted)


def below(what: str, wanted: float, unit: str, got: float | None) -> Bar:
    """The bar of an amount, in seconds or megabytes, that must stay below a limit."""
    shown = (
        "not measured"
        if got is None
        else f"{got:,.3g} {unit}"
        if got < 1000
        else f"{got:,.0f} {unit}"
    )
    return Bar(what, f"< {wanted:,g} {unit}", shown, None if got is None else got < wanted)


def ratio(slower: float | None, faster: float | None) -> float | None:
    """How many times `faster` fits into `slower`, or None where one was not measured."""
    return None if slower is None or not faster else slower / faster
