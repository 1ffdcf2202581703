"""The Spark engine: the methods of `LocalEngine`, on a cluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goodgain.engines.spark.session import start
from goodgain.ranking.evaluator import DEFAULT_MEASURES

if TYPE_CHECKING:
    from goodgain.agentic import GoodGain
    from goodgain.labels import Labels
    from goodgain.ranking import Evaluation
    from goodgain.ranking.evaluator import Measures


@dataclass(frozen=True, slots=True)
class SparkEngine:
    """Takes DataFrames, paths and URLs that Spark can read, and everything the local engine takes."""

    session: Any = field(default_factory=start)
    partitions: int | None = None
    name: str = "spark"
    output: str | None = None  # a URL for the values per query, written from the cluster

    def evaluate(
        self, qrels: Any, runs: Any, measures: Measures = DEFAULT_MEASURES, **options: Any
    ) -> Evaluation:
        """Evaluate one or several runs against judgments."""
        from goodgain.engines.spark.runs import evaluate

        keep = self.output is not None
        result = evaluate(
            self.session, qrels, runs, measures, partitions=self.partitions, keep=keep, **options
        )
        if self.output is not None:
            try:
                result.write(self.output)
            finally:
                result.release()
        return result.evaluation

    def good_gain(self, traces: Any, **options: Any) -> GoodGain:
        """Measure the gain of each search of an agent."""
        from goodgain.engines.spark.conversations import good_gain

        return good_gain(self.session, traces, **options).good_gain

    def label(self, source: Any, judge: Any, store: Any = None, **options: Any) -> Labels:
        """Label pairs of question and document, or the results of traces, with gains."""
        from goodgain.engines.spark.labels import label

        return label(
            self.session, source, judge, store, partitions=self.partitions, **options
        ).labels
