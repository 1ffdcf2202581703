"""Systems compared: means with intervals, differences from the baseline, groups, trade-offs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goodgain.comparison import Comparison
from goodgain.errors import InputError
from goodgain.reports.charts.frame import (
    NUMBER,
    altair,
    by_system,
    counted,
    cut,
    data,
    direction_note,
    display_names,
    legend_of,
    make_chart,
    rows_height,
    system_colours,
    unit_nouns,
)
from goodgain.reports.charts.scores import (
    choose_measure,
    choose_system,
    interval_of,
    means_of,
    measures_of,
    scores_of,
)
from goodgain.results.numbers import p_text, signed
from goodgain.results.text import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodgain.comparison import Pair
    from goodgain.measures import Measure
    from goodgain.reports.chart import Chart

# The verdicts of a comparison, as charts name them, in the order of the theme's colours.
_VERDICTS = {
    "worse": "worse",
    "not shown": "not significant",
    "better": "better",
    "open": "open",
    "exploratory": "exploratory",
    "tied": "tied",
}


def leaderboard(result: Any, measure: str | Measure | None = None) -> Chart:
    """The mean of each system with its interval, best first."""
    alt = altair()
    means = means_of(result)
    measure = choose_measure(measures_of(result), measure)
    label = cut(measure.label)
    defined = {s: m for s, values in means.items() if not math.isnan(m := values[measure.label])}
    order = sorted(defined, key=lambda s: -measure.sign * defined[s])
    names = display_names(means)
    rows: list[list[Any]] = []
    for system in order:
        low, high, n = _interval(result, system, measure, defined[system])
        rows.append([system, defined[system], low, high, n])
    count = max((row[4] or 0 for row in rows), default=0)
    view_rows = data(
        {"system": names[s], "mean": mean, "low": low, "high": high, "n": n, "text": number(mean)}
        for s, mean, low, high, n in rows
    )
    y = alt.Y("system:N", sort=[names[s] for s in order], title=None)
    one, several = unit_nouns(measure)
    title = f"{label}, mean over {several}{direction_note(measure)}"
    x = alt.X("mean:Q", title=title, scale=alt.Scale(zero=False, padding=24))
    color = system_colours(list(names.values()))
    tooltip = [
        alt.Tooltip("system:N", title="system"),
        *(alt.Tooltip(f"{f}:Q", title=f, format=NUMBER) for f in ("mean", "low", "high")),
        alt.Tooltip("n:Q", title=several, format=","),
    ]
    base = alt.Chart().encode(y=y, color=color, tooltip=tooltip)
    view = alt.layer(
        base.mark_rule(style="interval").encode(x=alt.X("low:Q", title=title), x2="high:Q"),
        base.mark_point(size=90, opacity=1).encode(x=x),
        alt.Chart().mark_text(style="label", dy=-11).encode(x=x, y=y, text="text:N"),
        data=view_rows,
    ).properties(height=rows_height(len(rows)))
    return make_chart(
        key="leaderboard",
        title=f"{label} by system",
        description=f"Mean over {counted(count, one, several)}, best first"
        f"{direction_note(measure)}. Lines show 95% confidence intervals of the mean."
        if count
        else f"Mean over {several}, best first{direction_note(measure)}.",
        view=view,
        columns=["system", "mean", "low", "high", several],
        rows=rows,
    )


def _interval(
    result: Any, system: str, measure: Measure, mean: float
) -> tuple[float | None, float | None, int | None]:
    """The interval of the mean, and the number of queries; a saved comparison has neither."""
    if isinstance(result, Comparison) and result.scores is None:
        return None, None, None
    return interval_of(scores_of(result), system, measure, mean)


def effects(
    comparison: Comparison, measure: str | Measure | None = None, baseline: str | None = None
) -> Chart:
    """The difference of each system from the baseline, with its confidence interval."""
    measure = choose_measure(comparison.measures, measure)
    baseline = choose_system(comparison.baselines, baseline, "baseline")
    pairs = _pairs(comparison.pairs, measure, baseline)
    level = f"{100 * comparison.settings.confidence:g}%"
    one, several = unit_nouns(measure)
    return make_chart(
        key="effects",
        title=f"{cut(measure.label)}: differences from {cut(baseline, 30)}",
        description=f"System minus {cut(baseline, 30)}, paired by {one}, with {level} intervals; "
        f"{_better_sign(measure)}. "
        f"Coloured if the corrected p is below {comparison.settings.alpha:g}; the intervals are not "
        f"corrected for multiple tests.{_open_note(comparison, pairs)}",
        view=_forest(comparison, measure, pairs),
        columns=["system", *_PAIR_COLUMNS, several, "verdict"],
        rows=[[p.system, *_pair_row(comparison, p)] for p in pairs],
    )


_PAIR_COLUMNS = ["difference", "low", "high", "p", "corrected"]


def _pairs(pairs: Sequence[Pair], measure: Measure, baseline: str) -> list[Pair]:
    return [p for p in pairs if p.measure == measure and p.baseline == baseline]


def _pair_row(comparison: Comparison, p: Pair) -> list[Any]:
    numbers = [p.difference, p.low, p.high, p.p, p.p_corrected, p.queries]
    return [*numbers, _VERDICTS[comparison.verdict(p)]]


def _better_sign(measure: Measure) -> str:
    return "negative is better" if measure.lower_is_better else "positive is better"


def _open_note(comparison: Comparison, pairs: Sequence[Pair]) -> str:
    if all(comparison.verdict(p) != "open" for p in pairs):
        return ""
    return " Open: missing labels allow another verdict."


def _pair_values(comparison: Comparison, p: Pair) -> dict[str, Any]:
    return {
        "difference": p.difference,
        "low": p.low,
        "high": p.high,
        "p": p_text(p.p_corrected, comparison.settings.alpha),
        "queries": p.queries,
        "verdict": _VERDICTS[comparison.verdict(p)],
        "text": f"{signed(p.difference)} {p.mark}".strip(),
    }


def _pair_tooltip(measure: Measure, *names: str) -> list[Any]:
    alt = altair()
    _, several = unit_nouns(measure)
    return [
        *(alt.Tooltip(f"{name}:N", title=name) for name in names),
        *(alt.Tooltip(f"{f}:Q", title=f, format="+.4~f") for f in ("difference", "low", "high")),
        alt.Tooltip("p:N", title="corrected p"),
        alt.Tooltip("queries:Q", title=several, format=","),
        alt.Tooltip("verdict:N", title="verdict"),
    ]


def _forest(comparison: Comparison, measure: Measure, pairs: Sequence[Pair]) -> Any:
    alt = altair()
    names = display_names(comparison.systems)
    present = {p.system for p in pairs}
    order = [names[s] for s in _best_first(comparison, measure) if s in present]
    y = alt.Y("system:N", sort=order, title=None)
    title = f"difference in {cut(measure.label)}{direction_note(measure)}"
    outcomes = {comparison.verdict(p) for p in pairs}
    verdicts = ["worse", "not significant", "better"]
    verdicts += ["open"] if outcomes & {"open", "tied"} else []
    verdicts += ["tied"] if "tied" in outcomes else []
    if "exploratory" in outcomes:  # of one measure all pairs are, in the neutral colour
        verdicts[1] = "exploratory"
    color = alt.Color(
        "verdict:N", title=None, legend=legend_of(verdicts),
        scale=alt.Scale(domain=verdicts, range="diverging"),
    )  # fmt: skip
    x = alt.X("difference:Q", title=title, scale=alt.Scale(zero=True, padding=24))
    base = alt.Chart().encode(y=y, color=color, tooltip=_pair_tooltip(measure, "system"))
    return alt.layer(
        alt.Chart(data([{}])).mark_rule(style="zero").encode(x=alt.XDatum(0, title=title)),
        base.mark_rule(style="interval").encode(x=alt.X("low:Q", title=title), x2="high:Q"),
        base.mark_point(size=90, opacity=1).encode(x=x),
        alt.Chart().mark_text(style="label", dy=-11).encode(x=x, y=y, text="text:N"),
        data=data({"system": names[p.system], **_pair_values(comparison, p)} for p in pairs),
    ).properties(height=rows_height(len(pairs)))


def _best_first(comparison: Comparison, measure: Measure) -> list[str]:
    """All systems, best first; those without a mean last."""
    means = {s: comparison.means[s][measure.label] for s in comparison.systems}
    return sorted(means, key=lambda s: (means[s] != means[s], -measure.sign * means[s]))


def groups(
    comparison: Comparison, measure: str | Measure | None = None, baseline: str | None = None
) -> Chart:
    """The differences from the baseline within each group of queries."""
    alt = altair()
    if not comparison.group_pairs:
        raise InputError(
            "the comparison has no groups to plot", hint="use compare(..., by=...) or --by"
        )
    measure = choose_measure(comparison.measures, measure)
    baseline = choose_system(comparison.baselines, baseline, "baseline")
    pairs = _pairs(comparison.group_pairs, measure, baseline)
    everyone = display_names(comparison.systems)
    present = {p.system for p in pairs}
    names = {s: everyone[s] for s in _best_first(comparison, measure) if s in present}
    sizes = {p.group or "": p.queries for p in pairs}
    labels = display_names(sizes)
    labels = {g: f"{text if g else '(no group)'} ({sizes[g]:,})" for g, text in labels.items()}
    title = f"difference in {cut(measure.label)}{direction_note(measure)}"
    y = alt.Y("group:N", sort=list(labels.values()), title=None)
    offset = alt.YOffset("system:N", sort=list(names.values()))
    base = alt.Chart().encode(
        y=y,
        yOffset=offset,
        tooltip=_pair_tooltip(measure, "group", "system"),
        **by_system([*names.values()], everyone=[*everyone.values()]),
    )
    x = alt.X("difference:Q", title=title, scale=alt.Scale(zero=True))
    view = alt.layer(
        alt.Chart(data([{}])).mark_rule(style="zero").encode(x=alt.XDatum(0, title=title)),
        base.mark_rule(style="interval").encode(x=alt.X("low:Q", title=title), x2="high:Q"),
        base.mark_point(size=70, opacity=1).encode(x=x),
        data=data(
            {"group": labels[p.group or ""], "system": names[p.system],
             **_pair_values(comparison, p)}
            for p in pairs
        ),
    ).properties(height=rows_height(len(sizes), 18 * len(names) + 12))  # fmt: skip
    level = f"{100 * comparison.settings.confidence:g}%"
    _, several = unit_nouns(measure)
    return make_chart(
        key="groups",
        title=f"{cut(measure.label)} by {cut(comparison.settings.by or 'group', 30)}: differences from "
        f"{cut(baseline, 30)}",
        description=f"System minus {cut(baseline, 30)} within each group (number of {several} "
        f"in brackets), with {level} intervals; {_better_sign(measure)}.",
        view=view,
        columns=["group", "system", *_PAIR_COLUMNS, several, "verdict"],
        rows=[[p.group or "(no group)", p.system, *_pair_row(comparison, p)] for p in pairs],
    )
