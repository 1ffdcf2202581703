"""The evidence of every run: the known good results, and how far each got."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goodgain._core import TraceScores

    Numbers = NDArray[np.int64]
    Row = tuple[str, float, int, int, int, int | None, bool]

# Per run; the order of funnel_row in src/core/bind_traces.cpp.
FUNNEL = (
    "known", "returned", "opened", "cited", "cited_returned", "good", "not_good", "unlabelled",
    "unsupported", "unresolved", "answered", "has_citations", "opens",
)  # fmt: skip


class Evidence(NamedTuple):
    """A known good result of a conversation.

    `iteration`, `search` (within it) and `rank` say where it was first returned, from 1; `opened` is the
    iteration of its first open, 0 before any search. They are None where that did not happen.
    """

    name: str
    gain: float
    hop: str | None
    iteration: int | None
    search: int | None
    rank: int | None
    opened: int | None
    cited: bool

    def to_dict(self) -> dict[str, Any]:
        """Name to value."""
        return self._asdict()


class EvidenceTable:
    """Counts of every run, and its evidence, which is read from the core when first used."""

    __slots__ = ("_pieces", "_rows", "counts", "hops")

    def __init__(
        self,
        counts: Numbers,
        rows: Sequence[Sequence[Row]] | None = None,
        pieces: Sequence[tuple[TraceScores, list[int]]] = (),
        hops: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        self.counts = counts
        self.hops = hops or {}  # by conversation and name
        self._rows = rows
        self._pieces = pieces

    @classmethod
    def of(
        cls,
        pieces: Sequence[tuple[TraceScores, list[int]]],
        hops: Mapping[str, Mapping[str, str]] | None,
    ) -> EvidenceTable:
        """The runs of one system, from what the core computed for several files."""
        import numpy as np

        tables = [scores.funnel.reshape(-1, len(FUNNEL))[members] for scores, members in pieces]
        counts = np.concatenate(tables) if tables else np.zeros((0, len(FUNNEL)), dtype=np.int64)
        return cls(counts, pieces=pieces, hops=hops)

    @classmethod
    def unknown(cls, runs: int) -> EvidenceTable:
        """That of a result whose version did not record it."""
        import numpy as np

        return cls(np.zeros((runs, len(FUNNEL)), dtype=np.int64), [()] * runs)

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        """What the core holds cannot be pickled."""
        return None, {"counts": self.counts, "hops": self.hops, "_rows": self.rows, "_pieces": ()}

    def count(self, name: str) -> Numbers:
        """A count of every run."""
        return self.counts[:, FUNNEL.index(name)]

    @property
    def rows(self) -> Sequence[Sequence[Row]]:
        """The evidence of every run as the core has it; places that do not exist are 0."""
        if self._rows is None:
            self._rows = [
                evidence
                for scores, members in self._pieces
                for listed in [scores.evidence]
                for evidence in (listed[i] for i in members)
            ]
        return self._rows

    def of_run(self, number: int, conversation: str) -> tuple[Evidence, ...]:
        """The evidence of one run, in the order in which it was returned."""
        hops = self.hops.get(conversation, {})
        return tuple(
            Evidence(
                name, gain, hops.get(name), iteration or None, search or None, rank or None, opened, cited
            )
            for name, gain, iteration, search, rank, opened, cited in self.rows[number]
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Plain data: a list per count, and the evidence of every run."""
        return {
            "counts": {name: self.count(name).tolist() for name in FUNNEL},
            "evidence": [[list(row) for row in rows] for rows in self.rows],
            "hops": {conversation: dict(hops) for conversation, hops in self.hops.items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> EvidenceTable:
        """The reverse of `to_dict`."""
        import numpy as np

        columns = [data["counts"][name] for name in FUNNEL]
        counts = np.array(columns, dtype=np.int64).T.reshape(-1, len(FUNNEL))
        rows = [[tuple(row) for row in rows] for rows in data["evidence"]]
        return cls(counts, rows, hops=data["hops"])
