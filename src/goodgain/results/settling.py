"""Which documents to judge so that a comparison is settled.

The runs and judgments behind a result are read again, which only later stages can do.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from goodgain.labels.settling import Settling

MOST_DOCUMENTS = 20_000  # in both lists; above it the search for the fewest labels takes too long


def labels_to_judge(comparison: Any, pair: Any) -> Settling | None:
    """The labels that would settle which of two systems is ahead; None where that cannot be computed."""
    from goodgain.errors import GoodgainError

    scores = comparison.scores
    if scores is None or pair.measure.namespace == "agentic":
        return None
    runs = [scores.runs.get(name) for name in (pair.system, pair.baseline)]
    if not all(runs) or any(len(seeds) > 1 for seeds in runs if seeds):
        return None
    cutoff = pair.measure.cutoff or 1000
    if sum(len(run[0].queries) * int(cutoff) for run in runs if run) > MOST_DOCUMENTS:
        return None
    from goodgain.labels.settling import settling_labels

    try:
        tables = [run[0].tables() for run in runs if run]
        judged = tables[0][0].qrels.to_dict()
        top = max((gain for docs in judged.values() for gain in docs.values()), default=1)
        return settling_labels(
            judged, tables[0][1], tables[1][1], pair.measure, scale=(0, max(1, top))
        )
    except GoodgainError:
        return None
