"""The interface of engines, whose results are bit-identical."""

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
    """Evaluates runs, scores traces and labels pairs, with the arguments of the functions of that name."""

    @property
    def name(self) -> str:
        """The name for `--engine`."""

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
        """Evaluate one or several runs against judgments."""

    def good_gain(self, traces: Any, **options: Any) -> GoodGain:
        """Measure the gain of each search of an agent."""

    def label(self, source: Any, judge: Any, store: Any = None, **options: Any) -> Labels:
        """Label pairs of question and document, or the results of traces, with gains."""
