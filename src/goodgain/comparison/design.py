"""How the scores of a comparison were made, in one sentence, and what its tests therefore cover."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodgain.comparison.comparison import Settings
    from goodgain.comparison.pairing import Paired
    from goodgain.comparison.scores import ScoreSet


def describe(scores: ScoreSet, cells: Sequence[Paired], settings: Settings) -> str:
    """The design behind the first measure, with its groups."""
    first = [cell for cell in cells if cell.column == cells[0].column]
    queries = len({unit for cell in first for unit in cell.units})
    unit, units = "query", "queries"
    if cells[0].measure.namespace == "agentic":
        unit, units = "conversation", "conversations"
    things = unit if queries == 1 else units
    groups = f", in groups by {settings.by}" if settings.by else ""
    seeded = {s: len(scores.seed_labels[s]) for s in scores.systems if s in scores.seed_labels}
    if not seeded:
        return (
            f"Design: {queries:,} {things}{groups}, one score for each system; paired over {units}."
        )
    clauses = dict.fromkeys(_clause(scores, cell, seeded) for cell in first)
    return f"Design: {queries:,} {things}{groups}, {'; '.join(clauses)}."


def _clause(scores: ScoreSet, cell: Paired, seeded: dict[str, int]) -> str:
    factor = scores.factor
    own = {s: seeded[s] for s in (cell.baseline, cell.system) if s in seeded}
    replicates = cell.replicates
    listed = _listed(own, factor)
    if not own:
        return f"no {factor} for {cell.system} and {cell.baseline}: paired over queries"
    if replicates is None:
        return (
            f"averaged over {listed}, taken as fixed: tested over queries, for these {factor}s only"
        )
    if replicates.lone:
        return (
            f"one {factor} for {' and '.join(replicates.lone)}: this shows nothing about other {factor}s, so "
            f"there are no stars (more {factor}s would help; seeds='fixed' or --seeds fixed tests this one)"
        )
    alone = [s for s in (cell.baseline, cell.system) if own.get(s, 0) < 2]
    fixed = f", with {alone[0]} as one fixed run" if alone else ""
    if reason := replicates.refusal():
        return f"{listed}: no test over {factor}s ({reason})"
    if replicates.is_nested:
        count = max(replicates.counts)
        return (
            f"nested in {count} {factor}s, each with its own queries{fixed}: the {factor}s are the "
            f"units (if they only drew the queries, seeds='fixed' or --seeds fixed tests over queries)"
        )
    if replicates.shared:
        listed = f"{max(replicates.counts)} {factor}s that both systems share"
        return f"crossed with {listed}: paired by query and {factor}, tested for new ones of both"
    if alone:
        return f"crossed with {listed}{fixed}: tested for new queries and new {factor}s"
    return (
        f"crossed with {listed}, each system with its own: tested for new queries and new {factor}s"
    )


def _listed(own: dict[str, int], factor: str) -> str:
    several = {s: count for s, count in own.items() if count > 1} or own
    return " and ".join(f"{n} {factor}{'s' * (n > 1)} of {s}" for s, n in several.items())
