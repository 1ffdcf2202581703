"""Labels that settle which of two systems is ahead: the unjudged documents that could turn it round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError
from goodgain.labels.linear import LONGEST, Reach, reach_of
from goodgain.labels.pooling import top_documents
from goodgain.labels.result import gains_of
from goodgain.labels.scale import Scale
from goodgain.measures.grammar import parse_all
from goodgain.ranking import Evaluator
from goodgain.ranking.evaluator import several_runs

if TYPE_CHECKING:
    from collections.abc import Collection

    from goodgain.data.run import Run
    from goodgain.labels.frames import Pair
    from goodgain.labels.scale import Gains
    from goodgain.measures import Measure

_SCALE = "\x00scale"  # a query with the highest grade, so that bounds reach up to it
_PADDING = "\x00none"  # documents that fill a short list up to the cut-off


@dataclass(frozen=True, slots=True, kw_only=True)
class Settling:
    """Which system is ahead, whether unjudged documents could turn it round, and which labels would tell.

    `low` and `high` bound the mean difference of the first system from the second over all that the
    unjudged documents could be.
    """

    first: str
    second: str
    measure: str
    difference: float
    low: float
    high: float
    unjudged: int
    pairs: tuple[Pair, ...]

    @property
    def settled(self) -> bool:
        """Whether no label can turn it round."""
        return self.low > 0 or self.high < 0 or (self.unjudged == 0)

    @property
    def sentence(self) -> str:
        """The verdict, and what would settle it."""
        ahead, behind = (
            (self.first, self.second) if self.difference >= 0 else (self.second, self.first)
        )
        now = (
            f"{ahead} is ahead of {behind} by {self.measure} ({abs(self.difference):.4f})"
            if self.difference
            else f"{self.first} and {self.second} are level by {self.measure}"
        )
        if self.settled:
            rest = (
                f", whatever the {self.unjudged:,} unjudged documents are" if self.unjudged else ""
            )
            return f"{now}{rest}."
        if not self.pairs:
            return f"{now}; no number of labels is sure to settle it."
        one = len(self.pairs) == 1
        these = "this label" if one else f"these {len(self.pairs):,} labels"
        return (
            f"{now}, but the unjudged documents could reverse this ({self.low:+.4f} to {self.high:+.4f}): "
            f"{these} of {self.unjudged:,} would settle {self.first} against {self.second}, if "
            f"{'it comes' if one else 'they come'} out as expected."
        )


def one_measure(measure: str | Measure) -> Measure:
    """The only measure of a text: each would ask for labels of its own."""
    parsed = parse_all(measure)
    if len(parsed) != 1:
        listed = ", ".join(own.label for own in parsed)
        raise UsageError(f"which labels count most depends on one measure, got {listed}")
    return parsed[0]


def settling_labels(
    judgments: Any,
    first: Any,
    second: Any,
    measure: str | Measure = "nDCG@10",
    *,
    expected: Any = None,
    scale: str | tuple[float, float] | Scale = (0, 4),
) -> Settling:
    """The fewest labels found that settle which of two runs has the higher mean.

    A document counts as `expected` (a judge's labels; without one, as not relevant) until it is judged, and
    can be anything on the `scale`. The labels are chosen greedily by how much each narrows the bounds on the
    side that could turn the verdict round, and the set is checked by evaluating it. They are no random
    sample, so they never correct a mean.
    """
    parsed = one_measure(measure)
    runs = several_runs([first, second])
    declared = Scale.of(scale)
    if declared is None:
        raise UsageError("settling needs a scale", hint="for example 0..4")
    verdict = _Verdict(
        gains_of(judgments), runs, parsed, {} if expected is None else gains_of(expected), declared
    )
    return verdict.settling()


class _Verdict:
    """Two runs with the same queries, whose lists hold only what can count."""

    def __init__(
        self, judged: Gains, runs: list[Run], measure: Measure, expected: Gains, scale: Scale
    ) -> None:
        self.measure = measure
        self.names = (runs[0].name, runs[1].name)
        self.scale = scale
        cutoff = (
            None
            if measure.cutoff is None or measure.definition.cutoff == "recall"
            else int(measure.cutoff)
        )
        lists = [top_documents(run, cutoff) for run in runs]
        self.queries = sorted({*judged, *lists[0], *lists[1]})
        self.judged = {query: dict(judged.get(query, {})) for query in self.queries}
        self.lists = [{q: own.get(q, []) for q in self.queries} for own in lists]
        self.unjudged = [
            (query, doc)
            for query in self.queries
            for doc in dict.fromkeys([*self.lists[0][query], *self.lists[1][query]])
            if doc not in self.judged[query]
        ]
        self.expected = {
            (query, doc): expected.get(query, {}).get(doc, max(0.0, scale.low))
            for query, doc in self.unjudged
        }
        self.cutoff = cutoff
        self.grades = sorted(
            {scale.low, scale.high, *self.expected.values(), *scale.grades()}
            | {gain for docs in self.judged.values() for gain in docs.values()}
        )
        self.reaches: dict[int, Reach] = {}
        longest = max((len(docs) for own in self.lists for docs in own.values()), default=0)
        self.linear = longest <= LONGEST and self._reach(max(1, longest)).linear

    def _reach(self, length: int) -> Reach:
        if length not in self.reaches:
            self.reaches[length] = reach_of(self.measure, length, self.grades)
        return self.reaches[length]

    def _bounds(self, fixed: list[tuple[str, Collection[Pair]]]) -> list[tuple[float, float]]:
        """The bounds of the difference of each query, with some documents as expected.

        Exact for weighted sums of labels; for others the two systems are bounded apart, which is never too
        narrow.
        """
        if self.linear:
            return [self._linear_bounds(query, {doc for _, doc in pairs}) for query, pairs in fixed]
        gains: dict[str, dict[str, float]] = {_SCALE: {_SCALE: self.scale.high}}
        tables: list[dict[str, dict[str, float]]] = [
            {_SCALE: {_SCALE: 1.0}},
            {_SCALE: {_SCALE: 1.0}},
        ]
        for number, (query, pairs) in enumerate(fixed):
            key = f"{number:08d}"
            known = self.judged[query] | {doc: self.expected[query, doc] for _, doc in pairs}
            padding = {f"{_PADDING}{i}": 0.0 for i in range(self.cutoff or 0)}
            gains[key] = {**padding, **known}
            unknown = [
                doc
                for doc in dict.fromkeys([*self.lists[0][query], *self.lists[1][query]])
                if doc not in known
            ]
            for table, lists in zip(tables, self.lists, strict=True):
                own = lists[query]
                fill = list(padding)[: max(0, (self.cutoff or 0) - len(own))]
                order = [*own, *fill, *(doc for doc in unknown if doc not in own)]
                table[key] = {doc: float(len(order) - i) for i, doc in enumerate(order)}
        scored = Evaluator(gains, self.measure, unjudged="bounds").evaluate(
            {"first": tables[0], "second": tables[1]}
        )
        columns = [
            {
                b: dict(zip(run.queries, run.column(self.measure, b), strict=True))
                for b in ("lower", "upper")
            }
            for run in scored.runs
        ]
        keys = [f"{number:08d}" for number in range(len(fixed))]
        return [
            (columns[0]["lower"][key] - columns[1]["upper"][key],
             columns[0]["upper"][key] - columns[1]["lower"][key])
            for key in keys
        ]  # fmt: skip

    def _linear_bounds(self, query: str, fixed: set[str]) -> tuple[float, float]:
        net: dict[str, float] = {}
        shares: dict[float, float] = {}
        for sign, lists in zip((1, -1), self.lists, strict=True):
            docs = lists[query]
            reach = self._reach(len(docs)) if docs else None
            if reach is not None:
                shares = reach.shares
                for doc, weight in zip(docs, reach.weights, strict=False):
                    net[doc] = net.get(doc, 0.0) + sign * weight
        low = high = 0.0
        ends = [
            share for grade, share in shares.items() if self.scale.low <= grade <= self.scale.high
        ]
        for doc, weight in net.items():
            gain = self.judged[query].get(doc)
            if gain is None and doc in fixed:
                gain = self.expected[query, doc]
            values = [weight * share for share in (ends if gain is None else [shares[gain]])]
            low, high = low + min(values), high + max(values)
        return low, high

    def _mean_bounds(self, pairs: Collection[Pair]) -> tuple[float, float]:
        by_query: dict[str, list[Pair]] = {query: [] for query in self.queries}
        for pair in pairs:
            by_query[pair[0]].append(pair)
        bounds = self._bounds(list(by_query.items()))
        return (
            sum(low for low, _ in bounds) / len(bounds),
            sum(high for _, high in bounds) / len(bounds),
        )

    def settling(self) -> Settling:
        difference, _ = self._mean_bounds(self.unjudged)
        low, high = self._mean_bounds([])
        pairs: tuple[Pair, ...] = ()
        if self.unjudged and difference and low <= 0 <= high:
            pairs = self._fewest(1 if difference > 0 else -1)
        return Settling(
            first=self.names[0],
            second=self.names[1],
            measure=self.measure.label,
            difference=difference,
            low=low,
            high=high,
            unjudged=len(self.unjudged),
            pairs=pairs,
        )

    def _fewest(self, sign: int) -> tuple[Pair, ...]:
        """The shortest beginning of the documents, most telling first, that holds the verdict."""
        none = dict(zip(self.queries, self._bounds([(q, ()) for q in self.queries]), strict=True))
        alone = self._bounds([(query, [(query, doc)]) for query, doc in self.unjudged])
        side = 0 if sign > 0 else 1

        def narrowed(i: int) -> float:
            return sign * (alone[i][side] - none[self.unjudged[i][0]][side])

        order = sorted(range(len(self.unjudged)), key=lambda i: (-narrowed(i), self.unjudged[i]))
        ranked = [self.unjudged[i] for i in order]

        def holds(count: int) -> bool:
            return sign * self._mean_bounds(ranked[:count])[side] > 0

        few, many = 0, len(ranked)
        while many - few > 1:
            middle = (few + many) // 2
            few, many = (few, middle) if holds(middle) else (middle, many)
        return tuple(ranked[:many]) if holds(many) else ()
