"""Fuse several runs into one."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from goodgain.cores import thread_count
from goodgain.data import Qrels, Run
from goodgain.errors import UsageError, core_errors
from goodgain.fusion import training
from goodgain.fusion.methods import METHODS, check_params, find_method, find_norm
from goodgain.fusion.overlap import Overlap
from goodgain.ranking.evaluator import several_runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodgain._core import RankedRun
    from goodgain.fusion.methods import Method

# Keywords of other tools that are not parameters of a fusion method.
_HINTS = {
    **dict.fromkeys(
        ("metric", "metrics", "measure", "measures"),
        "tune(runs, method, qrels=..., measures=...) optimises a measure",
    ),
    "params": "pass parameters by name, such as k=60 or weights=[0.4, 0.6]",
}


def fuse(
    runs: Any,
    method: str = "rrf",
    norm: str | None = None,
    *,
    qrels: Any = None,
    training_runs: Any = None,
    weights: Sequence[float] | None = None,
    depth: int | None = None,
    name: str | None = None,
    threads: int | None = None,
    **params: float,
) -> Run:
    """Fuse runs, in any form that `evaluate` takes, by one of `METHODS`.

    `norm` puts the scores of all runs on one scale first (default: min-max for methods that use
    scores). Methods that need training (posfuse, probfuse, segfuse, slidefuse, mapfuse, bayesfuse)
    take the judgments of training queries as `qrels`, and `training_runs` unless they train on
    `runs` themselves. `depth` limits the documents per query; `params` are parameters of the
    method, such as `k=60` for rrf.

    >>> import goodgain as gg
    >>> bm25 = {"q1": {"a": 9.0, "b": 7.0, "c": 1.0}}
    >>> dense = {"q1": {"b": 0.9, "a": 0.8, "d": 0.3}}
    >>> fused = gg.fuse([bm25, dense], "rrf", k=60)
    >>> gg.evaluate({"q1": {"b": 1}}, fused, "RR")["RR"]
    1.0

    Runs without a common query, or without a common document, cause a warning.
    """
    fused, notes = fuse_with_notes(
        runs, method, norm, qrels=qrels, training_runs=training_runs, weights=weights, depth=depth,
        name=name, threads=threads, **params,
    )  # fmt: skip
    for note in notes:
        warnings.warn(note, UserWarning, stacklevel=2)
    return fused


def fuse_with_notes(
    runs: Any,
    method: str,
    norm: str | None,
    *,
    qrels: Any,
    training_runs: Any,
    weights: Sequence[float] | None,
    depth: int | None,
    name: str | None,
    threads: int | None,
    **params: float,
) -> tuple[Run, list[str]]:
    """The same with what is odd about the ids of the runs."""
    for keyword in params:
        if keyword in _HINTS:
            raise UsageError(f"fuse() has no parameter '{keyword}'", hint=_HINTS[keyword])
    usage = "fuse(runs, method, norm, qrels=...)"
    chosen = find_method(method, usage)
    checked = check_runs(runs, qrels, usage)
    require_scores(checked, chosen, norm)
    overlap = Overlap()
    ranked = rank_runs(checked, overlap)
    trained_on = ranked if training_runs is None else rank_runs(several_runs(training_runs))
    if len(trained_on) != len(ranked):
        raise UsageError(f"{len(trained_on)} training runs for {len(ranked)} runs")
    scores = Fuser(chosen, norm, ranked).fuse(
        weights,
        params,
        qrels=None if qrels is None else Qrels.of(qrels),
        training_runs=trained_on,
        depth=depth,
        threads=threads,
    )
    return Run(scores, name=name or method), overlap.notes


def check_runs(runs: Any, qrels: Any, usage: str) -> list[Run]:
    """The runs to fuse, at least two; runs and judgments passed in each other's place are noticed."""
    named = several_runs(runs)
    if len(named) < 2:
        if isinstance(qrels, list | tuple | dict) and len(several_runs(qrels)) > 1:
            raise UsageError(
                f"runs and qrels look swapped: qrels holds {len(qrels)} runs", hint=usage
            )
        raise UsageError(
            "fusion needs at least two runs, got 1", hint="pass a list of runs, or {name: run}"
        )
    return named


def require_scores(runs: Sequence[Run], method: Method, norm: str | None) -> None:
    """Refuse a method that uses scores for runs that have none; a norm may make ranks of them."""
    chosen = find_norm(norm, method)
    if not method.uses_scores or chosen in ("rank", "borda"):
        return
    for run in runs:
        if not run.has_scores:
            by_rank = ", ".join(m.name for m in METHODS.values() if not m.uses_scores)
            raise UsageError(
                f"{method.name} needs scores, but run '{run.name}' has only ranks",
                hint=f"use norm='rank' or 'borda', or a method that uses ranks: {by_rank}",
            )


def rank_runs(runs: Sequence[Run], overlap: Overlap | None = None) -> list[RankedRun]:
    """Read the runs and rank their documents in the core; `overlap` notes what they have in common."""
    from goodgain._core import RankedRun

    ranked = []
    for run in runs:
        with core_errors():
            queries, docs, scores = run.rows()
            ranked.append(RankedRun.of(queries, docs, scores, run.source.name))
        if overlap is not None:
            overlap.add(run.name, queries, docs)
    return ranked


class Fuser:
    """A fusion method over runs that are ranked once, so that tuning can fuse them many times."""

    def __init__(self, method: Method, norm: str | None, runs: list[RankedRun]) -> None:
        self.method = method
        self.norm = find_norm(norm, method)
        self.runs = runs

    def fuse(
        self,
        weights: Sequence[float] | None,
        params: Mapping[str, Any],
        *,
        qrels: Qrels | None = None,
        training_runs: list[RankedRun] | None = None,
        depth: int | None = None,
        threads: int | None = None,
    ) -> dict[str, dict[str, float]]:
        """{query: {document: score}}, best documents first."""
        from goodgain._core import fuse as core_fuse

        method, values = self.method, check_params(self.method, params)
        if depth is not None and depth < 1:
            raise UsageError(f"depth must be a positive integer, got {depth}")
        tables: list[list[float]] = []
        if method.trained:
            if qrels is None:
                raise UsageError(
                    f"{method.name} needs training judgments",
                    hint="pass qrels=... (--train QRELS), or use an untrained method such as rrf",
                )
            tables = training.tables(
                method, training_runs or self.runs, qrels, values, self.norm == "min-max-inverted"
            )
        options: dict[str, Any] = {
            "norm": self.norm, "points": method.points, "combine": method.combine, "parameter": 0.0,
            "exponent": 1.0, "log_shift": 0.0, "absent": 0.0, **method.options,
            "weights": self._weights(weights), "tables": tables,
        }  # fmt: skip
        if method.param is not None and method.param.slot in options:
            options[method.param.slot] = values[method.param.name]
        scores: dict[str, dict[str, float]] = core_fuse(
            self.runs, options, depth or 0, thread_count(threads)
        )
        return scores

    def _weights(self, weights: Sequence[float] | None) -> list[float]:
        if weights is None:
            return [1.0] * len(self.runs)
        if not self.method.weighted:
            raise UsageError(
                f"{self.method.name} takes no weights",
                hint="weighted methods: wsum, wmnz, mixed, w_bordafuse, w_condorcet",
            )
        if len(weights) != len(self.runs):
            raise UsageError(f"{len(weights)} weights for {len(self.runs)} runs")
        numbers = [float(w) for w in weights]
        if any(not 0 <= w < float("inf") for w in numbers) or not any(numbers):
            raise UsageError(
                f"weights must be non-negative and not all zero, got {', '.join(map(str, weights))}"
            )
        return numbers
