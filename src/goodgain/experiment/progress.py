"""A progress bar on standard error, where a person looks."""

from __future__ import annotations

import sys
import time

_WIDTH = 24
_EVERY = 0.1  # seconds between two pictures


class Progress:
    """How far a piece of work is, and how long it will take; silent where nobody looks."""

    def __init__(self, what: str, total: int, shown: bool) -> None:
        self._what = what
        self._total = total
        self._done = 0
        self._start = self._last = time.monotonic()
        self._shown = shown and total > 0 and sys.stderr.isatty()

    def step(self) -> None:
        """One more is done."""
        self._done += 1
        now = time.monotonic()
        if self._shown and (now - self._last > _EVERY or self._done == self._total):
            self._last = now
            left = (now - self._start) / self._done * (self._total - self._done)
            filled = round(_WIDTH * self._done / self._total)
            print(
                f"\r{self._what} [{'#' * filled}{'.' * (_WIDTH - filled)}] "
                f"{self._done:,}/{self._total:,}, {left:.0f} s left ",
                end="", file=sys.stderr, flush=True,
            )  # fmt: skip

    def close(self) -> None:
        """Take the bar away."""
        if self._shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
