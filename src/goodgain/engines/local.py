"""The engine of one machine: all of its cores, in one process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.evaluation.evaluator import DEFAULT_MEASURES

if TYPE_CHECKING:
    from goodgain.evaluation import Evaluation, GoodGain
    from goodgain.evaluation.evaluator import Measures
    from goodgain.labels import Labels


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """What `goodgain.evaluate`, `goodgain.good_gain` and `goodgain.label` do."""

    threads: int | None = None
    name: str = "local"

    def evaluate(
        self, qrels: Any, runs: Any, measures: Measures = DEFAULT_MEASURES, **options: Any
    ) -> Evaluation:
        """Measure one or several runs against judgements."""
        from goodgain.evaluation import evaluate

        return evaluate(qrels, runs, measures, threads=self.threads, **options)

    def good_gain(self, traces: Any, **options: Any) -> GoodGain:
        """Measure what each search of an agent was worth."""
        from goodgain.evaluation import good_gain

        return good_gain(traces, threads=self.threads, **options)

    def label(self, source: Any, judge: Any, store: Any = None, **options: Any) -> Labels:
        """Gains for pairs of question and document, or for the results of traces."""
        from goodgain.labels import label

        return label(source, judge, store, **options)
