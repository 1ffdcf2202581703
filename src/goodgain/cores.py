"""The number of cores and threads to use."""

from __future__ import annotations

import os

from goodgain.errors import UsageError


def available_cores() -> int:
    """The number of cores that this process may use, which honours its affinity."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_count(threads: int | None) -> int:
    """The number of threads to use: the user's, or one for each available core."""
    if threads is None:
        return available_cores()
    if threads < 1:
        raise UsageError(f"threads must be a positive integer, got {threads}")
    return threads
