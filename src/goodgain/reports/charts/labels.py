"""Labels: what a judge said, how it agrees with people, and what means become when corrected."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.reports.charts.frame import (
    NUMBER,
    altair,
    counted,
    cut,
    data,
    legend_of,
    make,
    rows_height,
    shown_names,
)
from goodgain.reports.charts.scores import chosen_measure

if TYPE_CHECKING:
    from goodgain.labels import Labels
    from goodgain.labels.calibration import Calibration
    from goodgain.reports.chart import Chart

_Z = 1.959963984540054  # of a 95 % interval


# Steps rather than a ramp: each has a text colour with enough contrast.
_STEPS = ("below 20 %", "20 to 40 %", "40 to 60 %", "60 to 80 %", "80 % and more")


def _step(share: float) -> int:
    return 0 if math.isnan(share) else min(4, int(5 * share))


def confusion(calibration: Calibration) -> Chart:
    """How often the judge said what where a person said what."""
    alt = altair()
    grades = [f"{g:g}" for g in calibration.grades]
    rows: list[list[Any]] = []
    for human, counts in zip(grades, calibration.matrix, strict=True):
        total = sum(counts)
        for judge, count in zip(grades, counts, strict=True):
            rows.append([human, judge, count, count / total if total else math.nan])
    values = data(
        {"human": h, "judge": j, "count": n, "share": s, "text": f"{n:,}", "step": _step(s),
         "steps": _STEPS[_step(s)]}
        for h, j, n, s in rows
    )  # fmt: skip
    x = alt.X("judge:N", sort=grades, title="the judge's gain", axis=alt.Axis(labelAngle=0))
    y = alt.Y("human:N", sort=grades[::-1], title="the human gain")
    base = alt.Chart().encode(x=x, y=y)
    cells = base.mark_rect().encode(
        color=alt.Color(
            "steps:O",
            title="share of the documents of the human gain",
            scale=alt.Scale(domain=list(_STEPS), range="ordinal"),
            legend=legend_of(_STEPS),
        ),
        tooltip=[
            alt.Tooltip("human:N", title="human"),
            alt.Tooltip("judge:N", title="judge"),
            alt.Tooltip("count:Q", title="documents", format=","),
            alt.Tooltip("share:Q", title="share of the row", format=".1%"),
        ],
    )
    view = alt.layer(
        cells,
        base.transform_filter("datum.step < 3").mark_text(style="label").encode(text="text:N"),
        base.transform_filter("datum.step >= 3").mark_text(style="inverse").encode(text="text:N"),
        data=values,
    ).properties(width=alt.Step(64), height=rows_height(len(grades), 44))
    return make(
        "confusion",
        "What the judge said where people said what",
        f"{counted(calibration.pairs, 'pair')} of a query and a document that both have labelled; on the "
        "diagonal both say the same.",
        view,
        ["human", "judge", "documents", "share of the row"],
        rows,
    )


def reliability(calibration: Calibration) -> Chart:
    """For each gain of the judge, how many of its documents people find good."""
    alt = altair()
    rows = []
    for j, judge in enumerate(calibration.grades):
        column = [row[j] for row in calibration.matrix]
        total = sum(column)
        good = sum(
            n for g, n in zip(calibration.grades, column, strict=True) if g >= calibration.threshold
        )
        if total:
            rows.append([f"{judge:g}", good / total, *_wilson(good, total), total])
    grades = [row[0] for row in rows]
    values = data(
        {"judge": judge, "share": share, "low": low, "high": high, "n": n, "text": f"n = {n:,}",
         "top": 1.0}
        for judge, share, low, high, n in rows
    )  # fmt: skip
    x = alt.X("judge:N", sort=grades, title="the judge's gain", axis=alt.Axis(labelAngle=0))
    title = f"found good by people (gain from {calibration.threshold:g} on)"
    scale = alt.Scale(domain=[0, 1.08], nice=False)
    axis = alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1])
    y = alt.Y("share:Q", title=title, scale=scale, axis=axis)
    base = alt.Chart().encode(
        x=x,
        tooltip=[
            alt.Tooltip("judge:N", title="judge"),
            *(alt.Tooltip(f"{f}:Q", title=f, format=".1%") for f in ("share", "low", "high")),
            alt.Tooltip("n:Q", title="documents", format=","),
        ],
    )
    view = alt.layer(
        base.mark_rule(style=["interval", "accent"]).encode(
            y=alt.Y("low:Q", title=title, scale=scale, axis=axis), y2="high:Q"
        ),
        base.mark_point(size=100, opacity=1, style="accent").encode(y=y),
        base.mark_text(style="note", dy=-4, baseline="bottom").encode(
            y=alt.Y("top:Q", scale=scale), text="text:N"
        ),
        data=values,
    ).properties(width=alt.Step(90), height=260)
    return make(
        "reliability",
        "How far each gain of the judge can be trusted",
        "The share of the judge's documents at each gain that people find good, with 95 % intervals "
        "(Wilson). A judge to be trusted is near 0 % below the threshold and near 100 % from it on.",
        view,
        ["judge", "found good", "low", "high", "documents"],
        rows,
    )


def _wilson(good: int, total: int) -> tuple[float, float]:
    share, z2 = good / total, _Z * _Z
    middle = (share + z2 / (2 * total)) / (1 + z2 / total)
    reach = _Z * math.sqrt(share * (1 - share) / total + z2 / (4 * total**2)) / (1 + z2 / total)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def corrected(calibration: Calibration, measure: str | None = None) -> Chart:
    """The mean of every run by the judge, by people, and corrected with its interval."""
    alt = altair()
    if not calibration.corrected:
        raise InputError(
            "the calibration has no runs, so no means were corrected",
            hint="calibrate(..., runs=...)",
        )
    measure = chosen_measure([*dict.fromkeys(c.measure for c in calibration.corrected)], measure)
    found = [c for c in calibration.corrected if c.measure == measure]
    names = shown_names(c.run for c in found)
    kinds = ["corrected", "by people", "by the judge"]
    values = data(
        {"run": names[c.run], "kind": kind, "value": value, "low": low, "high": high}
        for c in found
        for kind, value, low, high in (
            (kinds[0], c.corrected, c.low, c.high),
            (kinds[1], c.human, math.nan, math.nan),
            (kinds[2], c.labels, math.nan, math.nan),
        )
    )
    title = f"{cut(measure)}, mean over queries"
    base = alt.Chart().encode(
        y=alt.Y("run:N", sort=[*names.values()], title=None),
        color=alt.Color(
            "kind:N", title=None, scale=alt.Scale(domain=kinds), legend=legend_of(kinds)
        ),
        tooltip=[
            alt.Tooltip("run:N", title="run"),
            alt.Tooltip("kind:N", title="mean"),
            *(alt.Tooltip(f"{f}:Q", title=f, format=NUMBER) for f in ("value", "low", "high")),
        ],
    )
    view = alt.layer(
        base.mark_rule(style="interval").encode(x=alt.X("low:Q", title=title), x2="high:Q"),
        base.mark_point(size=90, opacity=1).encode(
            x=alt.X("value:Q", title=title, scale=alt.Scale(zero=False, padding=16)),
            shape=alt.Shape(
                "kind:N", title=None, scale=alt.Scale(domain=kinds), legend=legend_of(kinds)
            ),
        ),
        data=values,
    ).properties(height=rows_height(len(found), 40))
    return make(
        "corrected",
        f"{cut(measure)} corrected by human labels",
        f"Means by prediction-powered inference with {100 * calibration.confidence:g} % intervals, beside "
        "those of the judge's labels and of the human ones alone.",
        view,
        ["run", "corrected", "low", "high", "by people", "by the judge"],
        [[c.run, c.corrected, c.low, c.high, c.human, c.labels] for c in found],
    )


def gains(labels: Labels) -> Chart:
    """How many documents have which gain, and how many have none."""
    alt = altair()
    counts: Counter[tuple[int, float, str]] = Counter(
        (1, 0.0, label.status) if label.gain is None else (0, label.gain, f"{label.gain:g}")
        for label in labels
    )
    rows: list[list[Any]] = [
        [text, "no gain" if failed else "gain", n]
        for (failed, _, text), n in sorted(counts.items(), key=lambda item: item[0])
    ]
    values = data({"label": t, "kind": k, "documents": n, "text": f"{n:,}"} for t, k, n in rows)
    base = alt.Chart().encode(
        x=alt.X("label:N", sort=[r[0] for r in rows], title="gain, or why there is none",
                axis=alt.Axis(labelAngle=0)),
        y=alt.Y("documents:Q", title="documents", axis=alt.Axis(format=",d", tickMinStep=1),
                scale=alt.Scale(domainMax=1.1 * max(row[2] for row in rows) if rows else 1)),
    )  # fmt: skip
    view = alt.layer(
        base.mark_bar().encode(
            color=alt.Color("kind:N", title=None, scale=alt.Scale(domain=["gain", "no gain"]))
        ),
        base.mark_text(style="label", dy=-8).encode(text="text:N"),
        data=values,
    ).properties(width=alt.Step(64))
    return make(
        "labels",
        "Gains given by the judge",
        f"{counted(sum(counts.values()), 'label')} of {cut(labels.setting.model)}.",
        view,
        ["label", "kind", "documents"],
        rows,
    )
