"""The terminal that a command writes to: how wide it is, and whether it has colours.

Commands set it while they run. Without one, text is for files and pipes: as wide as it is, without colours.
"""

from __future__ import annotations

import os
import sys
from contextvars import ContextVar

from goodgain.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NARROWEST, WIDEST = 60, 200  # columns that tables are fitted to


@dataclass(frozen=True, slots=True)
class Screen:
    """Width in columns, None if there is no limit, and whether colours may be used."""

    width: int | None = None
    colour: bool = False

    def paint(self, text: str, *styles: str) -> str:
        """Text in styles, if there are colours."""
        if not self.colour or not text:
            return text
        return f"\x1b[{';'.join(_STYLES[style] for style in styles)}m{text}\x1b[0m"


_STYLES = {
    "bold": "1", "dim": "2", "better": "34", "worse": "33", "inverse": "7",
}  # fmt: skip
_FILE = Screen()
_SCREEN: ContextVar[Screen] = ContextVar("screen", default=_FILE)


def current() -> Screen:
    """The screen that is written to now."""
    return _SCREEN.get()


def use(screen: Screen) -> Any:
    """Write to this screen from now on; the result goes to `leave`."""
    return _SCREEN.set(screen)


def leave(token: Any) -> None:
    """Back to the screen before."""
    _SCREEN.reset(token)


def of_stream(stream: Any = None) -> Screen:
    """The screen behind standard output; no limit and no colours if it is no terminal."""
    stream = sys.stdout if stream is None else stream
    try:
        if not stream.isatty():
            return Screen()
        columns = os.get_terminal_size(stream.fileno()).columns
    except (AttributeError, OSError, ValueError):
        return Screen()
    stated = os.environ.get("COLUMNS", "")
    if stated.isdigit() and int(stated) > 0:
        columns = int(stated)
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return Screen(max(NARROWEST, min(WIDEST, columns or 80)), not plain)


def status_line(text: str, stream: Any) -> str:
    """A line that is drawn again and again, cut so that it never wraps; its end tells most."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns or 80
    except (AttributeError, OSError, ValueError):
        return text
    room = columns - 1  # some terminals wrap after the last column
    return text if len(text) <= room else f"…{text[len(text) - room + 1 :]}"
