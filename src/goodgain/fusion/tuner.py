"""Tune a fusion by cross-validation over queries."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

from goodgain.data import Qrels, Run
from goodgain.errors import UsageError, suggest_keywords
from goodgain.fusion.fuser import Fuser, check_runs, rank_runs, require_scores
from goodgain.fusion.methods import find_method
from goodgain.ranking import Evaluator
from goodgain.results.text import html_table, number, render
from goodgain.results.views import Plottable

if TYPE_CHECKING:
    from goodgain.measures import Measure
    from goodgain.ranking.evaluator import Measures

_MAX_SETTINGS = 300
_Setting = tuple[tuple[float, ...] | None, dict[str, float]]  # weights, parameters


@dataclass(frozen=True, slots=True)
class Choice:
    """The setting chosen on some queries, with its mean on those and on the held-out ones."""

    weights: tuple[float, ...] | None
    params: dict[str, float]
    training_mean: float
    held_out_mean: float
    held_out_queries: int

    def __str__(self) -> str:
        texts = [f"{name}={value:g}" for name, value in self.params.items()]
        if self.weights is not None:
            texts.append("weights=" + ",".join(f"{w:g}" for w in self.weights))
        return " ".join(texts) or "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned(Plottable):
    """A tuned fusion; report `held_out_mean`, since `training_mean` is optimistic."""

    method: str
    norm: str
    measure: Measure
    best: Choice  # chosen on all queries, and used for `run`
    folds: tuple[Choice, ...]
    held_out: dict[str, float]  # query -> value, from the setting chosen without that query
    singles: dict[str, dict[str, float]]  # run -> query -> value
    run: Run
    notes: tuple[str, ...] = ()  # warnings about the runs

    @property
    def held_out_mean(self) -> float:
        """The mean over all queries, each scored by a setting chosen without it."""
        return _mean(self.held_out.values())

    @property
    def training_mean(self) -> float:
        """The mean of the best setting on the queries it was chosen on."""
        return self.best.training_mean

    def per_unit_scores(self) -> dict[str, dict[Measure, dict[str, float]]]:
        """The values of the single runs and of the held-out fusion, for `compare`."""
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

    def _footer(self) -> str:
        means = ", ".join(f"{name} {number(_mean(v.values()))}" for name, v in self.singles.items())
        return f"{self.measure}; {self.method}, {self.norm} normalisation. Single runs: {means}."

    def render(self, format: str = "table") -> str:  # noqa: A002
        """The choice of each fold, the final choice, and the means of the single runs."""
        return f"{render(format, *self._table())}\n{self._footer()}\n"

    def _repr_html_(self) -> str:
        return html_table(*self._table(), self._footer())

    def __str__(self) -> str:
        return self.render().rstrip("\n")


@suggest_keywords
def tune(
    runs: Any,
    method: str = "wsum",
    norm: str | None = None,
    *,
    qrels: Any = None,
    measures: Measures = "nDCG@10",
    folds: int = 5,
    seed: int = 0,
    depth: int | None = None,
    name: str | None = None,
    threads: int | None = None,
) -> Tuned:
    """Choose the weights or the parameter of a fusion method by cross-validation over queries.

    Runs and judgments come in any form that `evaluate` takes; `measures` is the one to optimise.
    Each query is scored by a setting that was chosen (and, for trained methods, trained) without
    it. The run in the result uses the setting that is best on all queries.

    >>> import goodgain as gg
    >>> qrels = {f"q{n}": {"a": 1} for n in range(10)}
    >>> good = {q: {"a": 2.0, "x": 1.0} for q in qrels}
    >>> bad = {q: {"x": 2.0, "a": 1.0} for q in qrels}
    >>> tuned = gg.tune([good, bad], "wsum", qrels=qrels, measures="RR")
    >>> tuned.best.weights, tuned.best.held_out_mean
    ((0.6, 0.4), 1.0)
    """
    usage = "tune(runs, method, norm, qrels=..., measures=...)"
    chosen = find_method(method, usage)
    if qrels is None:
        raise UsageError("tuning needs judgments", hint=usage)
    named = check_runs(runs, qrels, usage)
    require_scores(named, chosen, norm)
    return _Tuning(
        Fuser(chosen, norm, rank_runs(named)), Qrels.of(qrels), measures, depth, threads
    ).run(named, folds, seed, name or method)


class _Tuning:
    """The values of every setting, and what is chosen from them."""

    def __init__(
        self,
        fuser: Fuser,
        qrels: Qrels,
        measures: Measures,
        depth: int | None,
        threads: int | None,
    ) -> None:
        self._fuser = fuser
        self._qrels = qrels
        self._depth, self._threads = depth, threads
        self._evaluator = Evaluator(qrels, measures, threads=threads)
        if len(self._evaluator.measures) != 1:
            labels = ", ".join(measure.label for measure in self._evaluator.measures)
            raise UsageError(f"tuning optimises one measure, got {labels}")
        self._measure = self._evaluator.measures[0]
        self._settings = _settings(fuser)
        if len(self._settings) == 1 and not fuser.method.trained:
            raise UsageError(
                f"{fuser.method.name} has nothing to tune",
                hint="use a method with weights, a parameter or training, such as wsum, rrf or posfuse",
            )

    def run(self, runs: list[Run], folds: int, seed: int, name: str) -> Tuned:
        """Cross-validate, then fuse with the setting that is best on all queries."""
        queries = self._qrels.queries
        untrained = None if self._fuser.method.trained else self._values_of_settings(None)
        choices: list[Choice] = []
        held_out: dict[str, float] = {}
        for fold in _folds(queries, folds, seed):
            inside = set(fold)
            choice, values = self._choose([q for q in queries if q not in inside], fold, untrained)
            choices.append(choice)
            held_out |= values
        best, _ = self._choose(queries, [], untrained)
        best = replace(best, held_out_mean=_mean(held_out.values()), held_out_queries=len(held_out))
        singles = self._evaluator.evaluate(runs)
        return Tuned(
            method=self._fuser.method.name,
            norm=self._fuser.norm,
            measure=self._measure,
            best=best,
            folds=tuple(choices),
            held_out={q: held_out[q] for q in queries},
            singles={
                scores.name: dict(zip(scores.queries, scores.column(self._measure), strict=True))
                for scores in singles.runs
            },
            notes=tuple(singles.warnings()),
            run=Run(self._fuse((best.weights, best.params), self._qrels), name=name),
        )

    def _choose(
        self, train: list[str], test: list[str], values: list[dict[str, float]] | None
    ) -> tuple[Choice, dict[str, float]]:
        """The best setting on the training queries, and its values on the test queries."""
        if values is None:
            values = self._values_of_settings(Qrels({q: self._qrels[q] for q in train}))
        means = [_mean(by_query[q] for q in train) for by_query in values]
        lower_is_better = self._measure.lower_is_better
        pick = (min if lower_is_better else max)(
            range(len(means)), key=lambda i: (means[i], i if lower_is_better else -i)
        )
        weights, params = self._settings[pick]
        tested = {q: values[pick][q] for q in test}
        return Choice(weights, params, means[pick], _mean(tested.values()), len(test)), tested

    def _values_of_settings(self, training_qrels: Qrels | None) -> list[dict[str, float]]:
        """For each setting, the measure of its fusion by query."""
        by_setting = []
        for setting in self._settings:
            scores = self._evaluator.evaluate(self._fuse(setting, training_qrels)).runs[0]
            values = scores.column(self._measure)
            by_setting.append(dict(zip(scores.queries, values, strict=True)))
        return by_setting

    def _fuse(self, setting: _Setting, training_qrels: Qrels | None) -> dict[str, dict[str, float]]:
        return self._fuser.fuse(
            *setting, qrels=training_qrels, depth=self._depth, threads=self._threads
        )


def _settings(fuser: Fuser) -> list[_Setting]:
    """Every setting to try: weights on a grid with sum 1, or values of the parameter."""
    if fuser.method.weighted:
        return [(weights, {}) for weights in weight_grid(len(fuser.runs))]
    param = fuser.method.param
    return [(None, {param.name: float(v)}) for v in param.grid] if param else [(None, {})]


def weight_grid(runs: int) -> list[tuple[float, ...]]:
    """All weights on an even grid with sum 1: in tenths, coarser for many runs."""
    divisions = 10
    while divisions > 1 and math.comb(divisions + runs - 1, runs - 1) > _MAX_SETTINGS:
        divisions -= 1
    grid = []
    for bars in combinations(range(divisions + runs - 1), runs - 1):
        edges = (-1, *bars, divisions + runs - 1)
        grid.append(tuple((b - a - 1) / divisions for a, b in pairwise(edges)))
    return sorted(grid, key=lambda w: max(w) - min(w))  # equally good weights: the most even win


def _folds(queries: list[str], folds: int, seed: int) -> list[list[str]]:
    import random

    if not 2 <= folds <= len(queries):
        raise UsageError(
            f"cannot split {len(queries)} queries into {folds} folds",
            hint="folds must be at least 2 and at most the number of judged queries",
        )
    order = sorted(queries)
    random.Random(seed).shuffle(order)
    return [order[i::folds] for i in range(folds)]


def _mean(values: Any) -> float:
    defined = [v for v in values if v == v]
    return math.fsum(defined) / len(defined) if defined else math.nan
