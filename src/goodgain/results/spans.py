"""Sentences in pieces: what the user's data say is told apart from our words, so that it can be isolated."""

from __future__ import annotations

from goodgain.errors import plain
from goodgain.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class UserText:
    """Text from the user's data: rendered verbatim, isolated from the text around it."""

    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    """Emphasised text."""

    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link to another place of the page: an address that starts with "#"."""

    text: str
    address: str


Span = str | UserText | Strong | Link


def spans_text(spans: Sequence[Span]) -> str:
    """A sentence as plain text."""
    return "".join(s if isinstance(s, str) else s.text for s in spans)


def spans_html(spans: Sequence[Span]) -> str:
    """A sentence as HTML, escaped; user text is isolated from the direction of the text around it."""
    from html import escape

    pieces = []
    for span in spans:
        if isinstance(span, str):
            pieces.append(escape(span))
        elif isinstance(span, Link):
            address = span.address if span.address.startswith("#") else "#"
            pieces.append(f'<a href="{escape(address)}">{escape(plain(span.text))}</a>')
        else:
            tag = "bdi" if isinstance(span, UserText) else "strong"
            pieces.append(f"<{tag}>{escape(plain(span.text))}</{tag}>")
    return "".join(pieces)
