"""Means of runs under many conventions at once, in one pass of the core."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from goodgain.cores import thread_count
from goodgain.errors import DuplicateError
from goodgain.measures.grammar import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.data import Qrels, Run
    from goodgain.measures.definition import Measure

    Floats = NDArray[np.float64]
    Request = tuple[Measure, Mapping[str, str]]  # a measure and a way of ranking

Key = tuple[str, tuple[tuple[str, str], ...]]  # a measure and the choices of ranking
_BASE = {
    "ties": "docid", "missing": "zero", "unjudged": "nonrelevant", "duplicates": "first",
    "scores": "double", "same_id": "keep",
}  # fmt: skip
_MOST_VALUES = 2**22  # of one run at once: 32 MB


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
        self._means: dict[tuple[str, Key, tuple[tuple[str, str], ...]], float] = {}

    def prepare(self, requests: Sequence[Request], duplicates: str | None = None) -> None:
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

    @contextmanager
    def briefly(self, requests: Sequence[Request]) -> Iterator[None]:
        """Hold values only for a while: all of a large search would not fit into memory."""
        before = {run: set(values) for run, values in self._values.items()}
        self.prepare(requests)
        yield
        for run, values in self._values.items():
            self._values[run] = {key: values[key] for key in values if key in before[run]}

    def prepare_means(
        self, requests: Sequence[Request], averagings: Sequence[Mapping[str, str]]
    ) -> None:
        """Compute means that are not known yet; only they are held, not the values of queries."""
        first = next(iter(self._runs))
        last = tuple(averagings[-1].items())
        new = [(m, r) for m, r in requests if (first, key_of(m, r), last) not in self._means]
        size = self.at_once()
        for start in range(0, len(new), size):
            with self.briefly(new[start : start + size]):
                for run in self._runs:
                    for measure, ranking in new[start : start + size]:
                        for averaging in averagings:
                            self.mean(run, measure, ranking, averaging)

    def at_once(self) -> int:
        """How many measures and ways of ranking to compute in one pass."""
        return max(1, _MOST_VALUES // max(1, len(self._qrels.queries)))

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
        key = run, key_of(measure, ranking), tuple(averaging.items())
        if key not in self._means:
            self._means[key] = self._mean(run, measure, ranking, averaging)
        return self._means[key]

    def _mean(
        self, run: str, measure: Measure, ranking: Mapping[str, str], averaging: Mapping[str, str]
    ) -> float:
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
