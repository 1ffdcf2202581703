"""Pieces of documents by offsets: where a text lies, and what unions of pieces share."""

from __future__ import annotations

import re

from goodgain.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Interval = tuple[int, int]

_SPACE = re.compile(r"\s+")
_CHUNK_ID = re.compile(r"(?s:(.+))#(\d+)-(\d+)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a document: characters `start` up to `end`, or, where these are unknown, only its text."""

    doc: str
    start: int | None
    end: int | None
    text: str = ""

    @property
    def length(self) -> int:
        """Its characters."""
        if self.start is None or self.end is None:
            return len(self.text)
        return self.end - self.start


def chunk_id(doc: str, start: int, end: int) -> str:
    """The id of a chunk, which says where it lies: `doc#start-end`."""
    return f"{doc}#{start}-{end}"


def parse_chunk_id(name: str) -> Piece | None:
    """The piece that an id `doc#start-end` names; None for any other id."""
    match = _CHUNK_ID.fullmatch(name)
    if match is None or int(match[2]) >= int(match[3]):
        return None
    return Piece(match[1], int(match[2]), int(match[3]))


def find_text(text: str, wanted: str, start: int = 0) -> Interval | None:
    """Where a text first lies at or after `start`: exactly, else with white space normalised."""
    place = text.find(wanted, start)
    if place >= 0 and wanted:
        return place, place + len(wanted)
    pattern = _flexible(wanted)
    match = pattern.search(text, start) if pattern else None
    return match.span() if match else None


def occurrences(text: str, wanted: str) -> int:
    """How often a text occurs, looked for as `find_text` does; at most 2 are counted."""
    first = find_text(text, wanted)
    if first is None:
        return 0
    return 1 if find_text(text, wanted, first[0] + 1) is None else 2


def _flexible(wanted: str) -> re.Pattern[str] | None:
    words = [re.escape(word) for word in wanted.split()]
    return re.compile(r"\s+".join(words)) if words else None


def normalised(text: str) -> str:
    """Without differences of white space and case, for quotes that no document locates."""
    return _SPACE.sub(" ", text).strip().casefold()


def merge(intervals: Iterable[Interval]) -> list[Interval]:
    """The union of intervals, in order."""
    merged: list[Interval] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def overlap(one: Sequence[Interval], other: Sequence[Interval]) -> list[Interval]:
    """What two unions of intervals, as `merge` returns them, have in common."""
    shared: list[Interval] = []
    i = j = 0
    while i < len(one) and j < len(other):
        start, end = max(one[i][0], other[j][0]), min(one[i][1], other[j][1])
        if start < end:
            shared.append((start, end))
        if one[i][1] < other[j][1]:
            i += 1
        else:
            j += 1
    return shared
