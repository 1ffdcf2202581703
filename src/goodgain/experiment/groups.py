"""Groups of queries by their number of targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.ranking import evaluate

if TYPE_CHECKING:
    from goodgain.data import Qrels

TARGETS = "targets"
# The largest number of targets in a group, and the name of the group.
SIZES = ((3, "simple (<= 3 targets)"), (6, "medium (4-6)"), (float("inf"), "complex (> 6)"))


def by_targets(qrels: Qrels, rel: float = 1) -> dict[str, str]:
    """{query: simple, medium or complex}, simple queries first."""
    judged = {query: dict(docs) for query, docs in qrels.to_dict().items()}
    depth = max(map(len, judged.values()), default=0) or 1
    # a run of all judged documents retrieves every target
    scores = evaluate(qrels, judged, f"Diversity(rel={rel:g})@{depth}").runs[0]
    counts = dict(zip(scores.queries, scores.column(scores.measures[0]), strict=True))
    return {
        query: name
        for limit, name in SIZES
        for query, count in counts.items()
        if next(size for size, _ in SIZES if count <= size) == limit
    }
