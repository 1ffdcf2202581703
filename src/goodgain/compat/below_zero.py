"""trec_eval with a relevance level below 0 (-l -1): documents that are not judged become relevant.

In trec_eval's list of grades -1 stands for a document that is not judged and -2 for one of negative grade,
and most measures compare those with the level. Counts of relevant documents leave them out, whatever the
level; so measures that combine the two may exceed 1. Measures of the first kind are computed here from
judgments that hold those grades.
"""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from goodgain.compat.trec_eval import Settings

    Lists = Mapping[str, Sequence[tuple[str, float]]]

INVENTED = "a document that is not in the run"
FORWARDS = frozenset({
    "map", "gm_map", "Rprec", "recip_rank", "P", "recall", "binG", "map_cut", "relative_P", "success",
    "yaap", "map_avgjg", "P_avgjg",
})  # fmt: skip
INFINITE = frozenset({"map", "gm_map", "binG", "map_avgjg"})  # if no document is judged relevant
# These count down from the number of relevant documents retrieved, which leaves the others out.
BACKWARDS = frozenset({"iprec_at_recall", "11pt_avg", "Rprec_mult", "Rprec_mult_avgjg"})


def grades_of_lists(
    grades: Mapping[str, Mapping[str, float]], lists: Lists
) -> dict[str, dict[str, float]]:
    """The judgments of every query with the grades of the documents retrieved that are not judged."""
    return {
        query: {doc: -1.0 for doc, _ in lists.get(query, ())}
        | {doc: -2.0 if grade < 0 else grade for doc, grade in judged.items()}
        for query, judged in grades.items()
    }


def backwards(
    spec: Mapping[str, Any], settings: Settings, grades: Mapping[str, float], scored: Any
) -> float:
    """One query's value of a measure that goes through the list from its end."""
    listed = _listed(settings, grades, scored)
    relevant = sum(grade >= 0 for grade in grades.values())
    retrieved = sum(grade >= 0 for grade in listed)
    is_relevant = [grade >= settings.level for grade in listed]
    if spec["kernel"] == "te_rprec_mult":
        return _precision_at(is_relevant, retrieved, int(spec["recall"] * relevant + 0.9))
    points = spec["numbers"] if spec["kernel"] == "te_mean_iprec" else [spec["recall"]]
    ceil = bool(spec.get("recall_ceil"))
    needed = [math.floor(r * relevant + (0.9 if ceil else 0.5)) for r in points]
    return sum(_interpolated(is_relevant, retrieved, n) for n in needed) / len(needed)


def divides_by_zero(settings: Settings, grades: Mapping[str, float], scored: Any) -> bool:
    """Whether the list has relevant documents although no document is judged relevant."""
    if any(grade >= 0 for grade in grades.values()):
        return False
    return any(grade >= settings.level for grade in _listed(settings, grades, scored))


def _listed(settings: Settings, grades: Mapping[str, float], scored: Any) -> list[float]:
    """The grades of the list, in rank order."""
    ordered = sorted(
        scored, key=lambda pair: (pair[1], pair[0].encode(errors="surrogateescape")), reverse=True
    )
    listed = [grades[doc] for doc, _ in ordered[: settings.depth]]
    return [grade for grade in listed if grade >= 0] if settings.judged_only else listed


def _precision_at(is_relevant: Sequence[bool], retrieved: int, cutoff: int) -> float:
    if cutoff > len(is_relevant):
        return retrieved / cutoff
    left = retrieved - sum(is_relevant[cutoff:])
    return left / cutoff if cutoff and left > 0 else 0.0


def _interpolated(is_relevant: Sequence[bool], retrieved: int, needed: int) -> float:
    if needed > retrieved:
        return 0.0
    if not is_relevant:
        return math.nan
    left, best = retrieved, retrieved / len(is_relevant)
    for rank in range(len(is_relevant), 0, -1):
        if left <= 0:
            break
        best = max(best, left / rank)
        if is_relevant[rank - 1]:
            if left == needed:
                return best
            left -= 1
    return best
