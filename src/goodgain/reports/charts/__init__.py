"""Charts of results: one module per subject, and the list of all kinds of charts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodgain.reports.chart import Chart


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of chart: the function that makes it, the results it supports, and what it shows."""

    name: str
    path: str  # module and function
    results: tuple[str, ...]  # names of classes
    text: str

    def function(self) -> Callable[..., Chart]:
        """The function that makes the chart."""
        from importlib import import_module

        module, name = self.path.split(".")
        function: Callable[..., Chart] = getattr(
            import_module(f"goodgain.reports.charts.{module}"), name
        )
        return function


_SCORED = ("Evaluation", "Comparison", "ExperimentResult", "Tuned")
_COMPARED = ("Comparison", "ExperimentResult")
# `result.plot()` makes the first one that supports the result.
KINDS = {
    kind.name: kind
    for kind in (
        Kind("effects", "systems.effects", _COMPARED, "differences from the baseline, with intervals"),
        Kind("leaderboard", "systems.leaderboard", _SCORED, "means with intervals, best first"),
        Kind("standings", "standings.standings", _COMPARED,
             "ranks, with bars joining systems that do not differ significantly"),
        Kind("differences", "queries.differences", _SCORED, "difference of each query, sorted"),
        Kind("histogram", "queries.histogram", _SCORED, "distribution of the differences"),
        Kind("precision-recall", "recall.precision_recall", ("Evaluation", "ExperimentResult"),
             "precision at eleven recall levels"),
        Kind("trade-off", "tradeoffs.trade_off", ("Evaluation", "Comparison", "ExperimentResult"),
             "quality vs time or cost, with the Pareto front"),
        Kind("groups", "systems.groups", _COMPARED, "differences within each group of queries"),
        Kind("gain", "agentic.gain", ("GoodGain",), "a measure by iteration, with confidence bands"),
        Kind("marginal", "agentic.marginal", ("GoodGain",), "marginal gain per search, by iteration"),
        Kind("efficiency", "agentic.efficiency", ("GoodGain",), "SRE and SRR by iteration"),
        Kind("budget", "agentic.budget", ("GoodGain",), "gain vs searches, seconds, tokens or cost"),
        Kind("funnel", "funnel.steps", ("GoodGain",), "evidence returned, opened and cited; right answers"),
        Kind("answers", "funnel.square", ("GoodGain",),
             "evidence returned or not, against answers right or wrong"),
        Kind("stopping", "stopping.trade_off", ("Stopping", "GoodGain"),
             "gain vs cost of stopping rules, with the best possible in hindsight"),
        Kind("confusion", "labels.confusion", ("Calibration",), "confusion matrix of judge and human labels"),
        Kind("reliability", "labels.reliability", ("Calibration",),
             "share of documents that people label good, by the judge's gain"),
        Kind("corrected", "labels.corrected", ("Calibration",), "means corrected by human labels"),
        Kind("labels", "labels.gains", ("Labels",), "number of documents by gain"),
        Kind("sides", "verdicts.sides", ("GSB",), "shares of good, same and bad"),
        Kind("gate", "verdicts.checks", ("Gate",), "checks with their margins"),
    )
}  # fmt: skip


def plot(result: Any, kind: str | None = None, **options: Any) -> Chart:
    """A chart of a result: of the given kind, or the first that supports the result."""
    supported = [k for k in KINDS.values() if type(result).__name__ in k.results]
    if not supported:
        raise UsageError(f"cannot plot {_with_article(result)}")
    if kind is None:
        selected = supported[0]
    elif kind not in KINDS:
        raise UsageError(f"unknown chart '{kind}'", hint=f"available charts: {', '.join(KINDS)}")
    elif KINDS[kind] not in supported:
        raise UsageError(
            f"chart '{kind}' is not available for {_with_article(result)}",
            hint=f"available charts: {', '.join(k.name for k in supported)}",
        )
    else:
        selected = KINDS[kind]
    function = selected.function()
    _check_options(selected, function, options)
    return function(_source(result, selected), **options)


def _with_article(result: Any) -> str:
    name = type(result).__name__
    return f"{'an' if name[0] in 'AEIOaeio' else 'a'} {name}"


def _check_options(kind: Kind, function: Callable[..., Chart], options: dict[str, Any]) -> None:
    import inspect

    available = list(inspect.signature(function).parameters)[1:]
    for name in options:
        if name not in available:
            hint = f"available options: {', '.join(available) or 'none'}"
            raise UsageError(f"unknown option '{name}' for chart '{kind.name}'", hint=hint)


def _source(result: Any, kind: Kind) -> Any:
    """The result to draw: for an experiment, its comparison or its evaluation."""
    if type(result).__name__ != "ExperimentResult" or "Comparison" not in kind.results:
        return result
    if result.comparison is not None:
        return result.comparison
    if "Evaluation" not in kind.results:
        raise UsageError("cannot compare: the experiment has only one system")
    return result.scores
