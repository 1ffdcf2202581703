"""Summary: the headline, the leaderboard, and the differences from the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.comparison.render import EXPLORATORY, header, legend, stars_legend
from goodgain.ranking.policy import CHOICES
from goodgain.reports.charts import systems as charts
from goodgain.reports.charts.frame import counted
from goodgain.reports.charts.scores import interval_of
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
from goodgain.results.text import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodgain.comparison import Comparison, Pair
    from goodgain.measures import Measure
    from goodgain.ranking import Evaluation
    from goodgain.reports.contents import PageContents
    from goodgain.reports.elements import Element


def section(contents: PageContents) -> Section | None:
    """The first section; on every page."""
    elements: list[Element] = []
    if contents.scores or contents.comparison:
        elements += [Text(_description(contents)), leaderboard(contents), *_charts(contents)]
        if contents.comparison:
            elements += [differences(contents), Text(_test_description(contents), "note")]
            if contents.comparison.exploratory:
                elements += [exploratory_means(contents), exploratory_differences(contents)]
    elements += [bounds(e, i) for i, e in enumerate(contents.evaluations) if e.policy.has_bounds]
    elements += [Text([UserText(warning)], "warning") for warning in contents.warnings()]
    return Section("summary", "Summary", elements)


def _description(contents: PageContents) -> list[Span]:
    """The number of systems and queries, and the policies."""
    queries = len(contents.units) or max((p.queries for p in contents.comparison or ()), default=0)
    spans: list[Span] = [
        f"{counted(len(contents.systems), 'system')} on {counted(queries, *contents.unit_nouns)}"
    ]
    if contents.baseline:
        spans += [", compared with the baseline ", UserText(contents.baseline)]
    policies = list(dict.fromkeys(str(e.policy) for e in contents.evaluations))
    presets = list(dict.fromkeys(e.preset for e in contents.evaluations if e.preset != "default"))
    if policies:
        spans.append(f". Policies: {'; '.join(policies)}")
    if presets:
        spans.append(f" (preset {', '.join(presets)})")
    return [*spans, "."]


def _charts(contents: PageContents) -> list[Element]:
    """The quality measure as charts: means, and differences from the baseline."""
    if len(contents.systems) < 2 or contents.quality is None:
        return []
    elements: list[Element] = []
    if contents.chart_source is not None:
        elements.append(charts.leaderboard(contents.chart_source, contents.quality))
    if contents.comparison is not None:
        elements.append(charts.effects(contents.comparison, contents.quality))
    return elements


def _test_description(contents: PageContents) -> list[Span]:
    assert contents.comparison is not None
    return [UserText(f"{legend(contents.comparison)[0]} {stars_legend(contents.comparison)}")]


# --- tables ---


def leaderboard(contents: PageContents) -> Table:
    """Means of the primary measures with intervals, best first by the quality measure."""
    measures = contents.comparison.primary if contents.comparison else contents.measures
    columns, rows = _means(contents, measures)
    note = f"Below each mean: its 95% interval over {contents.unit_nouns[1]} (Student's t)."
    return Table("leaderboard", "Leaderboard", columns, rows, note + contents.judge_note)


def exploratory_means(contents: PageContents) -> Table:
    """Means of the measures that are not tested."""
    assert contents.comparison is not None
    columns, rows = _means(contents, contents.comparison.exploratory)
    note = f"{_EXPLORATORY}{contents.judge_note}"
    return Table("exploratory-means", "Exploratory measures", columns, rows, note)


_EXPLORATORY = f"{EXPLORATORY[:1].upper()}{EXPLORATORY[1:]}."


def _means(
    contents: PageContents, measures: Sequence[Measure]
) -> tuple[list[Column], list[list[object]]]:
    columns = text_columns("system")
    for measure in measures:
        has_marks = any(_stars(contents, system, measure) for system in contents.systems)
        columns.append(
            Column(
                name=header(measure),
                help=measure.definition.summary,
                interval=True,
                marks=has_marks,
            )
        )
    best = _best(contents)
    rows = []
    for system in contents.systems:
        mark = " (baseline)" if system == contents.baseline else ""
        row: list[object] = [Cell(value=system, text=f"{system}{mark}")]
        for measure in measures:
            value = contents.mean(system, measure)
            stars = _stars(contents, system, measure)
            is_best = value is not None and value == best[measure.label]
            low, high = _interval(contents, system, measure, value)
            row.append(
                Cell(value=value, text=number(value), mark=stars, best=is_best, low=low, high=high)
            )
        rows.append(row)
    if (quality := contents.quality) is not None:
        means = {s: contents.mean(s, quality) for s in contents.systems}
        order = sorted(
            range(len(rows)),
            key=lambda i: _sort_key(-quality.sign, means[contents.systems[i]]),
        )
        rows = [rows[i] for i in order]
    return columns, rows


def _sort_key(sign: int, value: float | None) -> tuple[bool, float]:
    """Best first; undefined means come last."""
    return value is None, sign * (value or 0.0)


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


def _stars(contents: PageContents, system: str, measure: Measure) -> str:
    own = [
        p
        for p in (contents.comparison.pairs if contents.comparison else ())
        if (p.system, p.baseline) == (system, contents.baseline) and p.measure == measure
    ]
    return own[0].mark if own else ""


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
    note = f"{_EXPLORATORY}{contents.judge_note}"
    return Table("exploratory-differences", "Exploratory differences", columns, rows, note)


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
        change = None if pair.relative is None else f"{100 * pair.relative:+.1f}%".replace("-", "−")
        rows.append([
            pair.system,
            *([pair.baseline] if several else []),
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
