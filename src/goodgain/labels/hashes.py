"""A table of hashes in a temporary file: memory must not grow with the pairs of a run."""

from __future__ import annotations

import hashlib
import sqlite3
import sys
import weakref
from typing import TYPE_CHECKING

from goodgain.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

_CACHE = (
    32_000  # kibibytes, about a million rows: hashes are in no order, so that each is a look-up
)
_MAX_VALUES = 500  # per statement; some builds of SQLite allow no more than 999

Hashes = dict[int, tuple[int, int]]  # two numbers that belong to each hash


class HashTable:
    """The rows that were added first for each hash."""

    def __init__(self) -> None:
        self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, self._db.close)  # from 3.13 on, Python warns of what stays open
        self._db.execute("PRAGMA journal_mode = OFF")  # nothing is ever rolled back
        self._db.execute(f"PRAGMA cache_size = -{_CACHE}")
        self._db.execute("BEGIN")
        self._db.execute("CREATE TABLE t (hash INTEGER PRIMARY KEY, first INTEGER, second INTEGER)")

    def add(self, rows: Sequence[tuple[int, int, int]]) -> Hashes:
        """Add the rows whose hash is new; if that is not all of them, returns what each hash stands for."""
        before = self._db.total_changes
        try:
            self._db.executemany("INSERT INTO t VALUES (?, ?, ?) ON CONFLICT DO NOTHING", rows)
        except sqlite3.Error as error:
            raise InputError(
                f"cannot write a temporary file: {error}",
                hint="make space in the folder for temporary files ($SQLITE_TMPDIR, $TMPDIR), and run "
                "the same command again to continue",
            ) from None
        if self._db.total_changes - before == len(rows):
            return {}
        stored: Hashes = {}
        for start in range(0, len(rows), _MAX_VALUES):
            hashes = [row[0] for row in rows[start : start + _MAX_VALUES]]
            marks = ",".join("?" * len(hashes))
            sql = f"SELECT hash, first, second FROM t WHERE hash IN ({marks})"
            for number, first, second in self._db.execute(sql, hashes):
                stored[number] = first, second
        return stored

    def close(self) -> None:
        """Delete the file."""
        self._db.close()


def _long_hash(*texts: str) -> int:
    data = "\0".join(texts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), signed=True)


def _own_hash(*texts: str) -> int:
    return hash(texts)


# 64 bits of a hash of texts, the same only within this process.
short_hash = _own_hash if sys.hash_info.width >= 64 else _long_hash
