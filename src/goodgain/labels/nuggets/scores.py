"""Nugget recall of answers, by system and query: a result that `compare` takes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from goodgain.measures.grammar import make
from goodgain.measures.registry import definitions
from goodgain.results.frames import AsFrames
from goodgain.results.judges import judge_notes
from goodgain.results.notebook import warnings_html
from goodgain.results.saved import SavedAsJson
from goodgain.results.text import LONG_FORMATS, html_table, render_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goodgain.measures import Measure

DEFAULT = ("NuggetVitalStrict", "NuggetAll")
_LENIENT, _STRICT = (0.0, 0.5, 1.0), (0.0, 0.0, 1.0)  # by support: none, partial, support


class Assigned(NamedTuple):
    """A nugget and how far an answer contains it: 0 none, 1 partial, 2 support; None if unknown."""

    vital: bool
    support: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerNuggets:
    """The nuggets of one answer."""

    system: str
    query: str
    repeat: str
    recorded: bool  # whether the answer is known
    nuggets: tuple[Assigned, ...]

    def score(self, name: str) -> float:
        """A measure by name; undefined if it depends on what is not known."""
        low, high = self.bounds(name)
        return low if low == high else math.nan

    def bounds(self, name: str) -> tuple[float, float]:
        """The measure if every unknown nugget were missing, and if the answer contained it."""
        strict = name.endswith("Strict")
        kind = name.removeprefix("Nugget").removesuffix("Strict")
        chosen = [n for n in self.nuggets if n.vital or kind != "Vital"]
        weights = [0.5 if kind == "Weighted" and not n.vital else 1.0 for n in chosen]
        total = math.fsum(weights)
        if not total:
            return math.nan, math.nan
        values = _STRICT if strict else _LENIENT
        sums = []
        for unknown in (0.0, 1.0):
            gains = [
                unknown if n.support is None or not self.recorded else values[n.support]
                for n in chosen
            ]
            sums.append(math.fsum(w * g for w, g in zip(weights, gains, strict=True)) / total)
        return sums[0], sums[1]

    @property
    def unknown(self) -> int:
        """Nuggets without an assignment."""
        return sum(n.support is None for n in self.nuggets)


def nugget_measures() -> tuple[Measure, ...]:
    """All measures of nuggets."""
    return tuple(make(d, {}, None) for d in definitions("answers"))


@dataclass(frozen=True, slots=True, kw_only=True)
class NuggetScores(SavedAsJson, AsFrames):
    """How many nuggets the answers of each system contain; `compare` takes it like an evaluation."""

    KIND: ClassVar[str] = "nuggets"
    FORMAT: ClassVar[int] = 1
    answers: tuple[AnswerNuggets, ...]
    nugget_source: str
    assigned_by: str
    notes: tuple[str, ...] = ()
    judge: dict[str, Any] | None = None  # who assigned, if it was a model

    def inputs(self) -> list[dict[str, Any]]:
        """What the scores rest on."""
        facts = {"role": "nuggets", "name": self.nugget_source, "kind": "nuggets"}
        return [{**facts, "judge": self.judge} if self.judge else facts]

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems, in the order of the answers."""
        return tuple(dict.fromkeys(a.system for a in self.answers))

    @property
    def default_measures(self) -> tuple[str, ...]:
        """What is compared unless measures are named: TREC RAG's primary measure, and recall of all."""
        return DEFAULT

    def per_unit_scores(self) -> dict[str, dict[Measure, dict[str, float]]]:
        """{system: {measure: {query: value}}}; over repeats the mean."""
        return {
            system: {m: _means(self._of(system), m.name) for m in nugget_measures()}
            for system in self.systems
        }

    def per_repeat_scores(self) -> dict[str, list[dict[Measure, dict[str, float]]]]:
        """The values of each repeat, for systems that have several."""
        result: dict[str, list[dict[Measure, dict[str, float]]]] = {}
        for system in self.systems:
            own = self._of(system)
            repeats = list(dict.fromkeys(a.repeat for a in own))
            if len(repeats) > 1:
                result[system] = [
                    {m: {a.query: a.score(m.name) for a in own if a.repeat == repeat}
                     for m in nugget_measures()}
                    for repeat in repeats
                ]  # fmt: skip
        return result

    def mean(self, system: str, name: str) -> float:
        """The mean of a measure over the queries for which it is defined."""
        values = [v for v in _means(self._of(system), name).values() if v == v]
        return math.fsum(values) / len(values) if values else math.nan

    def rows(self, per_query: bool = False) -> tuple[list[str], list[list[Any]]]:
        """Column names and a row per system, or per answer."""
        names = [m.name for m in nugget_measures()]
        if per_query:
            columns = ["system", "query", "repeat", "nuggets", "vital", "unknown", *names]
            return columns, [
                [a.system, a.query, a.repeat, len(a.nuggets), sum(n.vital for n in a.nuggets),
                 a.unknown, *(a.score(name) for name in names)]
                for a in self.answers
            ]  # fmt: skip
        rows = []
        for system in self.systems:
            own = self._of(system)
            scored = sum(a.score(DEFAULT[1]) == a.score(DEFAULT[1]) for a in own)
            rows.append([system, len(own), scored, *(self.mean(system, name) for name in names)])
        return ["system", "answers", "scored", *names], rows

    def render(self, format: str = "table", per_query: bool = False) -> str:  # noqa: A002
        """As text, in any format of the command line."""
        columns, rows = self.rows(per_query)
        if format in LONG_FORMATS:
            rows = [[None if v != v else v for v in row] for row in rows]
        return render_data(format, columns, rows)

    def warnings(self) -> list[str]:
        """What a reader of the numbers should know."""
        messages = [*judge_notes(self.inputs()), *self.notes]
        empty = sum(not a.nuggets for a in self.answers)
        if empty:
            messages.append(f"{_answers(empty)} to queries without nuggets: undefined")
        missing = sum(not a.recorded for a in self.answers)
        if missing:
            messages.append(f"{_answers(missing)} not recorded in the traces: undefined, not 0")
        unknown = [a for a in self.answers if a.unknown and a.recorded]
        if unknown:
            count = sum(a.unknown for a in unknown)
            messages.append(
                f"{count:,} nugget{'s' * (count > 1)} of {_answers(len(unknown))} without an assignment: "
                "scores that depend on it are undefined, not 0"
            )
        return messages

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        return {
            "goodgain": self.KIND, "format": self.FORMAT, "nugget_source": self.nugget_source,
            "assigned_by": self.assigned_by, "notes": list(self.notes), "judge": self.judge,
            "answers": [
                {"system": a.system, "query": a.query, "repeat": a.repeat, "recorded": a.recorded,
                 "nuggets": [[int(n.vital), n.support] for n in a.nuggets]}
                for a in self.answers
            ],
        }  # fmt: skip

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """A result from what `to_dict` returned."""
        return cls(
            answers=tuple(
                AnswerNuggets(
                    system=a["system"], query=a["query"], repeat=a["repeat"],
                    recorded=bool(a["recorded"]),
                    nuggets=tuple(Assigned(bool(v), s) for v, s in a["nuggets"]),
                )
                for a in data["answers"]
            ),
            nugget_source=data["nugget_source"],
            assigned_by=data["assigned_by"],
            notes=tuple(data["notes"]),
            judge=data["judge"],
        )  # fmt: skip

    def _of(self, system: str) -> list[AnswerNuggets]:
        return [a for a in self.answers if a.system == system]

    def _frame_rows(self, per_query: bool = True) -> tuple[list[str], list[list[Any]]]:
        return self.rows(per_query)

    def __str__(self) -> str:
        return self.render().rstrip("\n")

    def __repr__(self) -> str:
        return f"NuggetScores({len(self.systems)} systems, {len(self.answers):,} answers)"

    def _repr_html_(self) -> str:
        return html_table(*self.rows()) + warnings_html(self.warnings())


def _means(answers: Sequence[AnswerNuggets], name: str) -> dict[str, float]:
    """The mean over the repeats of each query in which it is defined."""
    values: dict[str, list[float]] = {}
    for answer in answers:
        values.setdefault(answer.query, []).append(answer.score(name))
    return {query: _mean(own) for query, own in values.items()}


def _mean(values: Iterable[float]) -> float:
    defined = [v for v in values if v == v]
    return math.fsum(defined) / len(defined) if defined else math.nan


def _answers(count: int) -> str:
    return f"{count:,} answer{'s' * (count != 1)}"
