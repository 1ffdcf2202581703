"""Time and cost of systems, and the trade-off with quality."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.comparison.comparison import Price
from goodgain.stats.pareto import TradeOff, pareto_front, percentiles

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.comparison.pairing import Column
    from goodgain.comparison.scores import ScoreSet


def price_table(scores: ScoreSet, columns: list[Column]) -> tuple[Price, ...]:
    """mean, p50, p95 and p99 of every column of time or cost, once each."""
    prices = []
    for key in dict.fromkeys(column.key for column in columns if column.measure.is_cost):
        for system in scores.systems:
            values = [v for v in scores.values(system, key).values() if v == v]
            if values:
                measure = scores.measures[key]
                prices.append(
                    Price(
                        system=system, measure=measure, **percentiles(values), queries=len(values)
                    )
                )
    return tuple(prices)


def front(
    scores: ScoreSet,
    columns: list[Column],
    means: Mapping[str, Mapping[str, float]],
    prices: tuple[Price, ...],
) -> tuple[TradeOff, ...]:
    """The first measure of quality against the first of time or cost, if there are both."""
    chosen = next((column for column in columns if not column.measure.is_cost), None)
    if chosen is None or not prices:
        return ()
    quality, price = chosen.measure, prices[0].measure
    keys = (chosen.key, next(c.key for c in columns if scores.measures[c.key] == price))
    return pareto_front(
        {s: values[quality.label] for s, values in means.items()},
        {p.system: p.mean for p in prices if p.measure == price},
        quality.lower_is_better,
        price.lower_is_better,
        {s: [scores.values(s, key) for key in keys] for s in means},
    )
