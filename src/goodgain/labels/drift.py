"""Whether a judge has changed: its agreement with people then and now, tested rather than looked at."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.stats import agreement
from goodgain.stats.corrections import correct
from goodgain.stats.paired import enough_to_resample

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_RESAMPLES = 2000
_EXACT = 11  # with at most so many queries that differ, every exchange is tried


class JudgedPair(NamedTuple):
    """A pair that people and the judge have labelled."""

    query: str
    doc: str
    human: float
    judge: float


class Canary(NamedTuple):
    """How often the judge labelled documents of one kind as it should."""

    kind: str
    good: bool  # whether they should be labelled good
    labelled: int
    right: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftTest:
    """One figure before and after, with the interval of the difference and a corrected p-value."""

    name: str
    before: float
    after: float
    difference: float
    low: float
    high: float
    p: float
    n: int

    def changed(self, alpha: float) -> bool:
        """Whether the difference is significant."""
        return self.p < alpha


def drift_tests(
    before: Sequence[JudgedPair],
    after: Sequence[JudgedPair],
    canaries: tuple[Sequence[Canary], Sequence[Canary]],
    *,
    threshold: float,
    confidence: float,
    seed: int = 0,
) -> list[DriftTest]:
    """Test every figure of agreement, the mean label and the canaries; p-values are Holm-corrected.

    Pairs that both have are compared pair by pair, with people's labels as they are now: then the labels of
    before and after are exchanged by query to find out what chance alone would do. Without shared pairs
    the queries are two samples, exchanged between the two.
    """
    old = {(p.query, p.doc): p for p in before}
    shared = [p for p in after if (p.query, p.doc) in old]
    if shared:
        earlier = [p._replace(judge=old[p.query, p.doc].judge) for p in shared]
        tests = _paired(earlier, shared, threshold, confidence, seed)
    else:
        tests = _unpaired(before, after, threshold, confidence, seed)
    tests += _canary_tests(*canaries)
    defined = [t for t in tests if t["p"] == t["p"]]
    for test, p in zip(defined, correct([t["p"] for t in defined]), strict=True):
        test["p"] = p
    return [DriftTest(**test) for test in tests]


def _statistics(grades: Floats, threshold: float) -> dict[str, Callable[[Floats], Floats]]:
    import numpy as np

    def mean_label(counts: Floats) -> Floats:
        total = counts.sum((-2, -1))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((counts.sum(-2) * grades).sum(-1) / total)

    return {
        "exact agreement": lambda c: agreement.within(c, grades, 0),
        "quadratic kappa": lambda c: agreement.kappa(c, grades, quadratic=True),
        "kappa at the threshold": lambda c: agreement.kappa_at(c, grades, threshold),
        "false-good rate": lambda c: agreement.false_good(c, grades, threshold),
        "missed-good rate": lambda c: agreement.missed_good(c, grades, threshold),
        "mean label": mean_label,
    }


def _matrices(pairs: Sequence[JudgedPair], grades: Floats) -> dict[str, Floats]:
    """A confusion matrix per query."""
    import numpy as np

    matrices: dict[str, Floats] = {}
    for pair in pairs:
        own = matrices.setdefault(pair.query, np.zeros((len(grades), len(grades))))
        i, j = np.searchsorted(grades, (pair.human, pair.judge))
        own[i, j] += 1
    return matrices


def _grades(*groups: Sequence[JudgedPair]) -> Floats:
    import numpy as np

    return np.unique([g for pairs in groups for p in pairs for g in (p.human, p.judge)])


def _paired(
    before: Sequence[JudgedPair],
    after: Sequence[JudgedPair],
    threshold: float,
    confidence: float,
    seed: int,
) -> list[dict[str, Any]]:
    import numpy as np

    grades = _grades(before, after)
    old, new = _matrices(before, grades), _matrices(after, grades)
    a, b = (np.stack([matrices[query] for query in new]) for matrices in (old, new))
    generator = np.random.default_rng(seed)
    n = len(a)
    weights = generator.multinomial(n, np.full(n, 1 / n), size=_RESAMPLES).astype(float)
    swaps = _swaps((a != b).any((1, 2)), generator)
    total_a, total_b = a.sum(0), b.sum(0)
    # Exchanging a query moves its difference from one side to the other.
    moved = np.tensordot(swaps, b - a, 1)
    tests = []
    for name, statistic in _statistics(grades, threshold).items():
        first, last = float(statistic(total_a)), float(statistic(total_b))
        drawn = statistic(np.tensordot(weights, b, 1)) - statistic(np.tensordot(weights, a, 1))
        chance = statistic(total_b - moved) - statistic(total_a + moved)
        tests.append(_test(name, first, last, drawn, chance, confidence, n, len(after)))
    return tests


def _swaps(differing: NDArray[np.bool_], generator: Any) -> Floats:
    """Which queries are exchanged, by sample: all ways if there are few, the identity among them."""
    import numpy as np

    places = np.flatnonzero(differing)
    if len(places) <= _EXACT:
        codes = np.arange(2 ** len(places))[:, None]
        bits = ((codes >> np.arange(len(places))) & 1).astype(float)
    else:
        bits = generator.integers(0, 2, (_RESAMPLES, len(places))).astype(float)
        bits[0] = 0
    swaps = np.zeros((len(bits), len(differing)))
    swaps[:, places] = bits
    return swaps


def _unpaired(
    before: Sequence[JudgedPair],
    after: Sequence[JudgedPair],
    threshold: float,
    confidence: float,
    seed: int,
) -> list[dict[str, Any]]:
    import numpy as np

    if not before or not after:
        return []
    grades = _grades(before, after)
    a, b = (np.stack([*_matrices(pairs, grades).values()]) for pairs in (before, after))
    generator = np.random.default_rng(seed)
    draws = [
        np.tensordot(generator.multinomial(len(m), np.full(len(m), 1 / len(m)), _RESAMPLES), m, 1)
        for m in (a, b)
    ]
    pooled = np.concatenate([a, b])
    order = np.argsort(generator.random((_RESAMPLES, len(pooled))), axis=1)
    sides = (order < len(a)).astype(float)
    sides[0] = np.arange(len(pooled)) < len(a)
    first_sums = np.tensordot(sides, pooled, 1)
    tests = []
    for name, statistic in _statistics(grades, threshold).items():
        first, last = float(statistic(a.sum(0))), float(statistic(b.sum(0)))
        drawn = statistic(draws[1]) - statistic(draws[0])
        chance = statistic(pooled.sum(0) - first_sums) - statistic(first_sums)
        queries = min(len(a), len(b))
        tests.append(_test(name, first, last, drawn, chance, confidence, queries, len(after)))
    return tests


def _test(
    name: str,
    before: float,
    after: float,
    drawn: Floats,
    chance: Floats,
    confidence: float,
    queries: int,
    pairs: int,
) -> dict[str, Any]:
    import numpy as np

    difference = after - before
    low = high = p = float("nan")
    drawn = drawn[~np.isnan(drawn)]
    if len(drawn) and enough_to_resample(queries, confidence) and difference == difference:
        tails = [(1 - confidence) / 2, (1 + confidence) / 2]
        low, high = (float(v) for v in np.quantile(drawn, tails))
    chance = chance[~np.isnan(chance)]
    if len(chance) and difference == difference:
        p = float(np.mean(np.abs(chance) >= abs(difference) - 1e-12))
    return {
        "name": name, "before": before, "after": after, "difference": difference, "low": low,
        "high": high, "p": p, "n": pairs,
    }  # fmt: skip


def _canary_tests(before: Sequence[Canary], after: Sequence[Canary]) -> list[dict[str, Any]]:
    """Fisher's exact test for each kind of canary that both have."""
    old = {c.kind: c for c in before}
    tests = []
    for new in after:
        first = old.get(new.kind)
        if first is None or not first.labelled or not new.labelled:
            continue
        shares = first.right / first.labelled, new.right / new.labelled
        nan = float("nan")
        tests.append({
            "name": f"canary {new.kind} labelled right", "before": shares[0], "after": shares[1],
            "difference": shares[1] - shares[0], "low": nan, "high": nan, "n": new.labelled,
            "p": fisher(first.right, first.labelled, new.right, new.labelled),
        })  # fmt: skip
    return tests


def fisher(first: int, first_total: int, second: int, second_total: int) -> float:
    """Fisher's exact test of two shares, two-sided: all tables no likelier than the observed one."""
    right, total = first + second, first_total + second_total
    low, high = max(0, right - second_total), min(first_total, right)
    ways = {k: comb(first_total, k) * comb(second_total, right - k) for k in range(low, high + 1)}
    return sum(w for w in ways.values() if w <= ways[first] * (1 + 1e-9)) / comb(total, right)


def changed_fields(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[tuple[str, str, str]]:
    """What of a judge's description differs: name, then, now."""
    names = dict.fromkeys([*before, *after])
    return [
        (name, _text(before.get(name)), _text(after.get(name)))
        for name in names
        if before.get(name) != after.get(name)
    ]


def _text(value: Any) -> str:
    return "none" if value in (None, "", {}, []) else str(value)
