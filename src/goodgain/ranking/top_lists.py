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
    )
