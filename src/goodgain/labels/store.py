"""The label store: one append-only SQLite file that survives being killed at any moment."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from goodgain.labels.judges.protocol import Status

FORMAT = 1  # PRAGMA user_version
APPLICATION = 0x47474C42  # PRAGMA application_id: GGLB
_MAX_VALUES = 500  # per statement; some builds of SQLite allow no more than 999
_LOCK_TIMEOUT = 60.0  # seconds to wait for another process that is writing


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What determines a label besides the question and the document text."""

    prompt: str
    model: str
    parameters: dict[str, Any]
    low: int
    high: int

    @cached_property
    def digest(self) -> str:
        """A hash of the setting."""
        return digest(self.prompt, self.model, self.parameters)

    def key(self, question: str, text: str, replicate: int) -> str:
        """The key of one label: equal for all pairs that would be judged in the same words."""
        return digest(self.prompt, self.model, self.parameters, question, text, replicate)

    def __str__(self) -> str:
        return f"{self.model}, {self.prompt}"


class ReplyRow(NamedTuple):
    """A reply as it is stored, for one document."""

    key: str
    replicate: int
    status: Status
    gain: float | None
    detail: str = ""
    raw: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    seconds: float = 0.0
    cut: int | None = None


class PairRow(NamedTuple):
    """A pair as it is stored, with its key; documents with the same text share a key."""

    query: str
    doc: str
    key: str
    replicate: int
    question: str


def digest(*values: Any) -> str:
    """A hash of plain data."""
    import hashlib

    text = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:40]


class Store:
    """An open store of labels; several processes may use the same one."""

    def __init__(self, path: str | os.PathLike[str] = ":memory:", *, create: bool = True) -> None:
        self.path = os.fspath(path)
        self._settings: dict[str, int] = {}
        if self.path != ":memory:" and not (create or Path(self.path).exists()):
            raise InputError(
                f"label store not found: '{self.path}'", hint="`goodgain label` creates one"
            )
        if self.path != ":memory:" and Path(self.path).exists():
            _check(self.path)
        try:
            self.db = sqlite3.connect(
                self.path, timeout=_LOCK_TIMEOUT, isolation_level=None, check_same_thread=False
            )
            self._prepare()
        except sqlite3.Error as error:
            raise InputError(f"cannot open the label store: {error}", where=self.path) from None

    def _prepare(self) -> None:
        db = self.db
        deadline = time.monotonic() + _LOCK_TIMEOUT
        while True:  # switching to WAL ignores the timeout
            try:
                db.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA wal_autocheckpoint = 4000")  # 16 MB; each checkpoint waits for the disk
        db.execute("PRAGMA temp_store = FILE")
        db.execute("BEGIN IMMEDIATE")
        try:
            if not db.execute("PRAGMA user_version").fetchone()[0]:
                script = (Path(__file__).parent / "schema.sql").read_text(encoding="utf-8")
                for statement in _statements(script):
                    db.execute(statement)
                db.execute(f"PRAGMA application_id = {APPLICATION}")
                db.execute(f"PRAGMA user_version = {FORMAT}")
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise

    @classmethod
    def of(cls, value: Store | str | os.PathLike[str] | None) -> Store:
        """The store itself, the one at a path, or a new one in memory."""
        return value if isinstance(value, Store) else cls(":memory:" if value is None else value)

    def setting(self, setting: Setting) -> int:
        """The row id of a setting, which is added if it is new."""
        number = self._settings.get(setting.digest)
        if number is None:
            self.db.execute(
                "INSERT OR IGNORE INTO settings (digest, prompt, model, parameters, low, high) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (setting.digest, setting.prompt, setting.model,
                 json.dumps(setting.parameters, sort_keys=True), setting.low, setting.high),
            )  # fmt: skip
            row = self.db.execute("SELECT id FROM settings WHERE digest = ?", (setting.digest,))
            number = self._settings[setting.digest] = int(row.fetchone()[0])
        return number

    def settings(self) -> list[tuple[int, Setting]]:
        """All settings with their row ids, oldest first."""
        rows = self.db.execute(
            "SELECT id, prompt, model, parameters, low, high FROM settings ORDER BY id"
        )
        return [
            (
                number,
                Setting(
                    prompt=prompt,
                    model=model,
                    parameters=json.loads(parameters),
                    low=low,
                    high=high,
                ),
            )
            for number, prompt, model, parameters, low, high in rows
        ]

    def add_replies(self, setting: Setting, rows: Iterable[ReplyRow]) -> None:
        """Add replies in one transaction; a second gain for a key is ignored."""
        with self.transaction():
            self.insert_replies(setting, rows)

    def insert_replies(
        self, setting: Setting, rows: Iterable[ReplyRow], created: str | None = None
    ) -> None:
        """Add replies within an open transaction."""
        number = self.setting(setting)
        now = created or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.db.executemany(
            "INSERT OR IGNORE INTO replies (setting, created, key, replicate, status, gain, detail, "
            "raw, tokens_in, tokens_out, cost, seconds, cut) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
            ((number, now, *row) for row in rows),
        )

    def add_pairs(self, setting: Setting, pairs: Iterable[PairRow]) -> None:
        """Add pairs with their keys in one transaction."""
        with self.transaction():
            self.insert_pairs(setting, pairs)

    def insert_pairs(self, setting: Setting, pairs: Iterable[PairRow]) -> None:
        """Add pairs within an open transaction."""
        number = self.setting(setting)
        for query, doc, key, replicate, question in pairs:
            self.db.execute("INSERT OR IGNORE INTO questions (text) VALUES (?)", (question,))
            self.db.execute(
                "INSERT OR REPLACE INTO asked (setting, query, doc, key, replicate, question) "
                "SELECT ?, ?, ?, ?, ?, id FROM questions WHERE text = ?",
                (number, query, doc, key, replicate, question),
            )

    def done(self, keys: Sequence[str], retry: Iterable[str] = ()) -> set[str]:
        """The keys that need no further call: with a gain, or with a failure that is not in `retry`."""
        last: dict[str, str] = {}  # status by key: ok, or else that of the last failure
        for start in range(0, len(keys), _MAX_VALUES):
            chunk = keys[start : start + _MAX_VALUES]
            marks = ",".join("?" * len(chunk))
            last |= self.db.execute(
                f"SELECT key, status FROM replies WHERE key IN ({marks}) ORDER BY status = 'ok', id",
                chunk,
            )
        return {key for key, status in last.items() if status not in retry}

    def done_keys(self, setting: Setting, retry: Iterable[str] = ()) -> list[str]:
        """All keys of a setting that need no further call."""
        keys = self.db.execute(
            "SELECT DISTINCT key FROM replies WHERE setting = ?", (self.setting(setting),)
        )
        return list(self.done([key for (key,) in keys], tuple(retry)))

    def cost(self) -> float:
        """The cost of all replies that had a price."""
        return float(self.db.execute("SELECT total(cost) FROM replies").fetchone()[0])

    def transaction(self) -> _Transaction:
        """A context whose changes are committed together, or not at all."""
        return _Transaction(self)

    def forget_settings(self) -> None:
        """Drop cached row ids, which are invalid after a rollback."""
        self._settings.clear()

    def close(self) -> None:
        """Close the file."""
        self.db.close()

    def __del__(self) -> None:
        if db := getattr(self, "db", None):
            db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        replies = self.db.execute("SELECT count(*) FROM replies").fetchone()[0]
        return f"Store('{self.path}', {replies:,} replies)"


class _Transaction:
    """BEGIN IMMEDIATE waits for other writers; upgrading a read to a write would fail instead."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __enter__(self) -> None:
        self._store.db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        self._store.db.execute("COMMIT" if kind is None else "ROLLBACK")
        if kind is not None:
            self._store.forget_settings()


def _check(path: str) -> None:
    """Refuse a file that is not a store, or one of a later version, before writing to it."""
    try:
        if Path(path).stat().st_size == 0:
            return
        # A process killed while creating the file leaves a journal, which needs write access to roll back.
        mode = "rw" if Path(f"{path}-journal").exists() else "ro"
        uri = f"{Path(path).absolute().as_uri()}?mode={mode}"
        db = sqlite3.connect(uri, uri=True, timeout=_LOCK_TIMEOUT, isolation_level=None)
        try:
            db.execute("BEGIN")  # one snapshot: another process may be creating the file
            application = db.execute("PRAGMA application_id").fetchone()[0]
            version = db.execute("PRAGMA user_version").fetchone()[0]
            empty = not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        finally:
            db.close()
    except (sqlite3.Error, OSError) as error:
        raise InputError(f"not a label store: {error}", where=path) from None
    if application != APPLICATION and not (empty and application == 0):
        raise InputError("not a label store, but another SQLite database", where=path)
    if version > FORMAT:
        raise InputError(
            f"the label store has format {version}; this version supports up to {FORMAT}",
            where=path,
            hint="pip install --upgrade goodgain",
        )


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
