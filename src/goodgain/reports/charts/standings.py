"""Ranks with tie groups: means of systems, and bars that join those that no test tells apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.comparison.standings import rank_text
from goodgain.errors import InputError
from goodgain.reports.charts.frame import (
    NUMBER,
    altair,
    cut,
    data,
    direction_note,
    display_names,
    make_chart,
    rows_height,
    system_colours,
)
from goodgain.results.numbers import decimals
from goodgain.results.text import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodgain.comparison.comparison import Comparison
    from goodgain.comparison.standings import Standings
    from goodgain.measures import Measure
    from goodgain.reports.chart import Chart

_LANE = 9  # pixels between bars


def standings(comparison: Comparison) -> Chart:
    """The ranks of a comparison's systems by its first measure of quality."""
    if comparison.standings is None or comparison.quality is None:
        raise InputError("no two systems have means to rank")
    return standings_chart(comparison.standings, comparison.systems, comparison.quality)


def standings_chart(stood: Standings, systems: Sequence[str], measure: Measure) -> Chart:
    """Each system at its mean, best first; a bar joins systems of which no two are told apart."""
    alt = altair()
    names = display_names(systems)
    ranks = stood.ranks()
    digits = decimals(*stood.means)
    groups = stood.groups()
    lanes = _lanes(groups)
    order = [names[s] for s in stood.systems]
    y = alt.Y("system:N", scale=alt.Scale(domain=order), title=None)
    title = f"{cut(measure.label)}{direction_note(measure)}"
    room = 30 + _LANE * (1 + max(lanes, default=0))
    x = alt.X("mean:Q", title=title, scale=alt.Scale(zero=False, padding=room))
    points = data(
        {"system": names[s], "mean": mean, "rank": rank_text(ranks[s]),
         "text": f"{number(mean, digits)}  ({rank_text(ranks[s])})"}
        for s, mean in zip(stood.systems, stood.means, strict=True)
    )  # fmt: skip
    tooltip = [
        alt.Tooltip("system:N", title="system"),
        alt.Tooltip("mean:Q", title="mean", format=NUMBER),
        alt.Tooltip("rank:N", title="rank"),
    ]
    layers: list[Any] = [
        alt.Chart(points)
        .mark_point(size=80, opacity=1)
        .encode(x=x, y=y, color=system_colours(list(names.values())), tooltip=tooltip),
        alt.Chart(points).mark_text(style="label", dy=-10).encode(x=x, y=y, text="text:N"),
    ]
    for (first, last), lane in zip(groups, lanes, strict=True):
        bar = data([{"system": order[first], "last": order[last]}])
        layers.append(
            alt.Chart(bar)
            .mark_rule(strokeWidth=4, strokeCap="round")
            .encode(y=y, y2="last:N", x=alt.value({"expr": f"width - {6 + _LANE * lane}"}))
        )
    each = 30 if len(order) <= 20 else 22
    height = rows_height(len(order), each)
    return make_chart(
        key="standings",
        title=f"{cut(measure.label)}: ranks and tie groups",
        description="Points show means, best first, with ranks in brackets; a range means that no "
        "test decides. A bar on the right joins systems without a significant difference between "
        "any two"
        f"{'' if groups else ' (there is none)'}.",
        view=alt.layer(*layers).properties(height=height),
        columns=["system", "mean", "rank", "tie groups"],
        rows=[
            [
                s,
                mean,
                rank_text(ranks[s]),
                ", ".join(str(g + 1) for g, (a, b) in enumerate(groups) if a <= i <= b) or "–",
            ]
            for i, (s, mean) in enumerate(zip(stood.systems, stood.means, strict=True))
        ],
    )


def _lanes(groups: Sequence[tuple[int, int]]) -> list[int]:
    """The lane of each bar: the first that is free above its beginning."""
    ends: list[int] = []
    lanes = []
    for first, last in groups:
        lane = next((i for i, end in enumerate(ends) if end < first), len(ends))
        ends[lane : lane + 1] = [last]
        lanes.append(lane)
    return lanes
