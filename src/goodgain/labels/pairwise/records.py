"""One preference, whoever has it."""

from __future__ import annotations

from typing import NamedTuple


class Choice(NamedTuple):
    """Which of two documents, or systems, is better for a query.

    `choice` is first, same or second; `place` is +1 if the first was shown first, -1 if it was shown
    second, and 0 if that is not known.
    """

    query: str
    first: str
    second: str
    choice: str
    place: int = 0
    source: str = ""
