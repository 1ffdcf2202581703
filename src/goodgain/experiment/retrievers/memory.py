"""How much memory an index holds: its arrays, its sparse matrices, and what tells its own size."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def bytes_of(root: Any) -> int:
    """The bytes of all arrays that can be reached from here; text and small objects are not counted."""
    seen: set[int] = set()
    waiting, total = [root], 0
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, str | bytes | int | float | bool | type(None)):
            continue
        seen.add(id(value))
        size = getattr(value, "memory_usage", getattr(value, "nbytes", None))  # usearch, arrays
        if isinstance(size, int):
            total += size
        elif isinstance(value, Mapping):
            waiting += [v for v in value.values() if not isinstance(v, str | int | float)]
        elif isinstance(value, list | tuple | set):
            waiting += [v for v in value if not isinstance(v, str | int | float)]
        elif is_dataclass(value):
            waiting += [getattr(value, each.name) for each in fields(value)]
        elif hasattr(value, "__dict__") and not callable(value):
            waiting += list(vars(value).values())
    return total


def resident_bytes() -> int:
    """What this process holds in memory now; where that cannot be told, the most it ever held."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
