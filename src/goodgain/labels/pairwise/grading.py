"""Grades from preferences, by Bradley and Terry's model."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.data.qrels import Qrels
from goodgain.errors import InputError, UsageError
from goodgain.labels.result import people_gains
from goodgain.labels.scale import Scale
from goodgain.results.frames import AsFrames
from goodgain.results.text import render_data
from goodgain.stats.bradley_terry import (
    OUTCOMES,
    Fit,
    Group,
    NoFiniteEstimateError,
    components,
    fit,
    win_shares,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.labels.pairwise.records import Choice

    Floats = NDArray[np.float64]

PRIOR = 2.0
_DRAWS = 1000


class Grade(NamedTuple):
    """A document's strength (log-odds, mean 0 per query) and grade, each with its interval."""

    query: str
    doc: str
    strength: float
    strength_low: float
    strength_high: float
    grade: float
    low: float
    high: float
    comparisons: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PreferenceGrades(AsFrames):
    """Grades from preferences, and how far the place of a document decided."""

    grades: tuple[Grade, ...]
    scale: tuple[float, float]
    mapping: str  # how strengths became grades
    prior: float | None
    position: float  # log-odds that being shown first adds; undefined if places are not known
    position_low: float
    position_high: float
    inconsistent: tuple[
        int, int
    ]  # pairs asked in both orders whose answers contradict, of how many
    preferences: int
    ties: int
    left_out: tuple[tuple[str, str], ...]  # documents that no comparison connects with most others
    confidence: float

    def to_dict(self, whole: bool = False) -> dict[str, dict[str, float]]:
        """{query: {doc: grade}}, as they are or as whole numbers; undefined ones are left out."""
        gains: dict[str, dict[str, float]] = {}
        for g in self.grades:
            if g.grade == g.grade:
                gain = math.floor(g.grade + 0.5) if whole else g.grade
                gains.setdefault(g.query, {})[g.doc] = float(gain)
        return gains

    def to_qrels(self) -> Qrels:
        """The grades as judgments."""
        return Qrels(self.to_dict(), name="grades from preferences")

    def rows(self) -> tuple[list[str], list[list[Any]]]:
        """Column names and a row per document."""
        return list(Grade._fields), [list(g) for g in self.grades]

    def render(self, format: str = "table") -> str:  # noqa: A002
        """As text."""
        return render_data(format, *self.rows())

    def warnings(self) -> list[str]:
        """What a reader of the grades should know."""
        messages = [f"grades are {self.mapping}"]
        if self.prior is not None:
            messages.append(f"strengths have a normal prior with standard deviation {self.prior:g}")
        if self.position == self.position:
            odds = math.exp(min(self.position, 50.0))
            interval = f"[{math.exp(self.position_low):.2f}, {math.exp(min(self.position_high, 50.0)):.2f}]"
            excludes = self.position_low > 0 or self.position_high < 0
            verdict = (
                "a preference for the place" if excludes else "no preference for the place shown"
            )
            messages.append(
                f"position: being shown first multiplies the odds by {odds:.2f} {interval}: {verdict}"
            )
        contradictions, both = self.inconsistent
        if both:
            messages.append(
                f"{contradictions:,} of {both:,} pairs got opposite answers in the two orders"
            )
        if self.left_out:
            query, doc = self.left_out[0]
            messages.append(
                f"{len(self.left_out):,} documents have no grade: no comparison connects them with the "
                f"others of their query, for example '{doc}' of query '{query}'"
            )
        undefined = sum(g.grade != g.grade for g in self.grades)
        if undefined:
            messages.append(
                f"{undefined:,} documents have a strength but no grade: too few anchors"
            )
        return messages

    def _frame_rows(self) -> tuple[list[str], list[list[Any]]]:
        return self.rows()

    def __str__(self) -> str:
        return self.render().rstrip("\n")

    def __repr__(self) -> str:
        return f"PreferenceGrades({len(self.grades):,} documents, {self.preferences:,} preferences)"


def grade_preferences(
    preferences: Iterable[Choice],
    *,
    scale: str | tuple[float, float] = (0, 4),
    anchors: Any = None,
    prior: float | None = PRIOR,
    confidence: float = 0.95,
    seed: int = 0,
) -> PreferenceGrades:
    """Fit strengths to preferences and turn them into grades.

    Without `anchors` a grade is the document's expected share of wins against the other documents of its
    query (a tie counts half), stretched over the scale: it orders documents within a query, and says
    nothing about how good they are. With `anchors`, people's gains of some documents, it is interpolated
    between the mean strengths of the anchors of each gain, and never beyond them.

    `prior` is the standard deviation of a normal prior of the strengths; None is maximum likelihood, which
    refuses a document that wins or loses all its comparisons.
    """
    ends = Scale.of(scale)
    if ends is None or (prior is not None and not prior > 0):
        raise UsageError(f"invalid scale or prior: {scale}, {prior}")
    listed = [_checked(p) for p in preferences]
    if not listed:
        raise InputError("there are no preferences")
    names, groups, left_out = _groups(listed)
    try:
        fitted = fit(groups, prior)
    except NoFiniteEstimateError:
        raise InputError(
            "the strengths are not finite: some document wins or loses all its comparisons",
            hint=f"use a prior (prior={PRIOR:g}), or compare more documents",
        ) from None
    if not fitted.converged:
        raise InputError("the strengths did not converge", hint="use a smaller prior")
    known = None if anchors is None else people_gains(anchors)
    grades = [
        grade
        for number, (query, docs) in enumerate(names)
        for grade in _grades(
            query, docs, fitted, number, groups[number], ends, known, confidence, seed
        )
    ]
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * fitted.position_error
    placed = fitted.position_error == fitted.position_error
    position = fitted.position if placed else math.nan
    return PreferenceGrades(
        grades=tuple(sorted(grades, key=lambda g: (g.query, -g.strength))),
        scale=(ends.low, ends.high),
        mapping=(
            "expected shares of wins within each query: they order documents, and say nothing about how "
            "good they are"
            if known is None
            else "interpolated between people's grades of some documents"
        ),
        prior=prior,
        position=position,
        position_low=position - reach,
        position_high=position + reach,
        inconsistent=_contradictions(listed),
        preferences=len(listed),
        ties=sum(p.choice == "same" for p in listed),
        left_out=tuple(left_out),
        confidence=confidence,
    )


def _checked(preference: Choice) -> Choice:
    if preference.choice not in OUTCOMES:
        raise InputError(
            f"unknown choice '{preference.choice}' for query '{preference.query}'",
            hint=f"one of: {', '.join(OUTCOMES)}",
        )
    if preference.first == preference.second:
        raise InputError(
            f"document '{preference.first}' of query '{preference.query}' is compared with itself"
        )
    return preference


def _groups(
    preferences: list[Choice],
) -> tuple[list[tuple[str, list[str]]], list[Group], list[tuple[str, str]]]:
    """The comparisons by query; only the largest connected set of documents has comparable strengths."""
    by_query: dict[str, list[Choice]] = {}
    for preference in preferences:
        by_query.setdefault(preference.query, []).append(preference)
    names, groups, left_out = [], [], []
    for query, own in by_query.items():
        docs = sorted({doc for p in own for doc in (p.first, p.second)})
        number = {doc: i for i, doc in enumerate(docs)}
        sets = components(len(docs), ((number[p.first], number[p.second]) for p in own))
        if len(sets) > 1 and len(sets[0]) == len(sets[1]):
            raise InputError(
                f"the comparisons of query '{query}' fall into {len(sets)} sets of documents that nothing "
                "connects",
                hint="strengths of different sets cannot be compared; ask about pairs across them",
            )
        left_out += [(query, docs[i]) for rest in sets[1:] for i in sorted(rest)]
        connected = [docs[i] for i in sorted(sets[0])]
        place = {doc: i for i, doc in enumerate(connected)}
        used = [p for p in own if p.first in place]
        names.append((query, connected))
        groups.append(
            Group(
                items=len(connected),
                first=tuple(place[p.first] for p in used),
                second=tuple(place[p.second] for p in used),
                place=tuple(p.place for p in used),
                outcome=tuple(OUTCOMES.index(p.choice) for p in used),
            )
        )
    return names, groups, left_out


def _grades(
    query: str,
    docs: list[str],
    fitted: Fit,
    number: int,
    group: Group,
    scale: Scale,
    anchors: Mapping[str, Mapping[str, float]] | None,
    confidence: float,
    seed: int,
) -> list[Grade]:
    import numpy as np

    strengths, covariance = fitted.strengths[number], fitted.covariances[number]
    generator = np.random.default_rng([seed, number])
    draws = generator.multivariate_normal(strengths, covariance, _DRAWS, check_valid="ignore")
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    if anchors is None:
        values, drawn = (win_shares(s, fitted.ties) for s in (strengths, draws))
        width = scale.high - scale.low
        values, drawn = scale.low + width * values, scale.low + width * drawn
    else:
        own = {i: anchors.get(query, {}).get(doc) for i, doc in enumerate(docs)}
        fixed = {i: g for i, g in own.items() if g is not None}
        values = _interpolated(strengths[None], fixed)[0]
        drawn = _interpolated(draws, fixed)
    counts = Counter(i for pair in zip(group.first, group.second, strict=True) for i in pair)
    reach = NormalDist().inv_cdf(tails[1])
    errors = np.sqrt(np.maximum(np.diag(covariance), 0))
    lows, highs = (
        np.quantile(drawn, tail, axis=0)
        if not np.isnan(values).any()
        else np.full(len(docs), np.nan)
        for tail in tails
    )
    return [
        Grade(
            query=query,
            doc=doc,
            strength=float(strengths[i]),
            strength_low=float(strengths[i] - reach * errors[i]),
            strength_high=float(strengths[i] + reach * errors[i]),
            grade=float(values[i]),
            low=float(lows[i]),
            high=float(highs[i]),
            comparisons=counts[i],
        )
        for i, doc in enumerate(docs)
    ]


def _interpolated(strengths: Floats, anchors: Mapping[int, float]) -> Floats:
    """Grades between the mean strengths of the anchors of each grade, which are made to rise with it."""
    import numpy as np

    grades = sorted(set(anchors.values()))
    if len(grades) < 2:
        return np.full(strengths.shape, np.nan)
    places = [[i for i, g in anchors.items() if g == grade] for grade in grades]
    result = np.empty(strengths.shape)
    for row, own in enumerate(strengths):
        means = _rising([float(own[p].mean()) for p in places], [len(p) for p in places])
        result[row] = np.interp(own, means, grades)
    return result


def _rising(values: list[float], weights: list[int]) -> list[float]:
    """The nearest sequence that never falls (pooling adjacent violators)."""
    blocks: list[tuple[float, int, int]] = []  # mean, weight, length
    for value, weight in zip(values, weights, strict=True):
        blocks.append((value, weight, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (a, wa, na), (b, wb, nb) = blocks[-2:]
            blocks[-2:] = [((a * wa + b * wb) / (wa + wb), wa + wb, na + nb)]
    return [mean for mean, _, length in blocks for _ in range(length)]


def _contradictions(preferences: list[Choice]) -> tuple[int, int]:
    """Pairs that one source saw in both orders, and how many of them got opposite answers."""
    winners: dict[tuple[str, str, str, str], dict[int, str]] = {}
    for p in preferences:
        if not p.place:
            continue
        leading = p.first if p.place > 0 else p.second
        a, b = sorted((p.first, p.second))
        winner = {"first": p.first, "second": p.second, "same": ""}[p.choice]
        winners.setdefault((p.source, p.query, a, b), {})[int(leading == a)] = winner
    both = [own for own in winners.values() if len(own) == 2]
    opposite = sum(bool(own[0] and own[1] and own[0] != own[1]) for own in both)
    return opposite, len(both)
