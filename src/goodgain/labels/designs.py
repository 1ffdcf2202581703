"""How the labels of people came about: the sample they belong to, or what a user declares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError
from goodgain.labels.sampling import Sample, read_sample, sample_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goodgain.labels.scale import Gains
    from goodgain.labels.store import Store

Unit = tuple[str, str | None]  # a query, and a document unless it is the whole query
DECLARED = {
    "queries": "the judged queries are a random sample of the labelled ones, judged completely",
    "pairs": "the judged pairs are a random sample of the labelled ones",
    "pairs:label": "the same within each gain of the judge",
}
UNKNOWN = (
    "no mean was corrected: nothing says how the judged documents were chosen, and a wrong guess "
    "can be far off; draw them with `goodgain labels sample`, or declare the design (--design queries, "
    "--design pairs)"
)

NOT_CHOSEN = "one of several samples, not chosen"


def refusal(sentence: str) -> str:
    """Why no mean was corrected, by the sentence about a design; empty if that is known."""
    if sentence.startswith(NOT_CHOSEN):
        names = sentence.removeprefix(NOT_CHOSEN).strip(" ()")
        return f"no mean was corrected: the store has the samples {names}; choose one with --design"
    return UNKNOWN if sentence == "unknown" else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """What could be drawn, what was drawn, and with which probability."""

    name: str
    unit: str  # of a sample, or unknown
    documents: Mapping[str, Sequence[str]]  # of every query
    strata: Mapping[Unit, int]
    drawn: tuple[Unit, ...] | None  # in order; None: whatever people judged
    probabilities: tuple[float, ...] = ()  # of what was drawn

    def sentence(self) -> str:
        """How people's labels were chosen."""
        if self.unit == "unknown":
            return f"{NOT_CHOSEN} ({self.name})" if self.name else "unknown"
        if self.drawn is None:
            return f"declared: {DECLARED[self.name]}"
        noun = {
            "queries": "whole queries",
            "pairs": "pairs",
            "steps": "pairs, one by one",
            "query-steps": "whole queries, one by one",
        }[self.unit]
        return f"sample '{self.name}': {len(self.drawn):,} {noun}"


def find_design(
    design: Any, documents: Mapping[str, Sequence[str]], judge: Gains, stores: Iterable[Store]
) -> Design:
    """The design that a user names or declares, or the only sample of the stores.

    `documents` are those that the judge was asked about, which declared designs draw from.
    """
    stores = list(stores)
    if isinstance(design, Sample):
        return of_sample(design)
    if design is not None and not isinstance(design, str):
        raise UsageError(f"invalid design: {design!r}", hint=_choices(stores))
    names = {name: store for store in stores for name in sample_names(store)}
    if design in names:
        return of_sample(read_sample(names[design], design))
    if design is None:
        if len(names) == 1:
            ((name, store),) = names.items()
            return of_sample(read_sample(store, name))
        several = ", ".join(f"'{name}'" for name in names)
        return Design(name=several, unit="unknown", documents=documents, strata={}, drawn=None)
    if design not in DECLARED:
        raise UsageError(f"unknown design '{design}'", hint=_choices(stores))
    strata: dict[Unit, int] = {}
    if design == "pairs:label":
        grades = sorted({gain for gains in judge.values() for gain in gains.values()})
        number = {grade: i + 1 for i, grade in enumerate(grades)}
        strata = {
            (query, doc): number[judge[query][doc]] if doc in judge.get(query, {}) else 0
            for query, docs in documents.items()
            for doc in docs
        }
    unit = design.partition(":")[0]
    return Design(name=design, unit=unit, documents=documents, strata=strata, drawn=None)


def _choices(stores: Sequence[Store]) -> str:
    names = [f"'{name}'" for store in stores for name in sample_names(store)]
    return (
        f"a sample of the store ({', '.join(names) or 'none'}), or declare: {', '.join(DECLARED)}"
    )


def of_sample(sample: Sample) -> Design:
    """The design of a stored sample."""
    strata: dict[Unit, int] = {}
    for number, query, docs in sample.frame:
        if sample.unit in ("queries", "query-steps"):
            strata[query, None] = number
        else:
            strata |= {(query, doc): number for doc in docs}
    return Design(
        name=sample.name,
        unit=sample.unit,
        documents=sample.documents,
        strata=strata,
        drawn=tuple((unit.query, unit.doc) for unit in sample.units),
        probabilities=tuple(u.probability for u in sample.units),
    )
