"""What every engine can do; the results are the same to the last bit, whichever does it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.agentic import GoodGain
    from goodgain.labels import Labels
    from goodgain.ranking import Evaluation, Policy
    from goodgain.ranking.evaluator import Measures


@runtime_checkable
class Engine(Protocol):
    """Measures runs, scores traces, labels pairs; takes what the functions of the same names take."""

    @property
    def name(self) -> str:
        """What `--engine` calls it."""

    def evaluate(
        self,
        qrels: Any,
        runs: Any,
        measures: Measures = ...,
        *,
        policy: Policy | Mapping[str, str] | None = None,
        preset: str = "default",
        columns: Mapping[str, str] | None = None,
        skip_bad: bool = False,
        **policies: str,
    ) -> Evaluation:
        """Measure one or several runs against judgements."""

    def good_gain(self, traces: Any, **options: Any) -> GoodGain:
        """Measure what each search of an agent was worth."""

    def label(self, source: Any, judge: Any, store: Any = None, **options: Any) -> Labels:
        """Gains for pairs of question and document, or for the results of traces."""
