"""Ask a judge which of two documents is better, or read what people said.

Comparing all pairs of n documents takes n(n-1)/2 comparisons. The design takes random cycles through the
documents of a query instead: each gives every document two comparisons, and one is enough to connect them
all. Every pair is asked in both orders, so that a preference for a place cancels out and can be measured.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from goodgain.errors import InputError, UsageError
from goodgain.labels.labeller import TEXT_LIMIT, label, pairs_to_label
from goodgain.labels.nuggets.tasks import TaskPrompt, read_task
from goodgain.labels.pairs import Pair
from goodgain.labels.pairwise.records import Choice
from goodgain.labels.preferences import read_preferences
from goodgain.labels.store import Store
from goodgain.labels.template import block, cut

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from goodgain.labels.ensemble import Ensemble
    from goodgain.labels.judges.protocol import Judge
    from goodgain.labels.result import Labels

PER_DOCUMENT = 6  # comparisons of each document, in each order


def preference_prompt() -> TaskPrompt:
    """The prompt that asks for a preference."""
    return read_task(Path(__file__).parent / "preference.txt", "preference")


def compare_documents(
    pairs: Any,
    judge: Judge | Ensemble | str,
    store: Store | str | os.PathLike[str] | None = None,
    *,
    per_document: int = PER_DOCUMENT,
    seed: int = 0,
    **options: Any,
) -> list[Choice]:
    """Ask a judge which of two documents of a query is better, for a random design of pairs.

    `per_document` is the number of comparisons per document, or of all others if there
    are fewer. A call that failed gives no preference. `options` are those of `label`.
    """
    if per_document < 2:
        raise UsageError(f"per_document must be at least 2, got {per_document}")
    opened = Store.of(store)
    documents: dict[str, dict[str, Pair]] = {}
    for pair in pairs_to_label(pairs):
        if pair.text.strip():
            documents.setdefault(pair.query, {})[pair.doc] = pair
    comparisons = [
        _comparison(docs[first], docs[second])
        for query, docs in documents.items()
        for a, b in design(sorted(docs), per_document, f"{seed} {query}")
        for first, second in ((a, b), (b, a))
    ]
    if not comparisons:
        raise InputError("no query has two documents to compare")
    labels = label(
        comparisons, judge, opened, prompt=preference_prompt(), text_limit=3 * TEXT_LIMIT, **options
    )
    return list(judged_preferences(labels))


def judged_preferences(labels: Labels) -> Iterator[Choice]:
    """The preferences of a judge; those whose calls failed are missing, not ties."""
    for row in labels:
        if row.gain is None:
            continue
        first, second = (unquote(name) for name in row.doc.split("|"))
        choice = "first" if row.gain > 1 else "second" if row.gain < 1 else "same"
        yield Choice(row.query, first, second, choice, 1, labels.setting.model)


def design(documents: Sequence[str], per_document: int, seed: str) -> list[tuple[str, str]]:
    """Pairs to compare: random cycles through all documents, or all pairs if that is no more."""
    n = len(documents)
    if per_document >= n - 1:
        return [(a, b) for i, a in enumerate(documents) for b in documents[i + 1 :]]
    generator = random.Random(seed)
    chosen: dict[tuple[str, str], None] = {}
    for _ in range(20 * per_document):
        order = list(documents)
        generator.shuffle(order)
        for a, b in zip(order, order[1:] + order[:1], strict=True):
            chosen[min(a, b), max(a, b)] = None
        if 2 * len(chosen) >= per_document * n:
            break
    return list(chosen)


def people_choices(store: Store, annotator: str | None = None) -> list[Choice]:
    """What people said side by side; skipped ones are no preferences."""
    return [
        Choice(one.query, one.first, one.second, one.choice, _place(one.sides), one.annotator)
        for one in read_preferences(store)
        if one.choice != "skipped" and annotator in (None, one.annotator)
    ]


def _place(sides: str) -> int:
    """Where the first stood: `sides` names both in the order in which they were shown."""
    order: Mapping[str, int] = {"first second": 1, "second first": -1}
    return order.get(sides, 0)


def _comparison(first: Pair, second: Pair) -> Pair:
    texts = [cut(pair.text, TEXT_LIMIT)[0] for pair in (first, second)]
    return Pair(
        query=first.query,
        doc="|".join(quote(pair.doc, safe="") for pair in (first, second)),
        question=first.question,
        text="\n\n".join(block(text, number) for number, text in enumerate(texts, 1)),
    )
