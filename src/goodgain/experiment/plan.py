"""How the runs of an experiment are measured and compared."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from goodgain.experiment.judgments import DOCUMENT
from goodgain.measures.custom import saved_measure
from goodgain.measures.grammar import parse_all

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    judged: str = DOCUMENT  # what the judgments are of
    cover: float = 0.5  # the share of a judged span that chunks must cover
    tokenizer: str = ""  # what a token is, by name; "": characters in the measures of spans
    primary: tuple[Measure, ...] = ()  # the measures that are tested; empty if all are

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain data."""
        data = {f.name: getattr(self, f.name) for f in fields(self)}
        listed = {
            name: [measure.to_dict() for measure in data[name]] for name in ("measures", "primary")
        }
        return {**data, **listed}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Plan:
        """The reverse of `to_dict`; version 0.1 saved the measures as one text."""
        saved = data["measures"]
        measures = parse_all(saved) if isinstance(saved, str) else map(saved_measure, saved)
        primary = tuple(map(saved_measure, data.get("primary", ())))
        return cls(**{**data, "measures": tuple(measures), "primary": primary})

    def changed(self, **changes: Any) -> Plan:
        """The plan with these changes; primary measures come first, and are among the measures."""
        plan = replace(self, **changes)
        return replace(plan, measures=tuple(dict.fromkeys([*plan.primary, *plan.measures])))


def primary_measures(
    primary: Measures, measures: Sequence[Measure], rel: float
) -> tuple[Measure, ...]:
    """The measures that are tested; without a level of relevance they have the experiment's."""
    chosen = []
    for measure in parse_all(primary):
        has_level = measure.definition.param("rel") and "rel" not in dict(measure.params)
        same = [
            other
            for other in measures
            if has_level and other.same_values(measure.with_defaults({"rel": rel}))
        ]
        chosen.append(measure if measure in measures or not same else same[0])
    return tuple(chosen)


def documents_of(measure: Measure) -> int:
    """How many documents of a list a measure looks at; 0 where it has no cut-off."""
    is_rank = measure.cutoff is not None and measure.definition.cutoff != "recall"
    return int(measure.cutoff or 0) if is_rank else 0
