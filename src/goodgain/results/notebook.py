"""What notebooks show beside tables: warnings, and the timeline of a conversation."""

from __future__ import annotations

from goodgain.errors import plain
from goodgain.records import dataclass
from goodgain.results.text import Cell, html_table, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

MAX_WARNINGS = 10
MAX_TEXT = 300  # characters of a question, an answer, a query or a result
MAX_RESULTS = 20  # listed of a search


def warnings_html(messages: Sequence[str]) -> str:
    """The warnings of a result below its tables; they are part of what the numbers say."""
    from html import escape

    if not messages:
        return ""
    items = "".join(f"<li>{escape(plain(text))}</li>" for text in messages[:MAX_WARNINGS])
    left = len(messages) - MAX_WARNINGS
    more = f"<li>and {left:,} more</li>" if left > 0 else ""
    title = f"{len(messages):,} warning{'s' * (len(messages) != 1)}"
    return f"<p><b>{title}</b></p><ul>{items}{more}</ul>"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineSearch:
    """One search of a conversation; None where something is not known."""

    place: str  # iteration.search
    query: str | None
    tool: str | None
    results: Sequence[str]  # their titles or ids
    gains: Sequence[float | None]
    repeats: int | None  # results that were returned before
    seconds: float | None
    tokens: float | None
    cost: float | None
    problem: str = ""  # why it failed or is unread

    @classmethod
    def of(
        cls,
        place: str,
        search: Any,
        gains: Sequence[float | None],
        repeats: int | None = None,
        repeats_query: bool = False,
    ) -> TimelineSearch:
        """A search of a trace with the gains that its results count with."""
        problems = [search.problem] if search.problem else []
        return cls(
            place=place,
            query=search.query,
            tool=search.tool,
            results=[r.title or r.id or r.url or "(no title)" for r in search.results],
            gains=gains,
            repeats=repeats,
            seconds=search.latency,
            tokens=search.tokens,
            cost=search.cost,
            problem="; ".join([*problems, *(["repeated query"] if repeats_query else [])]),
        )


def timeline_html(
    title: str, user: str | None, searches: Iterable[TimelineSearch], answer: str | None
) -> str:
    """A conversation from its question to its answer, a row for each search; results fold open."""
    from html import escape

    def paragraph(name: str, text: str | None) -> str:
        return f"<p><b>{name}</b> {escape(_cut(text))}</p>" if text else ""

    listed = list(searches)
    columns = ["search", "query"]
    used: list[Any] = [lambda s: s.place, lambda s: _cut(s.query or "(no query)")]
    optional: list[tuple[str, Any]] = [
        ("tool", lambda s: s.tool), ("results", lambda s: len(s.results)),
        ("repeats", lambda s: s.repeats), ("gains", _gains), ("seconds", lambda s: s.seconds),
        ("tokens", lambda s: _whole(s.tokens)), ("cost", lambda s: s.cost),
        ("problem", lambda s: s.problem or None),
    ]  # fmt: skip
    for name, value in optional:
        if name == "results" or any(value(search) is not None for search in listed):
            columns.append(name)
            used.append(value)
    rows = [["" if (v := value(s)) is None else v for value in used] for s in listed]
    table = html_table(columns, rows) if rows else "<p>No searches.</p>"
    results = "".join(map(_results, listed))
    head = f"<p><b>{escape(plain(title))}</b></p>"
    return f"{head}{paragraph('User', user)}{table}{results}{paragraph('Answer', answer)}"


def _results(search: TimelineSearch) -> str:
    from html import escape

    if not search.results:
        return ""
    pairs = list(zip(search.results, search.gains, strict=True))[:MAX_RESULTS]
    items = "".join(
        f"<li>{escape(_cut(name))} ({'no label' if gain is None else f'gain {gain:g}'})</li>"
        for name, gain in pairs
    )
    left = len(search.results) - len(pairs)
    more = f"<p>and {left:,} more results</p>" if left else ""
    summary = f"Results of search {escape(search.place)}"
    return f"<details><summary>{summary}</summary><ol>{items}</ol>{more}</details>"


def _gains(search: TimelineSearch) -> str | None:
    """The gains by rank, a dash for a result without a label; None if none has one."""
    if all(gain is None for gain in search.gains):
        return None
    texts = ["–" if gain is None else f"{gain:g}" for gain in search.gains[:MAX_RESULTS]]
    return " ".join(texts) + (" …" if len(search.gains) > MAX_RESULTS else "")


def _whole(value: float | None) -> int | float | None:
    return int(value) if value is not None and value == int(value) else value


def _cut(text: str) -> str:
    text = plain(" ".join(text.split()))
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"


def mean_cell(cell: Cell, low: float, high: float) -> Cell:
    """A mean with its interval below it."""
    return Cell(cell.text, cell.mark, cell.best, f"{number(low)} to {number(high)}")
