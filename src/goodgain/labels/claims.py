"""Claims: which process is paying for which label, so that no two pay for the same one.

A claim holds for a minute and is renewed while its process lives. It is deleted with the label, when the run
ends, and when its process is found dead.
"""

from __future__ import annotations

import os
import socket
import uuid
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, NamedTuple

from goodgain.labels.store import chunks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from goodgain.labels.store import Store

LEASE = 60.0  # seconds
RENEWAL = 15.0  # seconds between renewals
_LOCK = "lock"  # a row that serialises what several processes decide; no label has this key
LOCK_ROW = (_LOCK, "", 0.0, 0.0)


class Outcome(NamedTuple):
    """What became of the keys that a process wanted to claim."""

    done: set[str]  # another process has labelled them meanwhile
    held: set[str]  # another process is paying for them just now


class Claims:
    """The claims of one run."""

    def __init__(self, store: Store, retry: tuple[str, ...]) -> None:
        self._store = store
        self._retry = retry
        self._last_reply = store.last_reply()
        self.holder = f"{_place()}/{os.getpid()}/{_start(os.getpid())}/{uuid.uuid4().hex}"

    @property
    def shared(self) -> bool:
        """Whether another process can open the store at all."""
        return self._store.path != ":memory:"

    def take(self, keys: Sequence[str]) -> Outcome:
        """Claim every key that is neither labelled nor claimed by another process."""
        if not self.shared:
            return Outcome(self._done(keys), set())
        with self.locked():
            held = self._held(keys)
            free = sorted(set(keys) - held)
            until = time() + LEASE
            self._store.db.executemany(
                "INSERT INTO claims (key, holder, until, reserved) VALUES (?, ?, ?, 0) "
                "ON CONFLICT (key) DO UPDATE SET holder = excluded.holder, until = excluded.until",
                [(key, self.holder, until) for key in free],
            )
            done = self._done(keys)  # after the claims: what is labelled now is not labelled later
            self.release(done - held)
        return Outcome(done, held - done)

    def taken(self, keys: Sequence[str]) -> set[str]:
        """The keys that are labelled, or that another run or a batch is paying for; call it when locked."""
        return self._done(keys) | self._held(keys)

    def hold(self, key: str, seconds: float) -> None:
        """Claim something other than a label, within an open transaction."""
        if self.shared:
            self._store.db.execute(
                "INSERT INTO claims (key, holder, until, reserved) VALUES (?, ?, ?, 0)",
                (key, self.holder, time() + seconds),
            )

    def is_held(self, key: str) -> bool:
        """Whether a living process, possibly this one, holds a key."""
        rows = self._store.db.execute(
            "SELECT holder FROM claims WHERE key = ? AND until > ?", (key, time())
        ).fetchall()
        return any(not _is_dead(holder) for (holder,) in rows)

    def in_batches(self, keys: Sequence[str]) -> set[str]:
        """The keys that a provider has, or may have, in a batch that is not collected."""
        pending: set[str] = set()
        for chunk in chunks(keys):
            marks = ",".join("?" * len(chunk))
            rows = self._store.db.execute(
                f"SELECT c.key FROM batch_calls c WHERE c.key IN ({marks}) AND NOT EXISTS ("
                "SELECT 1 FROM batch_events e WHERE e.batch = c.batch "
                "AND e.event IN ('collected', 'abandoned'))",
                chunk,
            )
            pending.update(key for (key,) in rows.fetchall())
        return pending

    def reserved_by_batches(self) -> float:
        """What the batches that are not collected may cost, of all judges."""
        (total,) = self._store.db.execute(
            "SELECT coalesce(sum(b.reserved), 0) FROM batches b WHERE NOT EXISTS (SELECT 1 FROM "
            "batch_events e WHERE e.batch = b.name AND e.event IN ('collected', 'abandoned'))"
        ).fetchone()
        return float(total)

    def _done(self, keys: Sequence[str]) -> set[str]:
        """Labelled, or tried by another process since this run began."""
        return self._store.done(keys, self._retry, self._last_reply)

    def _held(self, keys: Sequence[str]) -> set[str]:
        """The keys in batches or claimed by living processes; the claims of dead ones are deleted."""
        held: dict[str, str] = {}
        for chunk in chunks(keys):
            marks = ",".join("?" * len(chunk))
            held |= self._store.db.execute(
                f"SELECT key, holder FROM claims WHERE key IN ({marks}) AND until > ? AND holder <> ?",
                (*chunk, time(), self.holder),
            ).fetchall()
        dead = {holder for holder in set(held.values()) if _is_dead(holder)}
        for holder in dead:
            self._store.db.execute("DELETE FROM claims WHERE holder = ?", (holder,))
        return {key for key, holder in held.items() if holder not in dead} | self.in_batches(keys)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """A transaction in which no other process changes claims or takes money."""
        with self._store.transaction():
            self._store.db.execute(
                "INSERT INTO claims (key, holder, until, reserved) VALUES (?, '', 0, 0) "
                "ON CONFLICT (key) DO UPDATE SET until = 0",
                (_LOCK,),
            )
            yield

    def reserve(self, money: float) -> None:
        """State how much of the budget this run may still spend."""
        self._store.db.execute(
            "INSERT INTO claims (key, holder, until, reserved) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (key) DO UPDATE SET until = excluded.until, reserved = excluded.reserved",
            (f"money/{self.holder}", self.holder, time() + LEASE, money),
        )

    def reserved_by_others(self) -> float:
        """How much of the budget other living runs may still spend."""
        rows = self._store.db.execute(
            "SELECT holder, reserved FROM claims WHERE reserved > 0 AND until > ? AND holder <> ?",
            (time(), self.holder),
        ).fetchall()
        return sum(float(reserved) for holder, reserved in rows if not _is_dead(holder))

    def release(self, keys: Iterable[str]) -> None:
        """Delete claims of this run, within an open transaction."""
        if self.shared:
            self._store.db.executemany(
                "DELETE FROM claims WHERE key = ? AND holder = ?",
                [(key, self.holder) for key in sorted(keys)],
            )

    def renew(self) -> None:
        """Keep all claims of this run for another minute."""
        if self.shared:
            self._store.db.execute(
                "UPDATE claims SET until = ? WHERE holder = ?", (time() + LEASE, self.holder)
            )

    def release_all(self) -> None:
        """Delete all claims of this run."""
        self._store.db.execute("DELETE FROM claims WHERE holder = ?", (self.holder,))


@cache
def _place() -> str:
    """Where process ids mean the same: this boot of this machine, and this container."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}:{Path('/proc/self/ns/pid').readlink()}".replace("/", "-")
    except OSError:
        return socket.gethostname().replace("/", "-")


def _start(pid: int) -> str:
    """When a process started, where the system says so: its id may be another's later."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    state, *rest = fields.rpartition(")")[2].split()
    return "" if state in "ZX" else rest[18]


def _is_dead(holder: str) -> bool:
    """Whether the process of a claim is known to have ended."""
    place, pid, start, *_ = [*holder.split("/"), "", ""]
    if place != _place() or not pid.isdigit():
        return False
    if start:
        return _start(int(pid)) != start
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass
    return False
