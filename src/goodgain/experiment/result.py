"""What an experiment found: runs, scores, latencies, and the comparison with the baseline."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from goodgain.data import Qrels, Run
from goodgain.errors import UsageError
from goodgain.experiment.folder import Folder
from goodgain.experiment.snapshot import DOCUMENTS, QUERIES, kept_of, kept_qrels, kept_texts
from goodgain.experiment.timing import TIMEOUT, Timing, timing
from goodgain.io.atomic import write_texts
from goodgain.ranking import Evaluation, Evaluator
from goodgain.results.views import Reportable

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from goodgain.comparison import Comparison


@dataclass(frozen=True, slots=True)
class Plan:
    """What is made of the runs; it may change when an experiment is opened again."""

    measures: str
    baseline: str
    rel: float = 1
    test: str = "t"
    correction: str = "holm"
    by: str | None = None
    groups: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Field to value."""
        return asdict(self)


class ExperimentResult(Reportable):
    """The systems side by side. `result["swarm", "MRR"]` is the pair against the baseline."""

    def __init__(
        self,
        folder: Folder,
        plan: Plan,
        qrels: Qrels | None = None,
        queries: Mapping[str, str] | None = None,
        documents: Mapping[str, str] | None = None,
    ) -> None:
        self._folder = folder
        self._qrels = qrels
        self.plan = plan
        self.queries = queries or {}  # their texts
        self.documents = documents or {}

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], *, qrels: Any = None, baseline: str | None = None,
        test: str | None = None, correction: str | None = None, measures: str | None = None,
    ) -> ExperimentResult:  # fmt: skip
        """Open a saved experiment; another baseline, test or correction compares it anew.

        `qrels` are other judgements than those that the folder keeps.
        """
        folder = Folder.existing(path)
        saved = folder.settings["plan"]
        changed = {
            "baseline": baseline, "test": test, "correction": correction, "measures": measures,
        }  # fmt: skip
        plan = Plan(**{**saved, **{k: v for k, v in changed.items() if v is not None}})
        assert folder.path is not None
        judged = kept_qrels(folder.path) if qrels is None else Qrels.of(qrels)
        if measures is not None and judged is None:
            raise UsageError("other measures need the judgements again", hint="qrels=...")
        texts = (kept_of(folder.path, name) for name in (QUERIES, DOCUMENTS))
        return cls(folder, plan, judged, *texts)

    @property
    def settings(self) -> dict[str, Any]:
        """What was run: systems, seeds, versions, hash of the data."""
        return self._folder.settings

    @property
    def systems(self) -> list[str]:
        """The names of the systems, in their order."""
        called = {call["system"] for call in self._calls}
        return [name for name in self.settings["systems"] if name in called]

    @cached_property
    def _calls(self) -> list[dict[str, Any]]:
        return [call for call in self._folder.calls if "query" in call]

    @cached_property
    def runs(self) -> dict[str, list[Run]]:
        """The runs of each system, one for each seed, with the mean latency of each query."""
        found: dict[str, dict[int | None, dict[str, Any]]] = {name: {} for name in self.systems}
        for call in self._calls:
            one = found[call["system"]].setdefault(call["seed"], {"hits": {}, "seconds": {}})
            if "hits" in call:
                one["hits"][call["query"]] = {doc: score for doc, score in call["hits"]}  # noqa: C416
            if _is_timed(call):
                one["seconds"].setdefault(call["query"], []).append(call["seconds"])
        return {
            name: [
                Run(
                    one["hits"],
                    name=name if seed is None or len(seeds) == 1 else f"{name} (seed {seed})",
                    latency={q: math.fsum(s) / len(s) for q, s in one["seconds"].items()},
                )
                for seed, one in sorted(seeds.items(), key=lambda item: item[0] or 0)
            ]
            for name, seeds in found.items()
        }

    @cached_property
    def scores(self) -> Evaluation:
        """The measures of every run, per query."""
        if self._qrels is None:
            assert self._folder.path is not None
            return Evaluation.load(self._folder.path / "scores.json")
        runs = [run for seeds in self.runs.values() for run in seeds]
        return Evaluator(self._qrels, self.plan.measures).evaluate(runs)

    @cached_property
    def comparison(self) -> Comparison | None:
        """All systems against the baseline; None where there is only one."""
        from goodgain.comparison import compare

        if len(self.systems) < 2:
            return None
        return compare(
            *self.sources(),
            baseline=self.plan.baseline,
            test=self.plan.test,
            correction=self.plan.correction,
            by=self.plan.groups or None,
        )

    def sources(self) -> list[Any]:
        """The scores of each system, those of several seeds as a list: what `compare` takes."""
        scores = iter(self.scores.runs)
        sources: list[Any] = []
        for name, seeds in self.runs.items():
            own = [next(scores).renamed(name) for _ in seeds]
            sources.append(own if len(own) > 1 else own[0])
        return sources

    def __getitem__(self, key: tuple[str, ...]) -> Any:
        if self.comparison is None:
            raise KeyError(key)
        return self.comparison[key]

    @cached_property
    def timings(self) -> dict[str, Timing]:
        """Latency of each system over all its calls, and what indexing took."""
        found = {}
        several = self.settings["concurrency"] > 1
        for name in self.systems:
            calls = [call for call in self._calls if call["system"] == name]
            timed = [call for call in calls if _is_timed(call)]
            one = timing(name, [c["seconds"] for c in timed], _span(timed) if several else None)
            index = next((c for c in self._folder.calls if c.get("index") == name), None)
            if index is not None:
                one.index_seconds, one.index_bytes = index["seconds"], index["bytes"]
            for call in calls:
                if "error" in call:
                    one.errors.setdefault(call["query"], call["error"])
                    one.timed_out += call["error"] == TIMEOUT
                    one.failed += call["error"] != TIMEOUT
            one.unsteady = len({c["query"] for c in calls if c.get("differs")})
            found[name] = one
        return found

    def warnings(self) -> list[str]:
        """What a reader of the numbers should know."""
        found = []
        for name, one in self.timings.items():
            if one.errors:
                query, error = next(iter(one.errors.items()))
                found.append(
                    f"{name}: {one.failed + one.timed_out} calls gave no answer and count as empty "
                    f"lists ('{query}': {error})"
                )
            if one.unsteady:
                found.append(f"{name}: {one.unsteady} queries were answered otherwise in a repeat")
        compared = self.comparison.warnings() if self.comparison else []
        return found + self.scores.warnings() + compared

    def write(self) -> None:
        """Write runs, scores, latencies and comparison into the folder, if there is one."""
        from goodgain.results.text import render

        path = self._folder.path
        if path is None:
            return
        (path / "runs").mkdir(exist_ok=True)
        texts = {}
        for seeds in self.runs.values():
            for number, run in enumerate(seeds):
                own = run.name.partition(" (seed")[0]
                name = own if len(seeds) == 1 else f"{own}.seed{self.settings['seeds'][number]}"
                texts[str(path / "runs" / f"{_file_name(name)}.run")] = _trec(run, own)
        if self._qrels is not None:
            runs = (seeds[0] for seeds in self.runs.values())
            kept = kept_texts(self._qrels, self.queries, self.documents, runs)
            texts |= {str(path / name): text for name, text in kept.items()}
        self.scores.save(path / "scores.json")
        columns = ["system", "seed", "query", "repeat", "seconds", "error"]
        rows = [[call.get(column) for column in columns] for call in self._calls]
        texts[str(path / "latency.csv")] = render("csv", columns, rows)
        write_texts(texts)
        if self.comparison is not None:
            self.comparison.save(path / "comparison.json")

    def render(self, format: str = "table") -> str:  # noqa: A002
        """As text: tables for people, or the comparison's rows for machines."""
        from goodgain.experiment.tables import experiment_text
        from goodgain.results.text import WIDE_FORMATS

        if format in WIDE_FORMATS:
            return experiment_text(self, format)
        return self.comparison.render(format) if self.comparison else self.scores.render(format)

    def __str__(self) -> str:
        return self.render("table").rstrip("\n")

    def _repr_html_(self) -> str:
        from goodgain.experiment.tables import experiment_html

        return experiment_html(self)

    def __repr__(self) -> str:
        return (
            f"ExperimentResult({len(self.systems)} systems: {', '.join(self.systems)}; "
            f"{self.settings['queries']:,} queries; baseline {self.plan.baseline})"
        )


def _is_timed(call: dict[str, Any]) -> bool:
    return bool(call.get("error", TIMEOUT) == TIMEOUT)


def _span(calls: list[dict[str, Any]]) -> float:
    """How long calls took together: from first to last of each round, rounds apart."""
    rounds: dict[tuple[Any, ...], list[float]] = {}
    for call in calls:
        key = (call["session"], call["seed"], call["repeat"])
        one = rounds.setdefault(key, [math.inf, -math.inf])
        one[0] = min(one[0], call["start"])
        one[1] = max(one[1], call["start"] + call["seconds"])
    return math.fsum(end - start for start, end in rounds.values())


def _file_name(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name)


def _trec(run: Run, name: str) -> str:
    tag = "_".join(name.split())
    return "".join(
        f"{query} Q0 {doc} {rank} {score!r} {tag}\n"
        for query, docs in run.source.value.items()
        for rank, (doc, score) in enumerate(docs.items(), 1)
    )
