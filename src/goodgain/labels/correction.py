"""Means of measures and differences of systems, corrected by what people judged of a designed sample."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from goodgain.labels.linear import LONGEST, Reach, reach_of
from goodgain.labels.pooling import top_documents
from goodgain.ranking import Evaluator
from goodgain.stats.distributions import normal_ppf
from goodgain.stats.survey import Estimate, Steps, Units, estimate_from_steps, estimate_total

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.data.run import Run
    from goodgain.labels.designs import Design, Unit
    from goodgain.labels.scale import Gains
    from goodgain.measures import Measure

    Floats = NDArray[np.float64]

_SCALE = "\x00scale"  # a query with the highest grade, so that all label sets have the same one
_MOST_MISSING = 0.2  # of the drawn units, above which nothing is bounded any more
NAN = math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedMean:
    """The mean of a measure by the judge's labels and by people, and corrected; or a difference of two runs.

    `low` and `high` are undefined, and `more` says about how many more units people should judge, where
    the sample is too small for an interval that holds; `note` says why.
    """

    run: str
    measure: str
    labels: float
    human: float = NAN  # over the queries that people judged wholly
    corrected: float = NAN
    low: float = NAN
    high: float = NAN
    weight: float = NAN  # of the judge
    method: str = "none"
    judged: int = 0
    units: str = "queries"
    queries: int = 0
    more: int = 0
    note: str = ""
    baseline: str = ""  # of a difference

    @property
    def has_interval(self) -> bool:
        """Whether people judged enough for an interval."""
        return self.low == self.low

    @property
    def status(self) -> str:
        """What to print instead of an interval; empty if there is one."""
        if self.has_interval:
            return self.note
        if not self.more:
            return self.note
        noun = self.units if self.more > 1 else {"queries": "query", "pairs": "pair"}[self.units]
        return f"too few: about {self.more:,} more {noun}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything that corrected means are computed from."""

    human: Gains
    judge: Gains
    runs: tuple[Run, ...]
    design: Design
    scale: tuple[float, float]
    confidence: float
    generalise: bool  # to queries like these, rather than these alone


class Corrector:
    """The corrected means and differences of measures."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.queries = sorted(evidence.design.documents)
        self.frame: frozenset[Unit] = frozenset(
            (query, doc) for query, docs in evidence.design.documents.items() for doc in docs
        )
        self._lists = {run.name: top_documents(run, None) for run in evidence.runs}
        self.occurring = {
            gain
            for table in (evidence.human, evidence.judge)
            for gains in table.values()
            for gain in gains.values()
        }
        self.grades = sorted(self.occurring | set(evidence.scale))  # also the ends of the scale

    def of(self, measure: Measure) -> tuple[list[CorrectedMean], list[CorrectedMean]]:
        """Every run's mean, and the difference of every other run from the first."""
        return _OfMeasure(self, measure).results()

    def by_both(self, measure: Measure) -> Floats:
        """The values by people and by the judge, of queries judged wholly for all runs: run, side, query."""
        return _OfMeasure(self, measure).by_both()

    def ranked(self, run: str, measure: Measure) -> dict[str, list[str]]:
        """The documents that a measure can see, of every query."""
        cutoff = None if measure.definition.cutoff == "recall" else measure.cutoff
        cut = None if cutoff is None else int(cutoff)
        return {query: docs[:cut] for query, docs in self._lists[run].items()}


class _Plan(NamedTuple):
    """The units of a total, those drawn with their values, and those drawn without a judgment."""

    units: Units
    missing: list[int]  # places in `units.sampled`
    queries: list[int]  # of each unit, for the spread over queries


class _OfMeasure:
    """One measure over all runs."""

    def __init__(self, corrector: Corrector, measure: Measure) -> None:
        import numpy as np

        self.np = np
        self.corrector = corrector
        self.evidence = corrector.evidence
        self.design = corrector.evidence.design
        self.queries = corrector.queries
        self.number = {query: i for i, query in enumerate(self.queries)}
        self.measure = measure
        self.ranked = {
            run.name: corrector.ranked(run.name, measure) for run in corrector.evidence.runs
        }
        longest = max((len(d) for lists in self.ranked.values() for d in lists.values()), default=0)
        self.cut = measure.cutoff is not None and measure.definition.cutoff != "recall"
        length = max(1, min(longest, LONGEST))
        self.refusal = _refusal(measure)
        self.reach = Reach((), {}, False)
        if not self.refusal:
            self.reach = reach_of(measure, length, corrector.grades)
            self.by_length = {length: self.reach}
        self.grades = corrector.grades
        self.highest = max(corrector.occurring, default=1.0)
        self.too_long = longest > LONGEST
        self.pool = self._pool()

    def _pool(self) -> dict[str, set[str]]:
        """The documents that can count: those of the design, and what a cut-off shows of the runs."""
        pool = {query: set(docs) for query, docs in self.design.documents.items()}
        if self.cut:
            for lists in self.ranked.values():
                for query, docs in lists.items():
                    if query in pool:
                        pool[query].update(docs)
        return pool

    def results(self) -> tuple[list[CorrectedMean], list[CorrectedMean]]:
        names = list(self.ranked)
        judge = self._values(self.evidence.judge)
        if self.refusal:
            blank = [self._blank(name, judge, note=self.refusal) for name in names]
            return blank, []
        by_pairs = self.design.unit in ("pairs", "steps")
        if by_pairs and (not self.reach.linear or self.too_long):
            note = (
                f"{self.measure} is not a weighted sum of labels, so a sample of pairs cannot correct it; "
                "draw whole queries (goodgain labels sample --whole-queries)"
                if not self.too_long
                else f"a sample of pairs corrects {self.measure} only with a cut-off"
            )
            return [self._blank(name, judge, note=note) for name in names], []
        if by_pairs:
            return self._by_pairs(judge, names)
        return self._by_queries(judge, names)

    def _blank(self, run: str, judge: dict[str, Floats], **values: object) -> CorrectedMean:
        fields = {
            "run": run, "measure": self.measure.label, "labels": _mean(judge[run]),
            "queries": len(self.queries),
            "units": "pairs" if self.design.unit in ("pairs", "steps") else "queries",
        }  # fmt: skip
        return CorrectedMean(**{**fields, **values})  # type: ignore[arg-type]

    def _values(self, gains: Mapping[str, Mapping[str, float]]) -> dict[str, Floats]:
        """The value of every run on every query of the design; undefined without judgments."""
        known = {q: dict(docs) for q, docs in gains.items() if docs and q in self.number}
        known[_SCALE] = {_SCALE: self.highest}
        scored = Evaluator(known, self.measure).evaluate(list(self.evidence.runs))
        values = {}
        for scores in scored.runs:
            own = dict(zip(scores.queries, scores.column(self.measure), strict=True))
            values[scores.name] = self.np.array([own.get(query, NAN) for query in self.queries])
        return values

    # --- whole queries ---

    def _needed(self, run: str, query: str) -> set[str]:
        """The documents whose labels can change the value of a run on a query."""
        if not self.reach.local:
            return self.pool[query]
        return self.pool[query].intersection(self.ranked[run].get(query, ()))

    def wholly(self, run: str) -> NDArray[np.bool_]:
        """The queries of which people judged everything that counts."""
        human = self.evidence.human
        return self.np.array(
            [
                query in human and self._needed(run, query) <= human[query].keys()
                for query in self.queries
            ],
            dtype=bool,
        )

    def _human(self) -> Gains:
        """The labels of people, of documents that can count."""
        return {
            query: {doc: gain for doc, gain in docs.items() if doc in self.pool[query]}
            for query, docs in self.evidence.human.items()
            if query in self.pool
        }

    def by_both(self) -> Floats:
        """The values by people and by the judge, of queries judged wholly for all runs."""
        np = self.np
        whole = np.logical_and.reduce([self.wholly(name) for name in self.ranked])
        people, judge = self._values(self._human()), self._values(self.evidence.judge)
        both: Floats = np.stack(
            [np.stack([people[n][whole], judge[n][whole]]) for n in self.ranked]
        )
        return both

    def _by_queries(
        self, judge: dict[str, Floats], names: list[str]
    ) -> tuple[list[CorrectedMean], list[CorrectedMean]]:
        np = self.np
        people = self._values(self._human())
        whole = {name: self.wholly(name) for name in names}
        low, high = self.measure.definition.range.low, self.measure.definition.range.high
        means = []
        for name in names:
            values = np.where(whole[name], people[name], NAN)
            blank = self._blank(name, judge, human=_mean(values))
            means.append(self._query_mean(blank, judge[name], values, whole[name], (low, high)))
        differences = []
        for name in names[1:]:
            both = whole[name] & whole[names[0]]
            values = np.where(both, people[name] - people[names[0]], NAN)
            predictions = judge[name] - judge[names[0]]
            blank = replace(
                self._blank(name, judge, baseline=names[0], human=_mean(values)),
                labels=_mean(predictions),
            )
            differences.append(
                self._query_mean(blank, predictions, values, both, (low - high, high - low))
            )
        return means, differences

    def _query_mean(
        self, blank: CorrectedMean, predictions: Floats, values: Floats,
        whole: NDArray[np.bool_], possible: tuple[float, float],
    ) -> CorrectedMean:  # fmt: skip
        np = self.np
        if bool(np.isnan(values[whole]).any()):
            return replace(
                blank, note=f"{self.measure} is undefined for some of the judged queries"
            )
        if self.design.unit == "unknown" and not whole.all():
            return replace(blank, judged=int(whole.sum()))
        drawn = list(range(len(whole))) if whole.all() else self._drawn_queries(whole)
        missing = [i for i, place in enumerate(drawn) if not whole[place]]
        blank = replace(blank, judged=len(drawn) - len(missing))
        strata = np.array(
            [self.design.strata.get((q, None), 0) for q in self.queries], dtype=np.intp
        )
        units = Units(
            weights=np.ones(len(self.queries)),
            predictions=predictions,
            strata=strata,
            sampled=np.array(drawn, dtype=np.intp),
            values=values[drawn] if drawn else np.zeros(0),
            possible=possible,
        )
        plan = _Plan(units, missing, list(range(len(self.queries))))
        return self._finish(blank, plan, possible, self._estimator(len(drawn)))

    def _estimator(self, reached: int) -> Callable[[Units, float], Estimate]:
        """How to estimate a total from what was drawn: within strata, or one by one."""
        if not self.design.unit.endswith("steps"):
            return estimate_total
        probabilities = self.np.array(self.design.probabilities[:reached])

        def estimate(own: Units, confidence: float) -> Estimate:
            return estimate_from_steps(
                Steps(own.weights, own.predictions, own.sampled, own.values, probabilities),
                confidence,
            )

        return estimate

    def _drawn_queries(self, whole: NDArray[np.bool_]) -> list[int]:
        """The queries that were reached, in order; those after the last judged one are still to come."""
        if self.design.drawn is None:
            return [i for i, query in enumerate(self.queries) if self.evidence.human.get(query)]
        places = [self.number[query] for query, _ in self.design.drawn]
        return _reached(places, [bool(whole[place]) for place in places])

    # --- pairs ---

    def _by_pairs(
        self, judge: dict[str, Floats], names: list[str]
    ) -> tuple[list[CorrectedMean], list[CorrectedMean]]:
        weights = {name: self._weights(name) for name in names}
        means = [self._pair_mean(self._blank(name, judge), weights[name]) for name in names]
        differences = []
        for name in names[1:]:
            both = dict(weights[name])
            for pair, weight in weights[names[0]].items():
                both[pair] = both.get(pair, 0.0) - weight
            blank = replace(
                self._blank(name, judge, baseline=names[0]),
                labels=_mean(judge[name] - judge[names[0]]),
            )
            differences.append(
                self._pair_mean(blank, {p: w for p, w in both.items() if abs(w) > 1e-15})
            )
        return means, differences

    def _weights(self, run: str) -> dict[Unit, float]:
        """What each document of a run's lists contributes at the highest grade."""
        weights: dict[Unit, float] = {}
        for query, docs in self.ranked[run].items():
            if query not in self.number or not docs:
                continue
            reach = self.by_length.get(len(docs))
            if reach is None:
                reach = self.by_length[len(docs)] = reach_of(self.measure, len(docs), self.grades)
            weights |= {
                (query, doc): weight
                for doc, weight in zip(docs, reach.weights, strict=False)
                if weight
            }
        return weights

    def _pair_mean(self, blank: CorrectedMean, weights: dict[Unit, float]) -> CorrectedMean:
        np = self.np
        frame = self.corrector.frame
        outside = [pair for pair in weights if pair not in frame]
        if outside:
            query, doc = outside[0]
            return replace(
                blank,
                note=f"{len(outside):,} of {len(weights):,} documents that count could not be drawn, "
                f"such as '{doc}' of query '{query}'",
            )
        steps = self.design.unit == "steps"
        pairs: list[Unit] = sorted(frame if steps else weights)
        place = {pair: i for i, pair in enumerate(pairs)}
        shares = self.reach.shares
        judge, human = self.evidence.judge, self.evidence.human

        def share(gains: Gains, pair: Unit) -> float:
            gain = gains.get(pair[0], {}).get(str(pair[1]))
            return NAN if gain is None else shares[gain]

        order = (
            [pair for pair in pairs if str(pair[1]) in human.get(pair[0], {})]
            if self.design.drawn is None
            else list(self.design.drawn)
        )
        if all(str(doc) in human.get(query, {}) for query, doc in pairs):
            order = pairs  # however they were chosen
        order = _reached(order, [str(doc) in human.get(query, {}) for query, doc in order])
        chosen = [pair for pair in order if pair in place]
        values = np.array([share(human, pair) for pair in chosen], dtype=float)
        missing = np.flatnonzero(np.isnan(values)).tolist()
        possible = (min(shares.values()), max(shares.values()))
        blank = replace(blank, judged=len(chosen) - len(missing))
        units = Units(
            weights=np.array([weights.get(pair, 0.0) for pair in pairs]) / len(self.queries),
            predictions=np.array([share(judge, pair) for pair in pairs], dtype=float),
            strata=np.array([self.design.strata.get(pair, 0) for pair in pairs], dtype=np.intp),
            sampled=np.array([place[pair] for pair in chosen], dtype=np.intp),
            values=values,
            possible=possible,
        )
        plan = _Plan(units, missing, [self.number[query] for query, _ in pairs])
        return self._finish(blank, plan, possible, self._estimator(len(chosen)), mean=True)

    # --- both ---

    def _finish(
        self, blank: CorrectedMean, plan: _Plan, possible: tuple[float, float],
        estimate: Callable[[Units, float], Estimate], mean: bool = False,
    ) -> CorrectedMean:  # fmt: skip
        """The estimate as a mean; drawn units that nobody judged count as anything they could be."""
        factor = 1.0 if mean else 1 / len(self.queries)
        missing, drawn = plan.missing, len(plan.units.sampled)
        confidence = self.evidence.confidence
        note = ""
        if len(missing) > _MOST_MISSING * drawn:
            what = "not wholly judged" if not mean else "not judged"
            return replace(
                blank, note=f"{len(missing):,} of {drawn:,} drawn {blank.units} are {what}"
            )
        if missing and not math.isfinite(sum(possible)):
            return replace(
                blank,
                note=f"{len(missing):,} drawn {blank.units} are not judged, and nothing bounds them",
            )
        if missing:
            note = (
                f"holds for any judgment of {len(missing):,} drawn {blank.units} that nobody judged"
            )
            ends = []
            for end in possible:
                values = plan.units.values.copy()
                values[missing] = end
                ends.append(estimate(plan.units._replace(values=values), confidence).scaled(factor))
            result = max(ends, key=lambda e: e.more)
            result = result._replace(
                value=sum(e.value for e in ends) / 2,
                low=min(e.low for e in ends),
                high=max(e.high for e in ends),
            )
        else:
            result = estimate(plan.units, confidence).scaled(factor)
        if self.evidence.generalise and result.low == result.low:
            result = self._generalise(result, plan, factor)
        return replace(
            blank,
            corrected=result.value,
            low=result.low,
            high=result.high,
            weight=result.weight,
            method=result.method,
            more=result.more,
            note=result.reason or note,
        )

    def _generalise(self, result: Estimate, plan: _Plan, factor: float) -> Estimate:
        """Add what differs between queries: the interval of the mean over queries like these."""
        np = self.np
        units, count = plan.units, len(self.queries)
        quantile = normal_ppf(0.5 + self.evidence.confidence / 2)
        values = np.where(np.isnan(units.values), sum(units.possible) / 2, units.values)
        if factor == 1.0:
            weight = 0.0 if result.weight != result.weight else min(1.0, max(0.0, result.weight))
            each = units.weights * weight * np.nan_to_num(units.predictions)
            own = units.weights[units.sampled] * values
            inflate = len(units.weights) / max(1, len(units.sampled))
            each[units.sampled] += (own - each[units.sampled]) * inflate
            per_query = np.bincount(plan.queries, each, minlength=count) * count
            noise = count * ((result.high - result.low) / 2 / quantile) ** 2
            variance = max(0.0, float(per_query.var(ddof=1)) - noise) if count > 1 else NAN
        else:
            variance = float(values.var(ddof=1)) if len(values) > 1 else NAN
        more = quantile**2 * variance / count
        return result._replace(
            low=result.value - math.sqrt((result.value - result.low) ** 2 + more),
            high=result.value + math.sqrt((result.high - result.value) ** 2 + more),
        )


def _reached(drawn: Sequence[object], judged: Iterable[bool]) -> list:  # type: ignore[type-arg]
    """What was drawn, up to the last one that was judged: the order is random, so the rest is only late."""
    last = max((i for i, done in enumerate(judged) if done), default=-1)
    return list(drawn[: last + 1])


def _refusal(measure: Measure) -> str:
    definition = measure.definition
    if definition.column is not None or not definition.needs_labels:
        return f"{measure} does not depend on labels"
    if definition.aggregate != "mean":
        return f"{measure} is not a mean over queries"
    return ""


def _mean(values: Floats) -> float:
    """The mean of the values that are defined."""
    defined = values[values == values]
    return float(defined.mean()) if len(defined) else NAN
