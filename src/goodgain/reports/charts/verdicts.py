"""Verdicts: the shares of good, same and bad, and the checks of a gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.comparison.render import header
from goodgain.reports.charts.frame import (
    altair,
    counted,
    cut,
    data,
    display_names,
    legend_of,
    make_chart,
    rows_height,
    unit_nouns,
)
from goodgain.results.numbers import signed

if TYPE_CHECKING:
    from goodgain.comparison import GSB, Gate
    from goodgain.reports.chart import Chart

_SIDES = ("bad", "same", "good")
# A measure without evidence has no point to colour.
_VERDICTS = ("worse", "not shown", "no worse", "open")


def sides(gsb: GSB) -> Chart:
    """The shares of good, same and bad."""
    alt = altair()
    rows = [[side, getattr(gsb, side), getattr(gsb, side) / gsb.items] for side in _SIDES]
    begin, values = 0.0, []
    for side, count, share in rows:
        values.append(
            {"side": side, "count": count, "begin": begin, "end": begin + share,
             "middle": begin + share / 2, "text": f"{count:,}" if share > 0.04 else ""}
        )  # fmt: skip
        begin += share
    x = alt.X("begin:Q", title="share of items", axis=alt.Axis(format="%"),
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
        .encode(x=alt.X("middle:Q", title="share of items"), text="text:N"),
        data=data(values),
    ).properties(height=48)
    return make_chart(
        key="sides",
        title=f"GSB {signed(gsb.value, 3)} [{signed(gsb.low, 3)}, {signed(gsb.high, 3)}]",
        description=gsb.sentence,
        view=view,
        columns=["label", "items", "share"],
        rows=rows,
    )


def checks(gate: Gate) -> Chart:
    """Each measure's difference, its confidence bound, and the margin it must stay within."""
    alt = altair()
    reasons = [c for c in gate.checks if c.reason]
    names = display_names(header(c.measure) for c in gate.checks)
    most = max(gate.checks, key=lambda c: c.queries, default=None)
    one, several = unit_nouns(most.measure if most else None)
    values = data(
        {"measure": names[header(c.measure)], "difference": c.difference, "bound": c.bound,
         "margin": -c.measure.sign * c.margin, "verdict": c.verdict, "reason": cut(c.reason, 200),
         "queries": c.queries, "text": c.verdict if c.verdict == "no evidence" else ""}
        for c in gate.checks
    )  # fmt: skip
    title = f"{cut(gate.candidate, 30)} minus {cut(gate.baseline, 30)}"
    y = alt.Y("measure:N", sort=[*names.values()], title=None)
    any_open = any(c.verdict == "open" for c in gate.checks)
    verdicts = [v for v in _VERDICTS if any_open or v != "open"]
    color = alt.Color(
        "verdict:N", title=None, legend=legend_of(verdicts),
        scale=alt.Scale(domain=verdicts, range="diverging"),
    )  # fmt: skip
    tooltip = [
        alt.Tooltip("measure:N", title="measure"),
        *(
            alt.Tooltip(f"{f}:Q", title=t, format="+.4~f")
            for f, t in (("difference", "difference"), ("bound", "bound"), ("margin", "margin"))
        ),
        alt.Tooltip("verdict:N", title="verdict"),
        *([alt.Tooltip("reason:N", title="reason")] if reasons else []),
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
        alt.Chart()
        .mark_text(style="note", align="left", dx=6)
        .encode(x=alt.XDatum(0, title=title), y=y, text="text:N"),
        data=values,
    ).properties(height=rows_height(len(gate.checks)))
    return make_chart(
        key="gate",
        title=f"Gate {'passed' if gate.passed else 'failed'}: {cut(gate.candidate, 30)} vs "
        f"{cut(gate.baseline, 30)}",
        description=f"Points show differences over {counted(most.queries if most else 0, one, several)}, "
        "lines extend to the confidence bound, and grey ticks mark the margin. A measure passes if "
        f"its line does not reach the tick{' and no missing label could change that' if reasons else ''}."
        + "".join(f" {cut(c.measure.label)}: {c.verdict}, {cut(c.reason, 200)}." for c in reasons),
        view=view,
        columns=["measure", "difference", "bound", "margin", "p", "verdict", several, "reason"],
        rows=[
            [
                header(c.measure),
                c.difference,
                c.bound,
                c.margin,
                c.p,
                c.verdict,
                c.queries,
                c.reason,
            ]
            for c in gate.checks
        ],
    )
