"""Few-shot examples: people's own labels, shown to the judge, but never those of the query it judges."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.errors import InputError, UsageError
from goodgain.io.files import is_store
from goodgain.labels.result import people_gains, store_and_choice

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goodgain.labels.pairs import Pair
    from goodgain.labels.store import Setting, Store

TEXT_LIMIT = 2_000  # characters of an example's document


class Example(NamedTuple):
    """A pair with the gain that people gave it."""

    query: str
    doc: str
    question: str
    text: str
    gain: float


def choose_examples(
    human: Any,
    pairs: Iterable[Pair],
    count: int,
    *,
    seed: int = 0,
    store: Store | str | os.PathLike[str] | None = None,
    sample: str | None = None,
) -> tuple[Example, ...]:
    """Draw examples from people's labels: the grades in turn, at random within each, one per query.

    `human` is judgments in any form, or a store whose votes of people count. `pairs` have the texts. With
    `sample`, only pairs of that sample are drawn, which is in `store`, or where the votes are. One more
    than `count` is drawn, so that a query that is an example itself is still shown `count` others.
    """
    if count < 1:
        raise UsageError(f"the number of examples must be positive, got {count}")
    gains = people_gains(human)
    allowed = None
    if sample is not None:
        allowed = _sampled(store if store is not None else human, sample)
    by_grade: dict[float, list[Example]] = {}
    for pair in sorted(pairs, key=lambda p: (p.query, p.doc)):
        gain = gains.get(pair.query, {}).get(pair.doc)
        if gain is None or not pair.text.strip():
            continue
        if allowed is not None and (pair.query, pair.doc) not in allowed:
            continue
        text = pair.text[:TEXT_LIMIT]
        example = Example(pair.query, pair.doc, pair.question, text, float(gain))
        by_grade.setdefault(float(gain), []).append(example)
    generator = random.Random(seed)
    for own in by_grade.values():
        generator.shuffle(own)
    chosen: list[Example] = []
    questions: set[str] = set()
    while len(chosen) <= count and any(by_grade.values()):
        for grade in sorted(by_grade):
            own = by_grade[grade]
            while own and normalised(own[-1].question) in questions:
                own.pop()
            if own and len(chosen) <= count:
                chosen.append(own.pop())
                questions.add(normalised(chosen[-1].question))
    if len(chosen) <= count:
        raise InputError(
            f"{count} examples need people's labels of {count + 1} queries with texts, got {len(chosen)}",
            hint="an example is never of the query that is judged, and each query gives one",
        )
    return tuple(chosen)


def examples_for(examples: Sequence[Example], question: str, count: int) -> list[Example]:
    """The first `count` examples that are not of this question."""
    own = normalised(question)
    return [e for e in examples if normalised(e.question) != own][:count]


def example_pairs(setting: Setting) -> set[tuple[str, str]]:
    """The pairs that the judge was shown as examples: its labels of them say nothing about it."""
    return {(str(query), str(doc)) for query, doc in setting.parameters.get("examples", ())}


def same_question(example: Example, question: str) -> bool:
    """Whether an example is of this question."""
    return normalised(example.question) == normalised(question)


def normalised(text: str) -> str:
    """A question without differences of case and white space."""
    return " ".join(text.split()).casefold()


def _sampled(store: Any, name: str) -> set[tuple[str, str]]:
    from goodgain.labels.sampling import read_sample
    from goodgain.labels.store import Store

    if isinstance(store, str | os.PathLike) and is_store(os.fspath(store)):
        store = Store(store_and_choice(os.fspath(store))[0], read_only=True)
    if not isinstance(store, Store):
        raise UsageError(
            f"sample '{name}' is in a label store",
            hint="pass it as store= (--examples STORE, or --store)",
        )
    return set(read_sample(store, name).pairs())
