"""What is known of each query besides its values; the filters of the table of queries use it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.ranking.top_lists import RankedLists
    from goodgain.reports.contents import PageContents

TOP = 10  # results whose judged share counts


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryFacts:
    """By query; a query of which something is not known is left out."""

    words: Mapping[str, int]  # of its text
    relevant: Mapping[str, int]  # documents judged with a gain above 0
    unjudged: Mapping[str, Mapping[str, float]]  # by system: the share of its first ten results

    def unjudged_share(self, query: str, systems: tuple[str, ...]) -> float | None:
        """The mean share of these systems; None if one of them is not known."""
        shares = [self.unjudged.get(system, {}).get(query) for system in systems]
        known = [share for share in shares if share is not None]
        return sum(known) / len(known) if known and len(known) == len(shares) else None


def query_facts(contents: PageContents) -> QueryFacts:
    """The facts of all queries of a page."""
    texts = contents.queries
    words = {unit: len(texts[unit].split()) for unit in contents.units if unit in texts}
    relevant: dict[str, int] = {}
    unjudged: dict[str, dict[str, float]] = {}
    for system, lists in (contents.lists.by_system if contents.scores else {}).items():
        if not relevant:
            relevant = dict(zip(lists.queries, lists.relevant.totals.tolist(), strict=True))
        unjudged[system] = _unjudged(lists)
    return QueryFacts(words=words, relevant=relevant, unjudged=unjudged)


def _unjudged(lists: RankedLists) -> dict[str, float]:
    import numpy as np

    owners = np.repeat(np.arange(len(lists.queries)), lists.hit_counts)
    judged = np.bincount(owners[lists.hit_ranks <= TOP], minlength=len(lists.queries))
    listed = np.minimum(lists.counts, TOP)
    rows = zip(lists.queries, listed.tolist(), judged.tolist(), strict=True)
    return {query: 1 - j / n for query, n, j in rows if n}
