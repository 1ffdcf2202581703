"""A dictionary that forgets what was not set for a while, so that a long-running process stays small."""

from __future__ import annotations

from typing import Generic, TypeVar

V = TypeVar("V")
_SIZE = 10_000


class Recent(Generic[V]):
    """Remembers at least the last `size` entries.

    Safe under threads without a lock, since it is never iterated over.
    """

    __slots__ = ("_new", "_old", "_size")

    def __init__(self, size: int = _SIZE) -> None:
        self._new: dict[str, V] = {}
        self._old: dict[str, V] = {}
        self._size = size

    def get(self, key: str) -> V | None:
        """The value of a key; None if it is not there, or no longer."""
        value = self._new.get(key)
        if value is None:
            value = self._old.get(key)
            if value is not None:
                self[key] = value
        return value

    def __setitem__(self, key: str, value: V) -> None:
        if len(self._new) >= self._size:
            self._old, self._new = self._new, {}
        self._new[key] = value

    def pop(self, key: str) -> V | None:
        """Remove and return the value of a key."""
        old = self._old.pop(key, None)
        value = self._new.pop(key, None)
        return old if value is None else value
