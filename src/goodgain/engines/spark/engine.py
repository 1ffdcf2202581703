"""The Spark engine: what `LocalEngine` does, on a cluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goodgain.engines.spark.session import start

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.evaluation import Evaluation, GoodGain, Policy
    from goodgain.evaluation.evaluator import Measures
    from goodgain.labels import Labels


@dataclass(frozen=True, slots=True)
class SparkEngine:
    """Takes DataFrames, paths and URLs that Spark reads, and whatever the local engine takes."""

    session: Any = field(default_factory=start)
    partitions: int | None = None
    name: str = "spark"

    def evaluate(
        self,
        qrels: Any,
        runs: Any,
        measures: Measures = "nDCG@10 AP RR R@1000 P@10",
        *,
        policy: Policy | Mapping[str, str] | None = None,
        preset: str = "default",
        columns: Mapping[str, str] | None = None,
        skip_bad: bool = False,
        **policies: str,
    ) -> Evaluation:
        """Measure one or several runs against judgements."""
        from goodgain.engines.spark.evaluating import evaluate
        from goodgain.engines.spark.judgements import SMALL

        return evaluate(
            self.session,
            qrels,
            runs,
            measures,
            policy=policy,
            preset=preset,
            columns=columns,
            skip_bad=skip_bad,
            partitions=self.partitions,
            small_qrels=SMALL,
            **policies,
        ).evaluation

    def good_gain(self, traces: Any, **options: Any) -> GoodGain:
        """Measure what each search of an agent was worth."""
        from goodgain.engines.spark.gains import good_gain

        return good_gain(self.session, traces, **options).good_gain

    def label(self, source: Any, judge: Any, store: Any = None, **options: Any) -> Labels:
        """Gains for pairs of question and document, or for the results of traces."""
        from goodgain.engines.spark.labelling import label

        return label(
            self.session, source, judge, store, partitions=self.partitions, **options
        ).labels
