"""Stopping rules: the gain they keep against the cost they spend, beside the best that hindsight allows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goodgain.agentic.stopping import Stopping, stopping
from goodgain.errors import InputError, UsageError
from goodgain.reports.charts.agentic import BUDGETS
from goodgain.reports.charts.frame import altair, counted, cut, data, legend_of, make_chart
from goodgain.reports.charts.scores import choose_system

if TYPE_CHECKING:
    from goodgain.agentic import GoodGain
    from goodgain.agentic.outcomes import Outcome
    from goodgain.reports.chart import Chart

CURVE, OTHERS = "best with hindsight", "other rules"
# Rules that differ in a number only.
FAMILIES = {
    "after": "after N",
    "stale": "stale N",
    "quiet": "quiet N (needs labels)",
    **{what: f"{what} N" for what in ("seconds", "tokens", "cost")},
}
MAX_OTHERS = 4  # rules of no family that have a colour of their own
MAX_POINTS = 300  # of the curve; more cannot be told apart
_NEAR = 0.02  # points at most this share of the axes apart have one label
_COLUMNS = [
    "rule", "needs labels", "spent", "spent low", "spent high", "gain", "low", "high", "lower", "upper",
    "best gain",
]  # fmt: skip


def trade_off(
    result: Stopping | GoodGain, budget: str | None = None, system: str | None = None
) -> Chart:
    """The gain that each rule keeps, against the share of a cost that it spends."""
    replayed = result if isinstance(result, Stopping) else stopping(result)
    system = choose_system(replayed.names, system, "system")
    budget = _choose_budget(replayed, budget, system)
    own = [o for o in replayed.outcomes if o.system == system]
    rows = [_row(o, budget) for o in own]
    placed = [row for row in rows if row[2] is not None and row[5] is not None]
    if not placed:
        raise InputError(
            f"no gain is known for '{system}', so there is nothing to keep",
            hint="label the results with `goodgain label`, or pass labels=... (--labels)",
        )
    level = f"{100 * replayed.settings['confidence']:g}%"
    runs = next(r for r in replayed.runs if r.name == system)
    left_out = len(rows) - len(placed)
    open_note = (
        f" {counted(left_out, 'rule')} without a point: where they stop is not known everywhere."
        if left_out
        else ""
    )
    bounded = any(
        o.retained.lower != o.retained.upper for o in own if not math.isnan(o.retained.lower)
    )
    bound_note = (
        " Missing labels and unread searches could move the points; the table has the bounds."
        if bounded
        else ""
    )
    of = f" of {cut(system, 30)}" if len(replayed.names) > 1 else ""
    return make_chart(
        key=f"stopping-{budget}",
        title=f"Stopping early: gain vs {BUDGETS[budget]}{of}",
        description="If the agent had followed a stopping rule: the share of the gain it would "
        f"have kept, and the share of the {BUDGETS[budget]} it would have spent. Lines show "
        f"{level} intervals over "
        f"{counted(runs.count, 'conversation')}. The curve is the best possible with knowledge of "
        f"all labels and the future.{open_note}{bound_note}",
        view=_view(replayed, system, budget, placed),
        columns=_COLUMNS,
        rows=rows,
    )


def _choose_budget(result: Stopping, budget: str | None, system: str) -> str:
    if budget is not None and budget not in BUDGETS:
        raise UsageError(
            f"unknown budget '{budget}'", hint=f"available budgets: {', '.join(BUDGETS)}"
        )
    known = result.costs(system)
    if budget is not None and budget not in known:
        raise InputError(
            f"{budget} of '{system}' are not known for every conversation",
            hint=f"known: {', '.join(known)}" if known else "",
        )
    return budget or result.leading_cost(system)


def _row(o: Outcome, budget: str) -> list[Any]:
    spent, gain = o.spent(budget), o.retained
    numbers = (
        spent.value, spent.low, spent.high, gain.value, gain.low, gain.high, gain.lower, gain.upper,
        o.best[budget],
    )  # fmt: skip
    return [o.rule, o.is_oracle, *(None if math.isnan(x) else x for x in numbers)]


def _view(result: Stopping, system: str, budget: str, rows: list[list[Any]]) -> Any:
    alt = altair()
    full = alt.Scale(domain=[0, 1.03], nice=False, clamp=True)
    axis = alt.Axis(format="%", values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    x = {"title": f"share of the {BUDGETS[budget]} spent", "scale": full, "axis": axis}
    y = {"title": "share of the gain kept", "scale": full, "axis": axis}
    points = _points(rows)
    kinds = [*dict.fromkeys(point["kind"] for point in points), CURVE]
    colour = alt.Color("kind:N", title=None, scale=alt.Scale(domain=kinds), legend=legend_of(kinds))
    tooltip = [
        alt.Tooltip("rule:N", title="rule"),
        *(
            alt.Tooltip(f"{name}:Q", title=title, format=".1%")
            for name, title in (
                ("gain", "gain kept"), ("low", "low"), ("high", "high"), ("spent", f"{budget} spent"),
                ("best gain", "best gain for as much"),
            )
        ),
    ]  # fmt: skip
    base = alt.Chart(data(points)).encode(color=colour, tooltip=tooltip)
    across, up = alt.X("spent:Q", **x), alt.Y("gain:Q", **y)
    joined = alt.Chart(data(point for point in points if point["number"] is not None))
    return alt.layer(
        alt.Chart(data(_curve(result, system, budget)))
        .mark_line()
        .encode(x=across, y=up, color=colour),
        joined.mark_line(strokeWidth=1, opacity=0.6).encode(
            x=across, y=up, color=colour, order="number:Q"
        ),
        base.mark_rule(style="interval").encode(x=across, y=alt.Y("low:Q", **y), y2="high:Q"),
        base.mark_rule(style="interval").encode(
            x=alt.X("spent low:Q", **x), x2="spent high:Q", y=up
        ),
        base.mark_point(size=70, opacity=1).encode(x=across, y=up),
        alt.Chart(data(point for point in points if point["label"]))
        .mark_text(style="label", align="left", baseline="top", dx=6, dy=4)
        .encode(x=across, y=up, text="label:N"),
    ).properties(height=340)


def _points(rows: list[list[Any]]) -> list[dict[str, Any]]:
    """Rules by family: those that differ in a number are joined and labelled by it."""
    points: list[dict[str, Any]] = []
    others = [row for row in rows if _number(row[0]) is None]
    for row in rows:
        rule, number = row[0], _number(row[0])
        if number is not None:
            kind, label = FAMILIES[rule.split()[0]], _compact(number)
        else:
            own = f"{cut(rule, 30)}{' (needs labels)' if row[1] else ''}"
            kind, label = own if len(others) <= MAX_OTHERS else OTHERS, ""
        point = dict(zip(_COLUMNS, row, strict=True)) | {"rule": cut(rule)}
        near = next((p for p in points if p["kind"] == kind and _is_near(p, point)), None)
        if near is not None and label:  # one label for both
            near["label"], label = cut(f"{near['label']}, {label}", 24), ""
        points.append(point | {"kind": kind, "label": label, "number": number})
    return points


def _number(rule: str) -> float | None:
    """The number of a rule that belongs to a family."""
    word, _, number = rule.partition(" ")
    try:
        return float(number) if word in FAMILIES else None
    except ValueError:
        return None


def _is_near(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return all(abs(a[name] - b[name]) < _NEAR for name in ("spent", "gain"))


def _compact(value: float) -> str:
    return f"{value / 1000:g}k" if value >= 10_000 else f"{value:g}"


def _curve(result: Stopping, system: str, budget: str) -> list[dict[str, Any]]:
    """The points of the oracle curve, thinned, and on to the whole cost."""
    points = result.curve(budget, system).points
    step = max(1, math.ceil(len(points) / MAX_POINTS))
    listed = [*points[:-1:step], *points[-1:]]
    rows = [{"spent": x, "gain": y, "kind": CURVE} for x, y, _ in listed]
    return [*rows, {"spent": 1.0, "gain": 1.0, "kind": CURVE}] if rows else []
