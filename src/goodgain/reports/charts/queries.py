"""Query by query: the differences between two systems, one by one and how often which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.comparison import Comparison
from goodgain.comparison.scores import is_lower_better
from goodgain.errors import InputError, UsageError
from goodgain.reports.charts.frame import altair, counted, cut, data, make
from goodgain.reports.charts.scores import chosen_measure, chosen_system, scores_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from goodgain.reports.chart import Chart

_BARS = 200  # more queries are put together
_BINS = 31  # of the histogram: odd, so that one of them is around 0
_OUTCOMES = ("worse", "same", "better")


class _Differences:
    """System minus baseline of every query that both have, and what they are called."""

    def __init__(
        self, result: Any, measure: str | None, system: str | None, baseline: str | None
    ) -> None:
        import numpy as np

        scores = scores_of(result)
        systems = list(scores.systems)
        if len(systems) < 2:
            raise UsageError(
                "differences are between two systems, and there is only one",
                hint="evaluate several runs together",
            )
        first = result.baselines[0] if isinstance(result, Comparison) else systems[0]
        self.measure = chosen_measure(scores.measures, measure)
        self.baseline = chosen_system(systems, baseline or first, "baseline")
        others = [s for s in systems if s != self.baseline]
        self.system = chosen_system(others, system, "system")
        self.lower = is_lower_better(self.measure, scores.lower)
        theirs = scores.values(self.baseline, self.measure)
        ours = scores.values(self.system, self.measure)
        both = [(q, ours[q] - theirs[q]) for q in ours if q in theirs]
        both = sorted(((q, d) for q, d in both if d == d), key=lambda item: (-item[1], item[0]))
        if not both:
            raise InputError(f"'{self.system}' and '{self.baseline}' share no query to show")
        self.queries = [q for q, _ in both]
        self.values: NDArray[np.float64] = np.array([d for _, d in both])

    @property
    def names(self) -> str:
        return f"{cut(self.system, 30)} minus {cut(self.baseline, 30)}"

    @property
    def axis(self) -> str:
        return f"difference in {cut(self.measure)}{' (lower is better)' if self.lower else ''}"

    @property
    def counts(self) -> str:
        """Wins, ties and losses in words."""
        sign = -1 if self.lower else 1
        better, worse = int((sign * self.values > 0).sum()), int((sign * self.values < 0).sum())
        same = len(self.values) - better - worse
        return f"better on {better:,}, the same on {same:,}, worse on {worse:,}"

    def outcome(self, value: float) -> str:
        """By its sign, and whether less is more."""
        if value == 0:
            return _OUTCOMES[1]
        return _OUTCOMES[2] if (value < 0) == self.lower else _OUTCOMES[0]


def _outcomes() -> Any:
    return altair().Scale(domain=list(_OUTCOMES), range="diverging")


def differences(
    result: Any,
    measure: str | None = None,
    system: str | None = None,
    baseline: str | None = None,
) -> Chart:
    """Every query's difference between two systems, the largest gain first."""
    import numpy as np

    alt = altair()
    found = _Differences(result, measure, system, baseline)
    count = len(found.values)
    several = count > _BARS
    parts = np.array_split(np.arange(count), _BARS if several else count)
    rows: list[list[Any]] = []
    for part in parts:
        first, last = int(part[0]), int(part[-1])
        label = found.queries[first] if first == last else f"{len(part)} queries"
        rows.append([first + 1, last + 1, label, float(found.values[part].mean())])
    values = data(
        {"start": first - 0.5, "end": last + 0.5, "query": cut(label), "difference": d,
         "outcome": found.outcome(d), "zero": 0}
        for first, last, label, d in rows
    )  # fmt: skip
    x = alt.X(
        "start:Q",
        title="queries, from the largest gain to the largest loss",
        scale=alt.Scale(domain=[0.5, count + 0.5], nice=False),
        axis=alt.Axis(grid=False, tickMinStep=1, format=",d"),
    )
    bars = (
        alt.Chart(values)
        .mark_rect(strokeWidth=0.7 if several else 0)  # closes the seams between narrow bars
        .encode(
            x=x,
            x2="end:Q",
            y=alt.Y("zero:Q", title=found.axis),
            y2="difference:Q",
            fill=alt.Fill("outcome:N", title=None, scale=_outcomes()),
            stroke=alt.Stroke("outcome:N", title=None, scale=_outcomes()),
            tooltip=[
                alt.Tooltip("query:N", title="query"),
                alt.Tooltip("difference:Q", title="difference", format="+.4~f"),
            ],
        )
    )
    zero = alt.Chart(data([{}])).mark_rule(style="zero").encode(y=alt.YDatum(0, title=found.axis))
    merged = f" Each bar is the mean of {count // _BARS} or {count // _BARS + 1} queries."
    return make(
        "differences",
        f"{cut(found.measure)} by query: {found.names}",
        f"{counted(count, 'query', 'queries')}: {found.counts}.{merged if several else ''}",
        alt.layer(bars, zero),
        ["from", "to", "query", "difference"] if several else ["place", "query", "difference"],
        rows if several else [[first, label, d] for first, _, label, d in rows],
    )


def histogram(
    result: Any,
    measure: str | None = None,
    system: str | None = None,
    baseline: str | None = None,
) -> Chart:
    """How many queries have which difference between two systems."""
    import numpy as np

    alt = altair()
    found = _Differences(result, measure, system, baseline)
    reach = float(abs(found.values).max()) or 1.0
    width = 2 * reach / (_BINS - 1)
    edges = (np.arange(_BINS + 1) - _BINS / 2) * width
    counts, _ = np.histogram(found.values, edges)
    rows = [[float(edges[i]), float(edges[i + 1]), int(n)] for i, n in enumerate(counts.tolist())]
    values = data(
        {"low": low, "high": high, "queries": n,
         "outcome": found.outcome(0.0 if abs(low + high) < width / 2 else low + high)}
        for low, high, n in rows
    )  # fmt: skip
    bars = (
        alt.Chart(values)
        .mark_bar(binSpacing=1)
        .encode(
            x=alt.X("low:Q", bin="binned", title=found.axis),
            x2="high:Q",
            y=alt.Y("queries:Q", title="queries", axis=alt.Axis(tickMinStep=1, format=",d")),
            color=alt.Color("outcome:N", title=None, scale=_outcomes()),
            tooltip=[
                alt.Tooltip("low:Q", title="from", format="+.4~f"),
                alt.Tooltip("high:Q", title="to", format="+.4~f"),
                alt.Tooltip("queries:Q", title="queries", format=","),
            ],
        )
    )
    mean = float(found.values.mean())
    line = alt.Chart(data([{"mean": mean}])).mark_rule(style="guide").encode(x="mean:Q")
    return make(
        "histogram",
        f"{cut(found.measure)}, how often which difference: {found.names}",
        f"{counted(len(found.values), 'query', 'queries')}: {found.counts}; {_BINS} bins, the middle one "
        f"around 0. The dashed line is the mean, {mean:+.4f}.",
        alt.layer(bars, line),
        ["from", "to", "queries"],
        rows,
    )
