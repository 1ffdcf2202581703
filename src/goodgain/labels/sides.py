"""The two sides of a calibration: the labels of people, and those of the judge."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.errors import InputError
from goodgain.labels.canaries import PREFIX
from goodgain.labels.examples import example_pairs
from goodgain.labels.people import REVISED, read_votes
from goodgain.labels.result import Labels, PeopleLabels, judgments_of, stored_labels

if TYPE_CHECKING:
    from goodgain.labels.scale import Gains
    from goodgain.labels.store import Store


class People(NamedTuple):
    """The labels of people, where several votes became one, and the store that they are in."""

    gains: Gains
    votes: str = ""
    store: Store | None = None
    revised: int = 0
    several: int = 0
    model: str = ""


def people_side(source: Any) -> People:
    """The labels of people, or of a model that stands for them."""
    labels = stored_labels(source, prefer="people")
    if labels is None:
        return People(judgments_of(source).to_dict())
    if not isinstance(labels, PeopleLabels):
        return People(labels.to_dict(), store=labels.store, model=labels.setting.model)
    votes = read_votes(labels.store, labels.annotator)
    voters = Counter((vote.query, vote.doc) for vote in votes if vote.gain is not None)
    return People(
        gains=labels.to_dict(),
        votes=labels.name,
        store=labels.store,
        revised=sum(vote.source.startswith(REVISED) for vote in votes),
        several=sum(count > 1 for count in voters.values()),
    )


def refuse_the_same(human: Any, judge: Any) -> None:
    """Labels agree with themselves perfectly, which says nothing: the store lacks one of the two sides."""
    first, second = stored_labels(human, prefer="people"), stored_labels(judge, prefer="model")
    if first is None or second is None or first.store.path != second.store.path:
        return
    if first.store.path == ":memory:" and first.store is not second.store:
        return
    if first.name != second.name:
        return
    if isinstance(first, Labels) and isinstance(second, Labels):
        if first.setting.digest != second.setting.digest:
            return
        lacks, hint = "labels of people", "goodgain judge STORE, or goodgain labels import"
    else:
        lacks, hint = "labels of a model", "goodgain label"
    raise InputError(
        f"both sides are the labels of {first.name}: the store has no {lacks}",
        where=first.store.path,
        hint=f"{hint}; or pass the other side as a separate file",
    )


class JudgeLabels(NamedTuple):
    """A judge's gains, the pairs that it failed to label, and the outcome of the canaries."""

    gains: Gains
    failed: set[tuple[str, str]]
    canaries: tuple[tuple[str, int, int], ...]
    store: Store | None = None
    scale: tuple[float, ...] = ()
    examples: frozenset[tuple[str, str]] = frozenset()  # pairs that the judge was shown

    def documents(self) -> dict[str, list[str]]:
        """The documents that the judge was asked about, of every query."""
        documents = {query: list(docs) for query, docs in self.gains.items()}
        for query, doc in sorted(self.failed):
            documents.setdefault(query, []).append(doc)
        return documents


def judge_side(source: Any, threshold: float) -> JudgeLabels:
    """The labels of the judge, with what it failed to label."""
    labels = stored_labels(source, prefer="model")
    if labels is None:
        return JudgeLabels(judgments_of(source).to_dict(), set(), ())
    failed: set[tuple[str, str]] = set()
    labelled: Counter[str] = Counter()
    good: Counter[str] = Counter()
    gains: dict[str, dict[str, float]] = {}
    for label in labels:
        kind = label.doc.removeprefix(PREFIX)
        if kind != label.doc:
            labelled[kind] += label.gain is not None
            good[kind] += label.gain is not None and label.gain >= threshold
        elif label.gain is None:
            failed.add((label.query, label.doc))
        else:
            gains.setdefault(label.query, {})[label.doc] = label.gain
    canaries = tuple(
        (kind, labelled[kind], good[kind]) for kind in sorted(labelled) if labelled[kind]
    )
    scale: tuple[float, ...] = ()
    examples: frozenset[tuple[str, str]] = frozenset()
    if isinstance(labels, Labels):
        scale = (float(labels.setting.low), float(labels.setting.high))
        examples = frozenset(example_pairs(labels.setting))
    return JudgeLabels(gains, failed, canaries, labels.store, scale, examples)
