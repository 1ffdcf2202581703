"""From evidence to answer: how much of it got how far, and whether answers are right with and without it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError
from goodgain.reports.charts.frame import (
    altair,
    by_system,
    counted,
    cut,
    data,
    display_names,
    make_chart,
    rows_height,
)
from goodgain.reports.charts.labels import SHARES, share_step
from goodgain.reports.charts.scores import choose_system
from goodgain.results.numbers import hundredths

if TYPE_CHECKING:
    from goodgain.agentic import GoodGain
    from goodgain.agentic.funnel import SystemFunnel
    from goodgain.reports.chart import Chart

ANSWER = "answer right"
_WITH = {True: "returned", False: "not returned"}
_ANSWERS = {True: "right", False: "wrong"}


def steps(result: GoodGain) -> Chart:
    """The share of the known evidence that was returned, opened and cited, and of answers that are right."""
    alt = altair()
    names = display_names(result.names)
    rows = [row for system in result.funnel.systems for row in _step_rows(system)]
    if not any(row[3] for row in rows):
        raise InputError(
            "no evidence is known, so there is no funnel",
            hint="label the results with `goodgain label`, or pass labels=... (--labels)",
        )
    order = list(dict.fromkeys(row[1] for row in rows))
    listed = [
        step for step in ("evidence known", "returned", "opened", "cited", ANSWER) if step in order
    ]
    values = data(
        {"system": names[s], "step": step, "share": share, "count": count, "of": of, "text": text}
        for s, step, count, of, share, _, _, text in rows
    )
    several = {"yOffset": alt.YOffset("system:N", sort=[*names.values()])} if len(names) > 1 else {}
    base = alt.Chart().encode(
        y=alt.Y(
            "step:N",
            sort=listed,
            title=None,
            scale=alt.Scale(paddingInner=0.12 if several else 0, paddingOuter=0),
        ),
        **several,
    )
    x = {
        "title": "share of the evidence, or of answers",
        "scale": alt.Scale(domain=[0, 1], nice=False),
        "axis": alt.Axis(format="%"),
    }
    view = alt.layer(
        base.mark_bar(size=12).encode(
            x=alt.X("share:Q", **x),
            opacity=alt.condition(f"datum.step === '{ANSWER}'", alt.value(0.6), alt.value(1)),
            tooltip=[
                alt.Tooltip("system:N", title="system"),
                alt.Tooltip("step:N", title="step"),
                alt.Tooltip("count:Q", title="count", format=","),
                alt.Tooltip("of:Q", title="of", format=","),
                alt.Tooltip("share:Q", title="share", format=".1%"),
            ],
            **by_system([*names.values()]),
        ),
        base.mark_text(style="label", align="left", baseline="bottom", dy=-7).encode(
            x=alt.datum(0, type="quantitative"), text="text:N"
        ),
        data=values,
    ).properties(height=rows_height(len(listed) * len(names), 40))
    return make_chart(
        key="funnel",
        title="From evidence to answer",
        description="How much of the evidence that is known to be good was returned by a search, opened, "
        "and cited, over all conversations. Lost: evidence that reached the previous step and "
        "went no further. Steps "
        "that no trace records are left out.",
        view=view,
        columns=["system", "step", "count", "of", "share", "lost", "not recorded"],
        rows=[row[:-1] for row in rows],
    )


def _step_rows(system: SystemFunnel) -> list[list[Any]]:
    known = system.steps[0].evidence
    rows: list[list[Any]] = []
    for step in system.steps:
        name = "evidence known" if step.name == "known" else step.name
        text = f"{step.evidence:,}"
        if step.name != "known":
            text += f" of {known:,}, {step.lost:,} lost"
        if step.unknown:
            text += f", {step.unknown:,} not recorded"
        rows.append(
            [system.name, name, step.evidence, known, step.share, step.lost, step.unknown, text]
        )
    if (answers := system.answers) is not None:
        checked = answers["right"] + answers["wrong"]
        unknown = answers["unanswered"] + answers["unknown"]
        share = answers["right"] / checked if checked else math.nan
        text = f"{answers['right']:,} of {counted(checked, 'answer')}"
        text += f", {unknown:,} missing or not judged" if unknown else ""
        rows.append(
            [system.name, ANSWER, answers["right"], checked, share, answers["wrong"], unknown, text]
        )
    return rows


def square(result: GoodGain, evidence: str = "any", system: str | None = None) -> Chart:
    """Conversations by whether evidence was returned and whether the answer is right."""
    alt = altair()
    if evidence not in ("any", "all"):
        raise UsageError(f"invalid evidence='{evidence}': use 'any' or 'all'")
    checked = [s.name for s in result.funnel.systems if s.is_checked]
    if not checked:
        raise InputError("no answer was checked", hint="pass gold answers: answers=... (--answers)")
    system = choose_system(checked, system, "system")
    cells = result.funnel[system].square(evidence)  # type: ignore[arg-type]
    assert cells is not None  # it is checked
    rows: list[list[Any]] = [
        [_WITH[c.evidence], _ANSWERS[c.right], c.count, c.share, c.low, c.high] for c in cells.cells
    ]
    values = data(
        {
            "evidence": has, "answer": right, "count": count, "share": share, "low": low, "high": high,
            "step": share_step(share), "steps": SHARES[share_step(share)], "text": f"{count:,}",
            "interval": _interval(share, low, high),
        }
        for has, right, count, share, low, high in rows
    )  # fmt: skip
    returned = "evidence" if evidence == "any" else "all evidence"
    gap = alt.Scale(paddingInner=0.03, paddingOuter=0)
    base = alt.Chart().encode(
        x=alt.X(
            "answer:N", sort=[*_ANSWERS.values()], title="answer", axis=alt.Axis(labelAngle=0, grid=False),
            scale=gap,
        ),
        y=alt.Y("evidence:N", sort=[*_WITH.values()], title=returned, scale=gap),
    )  # fmt: skip
    texts = []
    for dark, style in (("<", "label"), (">=", "inverse")):
        own = base.transform_filter(f"datum.step {dark} 3")
        texts += [
            own.mark_text(style=style, fontSize=18, dy=-8).encode(text="text:N"),
            own.mark_text(style=style, dy=12).encode(text="interval:N"),
        ]
    view = alt.layer(
        base.mark_rect().encode(
            color=alt.Color(
                "steps:O",
                title=None,
                scale=alt.Scale(domain=list(SHARES), range="ordinal"),
                legend=None,
            ),
            tooltip=[
                alt.Tooltip("evidence:N", title=returned),
                alt.Tooltip("answer:N", title="answer"),
                alt.Tooltip("count:Q", title="conversations", format=","),
                alt.Tooltip("share:Q", title="share", format=".1%"),
            ],
        ),
        *texts,
        data=values,
    ).properties(width=alt.Step(180), height=rows_height(2, 90))
    unknown = (
        f" {counted(cells.unknown, 'conversation')} left out: their evidence or their answer is not known."
        if cells.unknown
        else ""
    )
    of = f" of {cut(system, 30)}" if len(result.names) > 1 else ""
    share_of = "any of the known evidence" if evidence == "any" else "all of the known evidence"
    return make_chart(
        key="answers" if evidence == "any" else "answers-all",
        title=f"Evidence against answers{of}",
        description=f"{counted(cells.n, 'conversation')} by whether searches returned {share_of}, and "
        f"whether the answer is right; shares with 95% intervals.{unknown}",
        view=view,
        columns=[returned, "answer", "conversations", "share", "low", "high"],
        rows=rows,
    )


def _interval(share: float, low: float, high: float) -> str:
    if math.isnan(share):
        return ""
    text = f"{hundredths(share)}%"
    return text if math.isnan(low) else f"{text} ({hundredths(low)}–{hundredths(high)})"
