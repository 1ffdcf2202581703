"""The best setting, and an estimate of it on queries that did not choose it.

The highest of many means is too high: part of its lead is luck with these queries. So every query is scored
by the setting that is best without its fold of queries, and the mean of those scores is the estimate. The
scores of one fold depend on the queries of all others, so their standard error is too small; by how much is
measured by choosing once more within the queries outside each fold (nested cross-validation: Bates, Hastie
and Tibshirani, "Cross-validation: what does it estimate and how well does it do it?", JASA 119, 2024).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.errors import InputError, UsageError
from goodgain.measures.grammar import parse_all
from goodgain.results.text import html_table, number, render
from goodgain.stats.distributions import t_ppf
from goodgain.stats.intervals import mean_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.experiment.result import ExperimentResult
    from goodgain.measures import Measure

    Floats = NDArray[np.float64]

FOLDS, REPEATS = 5, 40
# Below these numbers of held-out queries, and of those that differ from the most frequent value, intervals
# cover less often than they say: scripts/choice_rates.py.
LEAST_QUERIES, LEAST_DIFFERENT = 20, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean on held-out queries, with its interval unless the queries are too few."""

    mean: float
    low: float | None
    high: float | None
    queries: int  # that it was measured on
    too_few: str = ""  # why there is no interval

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{number(self.mean)} (no interval: {self.too_few})"
        return f"{number(self.mean)} [{number(self.low)}, {number(self.high)}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The best of some settings by the mean over all queries, and its estimate on held-out ones."""

    family: str  # the base system, or "all systems"
    setting: str
    settings: int  # to choose from
    in_sample: float  # the mean that it was chosen for: too high
    estimate: Estimate
    folds: int
    picks: tuple[tuple[str, int], ...]  # the settings that folds chose, and how often

    @property
    def method(self) -> str:
        """How the estimate was obtained."""
        n = self.estimate.queries
        sizes = sorted({len(range(i, n, self.folds)) for i in range(self.folds)})
        training = " or ".join(f"{n - size:,}" for size in sizes)
        held_out = " or ".join(f"{size:,}" for size in sizes)
        return (
            f"chosen on {training} queries, measured on the other {held_out} "
            f"({self.folds}-fold cross-validation, {REPEATS} times; interval by nested cross-validation)"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The best setting of every base system, and of all; `str()` is a table."""

    measure: Measure
    seed: int
    choices: tuple[Choice, ...]  # the last is over all systems

    @property
    def best(self) -> Choice:
        """The choice over all systems."""
        return self.choices[-1]

    def rows(self) -> tuple[list[str], list[list[Any]]]:
        """One row for each choice."""
        columns = [
            "of",
            "settings",
            "chosen",
            "held out",
            "interval",
            "in sample",
            "folds that agree",
        ]
        rows: list[list[Any]] = []
        for c in self.choices:
            e = c.estimate
            interval = (
                f"[{number(e.low)}, {number(e.high)}]"
                if e.low is not None
                else f"none: {e.too_few}"
            )
            agree = sum(n for name, n in c.picks if name == c.setting)
            rows.append(
                [c.family, c.settings, c.setting, e.mean, interval, c.in_sample,
                 f"{100 * agree / (c.folds * REPEATS):.0f} %"]
            )  # fmt: skip
        return columns, rows

    def headline(self) -> str:
        """The answer in one sentence."""
        best = self.best
        return (
            f"{best.setting} has the best {self.measure} of {best.settings:,} settings: {best.estimate} on "
            f"held-out queries ({number(best.in_sample)} in sample)."
        )

    def legend(self) -> list[str]:
        """How the numbers were obtained."""
        return [
            f"Held out: {self.best.method}; seed {self.seed}.",
            "In sample: the mean over the queries that chose the setting, which is too "
            f"{'high' if self.measure.sign > 0 else 'low'}.",
        ]

    def render(self, format: str = "table") -> str:  # noqa: A002
        """The choices as text."""
        columns, rows = self.rows()
        if format in ("json", "jsonl", "csv", "tsv"):
            return render(format, _LONG, [_long_row(c) for c in self.choices])
        mark = "% " if format == "latex" else ""
        legend = "".join(f"{mark}{line}\n" for line in self.legend())
        return f"{mark}{self.headline()}\n\n{render(format, columns, rows)}\n{legend}"

    def __str__(self) -> str:
        return self.render().rstrip("\n")

    def _repr_html_(self) -> str:
        return html_table(*self.rows(), " ".join([self.headline(), *self.legend()]))


_LONG = ["of", "settings", "chosen", "held_out", "low", "high", "queries", "too_few", "in_sample",
         "method"]  # fmt: skip


def _long_row(c: Choice) -> list[Any]:
    e = c.estimate
    return [c.family, c.settings, c.setting, e.mean, e.low, e.high, e.queries, e.too_few,
            c.in_sample, c.method]  # fmt: skip


def estimate(values: Sequence[float], confidence: float = 0.95) -> Estimate:
    """The mean of held-out values and Student's interval; undefined values do not count."""
    import numpy as np

    mean, low, high, n = mean_interval(np.array(values, dtype=np.float64), confidence)
    return _checked(Estimate(mean=mean, low=low, high=high, queries=n), values)


def _checked(estimate: Estimate, values: Sequence[float]) -> Estimate:
    """Without its interval where the queries are too few for one."""
    counts = Counter(v for v in values if v == v)
    n, different = counts.total(), counts.total() - max(counts.values(), default=0)
    if n < LEAST_QUERIES:
        reason = f"too few queries, {n} of at least {LEAST_QUERIES}"
    elif different < LEAST_DIFFERENT:
        reason = f"too few queries differ, {different} of at least {LEAST_DIFFERENT}"
    else:
        return estimate
    return replace(estimate, low=None, high=None, too_few=reason)


def choose(
    values: Mapping[str, Mapping[str, float]],
    *,
    sign: int = 1,
    folds: int = FOLDS,
    seed: int = 0,
    family: str = "all systems",
    confidence: float = 0.95,
) -> Choice:
    """The best of {setting: {query: value}}, and its estimate by nested cross-validation over queries.

    Queries on which a value is undefined count for no setting: means are over the same queries.
    """
    import numpy as np

    queries = sorted(_common_queries(values))
    if not 3 <= folds <= len(queries):
        raise UsageError(
            f"cannot split {len(queries)} queries into {folds} folds",
            hint="folds must be at least 3 and at most the number of queries with values",
        )
    names = list(values)
    table = np.array([[values[name][q] for name in names] for q in queries])
    validated = _cross_validated(sign * table, folds, np.random.default_rng(seed))
    best = int((sign * table).mean(0).argmax())
    mean = sign * validated.mean
    half = t_ppf(0.5 + confidence / 2, len(queries) - 1) * validated.error
    measured = Estimate(mean=mean, low=mean - half, high=mean + half, queries=len(queries))
    return Choice(
        family=family,
        setting=names[best],
        settings=len(names),
        in_sample=math.fsum(table[:, best]) / len(queries),
        estimate=_checked(measured, [float(v) for v in table[:, best]]),
        folds=folds,
        picks=tuple((names[i], n) for i, n in validated.picks.most_common()),
    )


class _Validated(NamedTuple):
    mean: float
    error: float  # of the mean
    picks: Counter[int]  # the columns that folds chose


def _cross_validated(table: Floats, folds: int, rng: np.random.Generator) -> _Validated:
    """The mean of the chosen column on held-out rows, and its standard error (Bates et al., algorithm 1)."""
    import numpy as np

    n, each = len(table), np.arange(folds)
    means, squares, noise = [], [], []
    picks: Counter[int] = Counter()
    for _ in range(REPEATS):
        fold = rng.permutation(np.arange(n) % folds)
        sums = np.stack([table[fold == k].sum(0) for k in each])
        sizes = np.bincount(fold, minlength=folds)
        total = sums.sum(0)
        chosen = (total - sums).argmax(1)  # without fold k
        inner = (total - sums[:, None] - sums[None, :]).argmax(2)  # without folds k and j
        scores = table[np.arange(n), chosen[fold]]
        means.append(scores.mean())
        picks.update(chosen.tolist())
        for k in each:
            others = each[each != k]
            inside = sums[others, inner[k, others]].sum() / (n - sizes[k])
            own = scores[fold == k]
            squares.append((inside - own.mean()) ** 2)
            noise.append(own.var(ddof=1) / len(own) if len(own) > 1 else 0.0)
    plain = float(scores.std(ddof=1)) / math.sqrt(n)
    inflated = math.sqrt(max(0.0, float(np.mean(squares) - np.mean(noise))) * (folds - 1) / folds)
    error = min(max(inflated, plain), math.sqrt(folds) * plain)
    return _Validated(float(np.mean(means)), error, picks)


def choose_from(
    result: ExperimentResult, measure: str | Measure | None, *, folds: int = FOLDS, seed: int = 0
) -> Choices:
    """The best point of each grid of an experiment, and the best system of all."""
    if len(result.systems) < 2:
        raise UsageError("there is only one system, so there is nothing to choose")
    for name, called in result.called.items():
        if called < result.settings["queries"]:
            raise InputError(
                f"{name} was called for {called:,} of {result.settings['queries']:,} queries only",
                hint="run the experiment again to finish it; goodgain optimise FILE.toml races instead",
            )
    chosen = _measure_of(result, measure)
    values = {}
    for name in result.systems:
        runs = result[name].runs
        columns = [run.column(chosen) for run in runs]
        means = [math.fsum(seeds) / len(columns) for seeds in zip(*columns, strict=True)]
        values[name] = dict(zip(runs[0].queries, means, strict=True))
    families = result.settings.get("grids", {})
    return choose_by_family(values, families, chosen, folds=folds, seed=seed)


def _measure_of(result: ExperimentResult, measure: str | Measure | None) -> Measure:
    """One measure of the experiment, by default its first of quality."""
    if measure is None:
        return next(m for m in result.plan.measures if not m.is_cost)
    measures = parse_all(measure)
    if len(measures) != 1:
        raise UsageError(f"one measure decides, got {', '.join(map(str, measures))}")
    if measures[0] not in result.plan.measures:
        raise UsageError(
            f"the experiment has no measure '{measures[0]}'",
            hint=f"measures: {', '.join(map(str, result.plan.measures))}",
        )
    return measures[0]


def choose_by_family(
    values: Mapping[str, Mapping[str, float]],
    families: Mapping[str, Sequence[str]],
    measure: Measure,
    *,
    folds: int = FOLDS,
    seed: int = 0,
) -> Choices:
    """The best setting of each family with several, and of all."""
    choices = [
        choose(own, sign=measure.sign, folds=folds, seed=seed, family=family)
        for family, names in families.items()
        if len(own := {name: values[name] for name in names if name in values}) > 1
    ]
    choices.append(choose(values, sign=measure.sign, folds=folds, seed=seed))
    return Choices(measure=measure, seed=seed, choices=tuple(choices))


def _common_queries(values: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The queries on which every setting has a value."""
    if not values:
        raise UsageError("there is no setting to choose")
    first, *others = values.values()
    return [
        q
        for q, v in first.items()
        if v == v and all(o.get(q, math.nan) == o.get(q) for o in others)
    ]
