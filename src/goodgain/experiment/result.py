"""The result of an experiment: runs, scores, latencies, and the comparison with the baseline."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from goodgain.data import Qrels, Run
from goodgain.errors import UsageError
from goodgain.experiment.folder import Folder
from goodgain.experiment.snapshot import (
    DOCUMENTS,
    QUERIES,
    load_qrels,
    load_texts,
    snapshot_files,
)
from goodgain.experiment.timing import TIMEOUT, Timing, latency_statistics
from goodgain.io.atomic import write_texts
from goodgain.measures.custom import saved_measure
from goodgain.measures.grammar import parse_all
from goodgain.ranking import Evaluation, Evaluator, RunScores
from goodgain.results.views import Reportable

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from goodgain.comparison import Comparison
    from goodgain.measures import Measure
    from goodgain.ranking.evaluator import Measures


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How the runs are measured and compared; it may change when an experiment is opened again."""

    measures: tuple[Measure, ...]
    baseline: str
    rel: float = 1
    test: str = "t"
    correction: str = "holm"
    by: str | None = None
    groups: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain data."""
        data = {f.name: getattr(self, f.name) for f in fields(self)}
        return {**data, "measures": [measure.to_dict() for measure in self.measures]}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Plan:
        """The reverse of `to_dict`; version 0.1 saved the measures as one text."""
        saved = data["measures"]
        measures = parse_all(saved) if isinstance(saved, str) else map(saved_measure, saved)
        return cls(**{**data, "measures": tuple(measures)})


@dataclass(frozen=True, slots=True)
class SystemScores:
    """One system of an experiment. `scores["MRR"]` is its mean over queries and seeds."""

    name: str
    runs: tuple[RunScores, ...]  # one for each seed
    timing: Timing

    def __getitem__(self, measure: str | Measure) -> float:
        values = [run[measure] for run in self.runs]
        return math.fsum(values) / len(values)

    def keys(self) -> tuple[str, ...]:
        """The measures."""
        return tuple(measure.label for measure in self.runs[0].measures)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def __repr__(self) -> str:
        means = ", ".join(f"{measure}={self[measure]:.4f}" for measure in self.keys()[:4])
        return f"SystemScores('{self.name}', {len(self.runs)} runs, {means})"


@dataclass(frozen=True, eq=False, repr=False)
class ExperimentResult(Reportable):
    """The systems of an experiment: a mapping from their names to `SystemScores`.

    `result["swarm"]["MRR"]` is a mean, and `result["swarm", "MRR"]` the comparison with the baseline.
    With a single system it is a mapping from measures to means, like an `Evaluation`: `result["MRR"]`.
    """

    folder: Folder
    plan: Plan
    qrels: Qrels | None = None
    queries: Mapping[str, str] = field(default_factory=dict)  # texts by id
    documents: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], *, qrels: Any = None, baseline: str | None = None,
        test: str | None = None, correction: str | None = None, measures: Measures | None = None,
    ) -> ExperimentResult:  # fmt: skip
        """Open a saved experiment, by default with the judgments and the plan of its folder."""
        folder = Folder.open(path)
        changes: dict[str, Any] = {
            "baseline": baseline, "test": test, "correction": correction,
            "measures": None if measures is None else parse_all(measures),
        }  # fmt: skip
        changes = {name: value for name, value in changes.items() if value is not None}
        plan = replace(Plan.from_dict(folder.settings["plan"]), **changes)
        assert folder.path is not None
        judgments = load_qrels(folder.path) if qrels is None else Qrels.of(qrels)
        if measures is not None and judgments is None:
            raise UsageError("other measures need the judgments", hint="pass qrels=...")
        texts = (load_texts(folder.path, name) for name in (QUERIES, DOCUMENTS))
        return cls(folder, plan, judgments, *texts)

    @property
    def settings(self) -> dict[str, Any]:
        """What was run: systems, seeds, versions, hash of the data."""
        return self.folder.settings

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems, in the order of the experiment."""
        called = {call["system"] for call in self._calls}
        return tuple(name for name in self.settings["systems"] if name in called)

    @cached_property
    def _calls(self) -> list[dict[str, Any]]:
        return [call for call in self.folder.calls if "query" in call]

    @cached_property
    def runs(self) -> dict[str, list[Run]]:
        """The runs of each system, one for each seed, with the mean latency of each query."""
        by_system: dict[str, dict[int | None, _RunTable]] = {name: {} for name in self.systems}
        for call in self._calls:
            by_system[call["system"]].setdefault(call["seed"], _RunTable()).add(call)
        return {
            name: [
                table.run(name if seed is None or len(by_seed) == 1 else f"{name} (seed {seed})")
                for seed, table in sorted(by_seed.items(), key=lambda item: item[0] or 0)
            ]
            for name, by_seed in by_system.items()
        }

    @cached_property
    def scores(self) -> Evaluation:
        """The measures of every run, per query."""
        if self.qrels is None:
            assert self.folder.path is not None
            return Evaluation.load(self.folder.path / "scores.json")
        runs = [run for seeds in self.runs.values() for run in seeds]
        return Evaluator(self.qrels, self.plan.measures).evaluate(runs)

    @cached_property
    def comparison(self) -> Comparison | None:
        """All systems against the baseline; None with a single system."""
        from goodgain.comparison import compare
        from goodgain.comparison.replicates import COVERS_SEEDS

        if len(self.systems) < 2:
            return None
        return compare(
            *self.sources(),
            baseline=self.plan.baseline,
            test=self.plan.test,
            correction=self.plan.correction,
            seeds="random" if self.plan.test in COVERS_SEEDS else "fixed",
            by=self.plan.groups or None,
        )

    def sources(self) -> list[Any]:
        """The scores of each system, with several seeds as a list: the arguments of `compare`."""
        return [
            list(scores.runs) if len(scores.runs) > 1 else scores.runs[0]
            for scores in self._system_scores.values()
        ]

    @cached_property
    def _system_scores(self) -> dict[str, SystemScores]:
        scores = iter(self.scores.runs)
        systems = {}
        for name, runs in self.runs.items():
            by_seed = tuple(next(scores).renamed(name) for _ in runs)
            systems[name] = SystemScores(name, by_seed, self.timings[name])
        return systems

    # --- by name ---

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            if self.comparison is None:
                raise KeyError(f"no comparison {key}: the experiment has one system")
            return self.comparison[key]
        if key in self._system_scores:
            return self._system_scores[key]
        if len(self.systems) == 1:
            return self._system_scores[self.systems[0]][key]
        raise KeyError(f"unknown system '{key}'; available: {', '.join(self.systems)}")

    def keys(self) -> tuple[str, ...]:
        """The names of the systems, or the measures of a single system."""
        if len(self.systems) == 1:
            return self._system_scores[self.systems[0]].keys()
        return self.systems

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def __contains__(self, key: object) -> bool:
        return key in self.systems or key in self.keys()

    @cached_property
    def timings(self) -> dict[str, Timing]:
        """The latency of each system over all its calls, and the cost of its index."""
        return {name: self._timing(name) for name in self.systems}

    def _timing(self, system: str) -> Timing:
        calls = [call for call in self._calls if call["system"] == system]
        timed = [call for call in calls if _is_timed(call)]
        span = _span(timed) if self.settings["concurrency"] > 1 else None
        index = next((c for c in self.folder.calls if c.get("index") == system), {})
        failures = [call for call in calls if "error" in call]
        errors: dict[str, str] = {}
        for call in failures:
            errors.setdefault(call["query"], call["error"])
        timeouts = sum(call["error"] == TIMEOUT for call in failures)
        return Timing(
            system=system,
            **latency_statistics([call["seconds"] for call in timed], span),
            index_seconds=index.get("seconds"),
            index_bytes=index.get("bytes"),
            failed=len(failures) - timeouts,
            timed_out=timeouts,
            errors=errors,
            inconsistent=len({call["query"] for call in calls if call.get("differs")}),
        )

    def warnings(self) -> list[str]:
        """What a reader of the numbers should know."""
        messages = []
        for name, timing in self.timings.items():
            if timing.errors:
                query, error = next(iter(timing.errors.items()))
                messages.append(
                    f"{name}: {timing.failed + timing.timed_out} calls failed and count as empty lists "
                    f"('{query}': {error})"
                )
            if timing.inconsistent:
                messages.append(
                    f"{name}: {timing.inconsistent} queries returned different results in a repeat"
                )
        compared = self.comparison.warnings() if self.comparison else []
        return messages + self.scores.warnings() + compared

    def write(self) -> None:
        """Write runs, scores, latencies and comparison to the folder, if there is one on disk."""
        from goodgain.results.text import render

        path = self.folder.path
        if path is None:
            return
        (path / "runs").mkdir(exist_ok=True)
        texts = {}
        for system, runs in self.runs.items():
            for number, run in enumerate(runs):
                seed = "" if len(runs) == 1 else f".seed{self.settings['seeds'][number]}"
                texts[str(path / "runs" / f"{_file_name(system + seed)}.run")] = _trec(run, system)
        if self.qrels is not None:
            runs_of_first_seed = (runs[0] for runs in self.runs.values())
            files = snapshot_files(self.qrels, self.queries, self.documents, runs_of_first_seed)
            texts |= {str(path / name): text for name, text in files.items()}
        self.scores.save(path / "scores.json")
        columns = ["system", "seed", "query", "repeat", "seconds", "error"]
        rows = [[call.get(column) for column in columns] for call in self._calls]
        texts[str(path / "latency.csv")] = render("csv", columns, rows)
        write_texts(texts)
        if self.comparison is not None:
            self.comparison.save(path / "comparison.json")

    def render(self, format: str = "table") -> str:  # noqa: A002
        """The result as text: tables for people, or the rows of the comparison for machines."""
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


class _RunTable:
    """The documents and latencies of one run, collected from its calls."""

    def __init__(self) -> None:
        self._results: dict[str, list[Any]] = {}  # (document, score) pairs, or ids without scores
        self._seconds: dict[str, list[float]] = {}

    def add(self, call: dict[str, Any]) -> None:
        """Add what one call returned and how long it took."""
        if "hits" in call:
            self._results[call["query"]] = call["hits"]
        if _is_timed(call):
            self._seconds.setdefault(call["query"], []).append(call["seconds"])

    def run(self, name: str) -> Run:
        """The run, with the mean latency of each query."""
        latency = {query: math.fsum(s) / len(s) for query, s in self._seconds.items()}
        return Run(self._rankings(), name=name, latency=latency)

    def _rankings(self) -> dict[str, Any]:
        """Scores by document; lists if a query has none, since a run has scores for all or for none."""
        if any(isinstance(r, str) for results in self._results.values() for r in results[:1]):
            return {
                query: [r if isinstance(r, str) else r[0] for r in results]
                for query, results in self._results.items()
            }
        return {query: dict(results) for query, results in self._results.items()}


def _is_timed(call: dict[str, Any]) -> bool:
    return bool(call.get("error", TIMEOUT) == TIMEOUT)


def _span(calls: list[dict[str, Any]]) -> float:
    """The duration of overlapping calls: from first to last of each round, summed over rounds."""
    rounds: dict[tuple[Any, ...], list[float]] = {}
    for call in calls:
        key = (call["session"], call["seed"], call["repeat"])
        span = rounds.setdefault(key, [math.inf, -math.inf])
        span[0] = min(span[0], call["start"])
        span[1] = max(span[1], call["start"] + call["seconds"])
    return math.fsum(end - start for start, end in rounds.values())


def _file_name(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name)


def _trec(run: Run, name: str) -> str:
    from goodgain.io.writers import trec_text

    return trec_text(run.to_dict(), "_".join(name.split()), f"the run of {name}")
