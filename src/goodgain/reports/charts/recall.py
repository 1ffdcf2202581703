"""Precision at every level of recall."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.experiment import ExperimentResult
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
from goodgain.stats.intervals import mean_interval

if TYPE_CHECKING:
    from goodgain.ranking import Evaluation, RunScores
    from goodgain.reports.chart import Chart

LEVELS = tuple(f"IPrec@{level / 10:.1f}" for level in range(11))
_COLUMNS = ["system", "recall", "precision", "low", "high", "queries"]


def precision_recall(result: Evaluation | ExperimentResult) -> Chart:
    """Interpolated precision at eleven levels of recall, a curve for each system, over its seeds."""
    import numpy as np

    alt = altair()
    measured = _measured(result)
    names = shown_names(measured)
    rows: list[list[Any]] = []
    for system, seeds in measured.items():
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
    with_bands = len(names) <= MOST_BANDS
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
    return make(
        "precision-recall",
        "Precision and recall",
        f"The best precision at that recall or beyond, mean over {counted(count, 'query', 'queries')}. "
        + ("Bands are 95 % intervals." if with_bands else "Its 95 % intervals are in the table."),
        view,
        _COLUMNS,
        rows,
    )


def _measured(result: Evaluation | ExperimentResult) -> dict[str, list[RunScores]]:
    """The runs of each system with the levels: as they are, or measured again from their tables."""
    sources = result.sources() if isinstance(result, ExperimentResult) else list(result)
    systems = {
        one[0].name: one for s in sources if (one := s if isinstance(s, list) else [s])
    }  # seeds of a system have one name
    return {name: [_at_levels(run) for run in seeds] for name, seeds in systems.items()}


def _at_levels(scores: RunScores) -> RunScores:
    from goodgain.ranking import Evaluator

    if sum(m.name == "IPrec" for m in scores.measures) > 1:
        return scores
    try:
        known, run = scores.tables()
    except InputError as error:
        raise InputError(
            f"the evaluation has no precision by recall, and its inputs are gone: {error.message}",
            where=error.where,
            hint=f'evaluate with -m "{" ".join(LEVELS)}"',
        ) from None
    again = Evaluator(known.qrels, " ".join(LEVELS), policy=known.policy, preset=known.preset)
    return again.evaluate([run]).runs[0]
