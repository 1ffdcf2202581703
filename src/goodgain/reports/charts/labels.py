"""Labels: a judge's gains, its agreement with people, and corrected means."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.measures.custom import saved_measure
from goodgain.reports.charts.frame import (
    NUMBER,
    altair,
    counted,
    cut,
    data,
    display_names,
    legend_of,
    make_chart,
    rows_height,
)
from goodgain.reports.charts.scores import choose_measure

if TYPE_CHECKING:
    from goodgain.labels import Labels
    from goodgain.labels.calibration import Calibration
    from goodgain.measures import Measure
    from goodgain.reports.chart import Chart

_Z = 1.959963984540054  # of a 95% interval


# Steps rather than a ramp: each has a text colour with enough contrast.
SHARES = ("below 20%", "20–40%", "40–60%", "60–80%", "80% or more")


def share_step(share: float) -> int:
    """The place of a share among them."""
    return 0 if math.isnan(share) else min(4, int(5 * share))


def confusion(calibration: Calibration) -> Chart:
    """The confusion matrix of the judge's and the human gains."""
    alt = altair()
    grades = [f"{g:g}" for g in calibration.grades]
    rows: list[list[Any]] = []
    for human, counts in zip(grades, calibration.matrix, strict=True):
        total = sum(counts)
        for judge, count in zip(grades, counts, strict=True):
            rows.append([human, judge, count, count / total if total else math.nan])
    values = data(
        {"human": h, "judge": j, "count": n, "share": s, "text": f"{n:,}", "step": share_step(s),
         "steps": SHARES[share_step(s)]}
        for h, j, n, s in rows
    )  # fmt: skip
    x = alt.X("judge:N", sort=grades, title="judge gain", axis=alt.Axis(labelAngle=0))
    y = alt.Y("human:N", sort=grades[::-1], title="human gain")
    base = alt.Chart().encode(x=x, y=y)
    cells = base.mark_rect().encode(
        color=alt.Color(
            "steps:O",
            title="share of the row",
            scale=alt.Scale(domain=list(SHARES), range="ordinal"),
            legend=legend_of(SHARES),
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
    return make_chart(
        key="confusion",
        title="Confusion matrix of judge and human gains",
        description=f"{counted(calibration.pairs, 'pair')} of a query and a document with "
        "both labels; on the diagonal the two agree.",
        view=view,
        columns=["human", "judge", "documents", "share of the row"],
        rows=rows,
    )


def reliability(calibration: Calibration) -> Chart:
    """For each gain of the judge, the share of its documents that people label good."""
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
    x = alt.X("judge:N", sort=grades, title="judge gain", axis=alt.Axis(labelAngle=0))
    title = f"labelled good by people (gain ≥ {calibration.threshold:g})"
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
    return make_chart(
        key="reliability",
        title="Reliability of the judge by gain",
        description="Share of the documents with each judge gain that people label good, "
        "with 95% Wilson intervals. For a reliable judge it is near 0% below the threshold and "
        "near 100% from the threshold up.",
        view=view,
        columns=["judge", "labelled good", "low", "high", "documents"],
        rows=rows,
    )


def _wilson(good: int, total: int) -> tuple[float, float]:
    share, z2 = good / total, _Z * _Z
    middle = (share + z2 / (2 * total)) / (1 + z2 / total)
    reach = _Z * math.sqrt(share * (1 - share) / total + z2 / (4 * total**2)) / (1 + z2 / total)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def corrected_measures(calibration: Calibration) -> list[Measure]:
    """The measures of the corrected means; a calibration keeps only their labels."""
    return [
        saved_measure(label) for label in dict.fromkeys(c.measure for c in calibration.corrected)
    ]


def corrected(calibration: Calibration, measure: str | None = None) -> Chart:
    """The mean of each run by judge labels, by human labels, and corrected with its interval."""
    alt = altair()
    if not any(c.corrected == c.corrected for c in calibration.corrected):
        why = "people's labels have no known design" if calibration.corrected else "it had no runs"
        raise InputError(
            f"the calibration has no corrected means, because {why}",
            hint="calibrate(..., runs=..., design=...)",
        )
    label = choose_measure(corrected_measures(calibration), measure).label
    means = [c for c in calibration.corrected if c.measure == label]
    names = display_names(c.run for c in means)
    kinds = ["corrected", "human labels", "judge labels"]
    values = data(
        {"run": names[c.run], "kind": kind, "value": value, "low": low, "high": high}
        for c in means
        for kind, value, low, high in (
            (kinds[0], c.corrected, c.low, c.high),
            (kinds[1], c.human, math.nan, math.nan),
            (kinds[2], c.labels, math.nan, math.nan),
        )
    )
    title = f"{cut(label)}, mean over queries"
    base = alt.Chart().encode(
        y=alt.Y("run:N", sort=[*names.values()], title=None),
        color=alt.Color(
            "kind:N", title=None, scale=alt.Scale(domain=kinds), legend=legend_of(kinds)
        ),
        tooltip=[
            alt.Tooltip("run:N", title="run"),
            alt.Tooltip("kind:N", title="mean by"),
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
    ).properties(height=rows_height(len(means), 40))
    return make_chart(
        key="corrected",
        title=f"{cut(label)} corrected with human labels",
        description="Means corrected with a designed sample of human labels, with "
        f"{100 * calibration.confidence:g}% intervals where enough was judged, and the means of the judge "
        "labels and of the human labels alone.",
        view=view,
        columns=["run", "corrected", "low", "high", "human labels", "judge labels"],
        rows=[[c.run, c.corrected, c.low, c.high, c.human, c.labels] for c in means],
    )


def gains(labels: Labels) -> Chart:
    """The number of documents by gain, and of those without one."""
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
        x=alt.X("label:N", sort=[r[0] for r in rows], title="gain, or the status if there is none",
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
    return make_chart(
        key="labels",
        title="Gains assigned by the judge",
        description=f"{counted(sum(counts.values()), 'label')} by {cut(labels.setting.model)}.",
        view=view,
        columns=["label", "kind", "documents"],
        rows=rows,
    )
