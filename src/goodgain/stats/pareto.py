"""Quality against time or cost: the systems that no other beats on both."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class TradeOff:
    """A system's quality and price, and the best of the systems that are no worse on both."""

    system: str
    quality: float
    price: float
    on_front: bool
    beaten_by: str | None

    def to_dict(self) -> dict[str, Any]:
        """Field to value."""
        return asdict(self)


def pareto_front(
    quality: Mapping[str, float],
    price: Mapping[str, float],
    lower_is_better: bool = False,
    price_lower_is_better: bool = True,
) -> tuple[TradeOff, ...]:
    """All systems that have both numbers, best price first.

    A system is on the front unless another is at least as good on both and better on one.
    """
    worth = -1 if lower_is_better else 1
    saving = -1 if price_lower_is_better else 1
    both = [s for s in quality if s in price and quality[s] == quality[s] and price[s] == price[s]]
    points = {s: (worth * quality[s], saving * price[s]) for s in both}
    front = []
    for system in sorted(both, key=lambda s: (-points[s][1], -points[s][0])):
        better = [o for o in both if _beats(points[o], points[system])]
        best = max(better, key=lambda o: points[o], default=None)
        front.append(
            TradeOff(
                system=system,
                quality=quality[system],
                price=price[system],
                on_front=best is None,
                beaten_by=best,
            )
        )
    return tuple(front)


def _beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """At least as good on both, and better on one."""
    return one[0] >= other[0] and one[1] >= other[1] and one != other


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """mean, p50, p95 and p99 of one system's latencies or costs."""
    import math

    from goodgain.stats.quantiles import percentile

    return {
        "mean": math.fsum(values) / len(values),
        **{f"p{p}": percentile(values, p) for p in (50, 95, 99)},
    }
