"""Agentic search: gain, repetition and cost by iteration."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError
from goodgain.reports.charts.frame import (
    MAX_BANDS,
    NUMBER,
    altair,
    by_system,
    counted,
    data,
    direction_note,
    display_names,
    make_chart,
)
from goodgain.reports.charts.scores import choose_measure

if TYPE_CHECKING:
    from goodgain.agentic import GoodGain
    from goodgain.measures import Measure
    from goodgain.reports.chart import Chart

BUDGETS = {
    "searches": "searches",
    "seconds": "search seconds",
    "tokens": "tokens",
    "cost": "cost",
}
_COLUMNS = ["system", "iteration", "value", "n", "low", "high", "lower", "upper"]


def gain(result: GoodGain, measure: str | Measure | None = None) -> Chart:
    """A measure by iteration: its mean over conversations with a confidence band."""
    alt = altair()
    measure = _choose(result, measure or ("CG" if result.labelled else "UR@i"))
    names = display_names(result.names)
    rows = _rows(result, measure)
    values = data(
        {**dict(zip(_COLUMNS, row, strict=True)), "system": names[row[0]]} for row in rows
    )
    with_bands = len(names) <= MAX_BANDS
    y = {
        "title": f"{measure.name}{direction_note(measure)}",
        "scale": _value_scale(rows, with_bands),
    }
    base = alt.Chart().encode(x=_iterations(), **by_system([*names.values()], lines=True))
    bands = base.mark_area(opacity=0.16, strokeWidth=0, clip=True).encode(
        y=alt.Y("low:Q", **y), y2="high:Q"
    )
    view = alt.layer(
        *([bands] if with_bands else []),
        base.mark_line().encode(y=alt.Y("value:Q", **y)),
        base.mark_point(opacity=1).encode(
            y=alt.Y("value:Q", **y), size=_by_count(), tooltip=_tooltip("value")
        ),
        data=values,
    )
    return make_chart(
        key="gain" if measure == "CG" else f"gain-{_key(measure.label)}",
        title=f"{measure.name} by iteration",
        description=f"{measure.definition.summary} {_averaging(result)}{_ending(result, measure)} "
        f"{_sizes(rows)}{_bands(with_bands)}{_bounds(result)}",
        view=view,
        columns=_COLUMNS,
        rows=rows,
    )


def marginal(result: GoodGain) -> Chart:
    """The gain per search, by iteration."""
    _need_labels(result)
    return gain(result, "MarginalGain")


def efficiency(result: GoodGain) -> Chart:
    """The shares of results that are good and new (SRE) and that are repeated (SRR)."""
    alt = altair()
    names = display_names(result.names)
    measures = ("SRE", "SRR") if result.labelled else ("SRR",)
    rows = [[row[0], measure, *row[1:]] for measure in measures for row in _rows(result, measure)]
    columns = ["system", "measure", *_COLUMNS[1:]]
    descriptions = {"SRE": "SRE: good and new", "SRR": "SRR: repeated"}
    values = data(
        {
            **dict(zip(columns, row, strict=True)),
            "system": names[row[0]],
            "measure": descriptions[row[1]],
        }
        for row in rows
    )
    view = (
        alt.Chart(values)
        .mark_line(point=alt.OverlayMarkDef(size=50, opacity=1))
        .encode(
            x=_iterations(),
            y=alt.Y(
                "value:Q",
                title="share of all results so far",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format="%"),
            ),
            strokeDash=alt.StrokeDash(
                "measure:N",
                title=None,
                scale=alt.Scale(domain=[descriptions[m] for m in measures], range=[[1, 0], [5, 4]]),
                legend=alt.Legend(
                    symbolType="stroke", symbolSize=400, symbolStrokeWidth=2, orient="bottom"
                )
                if len(measures) > 1
                else None,
            ),
            tooltip=_tooltip("value", "measure"),
            **by_system([*names.values()]),
        )
    )
    return make_chart(
        key="efficiency",
        title=" and ".join(measures) + " by iteration",
        description=f"Shares of the results so far: {'; '.join(descriptions[m] for m in measures)}. "
        f"{_averaging(result)}{_ending(result, result.systems[0].measure('SRR'))}{_bounds(result)}",
        view=view,
        columns=columns,
        rows=rows,
    )


def budget(result: GoodGain, budget: str = "searches") -> Chart:
    """Mean good gain against the searches, seconds, tokens or cost spent."""
    alt = altair()
    if budget not in BUDGETS:
        raise UsageError(
            f"unknown budget '{budget}'", hint=f"available budgets: {', '.join(BUDGETS)}"
        )
    _need_labels(result)
    names = display_names(result.names)
    rows: list[list[Any]] = []
    for name in result.names:
        if curve := result.budget_curve(budget, name):
            rows += [[name, spent, value] for spent, value in [(0.0, 0.0), *curve]]
    if not rows:
        raise InputError(
            f"the traces do not record {budget}",
            hint="every search needs the field latency, tokens or cost",
        )
    values = data({"system": names[s], "spent": spent, "gain": value} for s, spent, value in rows)
    view = (
        alt.Chart(values)
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X("spent:Q", title=BUDGETS[budget]),
            y=alt.Y("gain:Q", title="mean good gain (CG)"),
            tooltip=[
                alt.Tooltip("system:N", title="system"),
                alt.Tooltip("spent:Q", title=budget, format=",.4~f"),
                alt.Tooltip("gain:Q", title="mean good gain", format=NUMBER),
            ],
            **by_system([*names.values()], lines=True),
        )
    )
    return make_chart(
        key=f"budget-{budget}",
        title=f"Good gain vs {BUDGETS[budget]}",
        description="Mean gain over conversations at each budget. A conversation that has "
        "ended keeps its gain; gain counts when its iteration is complete.",
        view=view,
        columns=["system", budget, "mean good gain"],
        rows=rows,
    )


def _choose(result: GoodGain, measure: str | Measure) -> Measure:
    by_iteration = [m for m in result.measures if m.definition.level != "conversation"]
    try:
        return choose_measure(by_iteration, measure)
    except UsageError as error:
        raise UsageError(
            f"measure '{measure}' is not available by iteration", hint=error.hint
        ) from None


def _need_labels(result: GoodGain) -> None:
    if not result.labelled:
        raise InputError(
            "no result has a label, so there is no gain to plot",
            hint="label the results with `goodgain label`, or pass labels=... (--labels)",
        )


def _rows(result: GoodGain, measure: str | Measure) -> list[list[Any]]:
    rows = []
    for system in result.systems:
        for i in range(1, system.iterations + 1):
            f = system.figure(measure, i, result.settings.align)
            if not math.isnan(f.value):
                rows.append([system.name, i, f.value, f.n, f.low, f.high, f.lower, f.upper])
    return rows


def _iterations() -> Any:
    alt = altair()
    return alt.X(
        "iteration:Q",
        title="iteration",
        axis=alt.Axis(tickMinStep=1, format=",d", grid=False),
        scale=alt.Scale(zero=False, nice=False, padding=12),
    )


def _tooltip(value: str, *more: str) -> list[Any]:
    alt = altair()
    return [
        alt.Tooltip("system:N", title="system"),
        *(alt.Tooltip(f"{name}:N", title=name) for name in more),
        alt.Tooltip("iteration:Q", title="iteration"),
        *(alt.Tooltip(f"{f}:Q", title=f, format=NUMBER) for f in (value, "low", "high")),
        alt.Tooltip("n:Q", title="conversations", format=","),
    ]


def _key(label: str) -> str:
    """A measure's label for file names and element ids."""
    return "".join(c if c.isalnum() else "-" for c in label)


def _averaging(result: GoodGain) -> str:
    """Which conversations a mean is over."""
    count = sum(len(s.conversations) for s in result.systems)
    which = (
        "that reached the iteration"
        if result.settings.align == "active"
        else "(those that ended earlier keep their last value)"
    )
    return f"Mean over the conversations {which}; {counted(count, 'conversation')} in total."


def _ending(result: GoodGain, measure: Measure) -> str:
    """A warning where a curve that adds up may fall, because the conversations behind it change."""
    if result.settings.align != "active" or not measure.definition.cumulative:
        return ""
    reached = [
        [s.figure("Searches", i).n for i in (1, s.iterations)]
        for s in result.systems
        if s.iterations
    ]
    first, last = (sum(counts[i] for counts in reached) for i in (0, 1))
    if first == last:
        return ""
    return (
        f" Conversations end: {first:,} reach iteration 1, and {last:,} the last one, so the curve may fall "
        "although nothing is lost."
    )


def _by_count() -> Any:
    """Points as large as the number of conversations behind them."""
    alt = altair()
    return alt.Size("n:Q", legend=None, scale=alt.Scale(type="sqrt", range=[12, 90], zero=True))


def _sizes(rows: list[list[Any]]) -> str:
    return (
        "The larger a point, the more conversations. " if len({row[3] for row in rows}) > 1 else ""
    )


def _bands(visible: bool) -> str:
    if not visible:
        return "95% intervals are in the table."
    return "Bands show 95% intervals, clipped to the chart."


def _bounds(result: GoodGain) -> str:
    if not (result.labelled and any(s.bounded for s in result.systems)):
        return ""
    unread = any(s.counts()["unread"] for s in result.systems)
    missing = "are unknown or have no label" if unread else "have no label"
    return f" Some results {missing} and count as no gain; the table has lower and upper bounds."


def _value_scale(rows: list[list[Any]], with_bands: bool) -> Any:
    """A scale for the values and the bands, limited so that one very wide band does not flatten the rest."""
    values = [row[2] for row in rows]
    edges = [edge for row in rows for edge in (row[4], row[5])] if with_bands else []
    bands = [edge for edge in edges if not math.isnan(edge)]
    top, bottom = max([0.0, *values]), min([0.0, *values])
    room = 0.35 * (top - bottom) or 1.0
    return altair().Scale(
        domain=[
            bottom if bottom == 0 else max(min([bottom, *bands]), bottom - room),
            min(max([top, *bands]), top + room),
        ]
    )
