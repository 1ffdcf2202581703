"""Make nuggets with a judge, from the good documents of each query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.errors import InputError, UsageError
from goodgain.labels.ensemble import Ensemble
from goodgain.labels.judges.replies import without_reasoning
from goodgain.labels.labeller import TEXT_LIMIT, label, pairs_to_label
from goodgain.labels.nuggets.bank import Nugget, add_nuggets
from goodgain.labels.nuggets.tasks import listed_nuggets, per_call, task_prompt
from goodgain.labels.pairs import Pair
from goodgain.labels.result import gains_of
from goodgain.labels.store import Store
from goodgain.labels.template import block, cut

if TYPE_CHECKING:
    import os

    from goodgain.labels.judges.protocol import Judge
    from goodgain.labels.result import Labels

WINDOW = 10  # documents per call
STORED_NUGGETS = 20  # per query, vital ones first, as in TREC RAG
_DOC = "nuggets"


class NewNuggets(NamedTuple):
    """What came of it; a query whose call failed has no nuggets, which is said."""

    nuggets: dict[str, list[Nugget]]
    failed: dict[str, str]  # query: why it has none
    without_documents: list[str]
    source: str


def make_nuggets(
    pairs: Any,
    judge: Judge | Ensemble | str,
    store: Store | str | os.PathLike[str],
    *,
    qrels: Any = None,
    threshold: float = 2,
    window: int = WINDOW,
    limit: int = STORED_NUGGETS,
    source: str | None = None,
    **options: Any,
) -> NewNuggets:
    """Make nuggets from the documents whose gain is at least `threshold`, and store them.

    The list of a query grows window by window of its documents; then each nugget is called vital or okay,
    and the first `limit` are stored, vital ones first. `qrels` are judgments in any form; without them
    all documents of `pairs` count as good. `options` are those of `label`.
    """
    if isinstance(judge, Ensemble):
        raise UsageError(
            "an ensemble cannot make nuggets: its members would word them differently",
            hint="make them with one judge; an ensemble may assign them",
        )
    opened = Store.of(store)
    questions, documents = _good_documents(pairs, qrels, threshold)
    lists: dict[str, list[str]] = {query: [] for query in documents}
    failed: dict[str, str] = {}
    prompt = task_prompt("nugget-making")
    rounds = (
        max((len(own) + window - 1) // window for own in documents.values()) if documents else 0
    )
    labels: Labels | None = None
    for number in range(rounds):
        batch = [
            _window_pair(query, questions[query], lists[query], own)
            for query, docs in documents.items()
            if query not in failed and (own := docs[number * window : (number + 1) * window])
        ]
        labels = label(
            batch, judge, opened, prompt=prompt, text_limit=window * TEXT_LIMIT, **options
        )
        lists |= _lists(labels, failed)
    vital = _importance(lists, questions, judge, opened, failed, options)
    name = source or (labels.setting.model if labels is not None else "")
    result: dict[str, list[Nugget]] = {}
    for query, texts in lists.items():
        if query in failed:
            continue
        nuggets = [Nugget(query, text, vital[query, text]) for text in texts]
        result[query] = sorted(nuggets, key=lambda n: not n.vital)[:limit]
    add_nuggets(opened, (n for own in result.values() for n in own), name)
    empty = [query for query in questions if query not in documents]
    return NewNuggets(result, failed, empty, name)


def _good_documents(
    source: Any, qrels: Any, threshold: float
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """The question of each query, and the texts of its good documents, best first."""
    gains = None if qrels is None else gains_of(qrels)
    questions: dict[str, str] = {}
    documents: dict[str, list[tuple[float, str]]] = {}
    for pair in pairs_to_label(source):
        questions.setdefault(pair.query, pair.question)
        gain = threshold if gains is None else gains.get(pair.query, {}).get(pair.doc)
        if gain is not None and gain >= threshold and pair.text.strip():
            documents.setdefault(pair.query, []).append((gain, pair.text))
    if not questions:
        raise InputError("there are no documents to make nuggets from")
    return questions, {
        query: [text for _, text in sorted(own, key=lambda item: -item[0])]
        for query, own in documents.items()
    }


def _window_pair(query: str, question: str, nuggets: list[str], documents: list[str]) -> Pair:
    texts = [cut(text, TEXT_LIMIT)[0] for text in documents]
    return Pair(
        query=query,
        doc=_DOC,
        question=question,
        text="\n\n".join(block(text, number) for number, text in enumerate(texts, 1)),
        narrative="\n".join(f"- {nugget}" for nugget in nuggets) or "(none yet)",
    )


def _lists(labels: Labels, failed: dict[str, str]) -> dict[str, list[str]]:
    """The lists of this round, read from the stored replies; a failed call leaves none."""
    raw = labels.raw_replies()
    lists: dict[str, list[str]] = {}
    for row in labels:
        nuggets = listed_nuggets(without_reasoning(raw.get((row.query, row.doc), "")) or "")
        if row.gain is None or nuggets is None:
            failed[row.query] = f"{row.status}: {row.detail}" if row.detail else row.status
        else:
            lists[row.query] = nuggets
    return lists


def _importance(
    lists: dict[str, list[str]],
    questions: dict[str, str],
    judge: Judge | str,
    store: Store,
    failed: dict[str, str],
    options: dict[str, Any],
) -> dict[tuple[str, str], bool]:
    """Which nuggets are vital; a query with one that could not be judged has no nuggets."""
    pairs = [
        Pair(query=query, doc=Nugget(query, text, True).id, question=questions[query], text=text)
        for query, texts in lists.items()
        if query not in failed
        for text in texts
    ]
    if not pairs:
        return {}
    by_id = {pair.doc: pair for pair in pairs}
    labels = label(
        pairs,
        judge,
        store,
        prompt=task_prompt("nugget-importance"),
        batch=per_call(judge),
        **options,
    )
    vital: dict[tuple[str, str], bool] = {}
    for row in labels:
        if row.gain is None:
            failed[row.query] = f"the importance of a nugget is {row.status}: {row.detail}"
        else:
            vital[row.query, by_id[row.doc].text] = row.gain >= 1
    return vital
