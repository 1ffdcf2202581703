"""The memory of an index: its arrays, sparse matrices, and objects that report their own size."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import ModuleType
from typing import Any

_WITHOUT_ARRAYS = (str, bytes, int, float, bool, type(None), ModuleType)


def bytes_of(root: Any) -> int:
    """The bytes of all arrays reachable from an object; text and small objects do not count."""
    visited: set[int] = set()
    waiting, total = [root], 0
    while waiting:
        value = waiting.pop()
        if id(value) in visited or isinstance(value, _WITHOUT_ARRAYS):
            continue
        visited.add(id(value))
        size = _own_size(value)
        if isinstance(size, int):
            total += size
        elif isinstance(value, Mapping):
            waiting += [v for v in value.values() if not isinstance(v, str | int | float)]
        elif isinstance(value, list | tuple | set):
            waiting += [v for v in value if not isinstance(v, str | int | float)]
        elif callable(value):
            continue
        elif is_dataclass(value):
            waiting += [getattr(value, each.name) for each in fields(value)]
        elif hasattr(value, "__dict__"):
            waiting += list(vars(value).values())
    return total


def _own_size(value: Any) -> Any:
    """What an array or an index reports; other objects may raise anything when asked."""
    try:
        return getattr(value, "memory_usage", getattr(value, "nbytes", None))
    except Exception:  # someone else's __getattr__
        return None


def resident_bytes() -> int:
    """The memory that this process holds now or, where the system does not say, its peak."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
