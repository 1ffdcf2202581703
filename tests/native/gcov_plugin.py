"""A pytest plug-in for scripts/cover.py that keeps gcov's counters: xdist ends its workers with os._exit."""

from __future__ import annotations

import ctypes
import os


def _exit_with_counters(status: int) -> None:
    ctypes.PyDLL(None).exit(status)  # the exit of C, which runs the destructor that saves them


os._exit = _exit_with_counters  # type: ignore[assignment]
