"""Quality against time or cost: the systems that no other beats on both, and which are shown to be beaten."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.stats.corrections import correct
from goodgain.stats.paired import run_test

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Axes = Sequence[Mapping[str, float]]  # one mapping from units to values for each axis

ON_FRONT, DOMINATED, OPEN = "on the front", "dominated", "not separable"
STANDINGS = {
    ON_FRONT: "no other has means at least as good on every axis and better on one",
    DOMINATED: "another is shown to be better on every axis",
    OPEN: "another has better means, but that it is better on every axis is not shown",
}


@dataclass(frozen=True, slots=True)
class TradeOff:
    """A system's quality and price, and a system that is no worse on both, by the means."""

    system: str
    quality: float
    price: float
    on_front: bool
    beaten_by: str | None
    is_proven: bool = (
        False  # that it is beaten: paired tests on both axes, corrected over the systems
    )

    @property
    def standing(self) -> str:
        """One of `STANDINGS`."""
        return ON_FRONT if self.on_front else DOMINATED if self.is_proven else OPEN

    def to_dict(self) -> dict[str, Any]:
        """Field to value."""
        return asdict(self)


class Standing(NamedTuple):
    """The system that beats another one by the means, and whether that is shown."""

    rival: str | None
    is_proven: bool

    @property
    def name(self) -> str:
        """One of `STANDINGS`."""
        return ON_FRONT if self.rival is None else DOMINATED if self.is_proven else OPEN


def standings(
    points: Mapping[str, tuple[float, ...]],
    values: Mapping[str, Axes] | None = None,
    alpha: float = 0.05,
) -> dict[str, Standing]:
    """How each system stands; higher is better on every axis.

    A system is beaten if another has means at least as good on all axes and better on one. It is shown to be
    beaten if one-sided paired t-tests say so on every axis (an axis without any difference counts as shown),
    with Holm's correction over all pairs of systems. Without `values` nothing is shown.
    """
    beaten = {s: [o for o in points if _beats(points[o], points[s])] for s in points}
    pairs = [(s, o) for s, others in beaten.items() for o in others]
    p_values = [math.nan if values is None else _p_of(values[o], values[s]) for s, o in pairs]
    tested = [(pair, p) for pair, p in zip(pairs, p_values, strict=True) if p == p]
    others_of = len(points) * (len(points) - 1) - len(tested)  # pairs that the means have left out
    levels = correct([p for _, p in tested] + [1.0] * others_of)
    corrected = {pair: p for (pair, _), p in zip(tested, levels, strict=False)}
    result = {}
    for system, others in beaten.items():
        if not others:
            result[system] = Standing(None, False)
            continue
        sure = [o for o in others if corrected.get((system, o), 1.0) < alpha]
        rival = max(sure or others, key=lambda o: points[o])  # the best that one could use instead
        result[system] = Standing(rival, bool(sure))
    return result


def pareto_front(
    quality: Mapping[str, float],
    price: Mapping[str, float],
    lower_is_better: bool = False,
    price_lower_is_better: bool = True,
    values: Mapping[str, Axes] | None = None,
) -> tuple[TradeOff, ...]:
    """All systems that have both numbers, best price first.

    `values` are those of each query, quality and price, in their own directions.
    """
    signs = (-1 if lower_is_better else 1, -1 if price_lower_is_better else 1)
    both = [s for s in quality if s in price and quality[s] == quality[s] and price[s] == price[s]]
    points = {s: (signs[0] * quality[s], signs[1] * price[s]) for s in both}
    signed = None if values is None else {s: signed_axes(values[s], signs) for s in both}
    stands = standings(points, signed)
    return tuple(
        TradeOff(
            system=s,
            quality=quality[s],
            price=price[s],
            on_front=stands[s].rival is None,
            beaten_by=stands[s].rival,
            is_proven=stands[s].is_proven,
        )
        for s in sorted(both, key=lambda s: (-points[s][1], -points[s][0]))
    )


def signed_axes(axes: Axes, signs: Sequence[int]) -> list[dict[str, float]]:
    """Values of which higher is better on every axis."""
    return [
        {unit: sign * value for unit, value in axis.items()}
        for axis, sign in zip(axes, signs, strict=True)
    ]


def _beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """At least as good on all axes, and better on one."""
    return all(a >= b for a, b in zip(one, other, strict=True)) and one != other


def _p_of(one: Axes, other: Axes) -> float:
    """That one is better than the other on every axis: the largest p; NaN if an axis cannot be tested."""
    import numpy as np

    p_values = []
    for a, b in zip(one, other, strict=True):
        differences = np.array([d for unit in a if (d := a[unit] - b.get(unit, math.nan)) == d])
        if not len(differences):
            return math.nan
        if differences.any():
            p_values.append(run_test("t", differences, "greater").p)
    return max(p_values, default=math.nan)


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """mean, p50, p95 and p99 of one system's latencies or costs."""
    from goodgain.stats.quantiles import percentile

    return {
        "mean": math.fsum(values) / len(values),
        **{f"p{p}": percentile(values, p) for p in (50, 95, 99)},
    }
