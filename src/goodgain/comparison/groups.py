"""Groups of queries: a table for each, and whether the difference depends on the group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.comparison.comparison import Interaction
from goodgain.errors import UsageError
from goodgain.stats.corrections import correct
from goodgain.stats.distributions import f_sf
from goodgain.stats.paired import at_least_smallest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.comparison.pairing import Paired
    from goodgain.comparison.scores import ScoreSet

    Floats = NDArray[np.float64]


def members(scores: ScoreSet, column: str, cells: Sequence[Paired]) -> Mapping[str, str]:
    """The group of each query."""
    if column not in scores.groups:
        raise UsageError(
            f"there is no column '{column}' to group by",
            hint="a column of the table of scores, or {query: group}; on the command line --queries "
            "names a table of queries that has it",
        )
    found = scores.groups[column]
    if not any(unit in found for cell in cells for unit in cell.units):
        raise UsageError(f"no query has a group of '{column}'")
    return found


def names(groups: Mapping[str, str], cells: Sequence[Paired]) -> list[str]:
    """The groups that occur, in the order of the table; queries without one come last."""
    present = {groups.get(unit, "") for cell in cells for unit in cell.units}
    order = [g for g in dict.fromkeys(groups.values()) if g in present]
    return order + ([""] if "" in present and "" not in order else [])


def notes(groups: Mapping[str, str], cells: Sequence[Paired]) -> list[str]:
    """A sentence where queries have no group."""
    lost = {unit: None for cell in cells for unit in cell.units if not groups.get(unit)}
    if not lost:
        return []
    shown = ", ".join(list(lost)[:3]) + (f" and {len(lost) - 3:,} more" if len(lost) > 3 else "")
    return [f"{len(lost):,} queries have no group: {shown}"]


def interactions(
    cells: Sequence[Paired], groups: Mapping[str, str], correction: str
) -> tuple[Interaction, ...]:
    """For each pair of systems and measure, whether the mean difference is the same in all groups."""
    found = []
    for cell in cells:
        if cell.asked.kind != "mean":
            continue
        labels = [groups.get(unit, "") for unit in cell.units]
        f, p, note = one_way(cell.b - cell.a, labels)
        found.append((cell, len(set(labels)), f, p, note))
    tested = [p for *_, p, _ in found if p is not None]
    corrected = iter(correct(tested, correction))
    return tuple(
        Interaction(
            cell.system, cell.baseline, cell.asked.label, count, f, p,
            None if p is None else next(corrected), note,
        )
        for cell, count, f, p, note in found
    )  # fmt: skip


def one_way(values: Floats, labels: Sequence[str]) -> tuple[float | None, float | None, str]:
    """F, p and a note: one-way analysis of variance of values over their labels."""
    import numpy as np

    order = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    places = np.array([order[label] for label in labels])
    counts = np.bincount(places)
    k, n = len(counts), len(values)
    if k < 2:
        return None, None, "one group"
    if n <= k:
        return None, None, "one query a group"
    means = np.bincount(places, values) / counts
    within = float(((values - means[places]) ** 2).sum()) / (n - k)
    between = float((counts * (means - values.mean()) ** 2).sum()) / (k - 1)
    scale = float((values**2).sum()) or 1.0
    if within <= 1e-24 * scale:
        if between <= 1e-24 * scale:
            return 0.0, 1.0, "no difference"
        return None, None, "constant within groups"
    return between / within, at_least_smallest(f_sf(between / within, k - 1, n - k)), ""
