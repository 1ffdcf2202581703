"""The ranked lists behind an evaluation: the top of every query, and what each rank adds to a measure.

They are read from the tables again, since an evaluation holds numbers, not documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.ranking.scores import RunScores

    Floats = NDArray[np.float64]
    Counts = NDArray[np.uint32]


MOST_RELEVANT = 50  # relevant documents listed per query


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevantDocuments:
    """The documents with a gain above 0, query after query, best first, and where one run ranks them."""

    totals: Counts  # of each query, all of them
    counts: Counts  # of each query, those listed
    docs: Counts
    gains: Floats
    ranks: Counts  # 0 if not retrieved

    def same_documents(self, other: RelevantDocuments) -> bool:
        """Whether two runs have the same judgments of relevant documents."""
        import numpy as np

        fields = ("totals", "counts", "docs", "gains")
        return all(np.array_equal(getattr(self, f), getattr(other, f)) for f in fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedLists:
    """One run's lists as columns, query after query in the order of `queries`.

    `docs` are indices into a table of ids. Only judged documents have a gain and contributions:
    `contributions[measure]` is what each of them adds to the query's value, and `bases[measure]` the value if
    nothing is judged; measures that are not sums over ranks have neither.
    """

    queries: list[str]
    counts: Counts  # documents listed, of each query
    retrieved: Counts  # documents retrieved for the query
    docs: Counts
    scores: Floats  # nan in a run that has only ranks
    hit_counts: Counts  # judged documents listed, of each query
    hit_ranks: Counts
    gains: Floats
    contributions: dict[str, Floats]
    bases: dict[str, Floats]
    relevant: RelevantDocuments


def ranked_lists(
    runs: Mapping[str, RunScores], depth: int
) -> tuple[list[str], dict[str, RankedLists]]:
    """The ids of documents, and the lists of each run; InputError if a table is gone."""
    from goodgain import _core

    ids = _core.IdTable()
    lists = {name: _lists_of(run, depth, ids) for name, run in runs.items()}
    return ids.texts(), lists


def _lists_of(run: RunScores, depth: int, ids: Any) -> RankedLists:
    import numpy as np

    from goodgain import _core

    evaluator, table = run.tables()
    in_core = [m.label for m in evaluator.measures if m.definition.column is None]
    lists = _core.TopLists(evaluator.core, len(in_core), depth)
    table.scores(evaluator.prepared.listing(lists))
    columns = lists.columns(ids)
    if not table.has_scores:  # the core ranks by negated ranks
        columns["scores"] = np.full(len(columns["scores"]), np.nan)
    contributions, bases = (
        dict(zip(in_core, columns.pop(n), strict=True)) for n in ("contributions", "bases")
    )
    explained = [label for label in in_core if not np.isnan(contributions[label]).any()]
    return RankedLists(
        queries=evaluator.qrels.queries,
        **columns,
        contributions={label: contributions[label] for label in explained},
        bases={label: bases[label] for label in explained},
        relevant=RelevantDocuments(**lists.relevant(evaluator.core, ids, MOST_RELEVANT)),
    )


def unjudged_bounds(run: RunScores) -> tuple[list[str], dict[str, tuple[Floats, Floats]]]:
    """The queries, and the lowest and highest value of each measure over all gains of unjudged documents.

    Only measures whose exact bounds are known, and only if unjudged documents count as not relevant now.
    """
    import numpy as np

    from goodgain.ranking.evaluator import Evaluator, bounded_measures

    evaluator, table = run.tables()
    policy = evaluator.policy
    measures = [m for m in bounded_measures(evaluator.measures) if m in run]
    if policy.unjudged != "nonrelevant" or policy.ties in ("average", "bounds") or not measures:
        return [], {}
    bounding = Evaluator(
        evaluator.qrels,
        measures,
        policy=policy.change({"unjudged": "bounds"}),
        preset=evaluator.preset,
    )
    (scores,) = bounding.evaluate([table]).runs
    bounds = {}
    for measure in measures:
        value = run.values(measure)
        low, high = (np.array(scores.column(measure, b)) for b in ("lower", "upper"))
        # A convention that treats unjudged documents in its own way is not what was bounded.
        if not ((low > value + 1e-9) | (high < value - 1e-9)).any():
            bounds[measure.label] = low, high
    return scores.queries, bounds
