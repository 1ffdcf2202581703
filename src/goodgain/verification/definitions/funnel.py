"""The funnel once more, slowly: sets of names, and bounds by trying everything that is not known."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

NAN = math.nan


@dataclass(frozen=True)
class Course:
    """One run by the names of documents; `good` and `unlabelled` are those of all systems."""

    good: frozenset[str]
    unlabelled: frozenset[str]
    iterations: tuple[tuple[str, ...], ...]  # results of the scored turns, by iteration
    opened: frozenset[str] = frozenset()
    cited: frozenset[str] = frozenset()
    earlier: frozenset[str] = frozenset()  # returned or opened in earlier turns
    bad: frozenset[str] = frozenset()  # labelled, and not good
    markers: int = 0  # of the answer, that name nothing that is known
    has_answer: bool = True
    named: frozenset[str] = field(
        default=frozenset()
    )  # by the markers, in one of the possible worlds

    @property
    def returned(self) -> frozenset[str]:
        """What any search of the scored turns returned."""
        return frozenset(name for names in self.iterations for name in names)


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else NAN


def evidence_recall(c: Course) -> float:
    """|returned in E| / |E|."""
    return _ratio(len(c.good & c.returned), len(c.good))


def opened_recall(c: Course) -> float:
    """|opened in E| / |E|."""
    return _ratio(len(c.good & c.opened), len(c.good))


def cited_recall(c: Course) -> float:
    """|cited in E| / |E|."""
    return _ratio(len(c.good & (c.cited | c.named)), len(c.good)) if c.has_answer else NAN


def cited_of_returned(c: Course) -> float:
    """|cited, returned and in E| / |returned and in E|."""
    cited = c.good & c.returned & (c.cited | c.named)
    return _ratio(len(cited), len(c.good & c.returned)) if c.has_answer else NAN


def citation_precision(c: Course) -> float:
    """Good cited / labelled cited."""
    cited = (c.cited | c.named) & (c.good | c.bad)
    return _ratio(len(cited & c.good), len(cited)) if c.has_answer else NAN


def unsupported_citations(c: Course) -> float:
    """Cited things that nothing returned or opened."""
    if not c.has_answer:
        return NAN
    return len((c.cited | c.named) - c.returned - c.opened - c.earlier)


def dry_iterations(c: Course) -> float:
    """Iterations after the last with new evidence, while some was missing."""
    if not c.good:
        return NAN
    if c.good <= c.returned:
        return 0
    seen: set[str] = set()
    last = 0
    for i, names in enumerate(c.iterations, 1):
        if (set(names) - seen) & c.good:
            last = i
        seen |= set(names)
    return len(c.iterations) - last


MEASURES = {
    "EvidenceRecall": evidence_recall,
    "OpenedRecall": opened_recall,
    "CitedRecall": cited_recall,
    "CitedOfReturned": cited_of_returned,
    "CitationPrecision": citation_precision,
    "UnsupportedCitations": unsupported_citations,
    "DryIterations": dry_iterations,
}


def worlds(c: Course) -> Iterator[Course]:
    """Every way in which unlabelled documents may be good and markers may name something, or nothing."""
    open_names = sorted(c.unlabelled | (c.cited - c.good - c.bad))
    known = sorted(c.good | c.bad | c.unlabelled)
    news = [f"new good {i}" for i in range(c.markers)] + [f"new bad {i}" for i in range(c.markers)]
    for grades in product((False, True), repeat=len(open_names)):
        good = {name for name, is_good in zip(open_names, grades, strict=True) if is_good}
        # What no search returned is evidence only if a label says so; it still counts as a citation.
        evidence = c.good | (good & c.unlabelled)
        for targets in product([None, *known, *news], repeat=c.markers):
            named = frozenset(t for t in targets if t is not None)
            yield Course(
                good=evidence,
                unlabelled=frozenset(),
                iterations=c.iterations,
                opened=c.opened,
                cited=c.cited,
                earlier=c.earlier,
                bad=c.bad | (set(open_names) - good),
                has_answer=c.has_answer,
                named=named,
            )


def citation_worlds(c: Course) -> Iterator[tuple[int, int]]:
    """(good, cited) of the answer in every possible world."""
    for world in worlds(c):
        cited = world.cited | world.named
        outside = world.cited - c.unlabelled - c.good - c.bad
        for extra in range(len(outside) + 1):
            good = len(cited & world.good) + sum(n.startswith("new good") for n in world.named)
            yield good + extra, len(cited)


def bounds(name: str, c: Course) -> tuple[float, float]:
    """The lowest and the highest value over everything that is not known; NaN if it never has one."""
    if name == "CitationPrecision":
        shares = [good / n for good, n in citation_worlds(c) if n] if c.has_answer else []
        return (min(shares), max(shares)) if shares else (NAN, NAN)
    values = [value for world in worlds(c) if (value := MEASURES[name](world)) == value]
    return (min(values), max(values)) if values else (NAN, NAN)
