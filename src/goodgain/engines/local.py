"""The local engine: all cores of this machine, in one process."""

from __future__ import annotations

from goodgain.ranking.evaluator import DEFAULT_MEASURES
from goodgain.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from goodgain.agentic import GoodGain
    from goodgain.labels import Labels
    from goodgain.ranking import Evaluation
    from goodgain.ranking.evaluator import Measures


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """Runs `goodgain.evaluate`, `goodgain.good_gain` and `goodgain.label`."""

    threads: int | None = None
    memory: int | str | None = None
    name: str = "local"

    def evaluate(
        self, qrels: Any, runs: Any, measures: Measures = DEFAULT_MEASURES, **options: Any
    ) -> Evaluation:
        """Evaluate one or several runs against judgments."""
        from goodgain.ranking import evaluate

        return evaluate(qrels, runs, measures, threads=self.threads, memory=self.memory, **options)

    def good_gain(self, traces: Any, **options: Any) -> GoodGain:
        """Measure the gain of each search of an agent."""
        from goodgain.agentic import good_gain

        return good_gain(traces, threads=self.threads, **options)

    def label(self, source: Any, judge: Any, store: Any = None, **options: Any) -> Labels:
        """Label pairs of question and document, or the results of traces, with gains."""
        from goodgain.labels import label

        return label(source, judge, store, **options)
