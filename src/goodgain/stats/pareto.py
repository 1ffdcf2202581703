"""Quality against time or cost: which systems no other beats on both."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class TradeOff:
    """A system's place between quality and price, and a system that is no worse on both."""

    system: str
    quality: float
    price: float
    on_front: bool
    beaten_by: str | None

    def to_dict(self) -> dict[str, Any]:
        """Field to value."""
        return asdict(self)


def pareto_front(
    quality: Mapping[str, float], price: Mapping[str, float], lower_is_better: bool = False
) -> tuple[TradeOff, ...]:
    """All systems that have both numbers, cheapest first.

    A system is on the front unless another is at least as good on both and better on one. `price`
    is better when lower; `lower_is_better` says the same of the quality.
    """
    sign = -1 if lower_is_better else 1
    both = [s for s in quality if s in price and quality[s] == quality[s] and price[s] == price[s]]
    found = []
    for system in sorted(both, key=lambda s: (price[s], -sign * quality[s])):
        own = sign * quality[system], price[system]
        better = [o for o in both if _beats(sign * quality[o], price[o], *own)]
        best = max(better, key=lambda o: (sign * quality[o], -price[o]), default=None)
        found.append(TradeOff(system, quality[system], price[system], best is None, best))
    return tuple(found)


def _beats(quality: float, price: float, other_quality: float, other_price: float) -> bool:
    no_worse = quality >= other_quality and price <= other_price
    return no_worse and (quality > other_quality or price < other_price)


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """mean, p50, p95 and p99 of one system's latencies or costs."""
    import math

    from goodgain.stats.quantiles import percentile

    return {
        "mean": math.fsum(values) / len(values),
        **{f"p{p}": percentile(values, p) for p in (50, 95, 99)},
    }
