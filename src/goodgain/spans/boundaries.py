"""Where paragraphs, lines, sentences, words and sections of a text begin."""

from __future__ import annotations

import re

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_LINE = re.compile(r"\n+")
_WORD = re.compile(r"\s+")
_SENTENCE = re.compile(
    r"(?P<stop>[.!?\u2026\u0964\u0965\u061f\u06d4]+)[\"'\u201d\u2019\u00bb)\]]*\s+"
    r"|[\u3002\uff01\uff1f\uff61]+[\"\u201d\u300d\u300f\uff09]*\s*|\n[^\S\n]*\n\s*"
)
# A full stop after one of these ends no sentence.
_ABBREVIATIONS = re.compile(
    r"mr|mrs|ms|dr|prof|sr|jr|st|vs|etc|e\.g|i\.e|eg|ie|cf|al|figs?|nos|nr|vol|pp|eds?|inc|ltd|co|corp|dept|est"
    r"|approx|resp|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|u\.s|u\.k|a\.m|p\.m|z\.b|d\.h|bzw|usw|ca",
    re.IGNORECASE,
)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_NOT_A_TITLE = re.compile(r"\s*(?:$|[-*+>|] ?|\d+[.)] |#{1,6} |    )")


def starts(text: str, start: int, end: int, pattern: re.Pattern[str]) -> list[int]:
    """The places after each match between two offsets."""
    return [m.end() for m in pattern.finditer(text, start, end) if start < m.end() < end]


def paragraphs(text: str, start: int, end: int) -> list[int]:
    """Where paragraphs begin, after the first."""
    return starts(text, start, end, _PARAGRAPH)


def lines(text: str, start: int, end: int) -> list[int]:
    """Where lines begin, after the first."""
    return starts(text, start, end, _LINE)


def words(text: str, start: int, end: int) -> list[int]:
    """Where words begin, after the first."""
    return starts(text, start, end, _WORD)


def sentences(text: str, start: int, end: int) -> list[int]:
    """Where sentences begin, after the first.

    They end with . ! ? before white space, with ideographic stops, and at blank lines. A full stop ends no
    sentence after an abbreviation or an initial, or before a small letter.
    """
    return [
        m.end()
        for m in _SENTENCE.finditer(text, start, end)
        if start < m.end() < end and not _goes_on(text, m)
    ]


def _goes_on(text: str, match: re.Match[str]) -> bool:
    if match["stop"] != ".":
        return False
    if "\n" in match[0] and re.search(r"\n\s*\n", match[0]):
        return False
    before = re.search(r"[\w.]*$", text[max(0, match.start() - 20) : match.start()])
    word = before[0] if before else ""
    is_initial = len(word) == 1 and word.isalpha() and word.isupper() and word != "I"
    return text[match.end()].islower() or is_initial or bool(_ABBREVIATIONS.fullmatch(word))


def headings(text: str, level: int) -> list[tuple[int, int]]:
    """(start, level) of each Markdown heading up to a level, outside code and front matter."""
    listed: list[tuple[int, int]] = []
    place = _after_front_matter(text)
    fence = ""
    previous: tuple[int, str] | None = None  # a line that may be the title of an underlined heading
    for line in text[place:].splitlines(keepends=True):
        bare = line.rstrip("\r\n")
        mark = _FENCE.match(bare)
        if fence:
            if mark and mark[1].startswith(fence) and not bare.strip().strip(fence[0]):
                fence = ""
            previous = None
        elif mark:
            fence, previous = mark[1], None
        elif atx := _ATX.match(bare):
            listed.append((place, len(atx[1])))
            previous = None
        elif previous and (underline := _SETEXT.match(bare)):
            listed.append((previous[0], 1 if underline[1][0] == "=" else 2))
            previous = None
        else:
            previous = None if _NOT_A_TITLE.match(bare) else (place, bare)
        place += len(line)
    return [(start, depth) for start, depth in listed if depth <= level]


def _after_front_matter(text: str) -> int:
    """Where the text begins after a block of YAML between lines of three dashes."""
    match = re.match(r"---[ \t]*\r?\n.*?\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)", text, re.DOTALL)
    return match.end() if match else 0
