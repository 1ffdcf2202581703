"""Verdicts: Good, Same and Bad side by side, and the checks of a gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.reports.charts.frame import (
    altair,
    counted,
    cut,
    data,
    legend_of,
    make,
    rows_height,
    shown_names,
)
from goodgain.results.numbers import signed

if TYPE_CHECKING:
    from goodgain.comparison import GSB, Gate
    from goodgain.reports.chart import Chart

_SIDES = ("bad", "same", "good")
_VERDICTS = ("worse", "not shown", "no worse")


def sides(found: GSB) -> Chart:
    """How many items are good, same and bad."""
    alt = altair()
    rows = [[side, getattr(found, side), getattr(found, side) / found.items] for side in _SIDES]
    begin, values = 0.0, []
    for side, count, share in rows:
        values.append(
            {"side": side, "count": count, "begin": begin, "end": begin + share,
             "middle": begin + share / 2, "text": f"{count:,}" if share > 0.04 else ""}
        )  # fmt: skip
        begin += share
    x = alt.X("begin:Q", title="share of the items", axis=alt.Axis(format="%"),
              scale=alt.Scale(domain=[0, 1]))  # fmt: skip
    view = alt.layer(
        alt.Chart()
        .mark_bar()
        .encode(
            x=x,
            x2="end:Q",
            color=alt.Color(
                "side:N", title=None, scale=alt.Scale(domain=list(_SIDES), range="diverging")
            ),
            tooltip=[
                alt.Tooltip("side:N", title="label"),
                alt.Tooltip("count:Q", title="items", format=","),
            ],
        ),
        alt.Chart()
        .mark_text(style="inverse", fontWeight="bold")
        .encode(x=alt.X("middle:Q", title="share of the items"), text="text:N"),
        data=data(values),
    ).properties(height=48)
    return make(
        "sides",
        f"GSB {signed(found.value, 3)} [{signed(found.low, 3)}, {signed(found.high, 3)}]",
        found.sentence,
        view,
        ["label", "items", "share"],
        rows,
    )


def checks(gate: Gate) -> Chart:
    """Each measure's difference, the worst that the data allow, and the margin it must stay within."""
    alt = altair()
    names = shown_names(c.measure for c in gate.checks)
    queries = max((c.queries for c in gate.checks), default=0)
    values = data(
        {"measure": names[c.measure], "difference": c.difference, "bound": c.bound,
         "margin": c.margin if c.lower_is_better else -c.margin, "verdict": c.verdict,
         "queries": c.queries}
        for c in gate.checks
    )  # fmt: skip
    title = f"{cut(gate.candidate, 30)} minus {cut(gate.baseline, 30)}"
    y = alt.Y("measure:N", sort=[*names.values()], title=None)
    color = alt.Color(
        "verdict:N", title=None, legend=legend_of(_VERDICTS),
        scale=alt.Scale(domain=list(_VERDICTS), range="diverging"),
    )  # fmt: skip
    tooltip = [
        alt.Tooltip("measure:N", title="measure"),
        *(
            alt.Tooltip(f"{f}:Q", title=t, format="+.4~f")
            for f, t in (("difference", "difference"), ("bound", "at worst"), ("margin", "margin"))
        ),
        alt.Tooltip("verdict:N", title="verdict"),
    ]
    base = alt.Chart().encode(y=y, color=color, tooltip=tooltip)
    x = alt.X("difference:Q", title=title, scale=alt.Scale(zero=True, padding=20))
    view = alt.layer(
        alt.Chart(data([{}])).mark_rule(style="zero").encode(x=alt.XDatum(0, title=title)),
        alt.Chart()
        .mark_tick(style="note", thickness=2, size=26)
        .encode(x=alt.X("margin:Q", title=title), y=y),
        base.mark_rule(style="interval").encode(x=alt.X("bound:Q", title=title), x2="difference:Q"),
        base.mark_point(size=100, opacity=1).encode(x=x),
        data=values,
    ).properties(height=rows_height(len(gate.checks)))
    return make(
        "gate",
        f"The gate {'passed' if gate.passed else 'failed'}: {cut(gate.candidate, 30)} against "
        f"{cut(gate.baseline, 30)}",
        f"Points are differences over {counted(queries, 'query', 'queries')}, lines reach to the worst that "
        "the data allow, the grey mark is the margin: a measure passes where its line ends before the mark.",
        view,
        ["measure", "difference", "at worst", "margin", "p", "verdict", "queries"],
        [
            [c.measure, c.difference, c.bound, c.margin, c.p, c.verdict, c.queries]
            for c in gate.checks
        ],
    )
