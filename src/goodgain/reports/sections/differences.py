"""Differences: from the baseline by every measure, between all pairs of systems, and every test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.comparison.render import header, legend, stars_legend
from goodgain.ranking.policy import CHOICES
from goodgain.reports.charts import standings as ranks
from goodgain.reports.charts import systems as charts
from goodgain.reports.differences import difference_cell, p_cell, verdict_note
from goodgain.reports.elements import (
    Cell,
    Column,
    Section,
    Span,
    Table,
    Text,
    UserText,
    count_columns,
    number_columns,
    text_columns,
)
from goodgain.reports.sections.summary import EXPLORATORY_NOTE, exploratory_means
from goodgain.results.nouns import counted
from goodgain.results.numbers import decimals, stars

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodgain.comparison import Comparison, Pair
    from goodgain.comparison.card import Card
    from goodgain.ranking import Evaluation
    from goodgain.reports.contents import PageContents
    from goodgain.reports.elements import Element


def section(contents: PageContents) -> Section | None:
    """The section; None if there is one system, and nothing is bounded."""
    elements: list[Element] = []
    comparison = contents.comparison
    if (card := comparison.card() if comparison else None) is not None and card.to_judge:
        elements.append(documents_to_judge(contents, card))
    if comparison is not None and len(comparison.baselines) == 1:
        elements.append(difference_matrix(contents, comparison))
    if contents.standings is not None and len(contents.standings.systems) > 2:
        elements.append(pairwise_matrix(contents))
    elements += _charts(contents)
    if comparison is not None:
        elements += [differences(contents), Text(_test_description(comparison), "note")]
        if comparison.exploratory:
            elements += [exploratory_means(contents), exploratory_differences(contents)]
    elements += [bounds(e, i) for i, e in enumerate(contents.evaluations) if e.policy.has_bounds]
    if not elements:
        return None
    count = len(contents.systems)
    hint = f"all {count * (count - 1) // 2:,} pairs" if count > 2 else ""
    return Section("differences", "Differences", elements, hint=hint)


def _charts(contents: PageContents) -> list[Element]:
    """The quality measure as charts: means, tie groups, and differences from the baseline."""
    if len(contents.systems) < 2 or contents.quality is None:
        return []
    elements: list[Element] = []
    if contents.chart_source is not None:
        elements.append(charts.leaderboard(contents.chart_source, contents.quality))
    if contents.standings is not None and len(contents.standings.systems) > 2:
        elements.append(
            ranks.standings_chart(contents.standings, contents.systems, contents.quality)
        )
    if contents.comparison is not None:
        elements.append(charts.effects(contents.comparison, contents.quality))
    return elements


def _test_description(comparison: Comparison) -> list[Span]:
    return [UserText(f"{legend(comparison)[0]} {stars_legend(comparison)}")]


def documents_to_judge(contents: PageContents, card: Card) -> Table:
    """The documents whose labels would settle who is ahead."""
    texts = contents.queries
    columns = text_columns("query", *(["text"] if texts else []), "document")
    rows = [
        [query, *([texts.get(query, "–")] if texts else []), doc] for query, doc in card.to_judge
    ]
    note = (
        f"The fewest labels found that settle whether {card.pair.system} is ahead of "
        f"{card.pair.baseline}, if they come out as not relevant."
    )
    return Table("to-judge", "Documents to judge", columns, rows, note)


# --- matrices ---


def difference_matrix(contents: PageContents, comparison: Comparison) -> Table:
    """Systems by measures: the difference from the baseline, with its interval and stars."""
    pairs = {(p.system, p.measure.label): p for p in comparison.pairs}
    columns = text_columns("system")
    for measure in comparison.measures:
        own = [p for p in comparison.pairs if p.measure == measure]
        digits = decimals(*(p.mean for p in own), *(p.baseline_mean for p in own))
        columns.append(
            Column(
                name=header(measure), digits=digits, signed=True, interval=True, marks=True,
                help=measure.definition.summary,
            )
        )  # fmt: skip
    rows: list[list[object]] = []
    for system in contents.order:
        if system in comparison.baselines:
            continue
        row: list[object] = [Cell(value=system, text=contents.short_names[system])]
        for measure in comparison.measures:
            pair = pairs.get((system, measure.label))
            row.append(None if pair is None else difference_cell(comparison, pair, marked=True))
        rows.append(row)
    note = (
        f"System minus {comparison.baselines[0]}; below, the "
        f"{100 * comparison.settings.confidence:g}% interval. {stars_legend(comparison)}"
    )
    return Table("difference-matrix", "Differences by measure", columns, rows, note)


def pairwise_matrix(contents: PageContents) -> Table:
    """Systems by systems: the difference of the row from the column, with stars of the corrected p."""
    standings = contents.standings
    assert standings is not None
    digits = decimals(*standings.means)
    names = [contents.short_names[s] for s in standings.systems]
    columns = [
        *text_columns("system"),
        *(Column(name=name, digits=digits, signed=True, marks=True) for name in names),
    ]
    rows: list[list[object]] = []
    for i, name in enumerate(names):
        row: list[object] = [Cell(value=standings.systems[i], text=name)]
        for j in range(len(names)):
            p, better = standings.p[i][j], standings.improvement(i, j)
            if i == j:
                row.append(Cell(value=None, text=""))
                continue
            differ = standings.differ(i, j)
            row.append(
                Cell(
                    value=standings.differences[i][j],
                    mark=stars(p, better) if differ else "",
                    tone=("better" if better > 0 else "worse") if differ else "muted",
                )
            )
        rows.append(row)
    title = f"{standings.measure}: every pair of systems"
    groups = [
        f"{names[first]} to {names[last]}" if last - first > 1 else f"{names[first]}, {names[last]}"
        for first, last in standings.groups()
    ]
    ties = (
        f" Tie groups (no significant difference between any two): {'; '.join(groups)}."
        if groups
        else ""
    )
    note = f"Row minus column, best first. {_pairs_note(contents)}{ties}"
    return Table("pairwise", title, columns, rows, note)


def _pairs_note(contents: PageContents) -> str:
    standings = contents.standings
    assert standings is not None
    tested = f"{counted(standings.tests, 'pair')} by the paired t-test, corrected among themselves"
    if contents.comparison is None:
        return f"{tested}."
    if not standings.tests:
        return "All pairs were compared, so the stars are those of the comparison."
    return f"Stars: pairs with the baseline as in the comparison, the other {tested}."


# --- tables ---


def bounds(evaluation: Evaluation, number_: int) -> Table:
    """The bounds of the means, under a policy with bounds."""
    columns = [*text_columns("run", "measure"), *number_columns("value", "lower", "upper")]
    rows = [
        [run.name, m.label, run[m], *run.bounds(m)]
        for run in evaluation.runs
        for m in evaluation.measures
    ]
    policy = "ties" if evaluation.policy.ties == "bounds" else "unjudged"
    note = f"Policy {policy}=bounds: {CHOICES[policy]['bounds']}."
    return Table(f"bounds{number_ or ''}", "Bounds of the means", columns, rows, note)


def differences(contents: PageContents) -> Table:
    """Each system against the baselines: difference, interval, p-value, wins and losses."""
    comparison = contents.comparison
    assert comparison is not None
    tested = [pair for pair in comparison.pairs if not pair.exploratory]
    columns, rows = _pair_rows(contents, comparison, tested)
    note = (
        f"Below each difference: its {100 * comparison.settings.confidence:g}% interval. "
        f"{verdict_note(comparison, tested)}"
    )
    note += contents.judge_note
    return Table("differences", "Differences from the baseline", columns, rows, note)


def exploratory_differences(contents: PageContents) -> Table:
    """The same by the measures that are not tested: no corrected p, no stars and no verdict."""
    comparison = contents.comparison
    assert comparison is not None
    pairs = [pair for pair in comparison.pairs if pair.exploratory]
    columns, rows = _pair_rows(contents, comparison, pairs, tested=False)
    note = f"{EXPLORATORY_NOTE}{contents.judge_note}"
    return Table("exploratory-differences", "Exploratory differences", columns, rows, note)


def _name(contents: PageContents, system: str) -> str | Cell:
    """A system in a table: its short name, if it has one."""
    short = contents.short_names[system]
    return system if short == system else Cell(value=system, text=short)


def _pair_rows(
    contents: PageContents, comparison: Comparison, pairs: Sequence[Pair], *, tested: bool = True
) -> tuple[list[Column], list[list[object]]]:
    several = len(comparison.baselines) > 1
    test_columns = [
        Column(name="corrected p", help="corrected for multiple tests"),
        *text_columns("stars", "verdict"),
    ]
    columns = [
        *text_columns("system", *(["baseline"] if several else []), "measure"),
        Column(name="difference", signed=True, help="system minus baseline", interval=True),
        Column(name="change", help="relative to the baseline"),
        Column(name="p", help="of this test alone"),
        *(test_columns if tested else []),
        Column(
            name="effect d_z",
            digits=2,
            signed=True,
            help="mean difference divided by its standard deviation",
        ),
        *count_columns("wins", "ties", "losses", contents.unit_nouns[1]),
    ]
    rows: list[list[object]] = []
    for pair in pairs:
        change = None if pair.relative is None else f"{100 * pair.relative:+.1f}%"
        rows.append([
            _name(contents, pair.system),
            *([_name(contents, pair.baseline)] if several else []),
            header(pair.measure),
            difference_cell(comparison, pair),
            Cell(value=pair.relative, text=change),
            p_cell(comparison, pair.p),
            *(
                [p_cell(comparison, pair.p_corrected), pair.stars, comparison.verdict(pair)]
                if tested
                else []
            ),
            pair.d_z,
            pair.wins,
            pair.ties,
            pair.losses,
            pair.queries,
        ])  # fmt: skip
    return columns, rows
