"""The engine of one machine: all of its cores, in one process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.evaluation import Evaluation, GoodGain, Policy
    from goodgain.evaluation.evaluator import Measures
    from goodgain.labels import Labels


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """What `goodgain.evaluate`, `goodgain.good_gain` and `goodgain.label` do."""

    threads: int | None = None
    name: str = "local"

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
        from goodgain.evaluation import Evaluator
        from goodgain.evaluation.evaluator import several_runs
        from goodgain.read.columns import columns_of
        from goodgain.tables import Qrels

        evaluator = Evaluator(
            Qrels.of(qrels, columns_of("qrels", columns)),
            measures,
            policy=policy,
            preset=preset,
            threads=self.threads,
            skip_bad=skip_bad,
            **policies,
        )
        return evaluator.evaluate(several_runs(runs, columns_of("run", columns)))

    def good_gain(self, traces: Any, **options: Any) -> GoodGain:
        """Measure what each search of an agent was worth."""
        from goodgain.evaluation import good_gain

        return good_gain(traces, threads=self.threads, **options)

    def label(self, source: Any, judge: Any, store: Any = None, **options: Any) -> Labels:
        """Gains for pairs of question and document, or for the results of traces."""
        from goodgain.labels import label

        return label(source, judge, store, **options)
