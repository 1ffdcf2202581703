"""Labels of people: every vote stays in the store, and a named rule makes one gain of several votes.

>>> import goodgain as gg
>>> from goodgain.labels import Vote
>>> from goodgain.labels.people import aggregate, read_votes
>>> with gg.Store("labels.db") as store:
...     store.add_votes(Vote(annotator=name, query="q1", doc="d1", gain=gain)
...                     for name, gain in (("ann", 3), ("bob", 2), ("cem", 3)))
...     aggregate(read_votes(store), "majority").gains
3
{'q1': {'d1': 3.0}}
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from goodgain.errors import InputError, UsageError
from goodgain.labels.checksums import storable
from goodgain.labels.store import now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from goodgain.labels.scale import Gains
    from goodgain.labels.store import Store

Method = Literal["majority", "mean", "median", "dawid-skene"]
VOTE_STATUSES = ("label", "skipped", "withdrawn")
ADJUDICATION = "adjudication"  # how the source of a vote starts that settles a disagreement
ADJUDICATED_BY = "adjudicated by "  # how the name of its annotator starts
REVISED = "page, revised"  # and of one that replaces another when the model's label was visible


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """What one person said about one query and document.

    A later vote of the same person replaces it in every reading; a `withdrawn` one takes it back.
    """

    annotator: str
    query: str
    doc: str
    gain: float | None = None  # of a `label`, and of no other status
    status: str = "label"
    question: str = ""
    document: str | None = None  # the hash of the text that was seen
    low: float | None = None  # of the scale, if it is known
    high: float | None = None
    reason: str = ""
    note: str = ""
    seconds: float | None = None  # taken to vote
    source: str = ""  # a page or a file
    created: str = ""  # in UTC as `now()` gives it; when it is stored, if empty


class Aggregated(NamedTuple):
    """One gain per query and document, and the rule that made it of the votes."""

    gains: Gains
    method: str
    votes: dict[str, dict[str, int]]  # how many votes each gain rests on


def add_votes(store: Store, votes: Iterable[Vote]) -> int:
    """Add votes in one transaction; one that the store has already is left out. Returns the number added."""
    rows = []
    with store.transaction():
        for vote in votes:
            _check(vote)
            earlier = _created(store, vote)
            created = vote.created
            if created and _is_stored(store, vote):
                continue
            if not created:  # the last vote counts, whatever the clock says
                created = now()
                if earlier and earlier >= created:
                    created = just_after(earlier)
            row = {name: getattr(vote, name) for name in vote.__slots__}
            rows.append({**row, "question": store.question(vote.question), "created": created})
            store.insert("votes", rows[-1:])
    return len(rows)


def _check(vote: Vote) -> None:
    place = f"query '{vote.query}', document '{vote.doc}', annotator '{vote.annotator}'"
    if not vote.annotator.strip():
        raise InputError(f"a vote needs the name of its annotator: {place}")
    if vote.status not in VOTE_STATUSES:
        raise InputError(
            f"unknown status '{vote.status}' of a vote: {place}",
            hint=f"choose from: {', '.join(VOTE_STATUSES)}",
        )
    if (vote.status == "label") != (vote.gain is not None):
        raise InputError(f"a vote with status '{vote.status}' and gain {vote.gain}: {place}")
    if vote.gain is None:
        return
    if not math.isfinite(vote.gain):
        raise InputError(f"the gain of a vote must be a finite number, got {vote.gain}: {place}")
    low = -math.inf if vote.low is None else vote.low
    high = math.inf if vote.high is None else vote.high
    if not low <= vote.gain <= high:
        raise InputError(f"gain {vote.gain:g} is outside the scale {low:g} to {high:g}: {place}")


def _created(store: Store, vote: Vote) -> str | None:
    row = store.db.execute(
        "SELECT max(created) FROM votes WHERE query = ? AND doc = ? AND annotator = ?", _place(vote)
    ).fetchone()
    return str(row[0]) if row[0] is not None else None


def _is_stored(store: Store, vote: Vote) -> bool:
    row = store.db.execute(
        "SELECT count(*) FROM votes WHERE query = ? AND doc = ? AND annotator = ? AND created = ? "
        "AND status = ? AND coalesce(gain, -1e300) = ? AND reason = ? AND note = ?",
        (*_place(vote), vote.created, vote.status, -1e300 if vote.gain is None else float(vote.gain),
         storable(vote.reason, "TEXT"), storable(vote.note, "TEXT")),
    ).fetchone()  # fmt: skip
    return bool(row[0])


def _place(vote: Vote) -> tuple[str, str, str]:
    query, doc, annotator = (storable(v, "TEXT") for v in (vote.query, vote.doc, vote.annotator))
    return query, doc, annotator


def just_after(created: str) -> str:
    """The next time that sorts after another."""
    from datetime import datetime, timedelta

    form = "%Y-%m-%dT%H:%M:%S.%fZ"
    return (datetime.strptime(created, form) + timedelta(microseconds=1)).strftime(form)


def read_votes(store: Store, annotator: str | None = None, history: bool = False) -> list[Vote]:
    """The votes that count, of one person or of all, in the order of queries, documents and annotators.

    With `history` every vote, oldest first within each annotator, also those that were replaced or
    withdrawn.
    """
    names = [name for name in Vote.__slots__ if name != "question"]
    sql = (
        f"SELECT {', '.join(f'v.{name}' for name in names)}, q.text FROM votes v "
        "JOIN questions q ON q.id = v.question "
    )
    where = "" if annotator is None else "WHERE v.annotator = ? "
    values = () if annotator is None else (storable(annotator, "TEXT"),)
    votes: list[Vote] = []
    rows = store.db.stream(
        sql + where + "ORDER BY v.query, v.doc, v.annotator, v.created, v.id", values
    )
    for *row, question in rows:
        vote = Vote(**dict(zip(names, row, strict=True)), question=question)
        if not history and votes and _place(votes[-1]) == _place(vote):
            votes.pop()
        votes.append(vote)
    return votes if history else [vote for vote in votes if vote.status != "withdrawn"]


def annotators_of(store: Store) -> list[str]:
    """The names of all who have voted."""
    rows = store.db.execute("SELECT DISTINCT annotator FROM votes ORDER BY annotator")
    return [name for (name,) in rows]


def check_method(method: str) -> None:
    """Refuse an unknown way to aggregate votes."""
    if method not in METHODS:
        raise UsageError(
            f"unknown aggregation method for votes: '{method}'",
            hint=f"choose from: {', '.join(METHODS)}",
        )


def aggregate(votes: Iterable[Vote], method: str = "majority") -> Aggregated:
    """One gain per query and document; skipped ones count nowhere.

    majority: the most frequent gain, and of equally frequent ones the lowest. median: the lower one of
    two, so that it stays on the scale. dawid-skene: the most probable gain, with the confusion matrix of
    each annotator estimated by EM (Dawid & Skene, 1979). By any rule, the last adjudicated vote of a pair
    settles it, and counts as nobody's label otherwise.
    """
    check_method(method)
    scales: dict[tuple[float, float], str] = {}  # the first annotator of each
    by_pair: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    settled: dict[tuple[str, str], tuple[str, float]] = {}
    for vote in votes:
        if vote.low is not None and vote.high is not None:
            scales.setdefault((vote.low, vote.high), vote.annotator)
        if vote.source.startswith(ADJUDICATION):
            if vote.gain is not None:
                before = settled.get((vote.query, vote.doc), ("", 0.0))
                settled[vote.query, vote.doc] = max(before, (vote.created, float(vote.gain)))
        elif vote.gain is None:
            by_pair.get((vote.query, vote.doc), {}).pop(vote.annotator, None)
        else:
            by_pair[vote.query, vote.doc][vote.annotator] = float(vote.gain)
    if len(scales) > 1:
        names = ", ".join(f"{low:g} to {high:g} ({who})" for (low, high), who in scales.items())
        raise InputError(
            f"votes on different scales cannot be aggregated: {names}",
            hint="choose an annotator, or import them on one scale",
        )
    labelled = {pair: own for pair, own in by_pair.items() if own}
    gains: Gains = {}
    counts: dict[str, dict[str, int]] = {}
    results = METHODS[method](labelled) if labelled else {}
    results |= {pair: gain for pair, (_, gain) in settled.items()}
    for (query, doc), gain in results.items():
        gains.setdefault(query, {})[doc] = gain
        counts.setdefault(query, {})[doc] = len(labelled.get((query, doc), ())) or 1
    return Aggregated(gains, method, counts)


_Pairs = dict[tuple[str, str], dict[str, float]]  # gain by annotator


def _majority(pairs: _Pairs) -> dict[tuple[str, str], float]:
    result = {}
    for pair, own in pairs.items():
        counts = Counter(own.values())
        result[pair] = min(counts, key=lambda gain: (-counts[gain], gain))
    return result


def _each(rule: Callable[[list[float]], float]) -> Callable[[_Pairs], dict[tuple[str, str], float]]:
    return lambda pairs: {pair: rule(list(own.values())) for pair, own in pairs.items()}


def _median(gains: list[float]) -> float:
    ordered = sorted(gains)
    return ordered[(len(ordered) - 1) // 2]


def dawid_skene(
    pairs: _Pairs, rounds: int = 500, tolerance: float = 1e-9
) -> tuple[dict[tuple[str, str], dict[float, float]], dict[str, Any]]:
    """The probability of each gain for each pair, and the confusion matrix of each annotator.

    EM from the shares of the votes; counts are smoothed by a hundredth of a vote, so that a class that an
    annotator has never met is not impossible.
    """
    import numpy as np

    classes = sorted({gain for own in pairs.values() for gain in own.values()})
    people = sorted({name for own in pairs.values() for name in own})
    class_of = {gain: i for i, gain in enumerate(classes)}
    person_of = {name: i for i, name in enumerate(people)}
    items, annotators, votes = (
        np.array(values, dtype=np.intp)
        for values in zip(
            *(
                (i, person_of[name], class_of[gain])
                for i, own in enumerate(pairs.values())
                for name, gain in own.items()
            ),
            strict=True,
        )
    )
    truth = np.zeros((len(pairs), len(classes)))
    np.add.at(truth, (items, votes), 1.0)
    truth /= truth.sum(axis=1, keepdims=True)
    confusion = np.empty((len(people), len(classes), len(classes)))  # annotator, truth, vote
    last = -math.inf
    for _ in range(rounds):
        prior = truth.mean(axis=0)
        confusion[:] = 0.01
        np.add.at(confusion.transpose(0, 2, 1), (annotators, votes), truth[items])
        confusion /= confusion.sum(axis=2, keepdims=True)
        logs = np.tile(np.log(np.maximum(prior, 1e-300)), (len(pairs), 1))
        np.add.at(logs, items, np.log(confusion.transpose(0, 2, 1)[annotators, votes]))
        top = logs.max(axis=1, keepdims=True)
        truth = np.exp(logs - top)
        norm = truth.sum(axis=1, keepdims=True)
        truth /= norm
        likelihood = float((top + np.log(norm)).sum())
        if likelihood - last <= tolerance * abs(likelihood):
            break
        last = likelihood
    posterior = {
        pair: dict(zip(classes, row.tolist(), strict=True))
        for pair, row in zip(pairs, truth, strict=True)
    }
    return posterior, {name: confusion[i] for name, i in person_of.items()}


def _dawid_skene(pairs: _Pairs) -> dict[tuple[str, str], float]:
    if not pairs:
        return {}
    posterior, _ = dawid_skene(pairs)
    return {
        pair: min(shares, key=lambda gain: (-round(shares[gain], 12), gain))
        for pair, shares in posterior.items()
    }


METHODS: dict[str, Callable[[_Pairs], dict[tuple[str, str], float]]] = {
    "majority": _majority,
    "mean": _each(lambda gains: math.fsum(gains) / len(gains)),
    "median": _each(_median),
    "dawid-skene": _dawid_skene,
}
