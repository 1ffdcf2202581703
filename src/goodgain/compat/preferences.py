"""trec_eval's measures over preferences between documents (`-R prefs`, `-R qrels_prefs`).

Within a subgroup of a judgment group, a document of a higher level is preferred to one of a lower level.
The preferences of a group with several subgroups are transitive and must not contradict each other; those
of different groups may. A preference is fulfilled if the run ranks the preferred document first; a document
that was not retrieved ranks after all that were.
"""

from __future__ import annotations

import math

from goodgain.compat.trec_lines import read_lines
from goodgain.errors import InputError
from goodgain.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.int64]
    # group -> subgroup -> (document, level)
    Groups = Mapping[str, Mapping[str, Sequence[tuple[str, float]]]]


@dataclass(frozen=True, slots=True)
class Counts:
    """Preferences: of pairs of which both documents were retrieved, or at least one, or any."""

    fulfilled_ret: int
    possible_ret: int
    fulfilled: int
    possible_imp: int
    possible: int


def values(groups: Groups, ranking: Iterable[str], where: str = "") -> dict[str, float]:
    """All measures of one query, by their names; `ranking` holds the retrieved documents in order."""
    judged = {
        doc for subgroups in groups.values() for rows in subgroups.values() for doc, _ in rows
    }
    order = [doc for doc in ranking if doc in judged]
    retrieved = len(order)
    order += sorted(judged.difference(order), key=_bytes)
    place = {doc: i for i, doc in enumerate(order)}
    tables: list[_Group] = []
    for _, subgroups in sorted(groups.items(), key=lambda item: _bytes(item[0])):
        kind = _Complete if len(subgroups) == 1 else _Partial
        tables.append(kind(subgroups, place, retrieved, where))
    return {**_sums([t.counts() for t in tables]), **_pairs(tables, retrieved), **_balanced(tables)}


def _sums(counts: list[Counts]) -> dict[str, float]:
    variants = {
        "": ("fulfilled", "possible"),
        "_ret": ("fulfilled_ret", "possible_ret"),
        "_imp": ("fulfilled", "possible_imp"),
    }
    result = {
        "prefs_num_prefs_poss": float(sum(c.possible for c in counts)),
        "prefs_num_prefs_ful": float(sum(c.fulfilled for c in counts)),
        "prefs_num_prefs_ful_ret": float(sum(c.fulfilled_ret for c in counts)),
    }
    for suffix, (fulfilled, possible) in variants.items():
        pairs = [(getattr(c, fulfilled), getattr(c, possible)) for c in counts]
        result[f"prefs_simp{suffix}"] = _share(sum(f for f, _ in pairs), sum(p for _, p in pairs))
        result[f"prefs_avgjg{suffix}"] = sum(_share(f, p) for f, p in pairs) / len(counts)
    return result


def _pairs(tables: list[_Group], retrieved: int) -> dict[str, float]:
    """The share of preferences fulfilled, averaged over the pairs of documents that have any."""
    import numpy as np

    total = sum((t.preferred for t in tables[1:]), tables[0].preferred)
    both = total + total.T
    share = np.divide(total, both, out=np.zeros(total.shape), where=both > 0)
    upper = np.triu(both > 0, 1)
    result = {}
    for suffix, rows, columns in (
        ("_ret", retrieved, retrieved),
        ("_imp", retrieved, None),
        ("", None, None),
    ):
        chosen = upper[:rows, :columns]
        fulfilled = np.where(upper, share, 0.0)[:retrieved, :columns].sum()
        result[f"prefs_pair{suffix}"] = _share(float(fulfilled), int(chosen.sum()))
    return result


def _balanced(tables: list[_Group]) -> dict[str, float]:
    """With as many nonrelevant documents as relevant ones; a group without preferences makes it 0."""
    result = {}
    for suffix, only in (("", False), ("_ret", True)):
        shares = [_ratio(*t.balanced(only)) for t in tables]
        total = sum(shares)
        result[f"prefs_avgjg_Rnonrel{suffix}"] = total / len(tables) if total > 0 else 0.0
    return result


class _Group:
    """The preferences of one judgment group: `preferred[i, j]` counts those of document i over j."""

    preferred: Matrix
    levels: NDArray[np.float64]  # of `documents`
    documents: NDArray[np.int64]  # places of the documents, by level descending, then by place

    def __init__(
        self,
        subgroups: Mapping[str, Sequence[tuple[str, float]]],
        place: Mapping[str, int],
        retrieved: int,
        where: str,
    ) -> None:
        import numpy as np

        self.retrieved = retrieved
        self.where = where
        self.names = list(place)
        self.preferred = np.zeros((len(place), len(place)), dtype=np.int64)
        self._read(
            [
                sorted(((-level, place[doc]) for doc, level in rows))
                for _, rows in sorted(subgroups.items(), key=lambda item: _bytes(item[0]))
            ]
        )

    def _read(self, subgroups: list[list[tuple[float, int]]]) -> None:
        raise NotImplementedError

    def relevant(self, only_retrieved: bool) -> tuple[int, int]:
        """The number of relevant and nonrelevant documents."""
        raise NotImplementedError

    def recounted(self, only_retrieved: bool) -> tuple[int, int]:
        """Fulfilled and possible preferences with fewer nonrelevant documents."""
        raise NotImplementedError

    def counts(self) -> Counts:
        """The preferences by whether both, one or none of their documents were retrieved."""
        import numpy as np

        n, p = self.retrieved, self.preferred
        fulfilled = int(np.triu(p[:n, :n], 1).sum())
        inside, implied = int(p[:n, :n].sum()), int(p[:n, n:].sum())
        return Counts(
            fulfilled_ret=fulfilled,
            possible_ret=inside,
            fulfilled=fulfilled + implied,
            possible_imp=inside + implied + int(p[n:, :n].sum()),
            possible=int(p.sum()),
        )

    def balanced(self, only_retrieved: bool) -> tuple[int, int]:
        """Fulfilled and possible preferences if nonrelevant documents were as many as relevant ones."""
        relevant, nonrelevant = self.relevant(only_retrieved)
        if relevant < nonrelevant:
            return self.recounted(only_retrieved)
        c = self.counts()
        missing = (
            relevant - nonrelevant
        )  # fulfilled preferences of the relevant documents retrieved
        fulfilled, possible = (
            (c.fulfilled_ret, c.possible_ret) if only_retrieved else (c.fulfilled, c.possible)
        )
        all_relevant, _ = self.relevant(False)
        retrieved_relevant, _ = self.relevant(True)
        return fulfilled + retrieved_relevant * missing, possible + all_relevant * missing

    def _refuse(self, problem: str) -> None:
        raise InputError(problem, where=self.where, hint="correct the preferences of this group")


class _Complete(_Group):
    """One subgroup: all documents are ordered by their levels."""

    def _read(self, subgroups: list[list[tuple[float, int]]]) -> None:
        import numpy as np

        (rows,) = subgroups
        self.levels = np.array([-level for level, _ in rows])
        self.documents = np.array([place for _, place in rows], dtype=np.int64)
        above = self.levels[:, None] > self.levels[None, :]
        first, second = np.nonzero(above)
        np.add.at(self.preferred, (self.documents[first], self.documents[second]), 1)
        twice = np.nonzero(np.diagonal(self.preferred))[0]
        if len(twice):
            self._refuse(f"document '{self.names[twice[0]]}' has two levels in one subgroup")

    def relevant(self, only_retrieved: bool) -> tuple[int, int]:
        counted = self.documents < (self.retrieved if only_retrieved else len(self.names))
        positive = self.levels > 0
        return int((counted & positive).sum()), int((counted & ~positive).sum())

    def recounted(self, only_retrieved: bool) -> tuple[int, int]:
        import numpy as np

        # As trec_eval counts: the documents of the lowest level are also compared with each other.
        relevant, _ = self.relevant(only_retrieved)
        lowest = self.levels == self.levels[-1]
        few = self.documents[lowest][:relevant]
        docs, rest, levels = self.documents, self.documents[~lowest], self.levels[~lowest]
        if only_retrieved:
            few, docs = few[few < self.retrieved], docs[docs < self.retrieved]
            levels, rest = levels[rest < self.retrieved], rest[rest < self.retrieved]
        fulfilled, possible = 0, 0
        everything = np.ones((len(docs), len(few)), dtype=bool)
        for first, second, compared in (
            (rest, rest, levels[:, None] > levels[None, :]),
            (docs, few, everything),
        ):
            ahead = (first[:, None] < second[None, :]) & (first[:, None] < self.retrieved)
            fulfilled += int((ahead & compared).sum())
            possible += int(compared.sum())
        return fulfilled, possible


class _Partial(_Group):
    """Several subgroups: a partial order, closed under transitivity."""

    def _read(self, subgroups: list[list[tuple[float, int]]]) -> None:
        import numpy as np

        self.levels = np.full(len(self.names), -1.0)
        for rows in subgroups:
            for i, (negative, place) in enumerate(rows):
                level, before = -negative, self.levels[place]
                if (before > 0 and level == 0) or (before == 0 and level > 0):
                    self._refuse(f"document '{self.names[place]}' is both relevant and nonrelevant")
                self.levels[place] = level
                lower = [other for below, other in rows[i + 1 :] if below > negative]
                self.preferred[place, lower] = 1
        self.documents = np.arange(len(self.names))
        self._close()

    def _close(self) -> None:
        import numpy as np

        reached = self.preferred.astype(np.float32)
        np.fill_diagonal(reached, 1)
        while True:
            further = (reached @ reached > 0).astype(np.float32)
            if np.array_equal(further, reached):
                break
            reached = further
        np.fill_diagonal(reached, 0)
        self.preferred = reached.astype(np.int64)
        conflicts = np.argwhere((self.preferred > 0) & (self.preferred.T > 0))
        if len(conflicts):
            one, other = (self.names[i] for i in conflicts[0])
            self._refuse(f"documents '{one}' and '{other}' are each preferred to the other")

    def relevant(self, only_retrieved: bool) -> tuple[int, int]:
        levels = self.levels[: self.retrieved] if only_retrieved else self.levels
        return int((levels > 0).sum()), int((levels == 0).sum())

    def recounted(self, only_retrieved: bool) -> tuple[int, int]:
        import numpy as np

        n = self.retrieved if only_retrieved else len(self.names)
        relevant, _ = self.relevant(False)
        nonrelevant = self.levels[:n] == 0
        used = ~nonrelevant | (np.cumsum(nonrelevant) <= relevant)
        p = self.preferred[:n, :n] * used[:, None] * used[None, :]
        fulfilled = int(np.triu(p, 1)[: self.retrieved].sum())
        return fulfilled, int(p.sum())


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def read(path: str, *, has_subgroups: bool) -> dict[str, Any]:
    """{query: {group: {subgroup: [(document, level)]}}} from lines of trec_eval's two formats."""
    form = "query group subgroup document level" if has_subgroups else "query group document level"
    queries: dict[str, Any] = {}
    for line in read_lines(path):
        try:
            query, group, *subgroup, doc, level = line.fields
            value = float(level)
            if len(subgroup) != has_subgroups or not math.isfinite(value):
                raise ValueError
        except ValueError:
            line.refuse("preference", form)
        rows = queries.setdefault(query, {}).setdefault(group, {})
        rows.setdefault(subgroup[0] if subgroup else "0", []).append((doc, value))
    if not queries:
        raise InputError("the file contains no preferences", where=path)
    return queries
