"""Several saved results merged into one, to draw them side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.agentic import GoodGain
from goodgain.errors import InputError, UsageError
from goodgain.io.naming import unique_names
from goodgain.ranking import Evaluation

if TYPE_CHECKING:
    from collections.abc import Sequence


def merge_results(results: Sequence[Any]) -> Any:
    """A single result itself, or several evaluations or Good Gains merged, with all their systems."""
    if len(results) == 1:
        return results[0]
    if all(isinstance(r, Evaluation) for r in results):
        return _merge_evaluations(results)
    if all(isinstance(r, GoodGain) for r in results):
        return _merge_good_gains(results)
    kinds = ", ".join(dict.fromkeys(type(r).__name__ for r in results))
    raise UsageError(
        f"cannot merge results of different kinds: {kinds}",
        hint="pass only evaluations, or only Good Gains",
    )


def _merge_evaluations(results: Sequence[Evaluation]) -> Evaluation:
    first = results[0]
    for other in results[1:]:
        if other.policy != first.policy:
            raise InputError(
                f"the evaluations have different policies: {first.policy}; {other.policy}"
            )
    common = tuple(m for m in first.measures if all(m in r.measures for r in results))
    if not common:
        raise InputError("the evaluations have no measure in common")
    runs = [run for r in results for run in r.runs]
    names = unique_names(run.name for run in runs)
    renamed = {name: run.renamed(name) for name, run in zip(names, runs, strict=True)}
    return Evaluation(renamed, common, first.policy, None, preset=first.preset)


def _merge_good_gains(results: Sequence[GoodGain]) -> GoodGain:
    first = results[0]
    for other in results[1:]:
        if other.settings != first.settings:
            raise InputError("the Good Gains have different settings")
    systems = [system for r in results for system in r.systems]
    names = unique_names(s.name for s in systems)
    renamed = [s.renamed(name) for s, name in zip(systems, names, strict=True)]
    return GoodGain(systems=renamed, settings=first.settings, inputs=[], facts={})
