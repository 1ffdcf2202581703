"""Values of one run that come from several evaluations, such as those of lists that were cut differently."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goodgain.ranking.scores import Coverage, RunScores, ValuesInMemory

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    # Where a measure's values are, and for which queries they hold; None: for all.
    Places = Sequence[tuple[RunScores, Collection[str] | None]]


class ComposedValues(ValuesInMemory):
    """Values by measure from several evaluations; everything else is that of the whole run."""

    __slots__ = ("_facts", "_places", "_whole")

    def __init__(
        self, whole: RunScores, places: Mapping[str, Places], facts: Mapping[str, Any] | None = None
    ) -> None:
        self._whole = whole
        self._places = places
        self._facts = facts or {}  # of the coverage

    @property
    def source(self) -> Any:
        """Where the run came from."""
        return self._whole.source

    @property
    def has_bounds(self) -> bool:
        """Whether there are lower and upper values."""
        return self._whole.has_bounds

    def queries(self) -> list[str]:
        """The queries behind the values."""
        return self._whole.queries

    def tables(self) -> Any:
        """The evaluator of the judgments, and the run."""
        return self._whole.tables()

    def coverage(self) -> Coverage:
        """How well judgments and run match."""
        return replace(self._whole.coverage, **self._facts)

    def column(self, label: str, bound: str) -> list[float]:
        """The values of a measure, each from the evaluation that holds for its query."""
        if label not in self._places:
            return self._whole.column(label, bound)
        values: list[float] = []
        for scores, queries in self._places[label]:
            column = scores.column(label, bound)
            if queries is None:
                values = column
                continue
            values = values or [float("nan")] * len(column)
            for i, query in enumerate(scores.queries):
                if query in queries:
                    values[i] = column[i]
        return values
