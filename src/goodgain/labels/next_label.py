"""What to label next: drawn in proportion to what it is worth, so that its probability stays known."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.errors import UsageError
from goodgain.labels.frames import build_frame
from goodgain.labels.linear import LONGEST, reach_of
from goodgain.labels.people import read_votes
from goodgain.labels.pooling import top_documents
from goodgain.labels.result import people_gains
from goodgain.labels.sampling import (
    Drawn,
    Sample,
    Stratum,
    add_units,
    frame_rows,
    human_gains,
    optional_labels,
    read_sample,
    sample_names,
    shuffled,
    write_sample,
)
from goodgain.labels.settling import Settling, one_measure, settling_labels
from goodgain.labels.store import Store
from goodgain.ranking.evaluator import several_runs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.data.run import Run
    from goodgain.labels.frames import Pair
    from goodgain.labels.scale import Gains
    from goodgain.measures import Measure

__all__ = ["NextPair", "Settling", "next_pairs", "settling_labels"]

_EXPLORE = 0.1  # share of the draws that ignore the scores, so that everything can be drawn
_PRIOR = 4  # labels that the first guess of a spread is worth
_GUESS = 0.35  # of the spread of people's labels around the judge's, as a share of the scale

Unit = tuple[str, str | None]


class NextPair(NamedTuple):
    """A document to judge next.

    `effect` is its share of the variance that is left in the corrected mean or difference, and `probability`
    that of its draw among what was left.
    """

    query: str
    doc: str
    reason: str
    effect: float
    probability: float


def next_pairs(
    store: Store | str,
    runs: Any,
    *,
    count: int = 1,
    measure: str | Measure = "nDCG@10",
    against: tuple[str, str] | None = None,
    human: Any = None,
    seed: int = 0,
    name: str | None = None,
    depth: int = 10,
    model: str | None = None,
    prompt: str | None = None,
    setting: str | None = None,
) -> list[NextPair]:
    """The documents whose labels shrink the interval of the runs' corrected means fastest.

    With `against`, the names of two runs, that of their difference. They are drawn one by one, with
    probability in proportion to what they are expected to add to the variance (a tenth of the draws at
    random), and stored as a sample, so that `calibrate` can use them. For a measure that is not a
    weighted sum of labels whole queries are drawn. What was drawn before and nobody has judged or skipped
    comes first. Labels that people gave meanwhile sharpen the next draws; `name` is the sample to continue.
    """
    if count < 1:
        raise UsageError(f"the number to draw must be a positive integer, got {count}")
    store = Store.of(store)
    parsed = one_measure(measure)
    systems = several_runs(runs)
    chosen = _chosen_runs(systems, against)
    name = name or " ".join(["next", parsed.label, *(run.name for run in chosen)])
    judged = human_gains(store, human)
    labels = optional_labels(store, model, prompt, setting)
    judge = labels.to_dict() if labels is not None else {}
    worth = _Worth(parsed, chosen, judge, judged, difference=against is not None)
    with store.transaction():
        if name not in sample_names(store):
            frame = build_frame(labels, systems, depth)
            write_sample(store, _empty_sample(name, frame, worth.by_query, seed, depth, systems))
        sample = read_sample(store, name)
        if (sample.unit == "query-steps") != worth.by_query:
            raise UsageError(
                f"the sample '{name}' was begun for another measure", hint="choose another name"
            )
        documents = sample.documents
        wanted = _pending(store, sample, documents, judged)
        new: list[Drawn] = []
        left = _left(sample)
        scores = {
            unit: worth.of(unit, documents)
            for unit in (*left, *((u.query, u.doc) for u in sample.units))
        }
        total = sum(scores[unit] ** 2 for unit in left) or 1.0
        while left and len(wanted) < count:
            unit, probability = _draw(left, scores, f"{sample.seed} {len(sample.units) + len(new)}")
            new.append(Drawn(*unit, probability, "all", len(sample.units) + len(new)))
            left.remove(unit)
            wanted += [(unit, pair) for pair in _pairs_of(unit, documents, sample.seed)]
        add_units(store, name, new)
    probabilities = {(u.query, u.doc): u.probability for u in (*sample.units, *new)}
    return [
        NextPair(
            *pair,
            reason=worth.reason(pair, len(documents[pair[0]])),
            effect=scores[unit] ** 2 / total / (1 if unit[1] else len(documents[unit[0]])),
            probability=probabilities[unit],
        )
        for unit, pair in wanted[: None if worth.by_query else count]
    ]


def _chosen_runs(systems: list[Run], against: tuple[str, str] | None) -> list[Run]:
    by_name = {run.name: run for run in systems}
    if against is None:
        return systems
    unknown = [name for name in against if name not in by_name]
    if unknown or len(set(against)) != 2:
        raise UsageError(
            f"against must name two of the runs, got {', '.join(map(repr, against))}",
            hint=f"runs: {', '.join(by_name)}",
        )
    return [by_name[name] for name in against]


def _empty_sample(
    name: str, frame: Any, by_query: bool, seed: int, depth: int, systems: list[Run]
) -> Sample:
    unit = "query-steps" if by_query else "steps"
    members: list[Unit] = [(q, None) for q in frame.documents] if by_query else list(frame.pairs)
    return Sample(
        name=name,
        unit=unit,
        seed=seed,
        by=(),
        allocation="in proportion to the expected reduction of variance",
        depth=depth,
        runs=tuple(run.name for run in systems),
        strata=(Stratum("all", len(members), 0),),
        units=(),
        frame=frame_rows(frame, "queries" if by_query else "pairs", {"all": members}),
    )


def _pairs_of(unit: Unit, documents: Mapping[str, list[str]], seed: int) -> list[Pair]:
    query, doc = unit
    if doc is not None:
        return [(query, doc)]
    return [(query, d) for d in shuffled(documents[query], f"{seed} {query}")]


def _pending(
    store: Store, sample: Sample, documents: Mapping[str, list[str]], judged: Gains
) -> list[tuple[Unit, Pair]]:
    """What was drawn and has neither a label nor a vote."""
    seen = {(vote.query, vote.doc) for vote in read_votes(store)}
    return [
        ((unit.query, unit.doc), pair)
        for unit in sample.units
        for pair in _pairs_of((unit.query, unit.doc), documents, sample.seed)
        if pair not in seen and pair[1] not in judged.get(pair[0], {})
    ]


def _left(sample: Sample) -> list[Unit]:
    drawn = {(unit.query, unit.doc) for unit in sample.units}
    units: list[Unit] = (
        [(query, None) for _, query, _ in sample.frame]
        if sample.unit == "query-steps"
        else [(query, doc) for _, query, docs in sample.frame for doc in docs]
    )
    return [unit for unit in units if unit not in drawn]


def _draw(left: list[Unit], scores: Mapping[Unit, float], seed: str) -> tuple[Unit, float]:
    """One unit, and the probability with which it was drawn."""
    total = sum(scores[unit] for unit in left)
    share = 1 / len(left)
    point = random.Random(seed).random()
    probability = share
    for unit in left:
        probability = _EXPLORE * share + (1 - _EXPLORE) * scores[unit] / total if total else share
        point -= probability
        if point < 0:
            return unit, probability
    return left[-1], probability


class _Worth:
    """What a unit is expected to add to the standard error of the corrected mean or difference."""

    def __init__(
        self, measure: Measure, runs: list[Run], judge: Gains, human: Gains, *, difference: bool
    ) -> None:
        self.judge = judge
        self.runs = runs
        self.difference = difference
        cutoff = None if measure.cutoff is None else int(measure.cutoff)
        self.lists = {run.name: top_documents(run, cutoff or LONGEST) for run in runs}
        self.ranks: dict[str, dict[Pair, int]] = {
            name: {(q, d): i for q, docs in lists.items() for i, d in enumerate(docs, 1)}
            for name, lists in self.lists.items()
        }
        grades = {g for table in (judge, human) for docs in table.values() for g in docs.values()}
        longest = max((len(d) for lists in self.lists.values() for d in lists.values()), default=1)
        reach = reach_of(measure, max(1, longest), sorted(grades | {0.0, 1.0}))
        self.by_query = not reach.linear
        top = max((abs(w) for w in reach.weights), default=1.0)
        self.weights = (
            [w / top for w in reach.weights]
            if reach.linear
            else [1 / math.log2(rank + 1) for rank in range(1, longest + 1)]
        )
        self.spreads = self._spreads(human, max(grades, default=1.0) or 1.0)

    def _spreads(self, human: Gains, highest: float) -> dict[float | None, float]:
        """How far people are from each label of the judge, with a first guess."""
        errors: dict[float | None, list[float]] = defaultdict(list)
        for query, docs in human.items():
            for doc, gain in docs.items():
                label = self.judge.get(query, {}).get(doc)
                errors[label].append((gain - (label or 0.0)) / highest)
        return defaultdict(
            lambda: _GUESS,
            {
                label: math.sqrt(
                    (sum(e * e for e in own) + _PRIOR * _GUESS**2) / (len(own) + _PRIOR)
                )
                for label, own in errors.items()
            },
        )

    def of(self, unit: Unit, documents: Mapping[str, list[str]]) -> float:
        """The standard deviation that it stands for; of a whole query, over the root of its length."""
        query, doc = unit
        if doc is not None:
            return self._of_pair((query, doc))
        docs = documents[query]
        total = sum(self._of_pair((query, d)) ** 2 for d in docs)
        return math.sqrt(total / max(1, len(docs)))

    def _of_pair(self, pair: Pair) -> float:
        weights = []
        for name in self.ranks:
            rank = self.ranks[name].get(pair)
            weights.append(0.0 if rank is None else self.weights[rank - 1])
        weight = (
            abs(weights[0] - weights[1])
            if self.difference
            else math.sqrt(sum(w * w for w in weights) / len(weights))
        )
        return weight * self.spreads[self.judge.get(pair[0], {}).get(pair[1])]

    def reason(self, pair: Pair, documents: int) -> str:
        """Why a document is worth a label, without giving the judge's label away."""
        places = [
            f"rank {rank} of {name}"
            for name in self.ranks
            if (rank := self.ranks[name].get(pair)) is not None
        ]
        where = ", ".join(places) or "in no list of these runs, for what the others may miss"
        return f"{where}; its query has {documents} documents" if self.by_query else where


def judgments_with_votes(store: Store, qrels: Any = None) -> Gains:
    """Judgments, with those of people in the store over them."""
    gains: Gains = {} if qrels is None else people_gains(qrels)
    for query, docs in human_gains(store).items():
        gains.setdefault(query, {}).update(docs)
    return gains
