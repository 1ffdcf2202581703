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
    if type(threads) is bool or not hasattr(threads, "__index__") or not 1 <= int(threads) < 2**63:
        raise UsageError(f"threads must be a positive integer, got {threads!r:.80}")
    return int(threads)


USUAL_MEMORY = 2**30
_POWERS = " kmgt"


def parse_size(value: int | float | str) -> float | None:
    """A positive number, with a unit in texts such as "2GB" or "1.5GiB"; None for anything else."""
    import re

    text = str(value).strip().lower().replace("_", "")
    match = re.fullmatch(r"(\d+(?:\.\d*)?(?:e\d{1,2})?)\s*([kmgt]?)(i?)b?", text)
    if match is None:
        return None
    size = float(match[1]) * (1024 if match[3] else 1000) ** _POWERS.index(match[2] or " ")
    return size if 0 < size < 2**63 else None


def memory_limit(memory: int | str | None) -> int:
    """The bytes that the rows of a run may take in memory: a number, or a text such as "2GB"."""
    if memory is None:
        return USUAL_MEMORY
    size = parse_size(memory)
    if size is None or size < 1:
        raise UsageError(
            f"memory must be a size such as '2GB', got {memory!r}",
            hint="a number of bytes, or a number with KB, MB, GB or TB",
        )
    return int(size)
