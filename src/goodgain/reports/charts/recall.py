"""Precision-recall curves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.experiment import ExperimentResult
from goodgain.reports.charts.frame import (
    MAX_BANDS,
    NUMBER,
    altair,
    by_system,
    counted,
    data,
    display_names,
    make_chart,
)
from goodgain.stats.intervals import mean_interval

if TYPE_CHECKING:
    from goodgain.ranking import Evaluation, RunScores
    from goodgain.reports.chart import Chart

LEVELS = tuple(f"IPrec@{level / 10:.1f}" for level in range(11))
_COLUMNS = ["system", "recall", "precision", "low", "high", "queries"]


def precision_recall(result: Evaluation | ExperimentResult) -> Chart:
    """Interpolated precision at eleven recall levels: a curve for each system, averaged over seeds."""
    import numpy as np

    alt = altair()
    runs = _runs_with_levels(result)
    names = display_names(runs)
    rows: list[list[Any]] = []
    for system, seeds in runs.items():
        for m in seeds[0].measures:
            if m.name == "IPrec" and m.cutoff is not None:
                values = np.mean([seed.values(m) for seed in seeds], axis=0)
                mean, low, high, n = mean_interval(values)
                if not math.isnan(mean):
                    rows.append([system, float(m.cutoff), mean, low, high, n])
    values_of_rows = data(
        {**dict(zip(_COLUMNS, row, strict=True)), "system": names[row[0]]} for row in rows
    )
    axis, scale = alt.Axis(format="%"), alt.Scale(domain=[0, 1])
    base = alt.Chart().encode(
        x=alt.X("recall:Q", title="recall", axis=axis, scale=scale),
        **by_system([*names.values()], lines=True),
    )
    y = {"title": "interpolated precision", "axis": axis, "scale": scale}
    bands = base.mark_area(opacity=0.16, strokeWidth=0, clip=True).encode(
        y=alt.Y("low:Q", **y), y2="high:Q"
    )
    with_bands = len(names) <= MAX_BANDS
    view = alt.layer(
        *([bands] if with_bands else []),
        base.mark_line(point=alt.OverlayMarkDef(size=40, opacity=1)).encode(
            y=alt.Y("precision:Q", **y),
            tooltip=[
                alt.Tooltip("system:N", title="system"),
                alt.Tooltip("recall:Q", title="recall", format=".0%"),
                *(
                    alt.Tooltip(f"{f}:Q", title=f, format=NUMBER)
                    for f in ("precision", "low", "high")
                ),
            ],
        ),
        data=values_of_rows,
    ).properties(height=320)
    count = max((row[5] for row in rows), default=0)
    return make_chart(
        key="precision-recall",
        title="Precision vs recall",
        description="Best precision at each recall level or above, averaged over "
        f"{counted(count, 'query', 'queries')}. "
        + ("Bands show 95% intervals." if with_bands else "95% intervals are in the table."),
        view=view,
        columns=_COLUMNS,
        rows=rows,
    )


def _runs_with_levels(result: Evaluation | ExperimentResult) -> dict[str, list[RunScores]]:
    """The runs of each system with the recall levels, evaluated again from their tables if needed."""
    sources = result.sources() if isinstance(result, ExperimentResult) else list(result.runs)
    systems = {
        one[0].name: one for s in sources if (one := s if isinstance(s, list) else [s])
    }  # the seeds of a system share its name
    return {name: [_at_levels(run) for run in seeds] for name, seeds in systems.items()}


def _at_levels(scores: RunScores) -> RunScores:
    from goodgain.ranking import Evaluator

    if sum(m.name == "IPrec" for m in scores.measures) > 1:
        return scores
    try:
        evaluator, run = scores.tables()
    except InputError as error:
        raise InputError(
            f"the evaluation has no precision-recall data, and its inputs are not available: {error.message}",
            where=error.where,
            hint=f'evaluate with -m "{" ".join(LEVELS)}"',
        ) from None
    levels = Evaluator(
        evaluator.qrels, " ".join(LEVELS), policy=evaluator.policy, preset=evaluator.preset
    )
    return levels.evaluate([run]).runs[0]
