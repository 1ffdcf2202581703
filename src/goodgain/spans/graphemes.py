"""Where a text may be cut without tearing a character that a reader sees as one."""

from __future__ import annotations

import unicodedata

_JOINERS = "\u200d"
_EXTENDING = ("Mn", "Me", "Mc")


def is_boundary(text: str, place: int) -> bool:
    """Whether a text may be cut before the character at `place`.

    Not before combining marks, variation selectors, emoji modifiers and low surrogates, not around a joiner,
    not between a carriage return and its line feed, the two letters of a flag, or the letters of a Hangul
    syllable.
    """
    if place <= 0 or place >= len(text):
        return True
    before, after = text[place - 1], text[place]
    if before < "\u0300" and after < "\u0300":  # most of all text
        return not (before == "\r" and after == "\n")
    if after in _JOINERS or before in _JOINERS or unicodedata.category(after) in _EXTENDING:
        return False
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return False
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return False
    if _is_flag(before) and _is_flag(after):
        return _flags_before(text, place) % 2 == 0
    return not _joins_hangul(before, after)


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flags_before(text: str, place: int) -> int:
    count = 0
    while place - count > 0 and _is_flag(text[place - count - 1]):
        count += 1
    return count


def _joins_hangul(before: str, after: str) -> bool:
    """Whether two Hangul letters belong to one syllable: leading, vowel, trailing."""
    if not "\u1100" <= before <= "\ud7fb":
        return False
    vowel, trailing = "\u1160" <= after <= "\u11a7", "\u11a8" <= after <= "\u11ff"
    if "\u1100" <= before <= "\u115f":
        return vowel or "\u1100" <= after <= "\u115f" or "\uac00" <= after <= "\ud7a3"
    if "\u1160" <= before <= "\u11a7":
        return vowel or trailing
    if "\uac00" <= before <= "\ud7a3":
        without_trailing = (ord(before) - 0xAC00) % 28 == 0
        return trailing or (vowel and without_trailing)
    return "\u11a8" <= before <= "\u11ff" and trailing
