"""The tables behind a saved evaluation, reopened if they have not changed."""

from __future__ import annotations

from functools import cached_property

from goodgain.errors import InputError
from goodgain.io.sources import sha256_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from goodgain.data.run import Run
    from goodgain.measures.definition import Measure
    from goodgain.ranking.evaluator import Evaluator
    from goodgain.ranking.policy import Policy


class SavedInputs:
    """The recorded inputs of a saved result, and the way back to them."""

    def __init__(
        self,
        inputs: list[dict[str, Any]],
        measures: tuple[Measure, ...],
        policy: Policy,
        preset: str,
    ) -> None:
        self._inputs = inputs
        self._measures = measures
        self._policy = policy
        self._preset = preset

    @cached_property
    def evaluator(self) -> Evaluator:
        """An evaluator with the same judgments, measures and policies."""
        from goodgain.data.qrels import Qrels
        from goodgain.ranking.evaluator import Evaluator
        from goodgain.ranking.policy import Policy

        usual = Policy.of(None, self._preset).to_dict()
        explicit = {k: v for k, v in self._policy.to_dict().items() if usual[k] != v}
        qrels = Qrels(self._path("qrels", None))
        return Evaluator(qrels, self._measures, policy=explicit, preset=self._preset)  # type: ignore[arg-type] # checked when saved

    def run(self, name: str) -> Run:
        """One of the runs, without its time and cost, which are not in its file."""
        from goodgain.data.run import Run

        return Run(self._path("run", name), name=name)

    def _path(self, role: str, run: str | None) -> str:
        facts = next(
            (i for i in self._inputs if i.get("role") == role and i.get("run") == run), None
        )
        if facts is None or facts.get("kind") != "file" or "sha256" not in facts:
            item = "judgments" if run is None else f"run '{run}'"
            raise InputError(f"the saved result records no file for its {item}")
        path = str(facts["name"])
        if sha256_of(path) != facts["sha256"]:
            raise InputError(
                "the file is missing or has changed since the result was saved",
                where=path,
                hint="run this in the directory where the result was made",
            )
        return path
