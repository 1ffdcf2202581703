"""Summary: what was compared, the leaderboard, and the warnings that must not be overlooked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.comparison.render import EXPLORATORY, header
from goodgain.comparison.standings import rank_text
from goodgain.reports.charts.scores import interval_of
from goodgain.reports.elements import (
    Cell,
    Column,
    Section,
    Span,
    Strong,
    Table,
    Text,
    UserText,
    text_columns,
)
from goodgain.results.nouns import counted
from goodgain.results.numbers import amount, decimals
from goodgain.results.text import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodgain.measures import Measure
    from goodgain.reports.contents import PageContents
    from goodgain.reports.elements import Element

FEW_WARNINGS = 2  # more have a section of their own


def section(contents: PageContents) -> Section | None:
    """The first section, below the verdict; None if there are neither systems nor warnings to show."""
    elements: list[Element] = []
    if contents.scores or contents.comparison:
        elements += [leaderboard(contents), Text(_description(contents), "note")]
    warnings = contents.joined_warnings()
    if len(warnings) <= FEW_WARNINGS:
        elements += map(warning_text, warnings)
    return Section("summary", "Summary", elements) if elements else None


def warning_text(warning: tuple[str, tuple[str, ...]]) -> Text:
    """A warning, and whom it is about: how many systems, with their names if they are few."""
    text, systems = warning
    spans: list[Span] = []
    if len(systems) > 1:
        names = ", ".join(systems[:5]) + (" ..." if len(systems) > 5 else "")
        spans = [Strong(counted(len(systems), "system")), " ", UserText(names), ": "]
    elif systems:
        spans = [UserText(systems[0]), ": "]
    return Text([*spans, UserText(text)], "warning")


def _description(contents: PageContents) -> list[Span]:
    """The number of systems and queries, and the policies."""
    queries = len(contents.units) or max((p.queries for p in contents.comparison or ()), default=0)
    spans: list[Span] = [
        f"{counted(len(contents.systems), 'system')} on {counted(queries, *contents.unit_nouns)}"
    ]
    if len(contents.baselines) == len(contents.systems) > 2:
        spans.append(", every pair of them compared")
    elif contents.baseline:
        spans += [", compared with the baseline ", UserText(contents.baseline)]
    policies = list(dict.fromkeys(str(e.policy) for e in contents.evaluations))
    presets = list(dict.fromkeys(e.preset for e in contents.evaluations if e.preset != "default"))
    if policies:
        spans.append(f". Policies: {'; '.join(policies)}")
    if presets:
        spans.append(f" (preset {', '.join(presets)})")
    return [*spans, "."]


# --- the leaderboard ---


def leaderboard(contents: PageContents) -> Table:
    """Ranks and means of the primary measures with intervals, best first by the quality measure."""
    measures = contents.comparison.primary if contents.comparison else contents.measures
    columns, rows = means_table(contents, measures)
    note = ""
    if any(isinstance(c, Cell) and c.low is not None for row in rows for c in row):
        note = f"Below each mean: its 95% interval over {contents.unit_nouns[1]} (Student's t)."
    if (standings := contents.standings) is not None:
        ranks = standings.ranks()
        columns.insert(1, Column(name="rank", kind="number", digits=0, help=_RANK_HELP))
        for row in rows:
            rank = ranks.get(str(row[0].value))  # type: ignore[attr-defined]
            text = rank_text(rank) if rank else "–"
            row.insert(1, Cell(value=rank[0] if rank else None, text=text))
        note = f"{note} {_rank_note(contents)}".strip()
    return Table("leaderboard", "Leaderboard", columns, rows, note + contents.judge_note)


_RANK_HELP = "a range where no test decides; systems with equal ranks do not differ significantly"


def _rank_note(contents: PageContents) -> str:
    standings, comparison = contents.standings, contents.comparison
    assert standings is not None
    if len(standings.systems) < 3:
        return ""
    rest = f"{counted(standings.tests, 'other pair')} corrected among themselves"
    if comparison is None:
        rest = f"{counted(standings.tests, 'pair')}, Holm correction"
    elif not standings.tests:
        rest = "the tests of all pairs"
    else:
        rest = f"the tests against the baseline and {rest}"
    return f"Ranks by {standings.measure}: {rest}."


def exploratory_means(contents: PageContents) -> Table:
    """Means of the measures that are not tested."""
    assert contents.comparison is not None
    columns, rows = means_table(contents, contents.comparison.exploratory)
    note = f"{EXPLORATORY_NOTE}{contents.judge_note}"
    return Table("exploratory-means", "Exploratory measures", columns, rows, note)


EXPLORATORY_NOTE = f"{EXPLORATORY[:1].upper()}{EXPLORATORY[1:]}."


def means_table(
    contents: PageContents, measures: Sequence[Measure]
) -> tuple[list[Column], list[list[object]]]:
    """Systems by measures, best first by the quality measure; time and cost with their units."""
    marks = _marks(contents)
    best = _best(contents)
    columns = text_columns("system")
    cells: dict[str, list[object]] = {}
    for system in contents.order:
        mark = " (baseline)" if [system] == list(contents.baselines) else ""
        cells[system] = [Cell(value=system, text=f"{contents.short_names[system]}{mark}")]
    for measure in measures:
        means = {s: contents.mean(s, measure) for s in contents.order}
        digits = decimals(*means.values())
        for system, value in means.items():
            low, high = _interval(contents, system, measure, value)
            in_units = measure.is_cost and measure.unit
            cells[system].append(
                Cell(
                    value=value,
                    text=amount(value, measure.unit) if in_units else number(value, digits),
                    span=f"{amount(low, measure.unit)} to {amount(high, measure.unit)}"
                    if in_units and low is not None
                    else "",
                    mark=marks.get((system, measure.label), ""),
                    best=value is not None and value == best[measure.label],
                    low=low,
                    high=high,
                )
            )
        columns.append(
            Column(
                name=header(measure),
                help=measure.definition.summary,
                digits=digits,
                interval=True,
                marks=any(label == measure.label for _, label in marks),
            )
        )
    return columns, [cells[system] for system in contents.order]


def _best(contents: PageContents) -> dict[str, float | None]:
    best: dict[str, float | None] = {}
    for measure in contents.measures:
        values = [contents.mean(s, measure) for s in contents.systems]
        defined = [v for v in values if v is not None]
        choose = min if measure.lower_is_better else max
        best[measure.label] = choose(defined) if len(defined) > 1 else None
    return best


def _interval(
    contents: PageContents, system: str, measure: Measure, mean: float | None
) -> tuple[float | None, float | None]:
    if contents.scores is None:
        return None, None
    low, high, _ = interval_of(contents.scores, system, measure, mean)
    return low, high


def _marks(contents: PageContents) -> dict[tuple[str, str], str]:
    """The stars of the difference from the baseline, by system and measure; empty with several."""
    if contents.comparison is None or len(contents.baselines) > 1:
        return {}
    return {(p.system, p.measure.label): p.mark for p in contents.comparison.pairs if p.mark}
