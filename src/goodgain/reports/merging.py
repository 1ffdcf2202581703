"""Several saved results merged into one, to draw them side by side."""

from __future__ import annotations

import copy
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
    labels = [{m.label for m in r.measures} for r in results]
    common = tuple(m for m in first.measures if all(m.label in own for own in labels))
    if not common:
        raise InputError("the evaluations have no measure in common")
    runs = [copy.copy(run) for r in results for run in r]
    for run, name in zip(runs, unique_names(run.name for run in runs), strict=True):
        run.name = name
    return Evaluation(
        {run.name: run for run in runs}, common, first.policy, None, preset=first.preset
    )


def _merge_good_gains(results: Sequence[GoodGain]) -> GoodGain:
    first = results[0]
    for other in results[1:]:
        if other.settings != first.settings:
            raise InputError("the Good Gains have different settings")
    systems = [copy.copy(system) for r in results for system in r]
    for system, name in zip(systems, unique_names(s.name for s in systems), strict=True):
        system.name = name
    return GoodGain(systems, first.settings, [], {})
