"""What is known of each query besides its values; the filters of the table of queries use it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.ranking.top_lists import RankedLists
    from goodgain.reports.contents import PageContents

    Integers = NDArray[np.int64]

TOP = 10  # results that are counted


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryFacts:
    """By query; a query of which something is not known is left out."""

    words: Mapping[str, int]  # of its text
    relevant: Mapping[str, int]  # documents judged with a gain above 0
    unjudged: Mapping[str, Mapping[str, float]]  # by system: the share of its first ten results
    top: Mapping[str, Mapping[str, int]]  # by system: relevant documents in its first ten
    repeated: Mapping[
        str, Mapping[str, int]
    ]  # by system: texts of its first ten that are above too

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
    by_system = contents.lists.by_system if contents.scores else {}
    for lists in by_system.values():
        relevant = dict(zip(lists.queries, lists.relevant.totals.tolist(), strict=True))
        break
    texts_of_documents = _text_numbers(contents) if by_system and contents.documents else None
    return QueryFacts(
        words=words,
        relevant=relevant,
        unjudged={system: _unjudged(lists) for system, lists in by_system.items()},
        top={system: _top(lists) for system, lists in by_system.items()},
        repeated={
            system: _repeated(lists, texts_of_documents) for system, lists in by_system.items()
        }
        if texts_of_documents is not None
        else {},
    )


def _unjudged(lists: RankedLists) -> dict[str, float]:
    import numpy as np

    owners = np.repeat(np.arange(len(lists.queries)), lists.hit_counts)
    judged = np.bincount(owners[lists.hit_ranks <= TOP], minlength=len(lists.queries))
    listed = np.minimum(lists.counts, TOP)
    rows = zip(lists.queries, listed.tolist(), judged.tolist(), strict=True)
    return {query: 1 - j / n for query, n, j in rows if n}


def _top(lists: RankedLists) -> dict[str, int]:
    import numpy as np

    owners = np.repeat(np.arange(len(lists.queries)), lists.hit_counts)
    near = (lists.hit_ranks <= TOP) & (lists.gains > 0)
    counts = np.bincount(owners[near], minlength=len(lists.queries))
    return dict(zip(lists.queries, counts.tolist(), strict=True))


def _text_numbers(contents: PageContents) -> Integers:
    """A number for the text of each listed document, the same for the same text; -1 without one."""
    import numpy as np

    numbers: dict[str, int] = {"": -1}
    texts = (contents.documents.get(doc, "").strip() for doc in contents.lists.ids)
    return np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int64)


def _repeated(lists: RankedLists, text_numbers: Integers) -> dict[str, int]:
    import numpy as np

    count = len(lists.queries)
    owners = np.repeat(np.arange(count), lists.counts)
    ranks = np.arange(len(owners)) - np.repeat(np.cumsum(lists.counts) - lists.counts, lists.counts)
    numbers = text_numbers[lists.docs] if len(text_numbers) else np.zeros(0, dtype=np.int64)
    near = (ranks < TOP) & (numbers >= 0)
    owners, numbers = owners[near], numbers[near]
    different = np.unique(owners * (len(text_numbers) + 2) + numbers) // (len(text_numbers) + 2)
    counts = np.bincount(owners, minlength=count) - np.bincount(different, minlength=count)
    return dict(zip(lists.queries, counts.tolist(), strict=True))
