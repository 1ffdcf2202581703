"""Splitters of documents into chunks, by offsets: every character of a text lies in a chunk.

Sizes and overlaps are in tokens of a tokenizer (`spans.tokens`). A token belongs to the chunk in which it
begins, white space to the chunk before it.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError
from goodgain.spans import boundaries
from goodgain.spans.graphemes import is_boundary
from goodgain.spans.tokens import Tokenizer, tokenizer_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Interval = tuple[int, int]
    # Where the pieces of text[start:end] begin, after the first.
    Boundaries = Callable[[str, int, int], list[int]]

SPLITTERS = {
    "tokens": "windows of `size` tokens",
    "sentences": "whole sentences, up to `size` tokens",
    "headings": "sections of Markdown; those above `size` tokens are split as by recursive",
    "recursive": "paragraphs, else lines, sentences, words, up to `size` tokens",
}
SIZE = 256
_LEVELS: tuple[Boundaries, ...] = (
    boundaries.paragraphs,
    boundaries.lines,
    boundaries.sentences,
    boundaries.words,
)


class Splitter:
    """A built-in splitter with its parameters.

    `size` is the largest number of tokens of a chunk (for headings: none by default), `overlap` how many of
    its last tokens the next chunk repeats at most, in whole sentences or lines where the splitter has them,
    and `level` the deepest heading that begins a section.
    """

    def __init__(
        self,
        name: str = "recursive",
        *,
        size: int | None = None,
        overlap: int | None = None,
        tokenizer: Any = None,
        level: int | None = None,
    ) -> None:
        if name not in SPLITTERS:
            from difflib import get_close_matches

            near = get_close_matches(name, SPLITTERS, n=1)
            suggestion = f"did you mean '{near[0]}'? " if near else ""
            raise UsageError(
                f"unknown splitter '{name}'",
                hint=f"{suggestion}available: {', '.join(SPLITTERS)}, or a function of a text",
            )
        if level is not None and name != "headings":
            raise UsageError(f"the splitter '{name}' has no level", hint="splitter 'headings' has")
        self.name = name
        self.size = None if size is None and name == "headings" else _size(size)
        self.overlap = _overlap(overlap, self.size)
        self.level = 6 if level is None else _level(level)
        self.tokenizer: Tokenizer = tokenizer_of(tokenizer)

    def __call__(self, text: str) -> list[Interval]:
        """The chunks of a text as (start, end); none if it has no token."""
        counted = _Counted(text, self.tokenizer)
        if not counted.starts:
            return []
        whole = (0, len(text))
        if self.name == "tokens":
            return self._pack(counted, counted.token_cuts(*whole))
        sections = self._sections(counted) if self.name == "headings" else [whole]
        kinds = _LEVELS if self.name != "sentences" else (boundaries.sentences, boundaries.words)
        return [
            chunk for section in sections for chunk in self._recursive(counted, *section, kinds)
        ]

    def _sections(self, counted: _Counted) -> list[Interval]:
        """From heading to heading; a heading without text of its own stays with the next section."""
        text = counted.text
        listed = boundaries.headings(text, self.level)
        cuts = [0]
        for number, (place, _) in enumerate(listed):
            before = listed[number - 1][0] if number else 0
            if number and not _has_body(text[before:place]):
                continue
            if counted.between(cuts[-1], place):
                cuts.append(place)
        return list(zip(cuts, [*cuts[1:], len(text)], strict=True))

    def _recursive(
        self, counted: _Counted, start: int, end: int, kinds: Sequence[Boundaries]
    ) -> list[Interval]:
        """Pieces of the first kind that fit, joined up to the size; larger ones by the next kind."""
        if self.size is None or counted.between(start, end) <= self.size:
            return [(start, end)]
        if not kinds:
            return self._pack(counted, counted.token_cuts(start, end))
        cuts = counted.cuts(start, end, kinds[0])
        chunks: list[Interval] = []
        fitting = [start]  # the cuts of pieces that wait to be joined
        for first, last in pairwise(cuts):
            if counted.between(first, last) <= self.size:
                fitting.append(last)
                continue
            chunks += self._pack(counted, fitting)
            chunks += self._recursive(counted, first, last, kinds[1:])
            fitting = [last]
        return chunks + self._pack(counted, fitting)

    def _pack(self, counted: _Counted, cuts: Sequence[int]) -> list[Interval]:
        """Neighbouring pieces joined up to the size, each chunk repeating the end of the one before it."""
        size = self.size or len(counted.starts)
        before = [counted.before(cut) for cut in cuts]  # tokens before each cut
        chunks: list[Interval] = []
        first, count = 0, len(cuts) - 1
        while first < count:
            last = first + 1
            while last < count and before[last + 1] - before[first] <= size:
                last += 1
            chunks.append((cuts[first], cuts[last]))
            if last == count:
                break
            following = last
            while (
                following - 1 > first
                and before[last] - before[following - 1] <= self.overlap
                and before[last + 1] - before[following - 1] <= size
            ):
                following -= 1
            first = following
        return chunks


class _Counted:
    """A text with the places of its tokens."""

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        self.text = text
        self.starts = sorted(start for start, _ in tokenizer.offsets(text))

    def before(self, place: int) -> int:
        """The tokens that begin before a place."""
        return bisect_left(self.starts, place)

    def between(self, start: int, end: int) -> int:
        """The tokens that begin between two places."""
        return self.before(end) - self.before(start)

    def cuts(self, start: int, end: int, find: Boundaries) -> list[int]:
        """The boundaries of pieces, each with a token and none inside a character."""
        return self._clean(find(self.text, start, end), start, end)

    def token_cuts(self, start: int, end: int) -> list[int]:
        """The boundaries of tokens."""
        own = self.starts[self.before(start) : self.before(end)]
        return self._clean(own[1:], start, end)

    def _clean(self, places: Sequence[int], start: int, end: int) -> list[int]:
        cuts = [start]
        for place in places:
            if self.between(cuts[-1], place) and is_boundary(self.text, place):
                cuts.append(place)
        if len(cuts) > 1 and not self.between(cuts[-1], end):  # nothing but white space is left
            cuts.pop()
        return [*cuts, end]


def _has_body(section: str) -> bool:
    """Whether a section has more than its heading, which may be underlined."""
    lines = [line for line in section.splitlines() if line.strip()]
    underlined = len(lines) > 1 and not lines[1].strip().strip("=-")
    return len(lines) > (2 if underlined else 1)


def _size(size: int | None) -> int:
    if size is None:
        return SIZE
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise UsageError(f"size must be a positive number of tokens, got {size!r}")
    return size


def _overlap(overlap: int | None, size: int | None) -> int:
    if overlap is None:
        return 0
    if isinstance(overlap, bool) or not isinstance(overlap, int) or overlap < 0:
        raise UsageError(f"overlap must be a number of tokens from 0, got {overlap!r}")
    if size is None and overlap:
        raise UsageError("an overlap needs a size", hint="size = 256")
    if size is not None and overlap >= size:
        raise UsageError(
            f"overlap must be smaller than size, got overlap {overlap} and size {size}"
        )
    return overlap


def _level(level: int) -> int:
    if isinstance(level, bool) or not isinstance(level, int) or not 1 <= level <= 6:
        raise UsageError(f"level must be from 1 to 6, got {level!r}")
    return level
