"""Differences between two systems, query by query and as a distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.comparison import Comparison
from goodgain.errors import InputError, UsageError
from goodgain.reports.charts.frame import (
    altair,
    counted,
    cut,
    data,
    direction_note,
    make_chart,
    unit_nouns,
)
from goodgain.reports.charts.scores import choose_measure, choose_system, scores_of, unit_values

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from goodgain.measures import Measure
    from goodgain.reports.chart import Chart

_BARS = 200  # above this number of queries, bars are means of several queries
_BINS = 31  # of the histogram; odd, so that one is centred on 0
_OUTCOMES = ("worse", "equal", "better")


class _Differences:
    """System minus baseline for each query of both, with the labels of the chart."""

    def __init__(
        self, result: Any, measure: str | Measure | None, system: str | None, baseline: str | None
    ) -> None:
        import numpy as np

        scores = scores_of(result)
        systems = list(scores.systems)
        if len(systems) < 2:
            raise UsageError(
                "a chart of differences needs two systems, got one",
                hint="evaluate several runs",
            )
        first = result.baselines[0] if isinstance(result, Comparison) else systems[0]
        compared = result.measures if isinstance(result, Comparison) else ()
        self.measure = choose_measure([*compared, *scores.measures.values()], measure)
        self.noun, self.nouns = unit_nouns(self.measure)
        self.baseline = choose_system(systems, baseline or first, "baseline")
        others = [s for s in systems if s != self.baseline]
        self.system = choose_system(others, system, "system")
        base = unit_values(scores, self.baseline, self.measure)
        own = unit_values(scores, self.system, self.measure)
        pairs = [(q, d) for q in own if q in base and (d := own[q] - base[q]) == d]
        pairs.sort(key=lambda item: (-self.measure.sign * item[1], item[0]))
        if not pairs:
            raise InputError(
                f"'{self.system}' and '{self.baseline}' have no {self.nouns} in common"
            )
        self.queries = [q for q, _ in pairs]
        self.values: NDArray[np.float64] = np.array([d for _, d in pairs])

    @property
    def names(self) -> str:
        return f"{cut(self.system, 30)} minus {cut(self.baseline, 30)}"

    @property
    def axis(self) -> str:
        return f"difference in {cut(self.measure.label)}{direction_note(self.measure)}"

    @property
    def counts(self) -> str:
        """Wins, ties and losses in words."""
        improvements = self.measure.sign * self.values
        better, worse = int((improvements > 0).sum()), int((improvements < 0).sum())
        same = len(self.values) - better - worse
        total = counted(len(self.values), self.noun, self.nouns)
        return f"{total}: better on {better:,}, equal on {same:,}, worse on {worse:,}"

    def outcome(self, value: float) -> str:
        """Better, equal or worse, by the sign and the direction of the measure."""
        if value == 0:
            return _OUTCOMES[1]
        return _OUTCOMES[2] if self.measure.sign * value > 0 else _OUTCOMES[0]


def _outcomes() -> Any:
    return altair().Scale(domain=list(_OUTCOMES), range="diverging")


def differences(
    result: Any,
    measure: str | Measure | None = None,
    system: str | None = None,
    baseline: str | None = None,
) -> Chart:
    """The difference of each query, largest improvement first."""
    import numpy as np

    alt = altair()
    pairs = _Differences(result, measure, system, baseline)
    count = len(pairs.values)
    several = count > _BARS
    groups = np.array_split(np.arange(count), _BARS if several else count)
    rows: list[list[Any]] = []
    for group in groups:
        first, last = int(group[0]), int(group[-1])
        label = pairs.queries[first] if first == last else f"{len(group)} {pairs.nouns}"
        rows.append([first + 1, last + 1, label, float(pairs.values[group].mean())])
    values = data(
        {"start": first - 0.5, "end": last + 0.5, "query": cut(label), "difference": d,
         "outcome": pairs.outcome(d), "zero": 0}
        for first, last, label, d in rows
    )  # fmt: skip
    x = alt.X(
        "start:Q",
        title=f"{pairs.nouns}, largest improvement first",
        scale=alt.Scale(domain=[0.5, count + 0.5], nice=False),
        axis=alt.Axis(grid=False, tickMinStep=1, format=",d"),
    )
    bars = (
        alt.Chart(values)
        .mark_rect(strokeWidth=0.7 if several else 0)  # closes the seams between narrow bars
        .encode(
            x=x,
            x2="end:Q",
            y=alt.Y("zero:Q", title=pairs.axis),
            y2="difference:Q",
            fill=alt.Fill("outcome:N", title=None, scale=_outcomes()),
            stroke=alt.Stroke("outcome:N", title=None, scale=_outcomes()),
            tooltip=[
                alt.Tooltip("query:N", title=pairs.noun),
                alt.Tooltip("difference:Q", title="difference", format="+.4~f"),
            ],
        )
    )
    zero = alt.Chart(data([{}])).mark_rule(style="zero").encode(y=alt.YDatum(0, title=pairs.axis))
    merged = f" Each bar is the mean of {count // _BARS} or {count // _BARS + 1} {pairs.nouns}."
    return make_chart(
        key="differences",
        title=f"{cut(pairs.measure.label)} by {pairs.noun}: {pairs.names}",
        description=f"{pairs.counts}.{merged if several else ''}",
        view=alt.layer(bars, zero),
        columns=["from", "to", pairs.noun, "difference"]
        if several
        else ["position", pairs.noun, "difference"],
        rows=rows if several else [[first, label, d] for first, _, label, d in rows],
    )


def histogram(
    result: Any,
    measure: str | Measure | None = None,
    system: str | None = None,
    baseline: str | None = None,
) -> Chart:
    """The distribution of the differences between two systems."""
    import numpy as np

    alt = altair()
    pairs = _Differences(result, measure, system, baseline)
    reach = float(abs(pairs.values).max()) or 1.0
    width = 2 * reach / (_BINS - 1)
    edges = (np.arange(_BINS + 1) - _BINS / 2) * width
    counts, _ = np.histogram(pairs.values, edges)
    rows = [[float(edges[i]), float(edges[i + 1]), int(n)] for i, n in enumerate(counts.tolist())]
    values = data(
        {"low": low, "high": high, "queries": n,
         "outcome": pairs.outcome(0.0 if abs(low + high) < width / 2 else low + high)}
        for low, high, n in rows
    )  # fmt: skip
    bars = (
        alt.Chart(values)
        .mark_bar(binSpacing=1)
        .encode(
            x=alt.X("low:Q", bin="binned", title=pairs.axis),
            x2="high:Q",
            y=alt.Y("queries:Q", title=pairs.nouns, axis=alt.Axis(tickMinStep=1, format=",d")),
            color=alt.Color("outcome:N", title=None, scale=_outcomes()),
            tooltip=[
                alt.Tooltip("low:Q", title="from", format="+.4~f"),
                alt.Tooltip("high:Q", title="to", format="+.4~f"),
                alt.Tooltip("queries:Q", title=pairs.nouns, format=","),
            ],
        )
    )
    mean = float(pairs.values.mean())
    line = alt.Chart(data([{"mean": mean}])).mark_rule(style="guide").encode(x="mean:Q")
    return make_chart(
        key="histogram",
        title=f"Distribution of {cut(pairs.measure.label)} differences: {pairs.names}",
        description=f"{pairs.counts}; "
        f"{_BINS} bins, the middle one centred on 0. The dashed line is the mean, {mean:+.4f}.",
        view=alt.layer(bars, line),
        columns=["from", "to", pairs.nouns],
        rows=rows,
    )
