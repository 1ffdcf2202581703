"""Runs that have nothing in common, because their ids are written differently.

Fused, such runs are only laid side by side. Nobody can know what was meant, so ids are never changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.ranking.mismatch import Group, alike_notes

if TYPE_CHECKING:
    from collections.abc import Sequence

_QUERIES = 50  # of the first run, whose documents are compared
_ENOUGH = 20  # documents of which none is in another run by accident


class Overlap:
    """What each run has in common with those before it."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._queries: set[str] = set()
        self._docs: dict[str, set[str]] = {}

    def add(self, name: str, queries: Sequence[str], docs: Sequence[str]) -> None:
        """Take note of a run's rows, and of what is wrong with its ids."""
        own = dict.fromkeys(queries)
        is_first = not self._queries
        compared = list(own)[:_QUERIES] if is_first else self._docs
        lists: dict[str, list[str]] = {query: [] for query in compared if query in own}
        for query, doc in zip(queries, docs, strict=True):
            if query in lists:
                lists[query].append(doc)
        if own and not is_first:
            notes = self._about_queries(own) or self._about_documents(lists)
            self.notes += [f"{name}: {note}" for note in notes]
        self._queries |= own.keys()
        for query, listed in lists.items():
            self._docs.setdefault(query, set()).update(listed)

    def _about_queries(self, own: dict[str, None]) -> list[str]:
        if not self._queries.isdisjoint(own):
            return []
        sides = ("this run has", "the other runs have")
        return alike_notes("queries", [Group("", self._queries, list(own))], sides) or [
            f"none of its {len(own):,} queries is in the other runs: it has '{next(iter(own)):.60}', "
            f"they have '{min(self._queries):.60}'"
        ]

    def _about_documents(self, lists: dict[str, list[str]]) -> list[str]:
        groups = [Group(query, self._docs[query], docs) for query, docs in lists.items() if docs]
        if not groups or not all(group.judged.isdisjoint(group.others) for group in groups):
            return []
        sides = ("this run has", "the other runs have")
        if notes := alike_notes("documents", groups, sides):
            return notes
        known = sum(len(group.judged) for group in groups)
        others = sum(len(group.others) for group in groups)
        if min(known, others) < _ENOUGH:
            return []
        group = groups[0]
        return [
            f"none of the {others:,} documents of {len(groups):,} queries is in the other runs: for query "
            f"'{group.query}' it has '{group.others[0]:.60}', they have '{min(group.judged):.60}'"
        ]
