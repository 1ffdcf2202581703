"""Agents that search again and again: what each iteration brought, what it repeated, what it cost."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError
from goodgain.measures.table.agentic import BY_COLUMN, LEVELS, good_gain_definition
from goodgain.reports.charts.frame import (
    MOST_BANDS,
    NUMBER,
    altair,
    by_system,
    counted,
    data,
    make,
    shown_names,
)

if TYPE_CHECKING:
    from goodgain.agentic import GoodGain
    from goodgain.reports.chart import Chart

BUDGETS = {
    "searches": "searches",
    "seconds": "seconds of searching",
    "tokens": "tokens",
    "cost": "cost",
}
_COLUMNS = ["system", "iteration", "value", "n", "low", "high", "lower", "upper"]


def gain(result: GoodGain, measure: str | None = None) -> Chart:
    """A measure by iteration: its mean over conversations with a band of confidence."""
    alt = altair()
    column = _column(result, measure or ("CG" if result.labelled else "UR@i"))
    definition = BY_COLUMN[column]
    names = shown_names(result.names)
    rows = _rows(result, column)
    values = data(
        {**dict(zip(_COLUMNS, row, strict=True)), "system": names[row[0]]} for row in rows
    )
    with_bands = len(names) <= MOST_BANDS
    y = {"title": _axis(column), "scale": _reach(rows, with_bands)}
    base = alt.Chart().encode(x=_iterations(), **by_system([*names.values()], lines=True))
    bands = base.mark_area(opacity=0.16, strokeWidth=0, clip=True).encode(
        y=alt.Y("low:Q", **y), y2="high:Q"
    )
    view = alt.layer(
        *([bands] if with_bands else []),
        base.mark_line(point=alt.OverlayMarkDef(size=50, opacity=1)).encode(
            y=alt.Y("value:Q", **y), tooltip=_tooltip("value")
        ),
        data=values,
    )
    return make(
        "gain" if column == "CG" else f"gain-{_key(column)}",
        f"{definition.name} by iteration",
        f"{definition.summary} {_over(result)} {_bands(with_bands)}{_open(result)}",
        view,
        _COLUMNS,
        rows,
    )


def marginal(result: GoodGain) -> Chart:
    """What one more search brought, iteration by iteration."""
    _need_labels(result)
    return gain(result, "MarginalGain")


def efficiency(result: GoodGain) -> Chart:
    """The share of results that were good and new (SRE) and that were seen before (SRR)."""
    alt = altair()
    names = shown_names(result.names)
    wanted = ("SRE", "SRR") if result.labelled else ("SRR",)
    rows = [[row[0], measure, *row[1:]] for measure in wanted for row in _rows(result, measure)]
    columns = ["system", "measure", *_COLUMNS[1:]]
    words = {"SRE": "SRE: good and new", "SRR": "SRR: seen before"}
    values = data(
        {**dict(zip(columns, row, strict=True)), "system": names[row[0]], "measure": words[row[1]]}
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
                scale=alt.Scale(domain=[words[m] for m in wanted], range=[[1, 0], [5, 4]]),
                legend=alt.Legend(
                    symbolType="stroke", symbolSize=400, symbolStrokeWidth=2, orient="bottom"
                )
                if len(wanted) > 1
                else None,
            ),
            tooltip=_tooltip("value", "measure"),
            **by_system([*names.values()]),
        )
    )
    return make(
        "efficiency",
        " and ".join(wanted) + " by iteration",
        f"The shares of the results so far: {'; '.join(words[m] for m in wanted)}. "
        f"{_over(result)}{_open(result)}",
        view,
        columns,
        rows,
    )


def budget(result: GoodGain, budget: str = "searches") -> Chart:
    """Mean good gain against what was spent on searching."""
    alt = altair()
    if budget not in BUDGETS:
        raise UsageError(f"'{budget}' is no budget", hint=", ".join(BUDGETS))
    _need_labels(result)
    names = shown_names(result.names)
    rows: list[list[Any]] = []
    for name in result.names:
        if curve := result.budget_curve(budget, name):
            rows += [[name, spent, value] for spent, value in [(0.0, 0.0), *curve]]
    if not rows:
        raise InputError(
            f"no conversation says what its searches took in {budget}",
            hint="traces need the field for every search: latency, tokens or cost",
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
    return make(
        f"budget-{budget}",
        f"Good gain against {BUDGETS[budget]}",
        "The mean over conversations of what they had gained by then; one that has ended keeps its gain, "
        "and gain counts once its iteration is complete.",
        view,
        ["system", budget, "mean good gain"],
        rows,
    )


def _column(result: GoodGain, measure: str) -> str:
    definition = good_gain_definition(measure)
    column = str(definition.kernel) if definition else measure
    by_iteration = [m for m in result.measures if LEVELS[m] != "conversation"]
    if column not in by_iteration:
        raise UsageError(
            f"there is no measure '{measure}' by iteration",
            hint=f"there is: {', '.join(by_iteration)}",
        )
    return column


def _need_labels(result: GoodGain) -> None:
    if not result.labelled:
        raise InputError(
            "no result has a label, so there is no gain to show",
            hint="goodgain label, or labels=... (--labels)",
        )


def _rows(result: GoodGain, column: str) -> list[list[Any]]:
    rows = []
    for system in result:
        for i in range(1, system.iterations + 1):
            f = system.figure(column, i, result.settings.align)
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


def _axis(column: str) -> str:
    definition = BY_COLUMN[column]
    return f"{definition.name}{' (lower is better)' if definition.lower_is_better else ''}"


def _key(column: str) -> str:
    """A measure's name that can be part of a file's or an element's."""
    return "".join(c if c.isalnum() else "-" for c in column)


def _over(result: GoodGain) -> str:
    """Over which conversations."""
    count = sum(len(s.searching) for s in result)
    who = (
        "that reached the iteration"
        if result.settings.align == "active"
        else "with the last value carried on"
    )
    return f"Mean over conversations {who} ({counted(count, 'conversation')})."


def _bands(shown: bool) -> str:
    if not shown:
        return "Its 95 % intervals are in the table."
    return "Bands are 95 % intervals, cut where they leave the picture."


def _open(result: GoodGain) -> str:
    if not (result.labelled and any(s.bounded for s in result)):
        return ""
    return (
        " Some results have no label and earn nothing: lower and upper say what they could change."
    )


def _reach(rows: list[list[Any]], with_bands: bool) -> Any:
    """Room for the values and for bands of a bearable size: that of two conversations would hide all else."""
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
