"""Time and cost of queries, read from columns of the run."""

from __future__ import annotations

from goodgain.measures.definition import COST_FAMILY, COUNT, Definition, Param
from goodgain.measures.table.common import EXPERIMENT

MEASURES: tuple[Definition, ...] = (
    Definition(
        name="Latency",
        namespace="cost",
        family=COST_FAMILY,
        level="query",
        unit="s",
        direction="lower",
        range=COUNT,
        summary="Seconds that a query took.",
        formula="mean or percentile of seconds",
        edge_cases=(
            "Undefined if the run has no latencies. p50, p95 and p99 interpolate "
            "linearly between the two nearest queries."
        ),
        citation=EXPERIMENT,
        aggregate="stat",
        params=(
            Param(
                name="stat",
                default="mean",
                meaning="the statistic taken over queries",
                choices=("mean", "p50", "p95", "p99"),
            ),
        ),
        column="latency",
        needs_labels=False,
    ),
    Definition(
        name="Cost",
        namespace="cost",
        family=COST_FAMILY,
        level="query",
        unit="cost",
        direction="lower",
        range=COUNT,
        summary="What a query cost, in the unit of the run.",
        formula="mean of costs",
        edge_cases="Undefined if the run has no costs.",
        citation=EXPERIMENT,
        column="cost",
        needs_labels=False,
    ),
)
