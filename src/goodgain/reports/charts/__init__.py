"""Charts of results: one module for each subject, and the one list of what can be drawn of what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodgain.reports.chart import Chart


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of chart: its function, of which results it can be made, and what it shows."""

    name: str
    place: str  # module and function
    of: tuple[str, ...]
    text: str

    def function(self) -> Callable[..., Chart]:
        """What makes it, imported now."""
        from importlib import import_module

        module, name = self.place.split(".")
        found: Callable[..., Chart] = getattr(
            import_module(f"goodgain.reports.charts.{module}"), name
        )
        return found


_SCORED = ("Evaluation", "Comparison", "ExperimentResult", "Tuned")
_COMPARED = ("Comparison", "ExperimentResult")
# The first that fits a result is what `result.plot()` shows.
KINDS = {
    kind.name: kind
    for kind in (
        Kind("effects", "systems.effects", _COMPARED, "differences from the baseline, with intervals"),
        Kind("leaderboard", "systems.leaderboard", _SCORED, "means with intervals, best first"),
        Kind("differences", "queries.differences", _SCORED, "every query's difference, sorted"),
        Kind("histogram", "queries.histogram", _SCORED, "how many queries have which difference"),
        Kind("precision-recall", "recall.precision_recall", ("Evaluation", "ExperimentResult"),
             "precision at eleven levels of recall"),
        Kind("trade-off", "systems.trade_off", ("Evaluation", "Comparison", "ExperimentResult"),
             "quality against time or cost, with the Pareto front"),
        Kind("groups", "systems.groups", _COMPARED, "differences in each group of queries"),
        Kind("gain", "agentic.gain", ("GoodGain",), "a measure by iteration, with bands"),
        Kind("marginal", "agentic.marginal", ("GoodGain",), "gain of one more search, by iteration"),
        Kind("efficiency", "agentic.efficiency", ("GoodGain",), "SRE and SRR by iteration"),
        Kind("budget", "agentic.budget", ("GoodGain",), "gain against searches, seconds, tokens or cost"),
        Kind("confusion", "labels.confusion", ("Calibration",), "the judge's gains against human ones"),
        Kind("reliability", "labels.reliability", ("Calibration",),
             "how many documents of each gain people find good"),
        Kind("corrected", "labels.corrected", ("Calibration",), "means corrected by human labels"),
        Kind("labels", "labels.gains", ("Labels",), "how many documents have which gain"),
        Kind("sides", "verdicts.sides", ("GSB",), "good, same and bad"),
        Kind("gate", "verdicts.checks", ("Gate",), "the checks and their margins"),
    )
}  # fmt: skip


def plot(result: Any, kind: str | None = None, **options: Any) -> Chart:
    """A chart of a result: the kind that was asked for, or the first that fits."""
    fitting = [k for k in KINDS.values() if type(result).__name__ in k.of]
    if not fitting:
        raise UsageError(f"there is no chart of {_named(result)}")
    if kind is None:
        chosen = fitting[0]
    elif kind not in KINDS:
        raise UsageError(f"there is no chart '{kind}'", hint=f"one of: {', '.join(KINDS)}")
    elif KINDS[kind] not in fitting:
        raise UsageError(
            f"there is no chart '{kind}' of {_named(result)}",
            hint=f"one of: {', '.join(k.name for k in fitting)}",
        )
    else:
        chosen = KINDS[kind]
    function = chosen.function()
    _check_options(chosen, function, options)
    return function(_subject(result, chosen), **options)


def _named(result: Any) -> str:
    name = type(result).__name__
    return f"{'an' if name[0] in 'AEIOaeio' else 'a'} {name}"


def _check_options(kind: Kind, function: Callable[..., Chart], options: dict[str, Any]) -> None:
    import inspect

    known = list(inspect.signature(function).parameters)[1:]
    for name in options:
        if name not in known:
            has = f"it has: {', '.join(known)}" if known else "it has none"
            raise UsageError(f"the chart '{kind.name}' has no option '{name}'", hint=has)


def _subject(result: Any, kind: Kind) -> Any:
    """Of an experiment, the part that the chart is about."""
    if type(result).__name__ != "ExperimentResult" or "Comparison" not in kind.of:
        return result
    if result.comparison is not None:
        return result.comparison
    if "Evaluation" not in kind.of:
        raise UsageError("the experiment has one system, so there is nothing to compare it with")
    return result.scores
