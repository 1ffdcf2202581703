"""Labels whose ids are written differently from those of the traces, so that next to nothing has a gain.

Nobody can know what was meant, so ids are never changed; but what would match is said.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from goodgain.errors import GoodgainError
from goodgain.ranking.mismatch import Group, alike_notes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from goodgain.agentic.conversations import Conversation, Conversations
    from goodgain.data.qrels import Qrels

_MOST = 20  # conversations whose results are looked at
_SIDES = ("the traces have", "the labels have")


def conversation_notes(labels: Qrels, names: Collection[str]) -> list[str]:
    """What would match of the conversations that are not in the labels."""
    others = [name for name in names if name not in labels]
    return alike_notes(
        "conversations", [Group("", set(labels.queries).difference(names), others)], _SIDES
    )


def result_notes(
    labels: Qrels, conversations: Conversations, keys: Collection[tuple[str, str]]
) -> list[str]:
    """What would match of the results of these systems and conversations, none of which has a label."""
    chosen = set(islice((key for key in keys if key[1] in labels), _MOST))
    try:
        groups = [
            Group(one.name, set(labels[one.name]), ids)
            for one in conversations.read(chosen)
            if (ids := list(dict.fromkeys(_ids(one))))
        ]
    except GoodgainError:  # a pipe, or changed since
        return []
    groups = [group for group in groups if group.judged]
    if not groups:
        return []
    if notes := alike_notes("results", groups, _SIDES):
        return notes
    first = groups[0]
    return [
        f"none of the results of conversation '{first.query:.60}' is in its labels: the traces have "
        f"'{first.others[0]:.60}', the labels have '{min(first.judged):.60}'"
    ]


def _ids(conversation: Conversation) -> Iterator[str]:
    for iteration in conversation.iterations:
        for search in iteration:
            for counted in search.results:
                result = counted.result
                yield from filter(None, (result.id, *result.ids.values(), result.url))
