"""The best trade-off of gain and cost that stopping could have reached, with hindsight."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleCurve:
    """For each price of a cost, the best prefix of every conversation: the shares of cost and gain.

    `points` go from nothing to all of the gain, each with the price at which it is the best up to the next;
    between two points some of the conversations change.
    """

    system: str
    cost: str
    points: tuple[tuple[float, float, float], ...]  # share of the cost, share of the gain, price

    def at(self, share: float) -> float:
        """The highest share of the gain for a share of the cost."""
        if math.isnan(share) or not self.points:
            return math.nan
        (x, y, _), *rest = self.points
        for right, top, _ in rest:
            if share < right:
                return y + (top - y) * max(0.0, share - x) / (right - x)
            x, y = right, top
        return y

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "system": self.system,
            "cost": self.cost,
            "points": [[x, y, "inf" if p == math.inf else p] for x, y, p in self.points],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> OracleCurve:
        """The reverse of `to_dict`."""
        points = tuple((float(x), float(y), float(p)) for x, y, p in data["points"])
        return cls(system=data["system"], cost=data["cost"], points=points)


def oracle_curve(
    system: str, cost: str, runs: Sequence[Sequence[tuple[float, float]]]
) -> OracleCurve:
    """The curve from (cost, gain) after each iteration of each run, weighted already.

    What one run adds is the upper hull of its points and (0, 0). The best choice for a price takes
    the edges that are steeper than it, so all edges in order of their slope are the curve.
    """
    edges = sorted((edge for run in runs for edge in _hull(run)), key=lambda e: -e[0])
    all_cost = math.fsum(run[-1][0] for run in runs if run)
    all_gain = math.fsum(run[-1][1] for run in runs if run)
    if not all_cost > 0 or not all_gain > 0:
        return OracleCurve(system=system, cost=cost, points=())
    points = [(0.0, 0.0, math.inf)]
    x = y = 0.0
    for i, (slope, width, height) in enumerate(edges):
        x, y = x + width, y + height
        if i + 1 == len(edges) or edges[i + 1][0] != slope:
            points.append((x / all_cost, y / all_gain, slope * all_cost / all_gain))
    if points[1:] and points[1][0] == 0:  # gain for nothing
        points = points[1:]
    return OracleCurve(system=system, cost=cost, points=tuple(points))


def _hull(run: Sequence[tuple[float, float]]) -> list[tuple[float, float, float]]:
    """(slope, width, height) of the rising edges of the upper hull from (0, 0)."""
    hull: list[tuple[float, float]] = [(0.0, 0.0)]
    for x, y in run:
        if y <= hull[-1][1]:
            continue  # costs more and brings nothing
        while len(hull) > 1 and _slope(hull[-2], hull[-1]) <= _slope(hull[-2], (x, y)):
            hull.pop()
        hull.append((x, y))
    return [(_slope(a, b), b[0] - a[0], b[1] - a[1]) for a, b in itertools.pairwise(hull)]


def _slope(a: tuple[float, float], b: tuple[float, float]) -> float:
    return (b[1] - a[1]) / (b[0] - a[0]) if b[0] > a[0] else math.inf
