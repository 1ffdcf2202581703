"""The ledgers behind a Good Gain: those of the readers, and the core's counts of canonical traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goodgain.traces.ledger import Account, Ledger

_ACCOUNTS: tuple[Account, ...] = ("search", "empty", "failed", "unread", "open")


def ledger_of(
    calls: Iterable[tuple[str, int, int, int, int, int]],
    read: tuple[int, int, int],
    skipped: int,
    reader: Ledger | None = None,
) -> Ledger:
    """The reader's ledger with duplicates marked, or one from what the core counted.

    `calls` has a row per tool, `read` the numbers of conversations, results and duplicates.
    """
    from goodgain.traces.ledger import Ledger

    conversations, results, duplicates = read
    if reader is None:
        reader = Ledger()
        reader.meet("conversation", conversations + skipped)
        reader.enter("conversation", "read", number=conversations)
        reader.enter("conversation", "unusable", "invalid", number=skipped)
        for tool, *counts in calls:
            for account, number in zip(_ACCOUNTS, counts, strict=True):
                reader.meet("call", number)
                reader.enter("call", account, number=number, tool=tool or None)
        reader.meet("result", results)
        reader.enter("result", "result", number=results)
    reader.mark_duplicates(duplicates)
    return reader
