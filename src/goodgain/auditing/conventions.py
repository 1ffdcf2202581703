"""The conventions that a search tries: rankings, queries that count, meanings of a name."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from goodgain.measures.grammar import make

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goodgain.measures.definition import Measure, Value

# Every axis with its choices, the usual one first.
RANKING = {
    "ties": ("docid", "docid-ascending", "input", "average"),
    "scores": ("double", "single"),
    "unjudged": ("nonrelevant", "remove", "remove-negative"),
    "same_id": ("keep", "drop"),
    "duplicates": ("first", "best"),
    "depth": ("0",),  # more by the length of the lists
}
DEPTHS = (1000, 500, 200, 100, 50, 30, 20, 10)
AVERAGING = {"missing": ("zero", "skip"), "no_relevant": ("counted", "skip")}
ROUNDING = {"rounding": ("rounded", "truncated")}
MEANINGS = {
    "ties=docid": "equal scores: larger document id first, as trec_eval",
    "ties=docid-ascending": "equal scores: smaller document id first",
    "ties=input": "equal scores: in the order of the run file",
    "ties=average": "equal scores: the mean over all orders",
    "scores=double": "scores as 64-bit numbers, as trec_eval 10",
    "scores=single": "scores as 32-bit numbers, as trec_eval 9.0.8",
    "unjudged=nonrelevant": "unjudged documents are not relevant",
    "unjudged=remove": "unjudged documents are removed first (condensed lists)",
    "unjudged=remove-negative": "unjudged and negative documents are removed first, as trec_eval -J",
    "same_id=keep": "a document may have the id of its query",
    "same_id=drop": "a document with the id of its query is removed, as in BEIR",
    "duplicates=first": "of duplicate documents the first counts",
    "duplicates=best": "of duplicate documents the best score counts",
    "depth=0": "the whole list counts",
    "missing=zero": "queries missing from the run count as 0, as trec_eval -c",
    "missing=skip": "queries missing from the run are left out, as trec_eval without -c",
    "no_relevant=counted": "queries without a relevant document count",
    "no_relevant=skip": "queries without a relevant document are left out",
    "rounding=rounded": "rounded to the printed digits",
    "rounding=truncated": "cut off after the printed digits",
}
_CUTOFFS = (1000, 100, 10, 20, 5)


def meaning(axis: str, choice: str) -> str:
    """A choice in words."""
    if axis == "depth" and choice != "0":
        return f"only the first {choice} documents of a run count"
    return MEANINGS[f"{axis}={choice}"]


@dataclass(frozen=True, slots=True)
class Variant:
    """A measure that a column may be, and how many of its parameters are not the usual ones."""

    measure: Measure
    changes: tuple[str, ...]

    def __str__(self) -> str:
        return str(self.measure)


def variants(measure: Measure, grades: Sequence[float]) -> list[Variant]:
    """What a name may mean: other gains, ideals, thresholds, parameters and, without one, cut-offs."""
    stated = dict(measure.params)
    axes: list[list[tuple[str, Value | None]]] = [
        [(param.name, v) for v in _values(measure, param.name, grades)]
        for param in measure.definition.params
        if param.name not in stated
    ]
    cutoffs: list[float | None] = [measure.cutoff]
    if measure.cutoff is None and measure.definition.cutoff == "optional":
        cutoffs += list(_CUTOFFS)
    result = []
    for choice in product(*axes):
        changed = {name: v for name, v in choice if v != _default(measure, name) and v is not None}
        for cutoff in cutoffs:
            if len(changed) + (cutoff != measure.cutoff) > 2:
                continue  # three coincidences explain anything
            params: dict[str, Any] = {**stated, **changed}
            changes = [f"{name}={v:g}" if isinstance(v, float) else f"{name}={v}"
                       for name, v in changed.items()]  # fmt: skip
            if cutoff != measure.cutoff:
                changes.append(f"cut-off {cutoff:g}")
            result.append(Variant(make(measure.definition, params, cutoff), tuple(changes)))
    return sorted(result, key=lambda variant: len(variant.changes))


def _default(measure: Measure, name: str) -> Value | None:
    param = measure.definition.param(name)
    return param.default if param else None


def _values(measure: Measure, name: str, grades: Sequence[float]) -> list[Value | None]:
    """The usual value of a parameter first, then those that other tools and papers use."""
    param = measure.definition.param(name)
    if param is None:
        return []
    usual = param.default
    others: list[Value | None] = list(param.choices)
    if name == "rel":
        others = [*[g for g in grades if g > 1][:3]]
    elif name == "p":
        others = [0.5, 0.8, 0.9, 0.95]
    elif name == "max_grade":
        others = [1.0, 2.0, 3.0, 4.0]
    elif name == "alpha":
        others = [0.5]
    return [usual, *(v for v in others if v != usual)]


def ranking_choices(axes: Mapping[str, Sequence[str]]) -> Iterator[dict[str, str]]:
    """Every combination of the choices of several axes."""
    for choice in product(*axes.values()):
        yield dict(zip(axes, choice, strict=True))
