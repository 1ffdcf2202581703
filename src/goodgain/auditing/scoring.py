"""Means of runs under many conventions at once, in one pass of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.cores import thread_count
from goodgain.errors import DuplicateError
from goodgain.measures.grammar import parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.data import Qrels, Run
    from goodgain.measures.definition import Measure

    Floats = NDArray[np.float64]

Key = tuple[str, tuple[tuple[str, str], ...]]  # a measure and the choices of ranking
_BASE = {
    "ties": "docid", "missing": "zero", "unjudged": "nonrelevant", "duplicates": "first",
    "scores": "double", "same_id": "keep",
}  # fmt: skip


def key_of(measure: Measure, ranking: Mapping[str, str]) -> Key:
    """What identifies a column of values."""
    return measure.label, tuple(sorted(ranking.items()))


class Scorer:
    """Values per query of runs, computed once for each measure and way of ranking."""

    def __init__(self, qrels: Qrels, runs: Sequence[Run], threads: int | None) -> None:
        self._qrels = qrels
        self._runs = {run.name: run for run in runs}
        self._threads = thread_count(threads)
        self._values: dict[str, dict[Key, Floats]] = {run.name: {} for run in runs}
        self._present: dict[str, NDArray[np.bool_]] = {}

    def prepare(
        self, requests: Sequence[tuple[Measure, Mapping[str, str]]], duplicates: str | None = None
    ) -> None:
        """Compute what is not known yet."""
        import numpy as np

        from goodgain._core import Plan, Prepared

        new = {key_of(m, ranking): (m, ranking) for m, ranking in requests}
        for name, run in self._runs.items():
            wanted = {k: v for k, v in new.items() if k not in self._values[name]}
            if not wanted:
                continue
            options = [
                {**m.options(), "policy": _policy(ranking, duplicates)}
                for m, ranking in wanted.values()
            ]
            prepared = Prepared(self._qrels.core, Plan(options, dict(_BASE)), self._threads)
            scores = run.scores(prepared)
            self._present[name] = np.array(scores.in_run(), dtype=bool)
            matrix = np.array(scores.matrix())
            for place, key in enumerate(wanted):
                self._values[name][key] = matrix[:, place]

    def values(self, run: str, measure: Measure, ranking: Mapping[str, str]) -> Floats:
        """The values per judged query."""
        return self._values[run][key_of(measure, ranking)]

    def present(self, run: str) -> NDArray[np.bool_]:
        """Which judged queries the run has."""
        return self._present[run]

    def mean(
        self, run: str, measure: Measure, ranking: Mapping[str, str], averaging: Mapping[str, str]
    ) -> float:
        """The mean over the queries that count."""
        import numpy as np

        values = self.values(run, measure, ranking)
        counted = values == values
        if averaging.get("missing") == "skip":
            counted = counted & self.present(run)
        if averaging.get("no_relevant") == "skip":
            relevant = self.values(run, self.relevant(measure), {})
            counted = counted & (relevant > 0)
        if measure.definition.aggregate == "sum":
            return float(values[counted].sum())
        if not counted.any():
            return float("nan")
        if measure.definition.aggregate == "geometric":
            return float(np.exp(np.log(np.maximum(values[counted], 1e-5)).mean()))
        return float(values[counted].mean())

    @staticmethod
    def relevant(measure: Measure) -> Measure:
        """The count of relevant documents at the threshold of a measure."""
        return parse(f"NumRel(rel={measure.get('rel') or 1})")

    def has_duplicates(self) -> bool:
        """Whether a run has a document twice for one query."""
        from goodgain._core import Plan, Prepared

        base = {**_BASE, "duplicates": "error"}
        plan = Plan([parse("NumRet").options()], base)
        for run in self._runs.values():
            try:
                run.scores(Prepared(self._qrels.core, plan, self._threads))
            except DuplicateError:
                return True
        return False

    def longest(self) -> int:
        """The most documents that a run has for a judged query."""
        measure = parse("NumRet")
        self.prepare([(measure, {})])
        return max(int(self.values(run, measure, {}).max()) for run in self._runs)


def _policy(ranking: Mapping[str, str], duplicates: str | None) -> dict[str, Any]:
    policy: dict[str, Any] = {**_BASE, **ranking}
    if duplicates is not None:
        policy["duplicates"] = duplicates
    depth = int(policy.pop("depth", 0))
    return {**policy, "depth": depth} if depth else policy  # 0 is the whole list here
