"""Answers of traces as pairs: each is labelled once, against the gold answers of its conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.agentic.answers import PROMPT, answer_name, gold_answers
from goodgain.errors import InputError
from goodgain.labels.pairs import Pair
from goodgain.labels.traces import all_traces

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["PROMPT", "answer_pairs"]


def answer_pairs(
    source: Any,
    answers: Any,
    format: str | None = None,  # noqa: A002 - the command line's word
) -> Iterator[Pair]:
    """A pair for each answer of each conversation's last turn that has a gold answer.

    The question is the user's, with the gold answers below it; the document is the answer, under a name
    made of its text, so that systems and repeats with one answer share its label. Label them with a
    prompt for answers, and check with `good_gain(..., answers=labels)`.
    """
    gold = gold_answers(answers)
    pairs: dict[tuple[str, str], None] = {}
    known = False
    for trace in all_traces(source, format):
        accepted = gold.accepted.get(trace.conversation)
        known |= accepted is not None
        last = trace.turns[-1] if trace.turns else None
        if not accepted or last is None or not last.answer or not last.answer.strip():
            continue
        key = trace.conversation, answer_name(last.answer)
        if key not in pairs:
            pairs[key] = None
            yield Pair(*key, _question(last.user, accepted), last.answer)
    if not known:
        raise InputError(
            "none of the gold answers belongs to one of the conversations",
            where=gold.name,
            hint="answers and traces must use the same conversation names",
        )


def _question(user: str | None, accepted: tuple[str, ...]) -> str:
    first, *others = accepted
    also = "".join(f"\nAlso accepted: {other}" for other in others)
    return f"{user or '(the question is not recorded)'}\n\nCorrect answer: {first}{also}"
