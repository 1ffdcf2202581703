"""The number of cores and threads to use, and how much memory."""

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


USUAL_MEMORY = 2**30
_UNITS = {"": 1, "B": 1}
for _power, _letter in enumerate("KMGT", 1):
    _UNITS |= {_letter: 1000**_power, f"{_letter}B": 1000**_power, f"{_letter}IB": 1024**_power}


def memory_limit(memory: int | str | None) -> int:
    """The bytes that the rows of a run may take in memory: a number, or a text such as "2GB"."""
    if memory is None:
        return USUAL_MEMORY
    text = str(memory).strip()
    number = text.rstrip("kmgtibKMGTIB ")
    unit = _UNITS.get(text[len(number) :].strip().upper())
    try:
        size = int(float(number) * unit) if unit else 0
    except (ValueError, OverflowError):
        size = 0
    if not 0 < size < 2**63:
        raise UsageError(
            f"memory must be a size such as '2GB', got {memory!r}",
            hint="a number of bytes, or a number with KB, MB, GB or TB",
        )
    return size
