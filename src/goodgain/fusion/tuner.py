"""Tuning of fusion on training queries, told by queries that it has not seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

from goodgain.data import Qrels, Run
from goodgain.errors import UsageError
from goodgain.fusion.fuser import Fuser, rank_runs
from goodgain.fusion.methods import method_of
from goodgain.ranking import Evaluator
from goodgain.results.text import html_table, number, render
from goodgain.results.views import Plottable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodgain.measures import Measure

_MOST = 300  # settings that are tried


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen on some queries, and its mean there and on the rest."""

    weights: tuple[float, ...] | None
    params: dict[str, float]
    training_mean: float
    held_out_mean: float
    held_out_queries: int

    def __str__(self) -> str:
        parts = [f"{name}={value:g}" for name, value in self.params.items()]
        if self.weights is not None:
            parts.append("weights=" + ",".join(f"{w:g}" for w in self.weights))
        return " ".join(parts) or "-"


@dataclass(frozen=True, slots=True)
class Tuned(Plottable):
    """A tuned fusion. `held_out_mean` is what to expect; `training_mean` is what to distrust."""

    method: str
    norm: str
    measure: str
    best: Choice  # chosen on all queries: what `run` was made with
    folds: tuple[Choice, ...]
    held_out: dict[str, float]  # query -> value, by the setting that did not see the query
    singles: dict[str, dict[str, float]]  # run -> query -> value
    run: Run

    @property
    def held_out_mean(self) -> float:
        """The mean over all queries of the values by settings that had not seen them."""
        return _mean(self.held_out.values())

    @property
    def training_mean(self) -> float:
        """The mean of the best setting on the queries that chose it."""
        return self.best.training_mean

    def per_unit_scores(self) -> dict[str, dict[str, dict[str, float]]]:
        """The single runs and the held-out fusion, for `compare`."""
        systems = {**self.singles, f"{self.method} (held out)": self.held_out}
        return {name: {self.measure: values} for name, values in systems.items()}

    def _table(self) -> tuple[list[str], list[list[Any]]]:
        rows: list[list[Any]] = [
            [f"fold {i}", str(f), f.training_mean, f.held_out_mean, f.held_out_queries]
            for i, f in enumerate(self.folds, 1)
        ]
        rows.append(
            ["all", str(self.best), self.training_mean, self.held_out_mean, len(self.held_out)]
        )
        return ["tuned on", "chosen", "training", "held out", "queries"], rows

    def _alone(self) -> str:
        alone = ", ".join(f"{name} {number(_mean(v.values()))}" for name, v in self.singles.items())
        return f"{self.measure}; {self.method} over {self.norm}. Runs alone: {alone}."

    def render(self, format: str = "table") -> str:  # noqa: A002
        """The folds, the final choice, and the runs alone."""
        return f"{render(format, *self._table())}\n{self._alone()}\n"

    def _repr_html_(self) -> str:
        return html_table(*self._table(), self._alone())

    def __str__(self) -> str:
        return self.render().rstrip("\n")


def tune(
    qrels: Any,
    runs: Sequence[Any] | Mapping[str, Any],
    method: str = "wsum",
    norm: str | None = None,
    *,
    measure: str | Measure = "nDCG@10",
    folds: int = 5,
    seed: int = 0,
    depth: int | None = None,
    threads: int | None = None,
) -> Tuned:
    """Choose weights or the parameter of a method by cross-validation over queries.

    Each query is scored by a setting that was chosen (and, for methods that learn, learnt) without
    it. The run that is returned uses the setting that is best on all queries.
    """
    from collections.abc import Mapping as AnyMapping

    from goodgain.ranking.evaluator import named_runs

    chosen = method_of(method)
    judged = Qrels.of(qrels)
    named = (
        [Run.of(r, n) for n, r in runs.items()]
        if isinstance(runs, AnyMapping)
        else named_runs(runs)
    )
    fuser = Fuser(chosen, norm, rank_runs(named))
    evaluator = Evaluator(judged, [measure], threads=threads)
    label = evaluator.measures[0].label
    less = evaluator.measures[0].lower_is_better
    singles = {
        s.name: dict(zip(s.queries, s.column(label), strict=True))
        for s in evaluator.evaluate(named).runs
    }
    queries = judged.queries
    parts = _folds(queries, folds, seed)
    settings = _settings(fuser)
    if len(settings) == 1 and not chosen.trained:
        raise UsageError(f"{method} has nothing to tune", hint="wsum, rrf and posfuse have")

    def values(setting: _Setting, learn: Qrels | None) -> dict[str, float]:
        fused = fuser.fused(setting[0], setting[1], learn, depth=depth, threads=threads)
        scores = evaluator.evaluate(fused).runs[0]
        return dict(zip(scores.queries, scores.column(label), strict=True))

    def choose(
        train: list[str], test: list[str], known: list[dict[str, float]] | None
    ) -> tuple[Choice, dict[str, float]]:
        table = known
        if table is None:
            learn = Qrels({q: judged[q] for q in train})
            table = [values(setting, learn) for setting in settings]
        means = [_mean(t[q] for q in train) for t in table]
        pick = (min if less else max)(
            range(len(settings)), key=lambda i: (means[i], i if less else -i)
        )
        weights, params = settings[pick]
        rest = {q: table[pick][q] for q in test}
        return Choice(weights, params, means[pick], _mean(rest.values()), len(test)), rest

    shared = None if chosen.trained else [values(setting, None) for setting in settings]
    found: list[Choice] = []
    held_out: dict[str, float] = {}
    for part in parts:
        inside = set(part)
        choice, rest = choose([q for q in queries if q not in inside], part, shared)
        found.append(choice)
        held_out |= rest
    best, _ = choose(queries, [], shared)
    best = Choice(
        best.weights, best.params, best.training_mean, _mean(held_out.values()), len(held_out)
    )
    final = fuser.fused(best.weights, best.params, judged, depth=depth, threads=threads)
    ordered = {q: held_out[q] for q in queries}
    return Tuned(
        method, fuser.norm, label, best, tuple(found), ordered, singles, Run(final, name=method)
    )


_Setting = tuple[tuple[float, ...] | None, dict[str, float]]


def _settings(fuser: Fuser) -> list[_Setting]:
    """All that is tried: weights on a grid whose sum is 1, or values of the parameter."""
    if fuser.method.weighted:
        return [(weights, {}) for weights in weight_grid(len(fuser.runs))]
    param = fuser.method.param
    return [(None, {param.name: float(v)}) for v in param.grid] if param else [(None, {})]


def weight_grid(runs: int) -> list[tuple[float, ...]]:
    """All weights in equal steps that sum to 1; steps of a tenth, coarser for many runs."""
    steps = 10
    while steps > 1 and math.comb(steps + runs - 1, runs - 1) > _MOST:
        steps -= 1
    found = []
    for bars in combinations(range(steps + runs - 1), runs - 1):
        edges = (-1, *bars, steps + runs - 1)
        found.append(tuple((b - a - 1) / steps for a, b in pairwise(edges)))
    return sorted(found, key=lambda w: max(w) - min(w))  # of equally good weights the most even


def _folds(queries: list[str], folds: int, seed: int) -> list[list[str]]:
    import random

    if not 2 <= folds <= len(queries):
        raise UsageError(f"{folds} folds of {len(queries)} queries", hint="from 2 to one a query")
    order = sorted(queries)
    random.Random(seed).shuffle(order)
    return [order[i::folds] for i in range(folds)]


def _mean(values: Any) -> float:
    defined = [v for v in values if v == v]
    return math.fsum(defined) / len(defined) if defined else math.nan
