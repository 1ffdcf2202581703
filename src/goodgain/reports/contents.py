"""All that a page is about, taken from any results and put together once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from goodgain.agentic import GoodGain
from goodgain.comparison import Comparison, compare
from goodgain.comparison.scores import ScoreSet, collect, is_lower_better, is_price, measure_of
from goodgain.errors import UsageError
from goodgain.experiment import ExperimentResult
from goodgain.io.texts import Texts, read_texts
from goodgain.labels.calibration import Calibration
from goodgain.ranking import Evaluation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from goodgain.measures import Measure

KINDS = (Evaluation, Comparison, ExperimentResult, GoodGain, Calibration)


@dataclass(frozen=True)
class Material:
    """Results by kind, and what they say together of the systems that were ranked."""

    title: str
    scores: ScoreSet | None  # per-query values of all systems
    comparison: Comparison | None
    evaluations: tuple[Evaluation, ...] = ()
    experiments: tuple[ExperimentResult, ...] = ()
    gains: tuple[GoodGain, ...] = ()
    calibrations: tuple[Calibration, ...] = ()
    queries: Mapping[str, str] = field(default_factory=dict)  # their texts
    documents: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)  # addresses of documents
    command: str | None = None

    @property
    def systems(self) -> tuple[str, ...]:
        """The ranked systems, in the order they came."""
        if self.comparison is not None:
            return self.comparison.systems
        return tuple(self.scores.systems) if self.scores else ()

    @property
    def subject(self) -> Comparison | Evaluation | ScoreSet | None:
        """What charts of the ranked systems are made of: the richest that there is."""
        if self.comparison is not None and self.comparison.scores is not None:
            return self.comparison
        return self.evaluations[0] if len(self.evaluations) == 1 else self.scores

    @property
    def baseline(self) -> str | None:
        """The system that others are held against."""
        return self.comparison.baselines[0] if self.comparison else None

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures of the ranked systems, as they are printed."""
        if self.comparison is not None:
            return self.comparison.measures
        return tuple(self.scores.measures) if self.scores else ()

    @property
    def quality(self) -> str | None:
        """The first measure that is neither time nor cost: the one that sentences are about."""
        return next((m for m in self.measures if not is_price(m)), None)

    def lower_is_better(self, measure: str) -> bool:
        """Whether less is more."""
        return is_lower_better(measure, self.scores.lower if self.scores else ())

    def measure(self, label: str) -> Measure | None:
        """The entry of the table of measures behind a label, where there is one."""
        return measure_of(label)

    def mean(self, system: str, label: str) -> float | None:
        """Over queries, as the result has it; None where it is undefined."""
        if self.comparison is not None:
            found = self.comparison.means[system].get(label)
        else:
            runs = self.scores.runs.get(system) if self.scores else None
            found = runs[0][label] if runs else None
        return None if found is None or found != found else float(found)

    def best_other(self) -> str | None:
        """The system that is best by the measure of quality, the baseline apart."""
        if self.quality is None:
            return None
        sign = -1 if self.lower_is_better(self.quality) else 1
        known = {s: self.mean(s, self.quality) for s in self.systems if s != self.baseline}
        found = {s: sign * v for s, v in known.items() if v is not None}
        return max(found, key=lambda s: found[s]) if found else None

    @cached_property
    def units(self) -> list[str]:
        """The queries, in the order of the first system that has them."""
        found: dict[str, None] = {}
        for system in self.scores.systems if self.scores else ():
            for seed in self.scores.systems[system] if self.scores else ():
                for column in seed.values():
                    found |= dict.fromkeys(column)
        return list(found)

    def warnings(self) -> list[str]:
        """What a reader should know, from all results, each once."""
        everything: list[Any] = [
            *self.evaluations, *self.experiments, *self.gains, *self.calibrations,
            *([self.comparison] if self.comparison else []),
        ]  # fmt: skip
        return list(dict.fromkeys(w for result in everything for w in result.warnings()))


def gather(
    results: Iterable[Any],
    *,
    title: str | None = None,
    baseline: str | None = None,
    queries: Any = None,
    documents: Any = None,
    command: str | None = None,
) -> Material:
    """Put results together: what can be compared is, where a baseline is known."""
    found = list(results)
    for result in found:
        if not isinstance(result, KINDS):
            raise UsageError(
                f"a {type(result).__name__} cannot be reported",
                hint=f"one of: {', '.join(kind.__name__ for kind in KINDS)}",
            )
    if not found:
        raise UsageError("there is nothing to report", hint="give at least one result")
    evaluations = tuple(r for r in found if isinstance(r, Evaluation))
    experiments = tuple(r for r in found if isinstance(r, ExperimentResult))
    comparison, scores = _compared(found, evaluations, experiments, baseline)
    asked, told = _texts(queries, "query"), _texts(documents, "document")
    for experiment in experiments:
        asked.texts.update({**experiment.queries, **asked.texts})
        told.texts.update({**experiment.documents, **told.texts})
    material = Material(
        title or "",
        scores,
        comparison,
        _once(
            *evaluations, *(e.scores for e in experiments), *(scores.evaluations if scores else ())
        ),
        experiments,
        tuple(r for r in found if isinstance(r, GoodGain)),
        tuple(r for r in found if isinstance(r, Calibration)),
        asked.texts,
        told.texts,
        told.columns.get("url", {}),
        command,
    )
    return material if title else _titled(material)


def _compared(
    found: list[Any],
    evaluations: tuple[Evaluation, ...],
    experiments: tuple[ExperimentResult, ...],
    baseline: str | None,
) -> tuple[Comparison | None, ScoreSet | None]:
    """One comparison for the page: the one that was made, or one of all that has scores."""
    made = [r for r in found if isinstance(r, Comparison)]
    if len(made) > 1:
        raise UsageError(
            "a page holds one comparison",
            hint="give the saved evaluations instead: they are compared together",
        )
    if len(experiments) == 1 and not evaluations and not made and baseline is None:
        made = [c for c in [experiments[0].comparison] if c is not None]
    sources: list[Any] = [s for e in experiments for s in e.sources()] + list(evaluations)
    if not made and len(evaluations) + len(experiments) > 1 and baseline is None:
        probe = ScoreSet()
        baseline = collect(sources[0], probe)[0]
    if not made and baseline is not None:
        made = [compare(*sources, baselines=baseline)]
    if made and made[0].scores is not None:
        return made[0], made[0].scores
    scores = ScoreSet()
    for source in sources:
        collect(source, scores)
    unknown = [s for s in (made[0].systems if made else ()) if s not in scores.systems]
    if scores.systems and unknown:
        raise UsageError(
            f"the comparison is of the system '{unknown[0]}', which the evaluation does not have",
            hint=f"the evaluation has: {', '.join(scores.systems)}",
        )
    return (made[0] if made else None), (scores if scores.systems else None)


def _once(*evaluations: Evaluation) -> tuple[Evaluation, ...]:
    """Each evaluation once, also where a comparison was made of it."""
    return tuple({id(e): e for e in evaluations}.values())


def _texts(source: Any, what: str) -> Texts:
    return Texts({}, {}) if source is None else read_texts(source, what)


def _titled(material: Material) -> Material:
    from dataclasses import replace

    others = [s for s in material.systems if s != material.baseline]
    if material.baseline:
        shown = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
        title = f"{shown} against {material.baseline}"
    elif others:
        title = ", ".join(others[:4]) + (f" and {len(others) - 4} more" if len(others) > 4 else "")
    elif material.gains:
        title = ", ".join(name for gain in material.gains for name in gain.names)
    else:
        title = "Labels against human ones"
    return replace(material, title=title)
