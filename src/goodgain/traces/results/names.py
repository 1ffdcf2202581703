"""What tools call the fields of a result, and the lists that hold results.

Names are compared by their words, so `pageContent`, `page-content` and `page_content` are one.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|\d+")


def words_of(name: str) -> list[str]:
    """The words of a field's name, in lower case."""
    return [word.casefold() for word in _WORD.findall(name[:100])]
