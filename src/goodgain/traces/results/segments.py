"""Text cut into pieces at marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator


def segments(pattern: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Each match of a pattern with the text from its end to the next match."""
    previous: re.Match[str] | None = None
    for mark in pattern.finditer(text):
        if previous is not None:
            yield previous, text[previous.end() : mark.start()]
        previous = mark
    if previous is not None:
        yield previous, text[previous.end() :]
