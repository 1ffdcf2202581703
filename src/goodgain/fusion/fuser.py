"""Several runs made into one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.cores import thread_count
from goodgain.data import Qrels, Run
from goodgain.errors import UsageError, core_errors
from goodgain.fusion import training
from goodgain.fusion.methods import checked, method_of, norm_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodgain._core import RankedRun
    from goodgain.fusion.methods import Method


def fuse(
    runs: Sequence[Any] | Mapping[str, Any],
    method: str = "rrf",
    norm: str | None = None,
    *,
    weights: Sequence[float] | None = None,
    qrels: Any = None,
    training_runs: Sequence[Any] | None = None,
    depth: int | None = None,
    name: str | None = None,
    threads: int | None = None,
    **params: float,
) -> Run:
    """Fuse runs (paths, dictionaries, frames, Run objects) by a method of `METHODS`.

    `norm` puts scores on one scale first: min-max by default where scores matter. Methods that learn
    (posfuse, probfuse, segfuse, slidefuse, mapfuse, bayesfuse) need `qrels` of training queries and,
    unless they learn from the runs themselves, `training_runs`. `depth` keeps the best documents of
    each query.
    """
    chosen = method_of(method)
    ranked = rank_runs(runs)
    learn_from = ranked if training_runs is None else rank_runs(training_runs)
    if len(learn_from) != len(ranked):
        raise UsageError(f"there are {len(learn_from)} training runs for {len(ranked)} runs")
    fused = Fuser(chosen, norm, ranked).fused(
        weights, params, None if qrels is None else Qrels.of(qrels), learn_from, depth, threads
    )
    return Run(fused, name=name or method)


def rank_runs(runs: Sequence[Any] | Mapping[str, Any]) -> list[RankedRun]:
    """Runs read and ranked by the core."""
    from collections.abc import Mapping as AnyMapping

    from goodgain._core import RankedRun

    items = list(runs.items()) if isinstance(runs, AnyMapping) else [(None, run) for run in runs]
    if len(items) < 2:
        raise UsageError(f"fusion needs at least two runs, and there is {len(items)}")
    ranked = []
    for name, source in items:
        run = Run.of(source, name)
        with core_errors():
            ranked.append(RankedRun.of(*run.rows(), run.source.name))
    return ranked


class Fuser:
    """A method over runs that are ranked once; for tuning, which fuses again and again."""

    def __init__(self, method: Method, norm: str | None, runs: list[RankedRun]) -> None:
        self.method = method
        self.norm = norm_of(norm, method)
        self.runs = runs

    def fused(
        self,
        weights: Sequence[float] | None,
        params: Mapping[str, Any],
        qrels: Qrels | None = None,
        learn_from: list[RankedRun] | None = None,
        depth: int | None = None,
        threads: int | None = None,
    ) -> dict[str, dict[str, float]]:
        """{query: {document: score}}, best first."""
        from goodgain._core import fuse as core_fuse

        method, values = self.method, checked(self.method, params)
        if depth is not None and depth < 1:
            raise UsageError(f"the depth {depth} is not a whole number from 1 on")
        tables: list[list[float]] = []
        if method.trained:
            if qrels is None:
                raise UsageError(
                    f"{method.name} learns from judged queries and has none",
                    hint="qrels=... (--train QRELS), or a method that does not learn, such as rrf",
                )
            tables = training.tables(
                method, learn_from or self.runs, qrels, values, self.norm == "min-max-inverted"
            )
        options: dict[str, Any] = {
            "norm": self.norm, "points": method.points, "combine": method.combine, "parameter": 0.0,
            "exponent": 1.0, "log_shift": 0.0, "absent": 0.0, **method.options,
            "weights": self._weights(weights), "tables": tables,
        }  # fmt: skip
        if method.param is not None and method.param.slot in options:
            options[method.param.slot] = values[method.param.name]
        found: dict[str, dict[str, float]] = core_fuse(
            self.runs, options, depth or 0, thread_count(threads)
        )
        return found

    def _weights(self, weights: Sequence[float] | None) -> list[float]:
        if weights is None:
            return [1.0] * len(self.runs)
        if not self.method.weighted:
            raise UsageError(
                f"{self.method.name} takes no weights",
                hint="wsum, wmnz, mixed, w_bordafuse and w_condorcet do",
            )
        if len(weights) != len(self.runs):
            raise UsageError(f"there are {len(weights)} weights for {len(self.runs)} runs")
        numbers = [float(w) for w in weights]
        if any(not 0 <= w < float("inf") for w in numbers) or not any(numbers):
            raise UsageError(
                f"the weights {weights} are not numbers from 0 on, one of them above 0"
            )
        return numbers
