"""The page of a check: the verdict, what changed by which cases, and every ranked list."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goodgain.reports.elements import (
    Cell,
    Column,
    Section,
    Strong,
    Table,
    Text,
    UserText,
    count_columns,
    number_columns,
    text_columns,
)
from goodgain.reports.page import page_html

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.checks.result import CheckResult
    from goodgain.checks.verdict import CaseResult
    from goodgain.reports.elements import Element, Span

_TONES = {"worse": "worse", "no worse": "better"}


def check_page(result: CheckResult) -> str:
    """The complete page."""
    return page_html("Search check", list(_sections(result)))


def _sections(result: CheckResult) -> Iterator[Section]:
    head, _, rest = result.sentence.partition(":")
    lead: list[Span] = [Strong(head), UserText(f":{rest}" if rest else "")]
    texts: list[Element] = [Text(lead, "lead")]
    latency = result.latency.text()
    if latency:
        texts.append(Text([f"Latency: {latency}."]))
    texts += [Text([UserText(note)], "warning") for note in result.notes]
    yield Section("verdict", "Verdict", texts)
    if result.rows:
        yield Section("gate", "Against the baseline", [_gate(result)])
    elif result.means:
        rows = [[name, value] for name, value in result.means.items()]
        columns = [*text_columns("measure"), *number_columns("mean")]
        yield Section("means", "Means", [Table("means", "Mean of each measure", columns, rows)])
    if result.failed_cases:
        title = "Cases that fail their own requirements"
        rows = [[r.case.id, r.case.query, "; ".join(r.failures)] for r in result.failed_cases]
        table = Table(
            "failures",
            "Requirements",
            text_columns("case", "query", "why"),
            rows,
        )
        yield Section("failures", title, [table])
    yield Section("cases", "Cases", [_cases(result)])
    yield Section("lists", "Results", [_lists(result)])


def _gate(result: CheckResult) -> Table:
    columns = [
        *text_columns("measure"),
        *number_columns("baseline", "now"),
        Column(name="change", signed=True),
        Column(name="margin", digits=3),
        *count_columns("changed", "cases"),
        *text_columns("verdict"),
    ]
    rows = [
        [
            row.label, row.before, row.now, row.now - row.before, row.margin, row.changed, row.cases,
            Cell(value=row.outcome, tone=_TONES.get(row.outcome, "")),
        ]
        for row in result.rows
    ]  # fmt: skip
    return Table("gate", "Measures that gate", columns, rows)


def _cases(result: CheckResult) -> Table:
    """Every case, those that lost most first."""
    names = list(result.means)
    columns = [*text_columns("case", "query", "status")]
    for name in names:
        columns += [*number_columns(name), Column(name=f"{name} change", signed=True)]
    changed = result.changes()
    ordered = [*changed, *(r for r in result.cases if r not in changed)]
    rows = []
    for r in ordered:
        status = "failed" if r.failures else r.call.status
        tone = "worse" if r.failures else ""
        row: list[object] = [r.case.id, r.case.query, Cell(value=status, tone=tone)]
        for name in names:
            change = r.change(name)
            gain = r.improvement(name)
            tone = "better" if gain > 0 else "worse" if gain < 0 else ""
            row += [
                r.values.get(name),
                Cell(value=None if math.isnan(change) else change, tone=tone),
            ]
        rows.append(row)
    return Table("cases", "Every case, the greatest losses first", columns, rows)


def _lists(result: CheckResult) -> Table:
    """What was returned now, with the rank it had in the baseline."""
    columns = [
        *text_columns("case"),
        *count_columns("rank", "was"),
        *text_columns("result", "judged"),
    ]
    rows = [row for r in result.cases for row in _list_rows(r)]
    return Table("lists", "Every result and the rank it had", columns, rows)


def _list_rows(result: CaseResult) -> Iterator[list[object]]:
    before = {key: rank for rank, key in enumerate(result.before_keys or (), 1)}
    matched = {rank: name for name, rank in result.matches.ranks.items()}
    forbidden = {rank for rank, _, _ in result.matches.forbidden}
    for rank, key in enumerate(result.keys, 1):
        if rank in forbidden:
            judged = Cell(value="forbidden", tone="worse")
        elif rank in matched:
            judged = Cell(value=f"grade {result.case.grades[matched[rank]]:g}", tone="better")
        elif key in result.matches.unjudged:
            judged = Cell(value="nobody judged it", tone="muted")
        else:
            judged = Cell(value="", tone="muted")
        yield [result.case.id, rank, before.get(key), key, judged]
    for key, rank in before.items():
        if key not in result.keys:
            yield [result.case.id, None, rank, key, Cell(value="gone", tone="muted")]
