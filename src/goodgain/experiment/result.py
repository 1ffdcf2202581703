"""The result of an experiment: runs, scores, latencies, and the comparison with the baseline."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError
from goodgain.experiment.control import control_of
from goodgain.experiment.folder import Folder
from goodgain.experiment.judgments import (
    DOCUMENT,
    SPAN,
    Matching,
    document_of_chunk,
    needs_texts,
    read_judgments,
)
from goodgain.experiment.loads import LOAD_COLUMNS, load_rows, load_steps
from goodgain.experiment.plan import Plan, documents_of, primary_measures
from goodgain.experiment.run_tables import RunTable
from goodgain.experiment.snapshot import (
    DOCUMENTS,
    QUERIES,
    load_judgments,
    load_texts,
    snapshot_files,
)
from goodgain.experiment.timings import answer_notes, is_timed, load_notes, system_timing
from goodgain.experiment.unjudged import FILE as JUDGE
from goodgain.experiment.unjudged import chunk_notes, judged_shares, pairs_text, returned_once
from goodgain.io.atomic import write_texts
from goodgain.measures.grammar import parse_all
from goodgain.ranking import Evaluation, RunScores
from goodgain.results.views import Reportable

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping

    from goodgain.comparison import Comparison
    from goodgain.data import Qrels, Run
    from goodgain.experiment.choice import Choices
    from goodgain.experiment.control import Control
    from goodgain.experiment.loads import LoadStep
    from goodgain.experiment.stages import StageCounts
    from goodgain.experiment.timing import Timing
    from goodgain.measures import Measure
    from goodgain.ranking.evaluator import Measures
    from goodgain.stats.pareto import TradeOff


_LONGEST_NAME = 200  # of a file, before its suffix


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


@dataclass(frozen=True, slots=True)
class Failure:
    """A system without a single answer: its first error, and how many calls failed."""

    system: str
    error: str
    calls: int

    def __str__(self) -> str:
        calls = f"{self.calls:,} calls failed: " if self.calls else ""
        return f"{self.system}: {calls}{self.error}"


@dataclass(frozen=True, eq=False, repr=False)
class ExperimentResult(Reportable):
    """The systems of an experiment: a mapping from their names to `SystemScores`.

    `result["swarm"]["MRR"]` is a mean, and `result["swarm", "MRR"]` the comparison with the baseline.
    With a single system it is a mapping from measures to means, like an `Evaluation`: `result["MRR"]`.

    >>> import goodgain as gg
    >>> corpus, queries = {"a": "1", "b": "2"}, {"q1": "one", "q2": "two"}
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"b": 1, "a": 0}}
    >>> systems = {"fixed": lambda query: ["a", "b"], "oracle": lambda query: ["ab"["t" in query]]}
    >>> result = gg.Experiment(corpus, queries, qrels, systems, measures="RR").run(progress=False)
    >>> result["fixed"]["RR"], result["oracle"]["RR"]
    (0.75, 1.0)
    >>> result["oracle", "RR"].difference
    0.25
    """

    folder: Folder
    plan: Plan
    qrels: Qrels | None = None
    queries: Mapping[str, str] = field(default_factory=dict)  # texts by id
    documents: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # about this run of the experiment
    matching: Matching | None = None  # with the judgments and whole texts, after a run

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], *, qrels: Any = None, baseline: str | None = None,
        test: str | None = None, correction: str | None = None, measures: Measures | None = None,
        primary: Measures | None = None, matching: Matching | None = None,
    ) -> ExperimentResult:  # fmt: skip
        """Open a saved experiment, by default with the judgments and the plan of its folder."""
        folder = Folder.open(path)
        plan = Plan.from_dict(folder.settings["plan"])
        chosen = plan.measures if measures is None else parse_all(measures)
        changes: dict[str, Any] = {
            "baseline": baseline, "test": test, "correction": correction, "measures": chosen,
            "primary": primary_measures(primary, chosen, plan.rel) if primary is not None else None,
        }  # fmt: skip
        plan = plan.changed(**{name: value for name, value in changes.items() if value is not None})
        assert folder.path is not None
        judgments = load_judgments(folder.path, plan.judged)
        if qrels is not None:
            judgments = read_judgments(qrels, None, bool(folder.settings.get("chunked")))
            plan = replace(plan, judged=judgments.by)
        if (measures or primary) is not None and judgments is None:
            raise UsageError("other measures need the judgments", hint="pass qrels=...")
        if matching is None and judgments is not None:
            matching = Matching(judgments=judgments, documents=None, cover=plan.cover)
        queries, documents = (load_texts(folder.path, name) for name in (QUERIES, DOCUMENTS))
        own = None if judgments is None else judgments.qrels
        return cls(folder, plan, own, queries, documents, matching=matching)

    @property
    def settings(self) -> dict[str, Any]:
        """What was run: systems, seeds, versions, hash of the data."""
        return self.folder.settings

    @cached_property
    def composed(self) -> tuple[str, ...]:
        """The systems with latencies that are sums: what a grid has in common is searched once."""
        names = {call["system"] for call in self._calls if "composed" in call}
        return tuple(name for name in self.systems if name in names)

    @property
    def stages(self) -> StageCounts:
        """How many stages the last run of the experiment used and reused: "12 of 16 stages reused"."""
        return self.folder.stages

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems that answered, in the order of the experiment."""
        answered = {call["system"] for call in self._calls if "error" not in call}
        return tuple(name for name in self.settings["systems"] if name in answered)

    @cached_property
    def failures(self) -> dict[str, Failure]:
        """The systems without a single answer, which have no scores, and why."""
        failures = {}
        for name in self.settings["systems"]:
            if name in self.systems:
                continue
            index = self.folder.index_of(name)
            calls = [call for call in self._calls if call["system"] == name]
            if "error" in index:
                failures[name] = Failure(name, f"cannot index the documents: {index['error']}", 0)
            elif calls:
                failures[name] = Failure(name, calls[0]["error"], len(calls))
        return failures

    @cached_property
    def _calls(self) -> list[dict[str, Any]]:
        return self.folder.current_calls()

    @cached_property
    def seeds(self) -> dict[str, list[int | None]]:
        """The seeds of each system, [None] for one that does not depend on a seed."""
        by_system: dict[str, dict[int | None, None]] = {name: {} for name in self.systems}
        for call in self._calls:
            if call["system"] in by_system:
                by_system[call["system"]][call["seed"]] = None
        return {name: sorted(own, key=lambda seed: seed or 0) for name, own in by_system.items()}

    @cached_property
    def runs(self) -> dict[str, list[Run]]:
        """The runs of each system, one for each of `seeds`, with the latency of each query.

        Their results are what is judged: for judgments of documents, the documents of chunks.
        """
        if self.plan.judged == DOCUMENT and self.chunked:
            return self._runs(document_of_chunk)
        return self.results

    @property
    def chunked(self) -> list[str]:
        """The systems whose results are chunks."""
        return [name for name in self.systems if name in self.settings.get("chunked", ())]

    @cached_property
    def results(self) -> dict[str, list[Run]]:
        """The same with results as they were returned: chunks of systems over chunks."""
        return self._runs(None)

    def _runs(self, document_of: Callable[[str], str] | None) -> dict[str, list[Run]]:
        by_span = self.plan.judged == SPAN
        tables = {
            (name, seed): RunTable(document_of if name in self.chunked else None, by_span)
            for name in self.systems
            for seed in self.seeds[name]
        }
        for call in self._calls:
            if call["system"] in self.systems:
                tables[call["system"], call["seed"]].add(call)
        return {
            name: [
                tables[name, seed].run(name if len(seeds) == 1 else f"{name} (seed {seed})")
                for seed in seeds
            ]
            for name, seeds in self.seeds.items()
        }

    @cached_property
    def scores(self) -> Evaluation:
        """The measures of every run, per query."""
        if not self.systems:
            raise InputError(
                "no system answered",
                hint="; ".join(map(str, self.failures.values()))
                or "the experiment has not been run",
            )
        if self.matching is None:
            return self._saved_scores()
        has_documents = len(self.chunked) < len(self.systems) or any(
            self.folder.index_of(name).get("unlocated") for name in self.chunked
        )
        if self.matching.documents is None and (
            needs_texts(self.plan.measures, self.plan.judged, has_documents)
            or (self.plan.judged == SPAN and self.plan.tokenizer)
        ):
            return self._saved_scores()  # the folder has no whole texts
        runs = [run for seeds in self.results.values() for run in seeds]
        chunked = {run.name for name in self.chunked for run in self.results[name]}
        return self.matching.evaluate(runs, chunked, self.plan.measures)

    def _saved_scores(self) -> Evaluation:
        assert self.folder.path is not None
        file = self.folder.path / "scores.json"
        if not file.exists():
            raise InputError(
                f"the experiment in '{self.folder.path}' was interrupted before it had a result",
                hint="run it again: finished calls are kept",
            )
        scores = Evaluation.load(file)
        chosen = self.plan.measures
        others = [m.label for m in chosen if m.label not in scores.runs[0]]
        if others:
            raise UsageError(
                f"{others[0]} needs the texts of the documents, which the folder does not keep",
                hint="run the experiment again with this measure: finished calls are kept",
            )
        return scores.with_runs({run.name: run.only(chosen) for run in scores.runs}, chosen)

    @cached_property
    def comparison(self) -> Comparison | None:
        """All systems against the baseline; None with a single system."""
        from goodgain.comparison import compare
        from goodgain.comparison.replicates import COVERS_SEEDS

        if len(self.systems) < 2:
            return None
        comparison = compare(
            *self.sources(),
            baseline=self.baseline,
            test=self.plan.test,  # type: ignore[arg-type] # both checked by the plan
            correction=self.plan.correction,  # type: ignore[arg-type]
            primary=self.plan.primary or None,
            seeds="random" if self.plan.test in COVERS_SEEDS else "fixed",
            by=self.plan.groups or None,
        )
        if not self.timed_apart:
            return comparison
        return replace(
            comparison,
            pairs=tuple(filter(self._is_comparable, comparison.pairs)),
            group_pairs=tuple(filter(self._is_comparable, comparison.group_pairs)),
            trade_off=tuple(map(self._comparable_trade_off, comparison.trade_off)),
        )

    def _is_comparable(self, pair: Any) -> bool:
        return pair.measure.name != "Latency" or not (
            {pair.system, pair.baseline} & set(self.timed_apart)
        )

    def _comparable_trade_off(self, trade_off: TradeOff) -> TradeOff:
        """Nothing is shown about systems whose latencies were measured in different sessions."""
        is_apart = {trade_off.system, trade_off.beaten_by} & set(self.timed_apart)
        return replace(trade_off, is_proven=False) if is_apart else trade_off

    @property
    def baseline(self) -> str:
        """The baseline of the plan or, if it has no answer, the first system that has."""
        planned = self.plan.baseline
        return planned if planned in self.systems or not self.systems else self.systems[0]

    @cached_property
    def timed_apart(self) -> tuple[str, ...]:
        """The systems whose calls were made in other sessions than the baseline's: another day's clock."""
        sessions: dict[str, set[int]] = {}
        for call in self._calls:
            if is_timed(call) and not call["repeat"]:
                sessions.setdefault(call["system"], set()).add(call["session"])
        own = sessions.get(self.baseline, set())
        return tuple(name for name in self.systems if sessions.get(name, own) != own)

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

    def choose(
        self, measure: str | Measure | None = None, *, folds: int = 5, seed: int = 0
    ) -> Choices:
        """The best point of each grid and the best system of all, estimated on held-out queries.

        `measure` is by default the first of the experiment.
        """
        from goodgain.experiment.choice import choose_from

        return choose_from(self, measure, folds=folds, seed=seed)

    @property
    def called(self) -> dict[str, int]:
        """The number of queries that each system was called for."""
        queries: dict[str, set[str]] = {name: set() for name in self.systems}
        for call in self._calls:
            if call["system"] in queries:
                queries[call["system"]].add(call["query"])
        return {name: len(own) for name, own in queries.items()}

    # --- by name ---

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            if self.comparison is None:
                raise KeyError(f"no comparison {key}: the experiment has one system")
            return self.comparison[key]
        if self.systems and key in self._system_scores:
            return self._system_scores[key]
        if key in self.failures:
            raise KeyError(f"the system '{key}' has no answer: {self.failures[key].error}")
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
    def control(self) -> Control | None:
        """The baseline against itself, in the last session that made such calls; None if there is none."""
        return control_of(self.folder, self.plan.test)

    @cached_property
    def loads(self) -> dict[str, tuple[LoadStep, ...]]:
        """What each system did at each rate of arriving calls, by rising rate."""
        return load_steps(self.folder)

    @cached_property
    def timings(self) -> dict[str, Timing]:
        """The latency of each system over all its calls, and the cost of its index."""
        calls: dict[str, list[dict[str, Any]]] = {}
        for call in self._calls:
            calls.setdefault(call["system"], []).append(call)
        return {
            name: system_timing(self.folder, name, calls.get(name, []))
            for name in (*self.systems, *self.failures)
        }

    @cached_property
    def judged_shares(self) -> dict[str, float]:
        """The share of each system's first ten results that is judged."""
        return {} if self.qrels is None else judged_shares(self)

    @cached_property
    def unjudged(self) -> list[tuple[str, str, str, int]]:
        """(query, document, system, rank): unjudged, and in the first ten of that system alone."""
        return [] if self.qrels is None or len(self.systems) < 2 else returned_once(self)

    def warnings(self) -> list[str]:
        """What a reader of the numbers should know."""
        messages = [
            *self.notes,
            *self.settings.get("data_warnings", ()),
            *chunk_notes(self),
            *(f"{failure}; it has no scores" for failure in self.failures.values()),
        ]
        if self.systems and self.plan.baseline != self.baseline:
            messages.append(
                f"the baseline {self.plan.baseline} has no answer; {self.baseline} takes its place"
            )
        for name, called in self.called.items():
            if called < self.settings["queries"]:
                messages.append(
                    f"{name}: interrupted after {called:,} of {self.settings['queries']:,} queries, so its "
                    "means are too low; run the experiment again to finish it"
                )
            messages += [f"{name}: {note}" for note in self.folder.index_of(name).get("notes", ())]
            timing = self.timings[name]
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
            if timing.repeated and self.plan.judged != SPAN:  # chunks of one document all count
                answers = "1 answer" if timing.repeated == 1 else f"{timing.repeated:,} answers"
                messages.append(f"{name}: {answers} held a document twice, which counts once")
            if timing.beside:
                messages.append(
                    f"{name}: {timing.beside:,} calls overlapped with one that had timed out and "
                    "are not timed"
                )
            if _has_query_vectors(self.settings["systems"][name]):
                messages.append(
                    f"{name}: the query vectors were precomputed, so its latency does not include them"
                )
        messages += [*answer_notes(self), *self._depth_warnings(), *load_notes(self)]
        if not self.systems:
            return messages
        for system in self.timed_apart:
            messages.append(
                f"{system} was timed in another session than {self.baseline}, so their latencies are not "
                "compared"
            )
        compared = self.comparison.warnings() if self.comparison else []
        return messages + self.scores.warnings() + compared

    def _depth_warnings(self) -> list[str]:
        """Lists that are shorter than what the measures look at, for some systems or for all."""
        depth = self.settings["depth"]
        messages = [
            f"{measure.label} looks at {documents_of(measure)} documents, but lists are cut to {depth}"
            for measure in self.plan.measures
            if documents_of(measure) > depth
        ]
        for name in self.systems:  # a retriever whose own depth was set
            own = self.settings["systems"][name].get("depth", depth)
            deeper = [m.label for m in self.plan.measures if documents_of(m) > own]
            if deeper and own < depth:
                messages.append(
                    f"{name} returns at most {own} documents, fewer than {', '.join(deeper)} looks at"
                )
        longest: dict[str, int] = {}
        for call in self._calls:
            if call["system"] in self.systems:
                name = call["system"]
                longest[name] = max(longest.get(name, 0), len(call.get("hits", ())))
        deepest = max(longest.values(), default=0)
        needed = max(map(documents_of, self.plan.measures), default=0) or deepest
        short = {name: n for name, n in longest.items() if n < min(needed, deepest)}
        if short:
            counts = ", ".join(f"{name} at most {n}" for name, n in short.items())
            messages.append(
                f"lists have different lengths: {counts}, others up to {deepest}; measures of more documents "
                "than that favour the longer lists"
            )
        return messages

    def write(self) -> None:
        """Write runs, scores, latencies and comparison to the folder, if there is one on disk."""
        from goodgain.results.text import render

        path = self.folder.path
        if path is None:
            return
        (path / "runs").mkdir(exist_ok=True)
        texts = {}
        for system, runs in self.runs.items():
            for seed, run in zip(self.seeds[system], runs, strict=True):
                mark = "" if len(runs) == 1 else f".seed{seed}"
                texts[str(path / "runs" / f"{_file_name(system)}{mark}.run")] = _trec(run, system)
        if self.qrels is not None:
            runs_of_first_seed = (runs[0] for runs in self.runs.values())
            spans = self.matching.judgments.spans if self.matching else ()
            files = snapshot_files(
                self.qrels, self.queries, self.documents, runs_of_first_seed, spans
            )
            texts |= {str(path / name): text for name, text in files.items()}
        if self.systems:
            self.scores.save(path / "scores.json")
        if self.unjudged and self.matching and self.matching.documents is not None:
            texts[str(path / JUDGE)] = pairs_text(self, self.matching.documents)
        columns = ["system", "seed", "query", "repeat", "seconds", "error"]
        rows = [[call.get(column) for column in columns] for call in self._calls]
        texts[str(path / "latency.csv")] = render("csv", columns, rows)
        if self.loads:
            steps = [step for own in self.loads.values() for step in own]
            texts[str(path / "load.csv")] = render("csv", list(LOAD_COLUMNS), load_rows(steps))
        write_texts(texts)
        if self.comparison is not None:
            self.comparison.save(path / "comparison.json")

    def render(self, format: str = "table") -> str:  # noqa: A002
        """The result as text: tables for people, or the rows of the comparison for machines."""
        from goodgain.experiment.tables import experiment_text, long_text
        from goodgain.results.text import WIDE_FORMATS

        if format in WIDE_FORMATS or not self.systems:
            return experiment_text(self, format)
        return long_text(self, format)

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


def _has_query_vectors(settings: dict[str, Any]) -> bool:
    """Whether a system or one that it is built on searches with precomputed vectors of queries."""
    return settings.get("query_vectors") is not None or any(
        map(_has_query_vectors, settings.get("components", ()))
    )


def _file_name(name: str) -> str:
    """A file name that no other system has: other characters are written as in URLs."""
    from urllib.parse import quote

    quoted = quote(name, safe=" ()+,=@[]").replace("~", "%7E")
    if len(quoted) <= _LONGEST_NAME:
        return quoted
    from hashlib import sha256

    return f"{quoted[: _LONGEST_NAME - 21]}~{sha256(name.encode()).hexdigest()[:20]}"


def _trec(run: Run, name: str) -> str:
    from goodgain.io.writers import trec_text

    return trec_text(run.to_dict(), "_".join(name.split()), f"the run of {name}")
