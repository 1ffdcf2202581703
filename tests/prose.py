"""The prose of a page: what is left of Markdown without code, tables, links' targets and markup."""

from __future__ import annotations

import re

FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,}).*?^(?P=fence)$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:(?<=\n\n)|\A)(?: {4}.*(?:\n|\Z))+")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
END = re.compile(r"(?<=[.!?])\s+(?=[A-Z*\"(\[])|[:;]\s")
WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")


def prose(text: str) -> str:
    """Sentences and list items, one paragraph a line; a code span becomes the word Code."""
    text = INDENTED.sub("", COMMENT.sub("", FENCE.sub("", text)))
    lines = [line for line in text.split("\n") if not line.lstrip().startswith(("|", "#", "!["))]
    text = re.sub(r"`+[^`]+`+", "Code", "\n".join(lines))
    text = re.sub(r"\]\([^)]*\)", "]", text)
    text = re.sub(r"\n(?=\s*(?:[-*] |\d+\. ))", "\n\n", text)
    paragraphs = [" ".join(block.split()) for block in re.split(r"\n\s*\n", text)]
    return "\n".join(re.sub(r"^(?:[-*] |\d+\. )", "", p) for p in paragraphs if p)


def sentences(text: str) -> list[list[str]]:
    """The words of every sentence; a colon and a semicolon end one, as a reader pauses there."""
    pieces = [piece for line in prose(text).split("\n") for piece in END.split(line)]
    return [words for words in map(WORD.findall, pieces) if words]


def syllables(word: str) -> int:
    """About how many syllables a word has: groups of vowels, without a silent e."""
    groups = re.findall(r"[aeiouy]+", word.lower().removesuffix("e"))
    return max(1, len(groups))


def grade(text: str) -> float:
    """The Flesch-Kincaid grade: about the years of school that a reader needs."""
    parsed = sentences(text)
    words = [word for sentence in parsed for word in sentence]
    if not words:
        return 0.0
    return 0.39 * len(words) / len(parsed) + 11.8 * sum(map(syllables, words)) / len(words) - 15.59
