"""Groups of queries, and whether a difference depends on the group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.comparison.comparison import Interaction
from goodgain.errors import UsageError
from goodgain.stats.anova import one_way, one_way_over_seeds
from goodgain.stats.corrections import correct

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.comparison.pairing import Paired
    from goodgain.comparison.scores import ScoreSet

    Floats = NDArray[np.float64]


def members(scores: ScoreSet, column: str, cells: Sequence[Paired]) -> Mapping[str, str]:
    """The group of each query."""
    if column not in scores.groups:
        raise UsageError(
            f"no column '{column}' to group by",
            hint="use a column of the scores, or {query: group}; on the command line --queries names a "
            "table of queries with this column",
        )
    groups = scores.groups[column]
    if not any(unit in groups for cell in cells for unit in cell.units):
        raise UsageError(f"no query has a group in '{column}'")
    return groups


def names(groups: Mapping[str, str], cells: Sequence[Paired]) -> list[str]:
    """The groups that occur, in the order of the table; queries without one come last."""
    present = {groups.get(unit, "") for cell in cells for unit in cell.units}
    order = [g for g in dict.fromkeys(groups.values()) if g in present]
    return order + ([""] if "" in present and "" not in order else [])


def notes(groups: Mapping[str, str], cells: Sequence[Paired]) -> list[str]:
    """A note if queries have no group."""
    lost = {unit: None for cell in cells for unit in cell.units if not groups.get(unit)}
    if not lost:
        return []
    examples = ", ".join(list(lost)[:3]) + (f" and {len(lost) - 3:,} more" if len(lost) > 3 else "")
    return [f"{len(lost):,} queries have no group: {examples}"]


def _interaction(cell: Paired, labels: Sequence[str]) -> tuple[float | None, float | None, str]:
    """Over queries, and over seeds where they are a sample."""
    replicates = cell.replicates
    if replicates is None:
        return one_way(cell.b - cell.a, labels)
    if reason := replicates.refusal():
        return None, None, reason
    if replicates.is_nested or not replicates.is_paired:
        return None, None, f"not tested over {replicates.factor}s"
    return one_way_over_seeds(replicates.differences, labels)


def interactions(
    cells: Sequence[Paired],
    groups: Mapping[str, str],
    correction: str,
    is_tested: Callable[[Paired], bool],
) -> tuple[Interaction, ...]:
    """Test for each pair of systems and measure whether the mean difference varies between groups.

    Those that are not tested are exploratory: their p-values are not corrected.
    """
    rows = []
    for cell in cells:
        if cell.column.kind != "mean":
            continue
        labels = [groups.get(unit, "") for unit in cell.units]
        f, p, note = _interaction(cell, labels)
        rows.append((cell, len(set(labels)), f, p, note))
    tested = [i for i, (cell, *_, p, _) in enumerate(rows) if p is not None and is_tested(cell)]
    p_values = [p for *_, p, _ in (rows[i] for i in tested) if p is not None]
    corrected = dict(zip(tested, correct(p_values, correction), strict=True))
    return tuple(
        Interaction(
            system=cell.system,
            baseline=cell.baseline,
            measure=cell.measure,
            groups=count,
            f=f,
            p=p,
            p_corrected=corrected.get(i),
            note=note,
        )
        for i, (cell, count, f, p, note) in enumerate(rows)
    )
