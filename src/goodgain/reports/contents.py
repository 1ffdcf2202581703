"""The contents of a page, gathered from any results."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from goodgain.agentic import GoodGain
from goodgain.agentic.stopping import Stopping
from goodgain.comparison import Comparison, compare
from goodgain.comparison.comparison import Settings
from goodgain.comparison.pairing import Column, Pairing
from goodgain.comparison.scores import ScoreSet, collect
from goodgain.comparison.standings import Standings, stand
from goodgain.errors import GoodgainError, UsageError
from goodgain.experiment import ExperimentResult
from goodgain.experiment.optimisation import Optimisation
from goodgain.io.naming import without_shared_prefix
from goodgain.io.texts import Texts, read_texts
from goodgain.labels.calibration import Calibration
from goodgain.ranking import Evaluation
from goodgain.reports.charts.frame import unit_nouns
from goodgain.reports.charts.scores import unit_values
from goodgain.results.judges import judge_sentence, judges_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from goodgain.measures import Measure
    from goodgain.reports.query_facts import QueryFacts
    from goodgain.reports.ranked_lists import PageLists

MAX_TITLE = 60  # characters of the systems in a title; longer ones are counted
KINDS = (Evaluation, Comparison, ExperimentResult, GoodGain, Stopping, Calibration, Optimisation)


@dataclass(frozen=True, kw_only=True)
class PageContents:
    """Results by kind, with the combined scores and the comparison of the systems."""

    title: str
    scores: ScoreSet | None  # per-query values of all systems
    comparison: Comparison | None
    evaluations: tuple[Evaluation, ...] = ()
    experiments: tuple[ExperimentResult, ...] = ()
    gains: tuple[GoodGain, ...] = ()
    stoppings: tuple[Stopping, ...] = ()
    optimisations: tuple[Optimisation, ...] = ()
    calibrations: tuple[Calibration, ...] = ()
    queries: Mapping[str, str] = field(default_factory=dict)  # texts by id
    documents: Mapping[str, str] = field(default_factory=dict)  # texts by id
    links: Mapping[str, str] = field(default_factory=dict)  # URLs by document id
    command: str | None = None

    @property
    def systems(self) -> tuple[str, ...]:
        """The compared or evaluated systems, in input order."""
        if self.comparison is not None:
            return self.comparison.systems
        return tuple(self.scores.systems) if self.scores else ()

    @property
    def chart_source(self) -> Comparison | Evaluation | ScoreSet | None:
        """The most detailed result about the systems, for charts."""
        if self.comparison is not None:
            return self.comparison
        return self.evaluations[0] if len(self.evaluations) == 1 else self.scores

    @property
    def baseline(self) -> str | None:
        """The system that the others are compared with."""
        return self.comparison.baselines[0] if self.comparison else None

    @property
    def baselines(self) -> tuple[str, ...]:
        """All systems that others are compared with."""
        return self.comparison.baselines if self.comparison else ()

    @cached_property
    def short_names(self) -> dict[str, str]:
        """Names of systems without the beginning that all of them share."""
        return without_shared_prefix(self.systems)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures of the systems."""
        if self.comparison is not None:
            return self.comparison.measures
        return tuple(self.scores.measures.values()) if self.scores else ()

    @property
    def quality(self) -> Measure | None:
        """The first measure that is neither time nor cost: the subject of the headline."""
        return next((m for m in self.measures if not m.is_cost), None)

    @cached_property
    def standings(self) -> Standings | None:
        """All pairs of systems by the quality measure; None if there are not two."""
        if self.comparison is not None:
            return self.comparison.standings
        if self.quality is None or self.scores is None:
            return None
        means = {s: {self.quality.label: self.mean(s, self.quality)} for s in self.systems}
        return stand(
            scores=self.scores,
            column=Column(self.quality, self.quality.label),
            means={
                s: {m: math.nan if v is None else v for m, v in own.items()}
                for s, own in means.items()
            },
            pairing=Pairing(self.scores, "drop"),
            settings=Settings(),
        )

    @cached_property
    def agent_comparisons(self) -> tuple[Comparison | None, ...]:
        """The systems of each Good Gain against its first; None where labels or systems are too few."""
        return tuple(_compared(result) for result in self.gains)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The systems, best first by the quality measure, and then those without a mean."""
        quality = self.quality
        if quality is None:
            return self.systems
        means = {s: self.mean(s, quality) for s in self.systems}
        return tuple(
            sorted(self.systems, key=lambda s: (means[s] is None, -quality.sign * (means[s] or 0)))
        )

    @property
    def unit_nouns(self) -> tuple[str, str]:
        """What the scores belong to: query and queries, or conversation and conversations."""
        measure = self.quality or next(iter(self.measures), None)
        return unit_nouns(measure)

    def mean(self, system: str, measure: Measure) -> float | None:
        """The mean over queries as the result reports it; None if undefined."""
        if self.comparison is not None:
            value = self.comparison.means[system].get(measure.label)
        else:
            runs = self.scores.runs.get(system) if self.scores else None
            value = runs[0][measure] if runs else None
        return None if value is None or value != value else float(value)

    def values(self, system: str, measure: Measure) -> dict[str, float]:
        """The value of each query; empty if the page has none."""
        return unit_values(self.scores, system, measure) if self.scores else {}

    def best_other(self) -> str | None:
        """The best system other than the baseline, by the quality measure."""
        if self.quality is None:
            return None
        means = {s: self.mean(s, self.quality) for s in self.systems if s != self.baseline}
        signed = {s: self.quality.sign * v for s, v in means.items() if v is not None}
        return max(signed, key=lambda s: signed[s]) if signed else None

    @cached_property
    def units(self) -> list[str]:
        """The query ids, in the order of the first system that has them."""
        units: dict[str, None] = {}
        for system in self.scores.systems if self.scores else ():
            for seed in self.scores.systems[system] if self.scores else ():
                for column in seed.values():
                    units |= dict.fromkeys(column)
        return list(units)

    @cached_property
    def lists(self) -> PageLists:
        """The ranked lists of the systems, read once."""
        from goodgain.reports.ranked_lists import read_lists

        return read_lists(self)

    @cached_property
    def facts(self) -> QueryFacts:
        """What is known of each query besides its values."""
        from goodgain.reports.query_facts import query_facts

        return query_facts(self)

    @cached_property
    def judges(self) -> list[dict[str, Any]]:
        """The judges whose labels the numbers rest on."""
        results = [*self.evaluations, *(e.scores for e in self.experiments), *self.gains]
        facts = [f for result in results for f in result.inputs()]
        return judges_of([*facts, *(self.comparison.inputs if self.comparison else ())])

    @property
    def judge_note(self) -> str:
        """What stands below every table of numbers that rest on a judge."""
        return "".join(f" Judged by {judge_sentence(judge)}." for judge in self.judges)

    def warnings(self) -> list[str]:
        """The warnings of all results, without repetition."""
        results: list[Any] = [
            *self.evaluations, *self.experiments, *self.gains, *self.calibrations,
            *([self.comparison] if self.comparison else []),
        ]  # fmt: skip
        return list(dict.fromkeys(w for result in results for w in result.warnings()))

    def joined_warnings(self) -> list[tuple[str, tuple[str, ...]]]:
        """Each warning once, with the systems that it is about, if it says the same of several."""
        joined: dict[str, list[str]] = {}
        names = sorted(self.systems, key=len, reverse=True)
        for warning in self.warnings():
            system = next((s for s in names if warning.startswith(f"{s}: ")), None)
            text = warning if system is None else warning[len(system) + 2 :]
            joined.setdefault(text, []).extend([] if system is None else [system])
        return [(text, tuple(systems)) for text, systems in joined.items()]


def gather_contents(
    results: Iterable[Any],
    *,
    title: str | None = None,
    baseline: str | None = None,
    queries: Any = None,
    documents: Any = None,
    command: str | None = None,
) -> PageContents:
    """Gather results for one page; scores are compared if there is a baseline."""
    results = list(results)
    for result in results:
        if not isinstance(result, KINDS):
            comparable = hasattr(result, "per_unit_scores")
            raise UsageError(
                f"cannot report a {type(result).__name__}",
                hint="compare its systems: goodgain compare FILE --report PAGE"
                if comparable
                else f"supported: {', '.join(kind.__name__ for kind in KINDS)}",
            )
    if not results:
        raise UsageError("no results to report", hint="pass at least one result")
    evaluations = tuple(r for r in results if isinstance(r, Evaluation))
    experiments = tuple(r for r in results if isinstance(r, ExperimentResult))
    gains = tuple(r for r in results if isinstance(r, GoodGain))
    sources: list[Any] = [s for e in experiments for s in e.sources()] + list(evaluations)
    if not sources and baseline is not None:
        sources += gains
    comparison, scores = _comparison_and_scores(results, sources, baseline)
    query_texts, document_texts = _texts(queries, "query"), _texts(documents, "document")
    for experiment in experiments:
        query_texts.texts.update({**experiment.queries, **query_texts.texts})
        document_texts.texts.update({**experiment.documents, **document_texts.texts})
    contents = PageContents(
        title=title or "",
        scores=scores,
        comparison=comparison,
        evaluations=_unique(
            *evaluations, *(e.scores for e in experiments), *(scores.evaluations if scores else ())
        ),
        experiments=experiments,
        gains=gains,
        stoppings=tuple(r for r in results if isinstance(r, Stopping)),
        optimisations=tuple(r for r in results if isinstance(r, Optimisation)),
        calibrations=tuple(r for r in results if isinstance(r, Calibration)),
        queries=query_texts.texts,
        documents=document_texts.texts,
        links=document_texts.columns.get("url", {}),
        command=command,
    )
    return contents if title else replace(contents, title=_default_title(contents))


def _comparison_and_scores(
    results: list[Any], sources: list[Any], baseline: str | None
) -> tuple[Comparison | None, ScoreSet | None]:
    """The comparison among the results, or a new one of the sources."""
    comparisons = [r for r in results if isinstance(r, Comparison)]
    if len(comparisons) > 1:
        raise UsageError(
            "a report can hold only one comparison",
            hint="pass the saved evaluations instead; they are compared with each other",
        )
    scored = [r for r in results if isinstance(r, Evaluation | ExperimentResult)]
    if len(scored) == 1 and not comparisons and baseline is None:
        comparisons = [
            r.comparison for r in scored if isinstance(r, ExperimentResult) and r.comparison
        ]
    if not comparisons and len(scored) > 1 and baseline is None:
        probe = ScoreSet()
        for source in sources:
            collect(source, probe)
        baseline = next(iter(probe.systems))
    if not comparisons and baseline is not None:
        comparisons = [compare(*sources, baseline=baseline)]
    if comparisons and comparisons[0].scores is not None:
        return comparisons[0], comparisons[0].scores
    scores = ScoreSet()
    for source in sources:
        collect(source, scores)
    if not comparisons or not scores.systems:
        return (comparisons[0] if comparisons else None), (scores if scores.systems else None)
    (comparison,) = comparisons
    unknown = [s for s in comparison.systems if s not in scores.systems]
    if unknown:
        raise UsageError(
            f"the comparison has system '{unknown[0]}', but the evaluation does not",
            hint=f"systems of the evaluation: {', '.join(scores.systems)}",
        )
    # The saved comparison knows the directions that its author stated.
    scores.measures |= {m.label: m for m in comparison.measures if m.label in scores.measures}
    return replace(comparison, scores=scores), scores


def _compared(result: GoodGain) -> Comparison | None:
    if len(result.systems) < 2 or not result.labelled:
        return None
    with suppress(GoodgainError):  # no conversation is shared
        return compare(result)
    return None


def _unique(*evaluations: Evaluation) -> tuple[Evaluation, ...]:
    """Each evaluation once, even if a comparison uses it too."""
    return tuple({id(e): e for e in evaluations}.values())


def _texts(source: Any, what: str) -> Texts:
    return Texts({}, {}) if source is None else read_texts(source, what)


def _default_title(contents: PageContents) -> str:
    others = [s for s in contents.systems if s != contents.baseline]
    if len(contents.baselines) == len(contents.systems) > 2:
        return f"{len(contents.systems)} systems compared"
    if contents.baseline:
        names = _first(others, 3)
        if len(names) > MAX_TITLE and len(others) > 1:
            names = f"{len(others)} systems"
        return f"{names} vs {contents.baseline}"
    if others:
        return _first(others, 4)
    if contents.gains:
        return ", ".join(name for gain in contents.gains for name in gain.names)
    if contents.stoppings:
        return ", ".join(dict.fromkeys(name for s in contents.stoppings for name in s.names))
    if contents.optimisations:
        return f"Best setting by {contents.optimisations[0].measure}"
    return "Judge labels vs human labels"


def _first(names: list[str], limit: int) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
