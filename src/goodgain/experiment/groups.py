"""Groups of queries by how many targets they have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.ranking import evaluate

if TYPE_CHECKING:
    from goodgain.data import Qrels

TARGETS = "targets"
# The most targets of a group, and its name.
SIZES = ((3, "simple (<= 3 targets)"), (6, "medium (4-6)"), (float("inf"), "complex (> 6)"))


def by_targets(qrels: Qrels, rel: float = 1) -> dict[str, str]:
    """{query: simple, medium or complex}, simple ones first."""
    everything = {query: dict(docs) for query, docs in qrels.to_dict().items()}
    depth = max(map(len, everything.values()), default=0) or 1
    # all judged documents as a run: its distinct targets are those there are
    scores = evaluate(qrels, everything, f"Diversity(rel={rel:g})@{depth}").runs[0]
    counts = dict(zip(scores.queries, scores.column(scores.measures[0]), strict=True))
    return {
        query: name
        for most, name in SIZES
        for query, count in counts.items()
        if next(size for size, _ in SIZES if count <= size) == most
    }
