"""The values of a run in the core, converted only as far as they are asked for."""

from __future__ import annotations

import math

from goodgain._core import score_mean, score_total
from goodgain.data.run import Run
from goodgain.ranking.scores import RANK_FACTS, Coverage, ValuesInMemory, aggregate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeVar

    from goodgain._core import Scores
    from goodgain.io.sources import Source
    from goodgain.measures.definition import Measure
    from goodgain.ranking.evaluator import Evaluator

    T = TypeVar("T")


class CoreValues(ValuesInMemory):
    """The values of a run in the core, with time and cost from the run; converted on demand."""

    __slots__ = ("_evaluator", "_run", "_scores")

    def __init__(self, evaluator: Evaluator, scores: Scores, run: Run | dict[Any, Any]) -> None:
        self._evaluator = evaluator
        self._scores = scores
        self._run = run

    @property
    def source(self) -> Source | None:
        """Where the run came from; None for a dictionary."""
        return self._run.source if isinstance(self._run, Run) else None

    def tables(self) -> tuple[Evaluator, Run]:
        """The evaluator and the run, if both are unchanged."""
        run = Run.of(self._run)
        for source in (self._evaluator.qrels.source, run.source):
            source.require_unchanged()
        return self._evaluator, run

    @property
    def has_bounds(self) -> bool:
        """Whether there are lower and upper values."""
        return self._evaluator.policy.has_bounds

    def queries(self) -> list[str]:
        """The queries behind the values."""
        return self._present(self._evaluator.qrels.queries)

    def size(self) -> int:
        """The number of queries."""
        if not self._evaluator.skips:
            return len(self._scores)
        return int(self._scores.totals()[0])

    def _place(self, label: str, bound: str) -> int | str:
        place = self._evaluator.places[label]
        if bound and isinstance(place, int):
            return self._scores.width // 3 + 2 * place + (bound == "upper")
        return place

    def native(self, label: str, bounds: Sequence[str]) -> tuple[Scores, list[int], bool] | None:
        """The columns of a measure and its bounds; None for time and cost."""
        places = [place for b in ("", *bounds) if isinstance(place := self._place(label, b), int)]
        skips = self._evaluator.skips
        return (self._scores, places, skips) if len(places) == 1 + len(bounds) else None

    def total(self, measure: Measure, bound: str) -> float:
        """The mean over queries, or the sum of counts: an exact sum, rounded once."""
        evaluator = self._evaluator
        if not bound:  # the usual and fastest case
            place = evaluator.mean_places.get(measure.label)
            if place is not None:
                mean = score_mean(self._scores, place, evaluator.skips)
                if mean is not None:
                    return mean
        where = self._place(measure.label, bound)
        kind = measure.definition.aggregate
        if kind in ("mean", "sum") and not isinstance(where, str):
            facts = score_total(self._scores, where, evaluator.skips)
            if facts is not None:
                total, defined = facts
                return total if kind == "sum" else total / defined if defined else math.nan
        return aggregate(measure, self.column(measure.label, bound))

    def defined(self, label: str) -> int:
        """The number of queries for which a measure is defined."""
        place = self._place(label, "")
        facts = (
            None
            if isinstance(place, str)
            else score_total(self._scores, place, self._evaluator.skips)
        )
        return super().defined(label) if facts is None else facts[1]

    def column(self, label: str, bound: str) -> list[float]:
        """The values of a measure, in the order of the queries."""
        place = self._place(label, bound)
        if isinstance(place, str):
            return self._run_column(place)
        values = self._scores.column(place)
        return values if not self._evaluator.skips else self._present(values)

    def _run_column(self, column: str) -> list[float]:
        values = getattr(self._run, column, None) or {}
        return [values.get(query, math.nan) for query in self.queries()]

    def _present(self, values: list[T]) -> list[T]:
        """Without the queries missing from the run, if the policy skips them."""
        if not self._evaluator.skips:
            return values
        return [v for v, there in zip(values, self._scores.in_run(), strict=True) if there]

    def coverage(self) -> Coverage:
        """How well judgments and run match."""
        scores, judged = self._scores, len(self._evaluator.qrels)
        in_run, documents, unjudged, top, top_judged = scores.totals()
        rank_facts: dict[str, Any] = dict(zip(RANK_FACTS, scores.rank_facts(), strict=True))
        return Coverage(
            judged_queries=judged,
            missing_queries=judged - in_run,
            unjudged_queries=scores.unjudged_queries,
            documents=documents,
            unjudged_documents=unjudged,
            judged_at_10=top_judged / top if top else math.nan,
            bad_rows=scores.bad[0],
            bad_example=scores.bad[1],
            **rank_facts,
        )
