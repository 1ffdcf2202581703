"""The verdict of a check: hard requirements, floors, and the gate against the baseline.

Three outcomes, because a small set often cannot tell: *worse* needs evidence of a loss (a one-sided
sign-flip test, Holm over everything that gates), *no worse* needs evidence that any loss is below the
margin, and what has neither is *not enough evidence*. A new result that nobody judged may have any grade:
the verdict must hold for all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from goodgain.checks.matching import match
from goodgain.stats.corrections import correct
from goodgain.stats.effect import detectable_shift, queries_needed
from goodgain.stats.paired import Resampling, is_constant, randomisation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.checks.baseline import Baseline
    from goodgain.checks.golden import Case, GoldenSet
    from goodgain.checks.matching import Matches
    from goodgain.checks.session import Call
    from goodgain.measures.definition import Measure
    from goodgain.names import Unjudged

    Floats = NDArray[np.float64]

Outcome = Literal["no worse", "worse", "open", "not enough evidence"]
ALPHA = 0.05
MARGIN_SHARE = 0.02  # of the measure's range
_EXACT = 20  # cases that differ: all signs are tried
SMALLEST_TAG = 5  # with fewer cases a tag cannot show anything: 2^-4 > 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """One case: its call, what was matched, its values now and in the baseline, and what it failed."""

    case: Case
    call: Call
    matches: Matches
    values: Mapping[str, float]
    bounds: Mapping[str, tuple[float, float]]  # over all grades of new results that nobody judged
    before: Mapping[str, float] | None  # None: not in the baseline
    before_keys: tuple[str, ...] | None
    failures: tuple[str, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """What was returned."""
        return tuple(answer.key for answer in self.call.answers)

    def change(self, measure: str) -> float:
        """The value now minus that of the baseline; NaN without both."""
        return self.values.get(measure, math.nan) - (self.before or {}).get(measure, math.nan)

    def improvement(self, measure: str) -> float:
        """The change in the direction in which the measure is better; 0 without both values."""
        change = self.change(measure)
        return 0.0 if math.isnan(change) else _sign(measure) * change


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRow:
    """One measure over all cases or over those of a tag, against the baseline."""

    measure: str
    tag: str | None
    cases: int
    changed: int
    before: float
    now: float
    low: float  # the smallest and the largest mean that results nobody judged allow
    high: float
    margin: float
    p_worse: float  # corrected
    p_no_worse: float
    outcome: Outcome
    unjudged: int
    detectable: float | None  # the drop that would be caught four times out of five
    needed: int | None  # about how many cases would settle it

    @property
    def label(self) -> str:
        """The measure, and the tag if there is one."""
        return f"{self.measure} [{self.tag}]" if self.tag else self.measure


@lru_cache(maxsize=256)
def _sign(label: str) -> int:
    from goodgain.measures import parse

    return -1 if parse(label).lower_is_better else 1


def judge_cases(
    golden: GoldenSet,
    calls: Sequence[Call],
    baseline: Baseline | None,
    measures: Sequence[Measure],
    complete: bool,
) -> list[CaseResult]:
    """Match and measure every case, now and in the baseline."""
    now: dict[str, Matches] = {}
    then: dict[str, Matches] = {}
    before_keys: dict[str, tuple[str, ...]] = {}
    for case, call in zip(golden.cases, calls, strict=True):
        answers = baseline.answers_for(case) if baseline else None
        if answers is not None:
            before_keys[case.id] = tuple(answer.key for answer in answers)
            then[case.id] = match(case, answers, before_keys[case.id])
        known = before_keys.get(case.id, ())
        if complete:
            known = tuple(answer.key for answer in call.answers)
        now[case.id] = match(case, call.answers, known)
    expected = {e.measure for case in golden.cases for e in case.expect}
    wanted = [*measures, *_other_measures(expected - {m.label for m in measures})]
    # Without a baseline nothing says which results somebody has seen, and nothing is gated on them.
    values, bounds = _measured(golden, now, wanted, bounded=baseline is not None and not complete)
    before, _ = _measured(golden, then, wanted, bounded=False)
    results = []
    for case, call in zip(golden.cases, calls, strict=True):
        results.append(
            CaseResult(
                case=case,
                call=call,
                matches=now[case.id],
                # a call that failed says nothing about the quality of results
                values=values[case.id] if call.status in ("ok", "empty") else {},
                bounds=bounds[case.id],
                before=before.get(case.id),
                before_keys=before_keys.get(case.id),
                failures=tuple(_failures(case, call, now[case.id], values[case.id])),
            )
        )
    return results


def _other_measures(labels: set[str]) -> list[Measure]:
    from goodgain.measures import parse_all

    return list(parse_all(sorted(labels))) if labels else []


def _measured(
    golden: GoldenSet, matches: Mapping[str, Matches], measures: Sequence[Measure], bounded: bool
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, tuple[float, float]]]]:
    """{case: {measure: value}}, and the bounds; a case without anything relevant has no values."""
    from goodgain.ranking import evaluate

    judged = {name: m for name, m in matches.items() if any(m.grades.values())}
    values: dict[str, dict[str, float]] = {name: {} for name in matches}
    bounds: dict[str, dict[str, tuple[float, float]]] = {name: {} for name in matches}
    if not judged:
        return values, bounds
    qrels = {name: dict(m.grades) for name, m in judged.items()}
    run = {
        name: {d: float(len(m.documents) - i) for i, d in enumerate(m.documents)}
        for name, m in judged.items()
    }
    unjudged: Unjudged = (
        "bounds" if bounded and any(m.unjudged for m in judged.values()) else "nonrelevant"
    )
    scores = evaluate(qrels, {"now": run}, measures, ties="input", unjudged=unjudged, threads=1)[
        "now"
    ]
    for measure in measures:
        columns = [scores.column(measure)]
        if unjudged == "bounds":
            columns += [scores.column(measure, "lower"), scores.column(measure, "upper")]
        for query, value, *ends in zip(scores.queries, *columns, strict=True):
            values[query][measure.label] = float(value)
            low, high = ends or (value, value)
            bounds[query][measure.label] = (float(low), float(high))
    return values, bounds


def _failures(case: Case, call: Call, matches: Matches, values: Mapping[str, float]) -> list[str]:
    """What the case requires and did not get; an error and an empty answer are told apart."""
    if call.status == "timeout":
        return [f"timed out: {call.problem}"]
    if call.status == "error":
        return [f"error: {call.problem}"]
    failures = []
    if call.status == "empty" and case.grades:
        failures.append("no results")
    for kind, depth in case.must.items():
        ranks = [matches.ranks.get(name, math.inf) for name in case.grades]
        if kind == "hit" and min(ranks) > depth:
            failures.append(f"nothing relevant in the first {depth}{_where(min(ranks))}")
        if kind == "all" and max(ranks) > depth:
            missing = [name for name, r in zip(case.grades, ranks, strict=True) if r > depth]
            failures.append(f"not in the first {depth}: {', '.join(missing[:3])}")
    failures += [
        f"forbidden result {key} at rank {rank}" + (f" ({pattern})" if pattern != key else "")
        for rank, key, pattern in matches.forbidden
        if rank <= case.at
    ]
    for expectation in case.expect:
        value = values.get(expectation.measure, math.nan)
        if not expectation.holds(value):
            text = "undefined" if math.isnan(value) else f"{value:.4g}"
            failures.append(f"{expectation} expected, got {text}")
    return failures


def _where(rank: float) -> str:
    return "" if rank == math.inf else f" (first at rank {rank:g})"


# --- the gate ---


def gate_rows(
    results: Sequence[CaseResult],
    measures: Sequence[Measure],
    margins: Mapping[str, float],
    tags: Sequence[str],
    alpha: float = ALPHA,
    seed: int = 0,
    permutations: int = 100_000,
) -> list[GateRow]:
    """Every measure over all cases, and over those of each tag that has enough."""
    how = Resampling(permutations=max(permutations, 1), seed=seed)
    drafts = []
    for tag in (None, *tags):
        for measure in measures:
            pairs = [
                r for r in results
                if (tag is None or tag in r.case.tags)
                and r.call.status in ("ok", "empty")
                and not math.isnan(r.change(measure.label))
            ]  # fmt: skip
            if pairs:
                drafts.append(_Draft(measure, tag, pairs, margins[measure.label], how))
    count = max(1, len(drafts))
    at_point, at_best = (correct([d.p_worse[i] for d in drafts]) for i in (0, 1))
    return [
        draft.row(point, best, alpha, count)
        for draft, point, best in zip(drafts, at_point, at_best, strict=True)
    ]


class _Draft:
    """The tests of one row before they are corrected together."""

    def __init__(
        self,
        measure: Measure,
        tag: str | None,
        pairs: list[CaseResult],
        margin: float,
        how: Resampling,
    ) -> None:
        import numpy as np

        self.measure, self.tag, self.pairs, self.margin = measure, tag, pairs, margin
        label, sign = measure.label, measure.sign
        before = np.array([(r.before or {})[label] for r in pairs])
        point = np.array([r.values[label] for r in pairs])
        ends = np.array([r.bounds[label] for r in pairs])
        self.before, self.now = before, point
        self.low, self.high = ends[:, 0], ends[:, 1]
        worst, best = (ends[:, 0], ends[:, 1]) if sign > 0 else (ends[:, 1], ends[:, 0])
        self.gains = sign * (point - before)
        self.worst_gains, self.best_gains = sign * (worst - before), sign * (best - before)
        self.p_worse = [_p_above(-gains, how) for gains in (self.gains, self.best_gains)]
        self.p_no_worse = [
            _p_above(gains + margin, how) for gains in (self.gains, self.worst_gains)
        ]

    def row(self, p_worse: float, p_worse_at_best: float, alpha: float, tests: int) -> GateRow:
        outcome: Outcome = "not enough evidence"
        if not self.gains.any() and all(r.keys == r.before_keys for r in self.pairs):
            outcome = "no worse"  # nothing to test: the very results that were approved
        elif self.p_no_worse[1] < alpha:
            outcome = "no worse"
        elif p_worse_at_best < alpha and self.best_gains.mean() < 0:
            outcome = "worse"
        elif self.p_no_worse[0] < alpha or p_worse < alpha:
            outcome = "open"
        n = len(self.pairs)
        needed = None
        if outcome == "not enough evidence":
            mean = float(self.gains.mean())
            distance = mean + self.margin if mean > -self.margin else -mean
            needed = queries_needed(self.gains, distance, alpha)
            needed = needed if needed and needed > n else None
        return GateRow(
            measure=self.measure.label,
            tag=self.tag,
            cases=n,
            changed=int((self.gains != 0).sum()),
            before=float(self.before.mean()),
            now=float(self.now.mean()),
            low=float(self.low.mean()),
            high=float(self.high.mean()),
            margin=self.margin,
            p_worse=p_worse,
            p_no_worse=self.p_no_worse[0],
            outcome=outcome,
            unjudged=sum(len(r.matches.unjudged) for r in self.pairs),
            detectable=detectable_drop(self.gains, alpha / tests),
            needed=needed,
        )


def _p_above(gains: Floats, how: Resampling) -> float:
    """One-sided sign-flip p-value against "the mean is not above 0": exact where at most 20 differ."""
    if int((gains != 0).sum()) <= _EXACT:
        how = replace(how, permutations=1 << _EXACT)
    return randomisation([gains], "greater", how)[0].p


def detectable_drop(gains: Floats, alpha: float, power: float = 0.8) -> float | None:
    """The mean drop that a one-sided test catches with this power, if changes vary as they do now."""
    n = len(gains)
    if n < 2 or is_constant(gains):
        return None
    return detectable_shift(n, 2 * alpha, power) * float(gains.std(ddof=1)) / math.sqrt(n)


def default_margin(measure: Measure) -> float | None:
    """Two hundredths of the measure's range; None where it has no bounds."""
    span = measure.definition.range
    if not (math.isfinite(span.low) and math.isfinite(span.high)):
        return None
    return MARGIN_SHARE * (span.high - span.low)


def mean_values(results: Sequence[CaseResult], measures: Sequence[Any]) -> dict[str, float]:
    """The mean of every measure over the cases that have a value."""
    means = {}
    for measure in measures:
        values = [r.values.get(measure.label, math.nan) for r in results]
        values = [value for value in values if not math.isnan(value)]
        if values:
            means[measure.label] = sum(values) / len(values)
    return means
