"""A progress bar on standard error, drawn only in a terminal."""

from __future__ import annotations

import sys
import time

from goodgain.results.screen import status_line

_WIDTH = 24
_INTERVAL = 0.1  # seconds between two updates


class Progress:
    """How much of a task is done and how long the rest will take."""

    def __init__(self, label: str, total: int, enabled: bool) -> None:
        self._label = label
        self._total = total
        self._done = 0
        self._start = self._last = time.monotonic()
        self._enabled = enabled and total > 0 and sys.stderr.isatty()

    def advance(self) -> None:
        """Count one more as done."""
        self._done += 1
        now = time.monotonic()
        if self._enabled and (now - self._last > _INTERVAL or self._done == self._total):
            self._last = now
            left = (now - self._start) / self._done * (self._total - self._done)
            filled = round(_WIDTH * self._done / self._total)
            bar = (
                f"[{'#' * filled}{'.' * (_WIDTH - filled)}] "
                f"{self._done:,}/{self._total:,}, {left:.0f} s left"
            )
            line = status_line(f"{self._label} {bar}", sys.stderr)
            print(f"\r{line}\033[K", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Remove the bar."""
        if self._enabled:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
