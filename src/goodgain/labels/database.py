"""The connection of a label store, with the same SQL for SQLite and PostgreSQL.

`?` marks a parameter; what differs between the two (types, temporary tables, locks) is translated here.
"""

from __future__ import annotations

import re
import sqlite3
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from goodgain.errors import GoodgainError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

FORMAT = 2  # PRAGMA user_version
APPLICATION = 0x47474C42  # PRAGMA application_id: GGLB
_CACHE = {"main": 64_000, "temp": 4_000}  # kibibytes; keys are random, and temporary rows in order
LOCK_TIMEOUT = 60.0  # seconds to wait for another process that is writing
APPEND_ONLY = (
    "settings", "questions", "asked", "replies", "spending", "votes", "preferences", "annotators",
    "samples", "sampled", "nuggets", "assignments", "prompts", "batches",
    "batch_calls", "batch_events",
)  # fmt: skip


_ERRORS = (sqlite3.DatabaseError, UnicodeDecodeError)  # the latter in messages about a damaged file


class Cursor(Protocol):
    """What a statement returns, in either database."""

    @property
    def rowcount(self) -> int:
        """How many rows the statement has changed."""

    def fetchone(self) -> Any:
        """The next row, or None."""

    def fetchall(self) -> list[Any]:
        """All rows."""

    def __iter__(self) -> Iterator[Any]: ...


class Database(Protocol):
    """One connection; statements outside a transaction are committed at once."""

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Cursor:
        """Run one statement."""

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for many rows."""

    def insert_new(self, sql: str, rows: Sequence[Sequence[Any]]) -> list[bool]:
        """Run an INSERT that may leave rows out; says for each row whether it was added."""

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterable[Any]:
        """Run a query whose rows are too many for memory."""

    def create(self, sql: str) -> None:
        """Create a table, an index or a view in the types of this database."""

    def begin(self) -> None:
        """Begin a transaction, waiting for other writers where there can only be one."""

    def lock(self, table: str) -> None:
        """Let no other process add to a table until the transaction ends."""

    def commit(self) -> None:
        """Commit it."""

    def rollback(self) -> None:
        """Undo it, if the database has not done so already."""

    def sync_commits(self) -> None:
        """From now on a commit returns when its rows are on disk, also if the power fails then."""

    def reconnect(self) -> bool:
        """Connect again if the connection is lost; True if there is a new one."""

    def close(self) -> None:
        """Close the connection."""


class Sqlite:
    """A SQLite file, or a database in memory."""

    def __init__(self, path: str, *, uri: bool = False, name: str = "") -> None:
        self.name = name or path
        self._db = sqlite3.connect(
            path, timeout=LOCK_TIMEOUT, isolation_level=None, check_same_thread=False, uri=uri
        )

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Cursor:
        """Run one statement."""
        try:
            return self._db.execute(sql, values)
        except _ERRORS as error:
            raise self._translated(error) from None

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for many rows."""
        try:
            self._db.executemany(sql, rows)
        except _ERRORS as error:
            raise self._translated(error) from None

    def insert_new(self, sql: str, rows: Sequence[Sequence[Any]]) -> list[bool]:
        """Run an INSERT that may leave rows out; says for each row whether it was added.

        Mostly all are new, and one statement for all takes a fraction of the time of one for each.
        """
        if len(rows) > 1 and self._db.in_transaction:
            self.execute("SAVEPOINT rows")
            before = self._db.total_changes
            self.executemany(sql, rows)
            every = self._db.total_changes - before == len(rows)
            if not every:
                self.execute("ROLLBACK TO rows")
            self.execute("RELEASE rows")
            if every:
                return [True] * len(rows)
        return [self.execute(sql, row).rowcount > 0 for row in rows]

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """Rows as they are read; damage may show at any of them."""
        rows = iter(self.execute(sql, values))
        while True:
            try:
                row = next(rows)
            except StopIteration:
                return
            except _ERRORS as error:
                raise self._translated(error) from None
            yield row

    def create(self, sql: str) -> None:
        """Create a table, an index or a view."""
        self.execute(sql)

    def begin(self) -> None:
        """Wait for other writers at once; upgrading a read to a write would fail instead."""
        self.execute("BEGIN IMMEDIATE")

    def lock(self, table: str) -> None:
        """A transaction has locked all tables since it began."""

    def commit(self) -> None:
        """Commit the transaction."""
        self.execute("COMMIT")

    def rollback(self) -> None:
        """A full disk makes SQLite roll back by itself."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def decode_with(self, errors: str) -> None:
        """How bytes that are not UTF-8 are read."""
        self._db.text_factory = lambda data: data.decode("utf-8", errors)

    def copy_from(self, other: Sqlite) -> None:
        """Take over the pages of another database."""
        other._db.backup(self._db)

    def sync_commits(self) -> None:
        """Write-ahead logging alone survives kills, but may lose the last commits with the power."""
        self.execute("PRAGMA synchronous = FULL")

    def reconnect(self) -> bool:
        """A file has no connection to lose."""
        return False

    def use_log(self) -> None:
        """Switch to write-ahead logging, so that readers and a writer do not wait for each other."""
        deadline = time.monotonic() + LOCK_TIMEOUT
        while True:  # switching to WAL ignores the timeout
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise self._translated(error) from None
                time.sleep(0.01)
        self.execute("PRAGMA synchronous = NORMAL")
        self.execute("PRAGMA wal_autocheckpoint = 4000")  # 16 MB; each one waits for the disk
        self.execute("PRAGMA temp_store = FILE")
        for where, size in _CACHE.items():
            self.execute(f"PRAGMA {where}.cache_size = -{size}")

    def _translated(self, error: Exception) -> Exception:
        """What a user can do something about is an input error; a broken rule of ours is not."""
        if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
            return error
        if isinstance(error, UnicodeDecodeError):
            return store_error("malformed text", self.name)
        return store_error(str(error), self.name)


_REASONS = (
    (r"disk is full|disk I/O error", "there is no space left, or the disk is failing"),
    (r"readonly|read-only", "it is read-only"),
    (r"locked|busy", f"another process has locked it for {LOCK_TIMEOUT:g} seconds"),
    (r"malformed|corrupt|not a database", "the file is damaged"),
    (r"unable to open", "it cannot be opened"),
)
_HINTS = {
    "there is no space left, or the disk is failing": "what was saved before is in the store; "
    "make space, and run the same command again to continue",
    "the file is damaged": "goodgain labels verify STORE shows where",
    "it cannot be opened": "check that its folder exists and may be written to",
}


def store_error(message: str, name: str) -> GoodgainError:
    """One sentence about a store that cannot be used, whatever its driver says."""
    for pattern, reason in _REASONS:
        if re.search(pattern, message):
            return InputError(
                f"cannot use the label store: {reason} ({message})",
                where=name,
                hint=_HINTS.get(reason, ""),
            )
    return InputError(f"cannot use the label store: {message}", where=name)


@cache
def schema() -> tuple[str, ...]:
    """The statements of the schema, as SQLite takes them, with the triggers that forbid changes."""
    script = (Path(__file__).parent / "schema.sql").read_text(encoding="utf-8")
    lines = (line for line in script.splitlines() if not line.startswith("--"))
    statements = [s.strip() for s in "\n".join(lines).split(";")]
    for table in APPEND_ONLY:
        for verb, name in (("UPDATE", "keep"), ("DELETE", "stay")):
            statements.append(
                f"CREATE TRIGGER {table}_{name} BEFORE {verb} ON {table} "
                f"BEGIN SELECT RAISE (ABORT, '{table} are append-only'); END"
            )
    return tuple(filter(None, statements))


@cache
def columns(table: str) -> dict[str, str]:
    """The columns of a table that a checksum covers, with their types, in order."""
    for statement in schema():
        if statement.startswith(f"CREATE TABLE {table} ("):
            fields = re.findall(r"^  ([a-z_]+) (TEXT|INTEGER|REAL)\b", statement, re.MULTILINE)
            return {name: kind for name, kind in fields if name not in ("id", "checksum")}
    raise KeyError(table)


@cache
def references(table: str) -> dict[str, str]:
    """The columns of a table that refer to the ids of another, and which."""
    for statement in schema():
        if statement.startswith(f"CREATE TABLE {table} ("):
            pattern = r"^  ([a-z_]+) INTEGER NOT NULL REFERENCES (\w+) \(id\)"
            return dict(re.findall(pattern, statement, re.MULTILINE))
    raise KeyError(table)


@cache
def checked_tables() -> tuple[str, ...]:
    """The tables whose rows have checksums; those that others refer to come first."""
    tables = (
        re.match(r"CREATE TABLE (\w+) \(.*^  checksum ", s, re.DOTALL | re.MULTILINE)
        for s in schema()
    )
    return tuple(match[1] for match in tables if match)
