"""Assign nuggets to answers, by a judge or by people, and score the answers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError
from goodgain.labels.labeller import TEXT_LIMIT, label
from goodgain.labels.nuggets.answers import Answer, read_answers
from goodgain.labels.nuggets.bank import last_assignments, nugget_sources, read_nuggets
from goodgain.labels.nuggets.scores import AnswerNuggets, Assigned, NuggetScores
from goodgain.labels.nuggets.tasks import per_call, task_prompt
from goodgain.labels.pairs import Pair
from goodgain.labels.passport import judge_facts
from goodgain.labels.result import Labels
from goodgain.labels.store import Store
from goodgain.labels.template import cut

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from goodgain.labels.ensemble import Ensemble
    from goodgain.labels.judges.protocol import Judge
    from goodgain.labels.nuggets.bank import Nugget


def assign_nuggets(
    answers: Any,
    judge: Judge | Ensemble | str,
    store: Store | str | os.PathLike[str],
    *,
    source: str | None = None,
    queries: Mapping[str, str] | None = None,
    batch: int | None = None,
    **options: Any,
) -> NuggetScores:
    """Ask a judge which nuggets each answer contains, and score the answers.

    `answers` are {system: traces or rows}, or rows of {"system", "query_id", "question", "answer"}.
    `source` chooses the nuggets if the store has those of several. `options` are those of `label`:
    labels that the store has are not requested again, and `budget` and the others apply. One call asks
    about `batch` nuggets of an answer: 10 with a built-in judge, else 1.
    """
    opened = Store.of(store)
    bank = _bank(opened, source)
    listed = _with_questions(read_answers(answers), queries)
    prompt = task_prompt("nugget-assignment")
    labels = label(
        list(_pairs(listed, bank)),
        judge,
        opened,
        prompt=prompt,
        batch=batch or per_call(judge),
        **options,
    )
    return _scores(opened, listed, source, labels=labels)


def nugget_scores(
    answers: Any,
    store: Store | str | os.PathLike[str],
    *,
    source: str | None = None,
    annotator: str | None = None,
    model: str | None = None,
) -> NuggetScores:
    """Score answers by the assignments that a store has: of a person, or of a judge."""
    opened = store if isinstance(store, Store) else Store(store, read_only=True)
    listed = read_answers(answers)
    if annotator is not None:
        _refuse_repeats(listed)
        return _scores(opened, listed, source, annotator=annotator)
    prompt = task_prompt("nugget-assignment").version
    return _scores(opened, listed, source, labels=Labels.of(opened, model=model, prompt=prompt))


def _scores(
    store: Store,
    answers: list[Answer],
    source: str | None,
    *,
    labels: Labels | None = None,
    annotator: str | None = None,
) -> NuggetScores:
    bank = _bank(store, source)
    supports = _machine(labels) if labels is not None else _human(store, annotator or "")
    rows = []
    cuts = 0
    for answer in answers:
        nuggets = bank.get(answer.query, [])
        empty = answer.text is not None and not answer.text.strip()
        cuts += len(answer.text or "") > TEXT_LIMIT
        key = answer.id if labels is not None else answer._replace(repeat="").id
        rows.append(
            AnswerNuggets(
                system=answer.system,
                query=answer.query,
                repeat=answer.repeat,
                recorded=answer.text is not None,
                nuggets=tuple(
                    Assigned(n.vital, 0 if empty else supports.get((key, n.id))) for n in nuggets
                ),
            )
        )
    notes = [f"{cuts:,} answers were cut at {TEXT_LIMIT:,} characters"] if cuts else []
    return NuggetScores(
        answers=tuple(rows),
        nugget_source=source if source is not None else next(iter(nugget_sources(store)), ""),
        assigned_by=annotator or (labels.setting.model if labels is not None else ""),
        notes=tuple(notes),
        judge=None if labels is None else judge_facts(labels),
    )


def _machine(labels: Labels) -> dict[tuple[str, str], int]:
    """Support by answer and nugget; of a mean over an ensemble the nearest, the lower of two."""
    return {
        (row.query, row.doc): -int(-row.gain // 1) if row.gain % 1 > 0.5 else int(row.gain // 1)
        for row in labels
        if row.gain is not None
    }


def _human(store: Store, annotator: str) -> dict[tuple[str, str], int]:
    assigned = last_assignments(store, annotator)
    if not assigned:
        raise InputError(f"the store has no assignments of '{annotator}'", where=store.path)
    return {
        (Answer(system, query, "", None).id, nugget): support
        for (query, system, nugget), support in assigned.items()
    }


def _refuse_repeats(answers: list[Answer]) -> None:
    """People's assignments name a query and a system, so they belong to one answer of it."""
    counts = Counter((answer.query, answer.system) for answer in answers)
    for (query, system), count in counts.items():
        if count > 1:
            raise InputError(
                f"system '{system}' has {count} answers to query '{query}', and assignments of people do not "
                "say to which they belong",
                hint="give each repeat its own system name",
            )


def _bank(store: Store, source: str | None) -> dict[str, list[Nugget]]:
    bank = read_nuggets(store, source)
    if not bank:
        raise InputError(
            "the label store has no nuggets" + (f" of '{source}'" if source else ""),
            where=store.path,
            hint="make them with `goodgain label --task nuggets`, or import them",
        )
    return bank


def _pairs(answers: list[Answer], bank: Mapping[str, list[Nugget]]) -> Iterator[Pair]:
    for answer in answers:
        if answer.text is None or not answer.text.strip():
            continue
        text, _ = cut(answer.text, TEXT_LIMIT)
        for nugget in bank.get(answer.query, []):
            yield Pair(
                query=answer.id,
                doc=nugget.id,
                question=answer.question,
                text=nugget.text,
                answer=text,
            )


def _with_questions(answers: list[Answer], queries: Mapping[str, str] | None) -> list[Answer]:
    """The answers with the texts of their questions."""
    result = []
    for answer in answers:
        question = answer.question or (queries or {}).get(answer.query, "")
        if not question.strip():
            raise UsageError(
                f"no question for query '{answer.query}'",
                hint="rows have a field 'question', or queries= (--queries) has the texts",
            )
        result.append(answer._replace(question=question))
    return result
