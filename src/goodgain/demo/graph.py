"""The demo's graph of documents: edges for containment and for mentions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(\(?)")


def edges(documents: Mapping[str, str]) -> list[tuple[str, str, float]]:
    """Edges from a name to what contains it (`os.path.join` to `os.path`) and to names in its text."""
    links = []
    for name, text in documents.items():
        parent = name.rpartition(".")[0]
        while parent and parent not in documents:
            parent = parent.rpartition(".")[0]
        if parent:
            links.append((name, parent, 1.0))
        mentioned = {_mention(name, word, call, documents) for word, call in _NAME.findall(text)}
        links += [(name, other, 1.0) for other in sorted(mentioned - {"", name, parent})]
    return links


def _mention(name: str, word: str, call: str, documents: Mapping[str, str]) -> str:
    """The document that a word names, in the nearest class or module; empty for a plain word."""
    if "." not in word and not call:
        return ""
    home = name
    while home:
        home = home.rpartition(".")[0]
        if (near := f"{home}.{word}" if home else word) in documents:
            return near
    return ""
