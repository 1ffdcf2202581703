"""Quality against time or cost, with an interval on each axis and the Pareto front."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.comparison import Comparison
from goodgain.reports.charts.frame import (
    NUMBER,
    altair,
    cut,
    data,
    direction_note,
    display_names,
    legend_of,
    make_chart,
    system_colours,
)
from goodgain.reports.charts.scores import (
    choose_measure,
    interval_of,
    means_of,
    measures_of,
    scores_of,
    unit_values,
    values_of,
)
from goodgain.stats.paired import Resampling, bca_interval
from goodgain.stats.pareto import DOMINATED, ON_FRONT, OPEN, STANDINGS, TradeOff, pareto_front

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodgain.comparison.scores import ScoreSet
    from goodgain.measures import Measure
    from goodgain.reports.chart import Chart

INTERVALS = "Student's t for quality, bootstrap for time and cost"
MAX_LABELS = 12  # with more systems, only those on the front have one
_SHAPES = {DOMINATED: "cross", OPEN: "diamond", ON_FRONT: "circle"}
_BOOTSTRAPS = 2_000
_WIDE = 20  # from this ratio of the highest to the lowest price on, the axis is logarithmic


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A system on the chart, with its intervals: None where an end is not known."""

    system: str
    quality: float
    quality_low: float | None
    quality_high: float | None
    price: float
    price_low: float | None
    price_high: float | None
    standing: str
    rival: str | None


def trade_off(
    result: Any, measure: str | Measure | None = None, price: str | Measure | None = None
) -> Chart:
    """Quality against time or cost, with intervals and the Pareto front."""
    measure = choose_measure(measures_of(result), measure)
    price = choose_measure(measures_of(result), price, cost=True)
    means = means_of(result)
    prices = {s: values[price.label] for s, values in means.items()}
    scale, unit = price_unit(price, list(prices.values()))
    scores = None if isinstance(result, Comparison) and result.scores is None else scores_of(result)
    points = []
    for t in trade_offs_of(result, measure, price):
        low, high = axis_interval(scores, t.system, measure, t.quality)
        cheap, dear = axis_interval(scores, t.system, price, t.price)
        points.append(
            Point(
                system=t.system,
                quality=t.quality,
                quality_low=low,
                quality_high=high,
                price=t.price * scale,
                price_low=None if cheap is None else cheap * scale,
                price_high=None if dear is None else dear * scale,
                standing=t.standing,
                rival=t.beaten_by,
            )
        )
    return points_chart(
        points,
        quality=measure.label,
        price=f"{price.label}{unit}",
        quality_title=f"{cut(measure.label)}{direction_note(measure)}",
        price_title=f"{cut(price.label)}{unit}, {price.direction} is better",
        price_lower_is_better=price.lower_is_better,
        everyone=list(means),
    )


def trade_offs_of(result: Any, measure: Measure, price: Measure) -> tuple[TradeOff, ...]:
    """The systems with both numbers; those of a comparison as it has them, if they are of these measures."""
    if isinstance(result, Comparison) and result.trade_off:
        first = next(m for m in result.measures if not m.is_cost)
        if (first, result.prices[0].measure) == (measure, price):
            return result.trade_off
    means = means_of(result)
    scores = None if isinstance(result, Comparison) and result.scores is None else scores_of(result)
    values = None
    if scores is not None:
        values = {s: [unit_values(scores, s, m) for m in (measure, price)] for s in means}
    return pareto_front(
        {s: own[measure.label] for s, own in means.items()},
        {s: own[price.label] for s, own in means.items()},
        measure.lower_is_better,
        price.lower_is_better,
        values,
    )


def axis_interval(
    scores: ScoreSet | None, system: str, measure: Measure, mean: float | None
) -> tuple[float | None, float | None]:
    """The interval of a mean; of time and cost, which a few slow calls skew, by bootstrap."""
    if scores is None or mean is None:
        return None, None
    low, high, _ = interval_of(scores, system, measure, mean)
    if low is None or not measure.is_cost:
        return low, high
    how = Resampling(bootstraps=_BOOTSTRAPS)
    return bca_interval(values_of(scores, system, measure), resampling=how) or (None, None)


def points_chart(
    points: Sequence[Point],
    *,
    quality: str,
    price: str,
    quality_title: str,
    price_title: str,
    price_lower_is_better: bool = True,
    everyone: Sequence[str] = (),
    note: str = f"Lines show 95% confidence intervals of the means ({INTERVALS}).",
) -> Chart:
    """Points with intervals on both axes; the front's members are joined by a dashed line.

    A system has its colour of the other charts, by its place in `everyone`; shapes say how it stands.
    """
    alt = altair()
    names = display_names(everyone or [p.system for p in points])
    prices = [p.price for p in points]
    wide = min(prices, default=0) > 0 and max(prices) > _WIDE * min(prices)
    left, right = _reach(points, wide)
    labels = _label_positions(points, wide)
    x = alt.X(
        "price:Q", title=price_title, scale=_scale([left, right], "log" if wide else "linear")
    )
    lows = [p.quality if p.quality_low is None else p.quality_low for p in points]
    highs = [p.quality if p.quality_high is None else p.quality_high for p in points]
    y = alt.Y("quality:Q", title=quality_title, scale=_scale([*lows, *highs]))
    standing = [s for s in STANDINGS if any(p.standing == s for p in points)]
    color = system_colours(list(names.values()))
    tooltip = [
        alt.Tooltip("system:N", title="system"),
        alt.Tooltip("quality_text:N", title="quality"),
        alt.Tooltip("price_text:N", title="price"),
        alt.Tooltip("standing:N", title="standing"),
        alt.Tooltip("rival:N", title="beaten by"),
    ]
    values = data(
        {"system": names[p.system], "quality": p.quality, "price": p.price,
         "standing": p.standing, "rival": cut(p.rival) if p.rival else "–",
         "low": low, "high": high,
         "cheap": _within(p.price_low, p.price, left, right),
         "dear": _within(p.price_high, p.price, left, right),
         "quality_text": _with_interval(p.quality, p.quality_low, p.quality_high),
         "price_text": _with_interval(p.price, p.price_low, p.price_high),
         "label": names[p.system] if label else "", **(label or {"align": "left", "dx": 0, "dy": 0})}
        for p, label, low, high in zip(points, labels, lows, highs, strict=True)
    )  # fmt: skip
    base = alt.Chart().encode(color=color, tooltip=tooltip)
    interval = base.mark_rule(style="interval", opacity=0.6)
    text = alt.Chart().mark_text(
        style="label", align={"expr": "datum.align"}, dx={"expr": "datum.dx"},
        dy={"expr": "datum.dy"}, limit=180,
    )  # fmt: skip
    view = alt.layer(
        alt.Chart()
        .transform_filter(f"datum.standing === '{ON_FRONT}'")
        .mark_line(style="guide", interpolate="step-after" if price_lower_is_better else "step-before")
        .encode(x=x, y=y),
        interval.encode(x=x, y=alt.Y("low:Q", title=quality_title), y2="high:Q"),
        interval.encode(x=alt.X("cheap:Q", title=price_title), x2="dear:Q", y=y),
        base.mark_point(size=110, opacity=1).encode(
            x=x, y=y,
            shape=alt.Shape("standing:N", title=None, legend=legend_of(standing, values=standing),
                            scale=alt.Scale(domain=list(_SHAPES), range=list(_SHAPES.values()))),
        ),
        text.encode(x=x, y=y, text="label:N"),
        data=values,
    ).properties(height=340)  # fmt: skip
    explained = "; ".join(f"{name}: {STANDINGS[name]}" for name in standing)
    return make_chart(
        key="trade-off",
        title=f"{cut(quality)} vs {cut(price)}",
        description=f"{explained[:1].upper()}{explained[1:]}. {note}"
        f"{' The horizontal axis is logarithmic.' if wide else ''}"
        f"{' Only systems on the front are labelled.' if not all(labels) else ''}",
        view=view,
        columns=["system", quality, "low", "high", price, "low ", "high ", "standing", "beaten by"],
        rows=[
            [p.system, p.quality, p.quality_low, p.quality_high, p.price, p.price_low, p.price_high,
             p.standing, p.rival]
            for p in points
        ],
    )  # fmt: skip


def _reach(points: Sequence[Point], wide: bool) -> tuple[float, float]:
    """The ends of the axis of prices: those of the intervals, within reason."""
    prices = [p.price for p in points] or [0.0]
    most = max(prices) + (max(prices) - min(prices) or abs(max(prices)) or 1)
    ends = [
        p.price_high for p in points if p.price_high is not None and math.isfinite(p.price_high)
    ]
    right = min(max([*prices, *ends]), most)
    ends = [p.price_low for p in points if p.price_low is not None]
    least = min(prices) / 3 if wide else 0.0 if min(prices) >= 0 else -math.inf
    return max(min([*prices, *ends]), least), right


def _within(end: float | None, price: float, left: float, right: float) -> float:
    return price if end is None else min(max(end, left), right)


def _with_interval(value: float, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"{value:{NUMBER.replace('~', '')}}"
    end = f"{high:.4g}]" if math.isfinite(high) else "not bounded)"
    return f"{value:.4g} [{low:.4g}, {end}"


def _scale(values: Sequence[float], kind: str = "linear") -> Any:
    """A scale with room for labels around the points, even if all are equal."""
    if len(set(values)) > 1:
        zero = {} if kind == "log" else {"zero": False}
        return altair().Scale(
            type=kind, padding=40, nice=False, domain=[min(values), max(values)], **zero
        )
    reach = abs(values[0]) / 2 if values and values[0] else 1
    return altair().Scale(domain=[v + d for v in values[:1] for d in (-reach, reach)] or [0, 1])


def price_unit(price: Measure, values: Sequence[float]) -> tuple[float, str]:
    """Factor and unit: times below a second are shown in milliseconds."""
    if price.unit == "s" and all(v < 1 for v in values if not math.isnan(v)):
        return 1000, " (ms)"
    says_it = price.unit.casefold() in price.label.casefold()
    return 1, "" if says_it else f" ({price.unit})"


def _label_positions(points: Sequence[Point], wide: bool) -> list[dict[str, Any] | None]:
    """Where each label stands next to its point, chosen greedily to avoid overlaps; None: no label."""
    if not points:
        return []

    def spread(values: list[float], size: float) -> list[float]:
        low, high = min(values), max(values)
        return [size / 2 if high == low else size * (v - low) / (high - low) for v in values]

    xs = spread([math.log(p.price) if wide else p.price for p in points], 480)
    ys = spread([-p.quality for p in points], 240)
    boxes = [(x - 7, y - 7, x + 7, y + 7) for x, y in zip(xs, ys, strict=True)]
    positions: list[dict[str, Any] | None] = []
    for p, x, y in zip(points, xs, ys, strict=True):
        if len(points) > MAX_LABELS and p.standing != ON_FRONT:
            positions.append(None)
            continue
        size = 7 * min(len(p.system), 26)
        best: tuple[float, dict[str, Any], tuple[float, float, float, float]] | None = None
        for align, dx, dy in (
            ("left", 9, -10), ("right", -9, -10), ("left", 9, 12), ("right", -9, 12),
            ("center", 0, -16), ("center", 0, 17),
        ):  # fmt: skip
            left = {"left": x + dx, "right": x + dx - size, "center": x - size / 2}[align]
            box = (left, y + dy - 7, left + size, y + dy + 7)
            crossed = sum(_overlap(box, other) for other in boxes)
            cost = crossed + 3 * max(0, box[2] - 560, -40 - left)
            if best is None or cost < best[0]:
                best = (cost, {"align": align, "dx": dx, "dy": dy}, box)
        assert best is not None
        positions.append(best[1])
        boxes.append(best[2])
    return positions


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
