"""Where labels are kept: one SQLite file, append-only, safe to kill at any moment."""

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
_VALUES = 500  # of one statement; some builds of SQLite take no more than 999
_WAIT = 60.0  # seconds for another process that is writing


@dataclass(frozen=True)
class Setting:
    """What decides a label besides question and text."""

    prompt: str
    model: str
    parameters: dict[str, Any]
    low: int
    high: int

    @cached_property
    def digest(self) -> str:
        """The same for equal settings."""
        return digest(self.prompt, self.model, self.parameters)

    def key(self, question: str, text: str, replicate: int) -> str:
        """The key of one label: the same for all that would be asked in the same words."""
        return digest(self.prompt, self.model, self.parameters, question, text, replicate)

    def __str__(self) -> str:
        return f"{self.model}, {self.prompt}"


class Row(NamedTuple):
    """A reply as it is stored."""

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


class Asked(NamedTuple):
    """Which question and document a key stands for; several documents may share their text."""

    query: str
    doc: str
    key: str
    replicate: int
    question: str


def digest(*parts: Any) -> str:
    """A hash of plain data."""
    import hashlib

    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:40]


class Store:
    """An open store; several processes may have the same one open."""

    def __init__(self, path: str | os.PathLike[str] = ":memory:", *, create: bool = True) -> None:
        self.path = os.fspath(path)
        self._settings: dict[str, int] = {}
        if self.path != ":memory:" and not (create or Path(self.path).exists()):
            raise InputError(f"there is no store '{self.path}'", hint="goodgain label makes one")
        if self.path != ":memory:" and Path(self.path).exists():
            _check(self.path)
        try:
            self.db = sqlite3.connect(
                self.path, timeout=_WAIT, isolation_level=None, check_same_thread=False
            )
            self._prepare()
        except sqlite3.Error as error:
            raise InputError(f"the store cannot be opened: {error}", where=self.path) from None

    def _prepare(self) -> None:
        db = self.db
        deadline = time.monotonic() + _WAIT
        while True:  # changing to WAL does not wait for others by itself
            try:
                db.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA wal_autocheckpoint = 4000")  # 16 MB; a run waits for the disk each time
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
        """The store itself, that of a path, or one in memory."""
        return value if isinstance(value, Store) else cls(":memory:" if value is None else value)

    def setting(self, setting: Setting) -> int:
        """The number of a setting, which is added where it is new."""
        found = self._settings.get(setting.digest)
        if found is None:
            self.db.execute(
                "INSERT OR IGNORE INTO settings (digest, prompt, model, parameters, low, high) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (setting.digest, setting.prompt, setting.model,
                 json.dumps(setting.parameters, sort_keys=True), setting.low, setting.high),
            )  # fmt: skip
            row = self.db.execute("SELECT id FROM settings WHERE digest = ?", (setting.digest,))
            found = self._settings[setting.digest] = int(row.fetchone()[0])
        return found

    def settings(self) -> list[tuple[int, Setting]]:
        """All settings, in the order they came."""
        rows = self.db.execute(
            "SELECT id, prompt, model, parameters, low, high FROM settings ORDER BY id"
        )
        return [(i, Setting(p, m, json.loads(x), low, high)) for i, p, m, x, low, high in rows]

    def add(self, setting: Setting, rows: Iterable[Row]) -> None:
        """Keep replies, at once and whole; a second gain for a key is left out."""
        with self.transaction():
            self.put(setting, rows)

    def put(self, setting: Setting, rows: Iterable[Row], created: str | None = None) -> None:
        """The same inside a transaction that is already open."""
        number = self.setting(setting)
        now = created or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.db.executemany(
            "INSERT OR IGNORE INTO replies (setting, created, key, replicate, status, gain, detail, "
            "raw, tokens_in, tokens_out, cost, seconds, cut) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
            ((number, now, *row) for row in rows),
        )

    def ask(self, setting: Setting, pairs: Iterable[Asked]) -> None:
        """Remember which question and document each key stands for."""
        with self.transaction():
            self.put_asked(setting, pairs)

    def put_asked(self, setting: Setting, pairs: Iterable[Asked]) -> None:
        """The same inside a transaction that is already open."""
        number = self.setting(setting)
        for query, doc, key, replicate, question in pairs:
            self.db.execute("INSERT OR IGNORE INTO questions (text) VALUES (?)", (question,))
            self.db.execute(
                "INSERT OR REPLACE INTO asked (setting, query, doc, key, replicate, question) "
                "SELECT ?, ?, ?, ?, ?, id FROM questions WHERE text = ?",
                (number, query, doc, key, replicate, question),
            )

    def done(self, keys: Sequence[str], again: Iterable[str] = ()) -> set[str]:
        """Those keys that need no further call: with a gain, or a failure that is not tried again."""
        last: dict[str, str] = {}  # status by key: that of a gain, or else of the last failure
        for start in range(0, len(keys), _VALUES):
            some = keys[start : start + _VALUES]
            marks = ",".join("?" * len(some))
            last |= self.db.execute(
                f"SELECT key, status FROM replies WHERE key IN ({marks}) ORDER BY status = 'ok', id",
                some,
            )
        return {key for key, status in last.items() if status not in again}

    def done_keys(self, setting: Setting, again: Iterable[str] = ()) -> list[str]:
        """All keys of a setting that need no further call."""
        keys = self.db.execute(
            "SELECT DISTINCT key FROM replies WHERE setting = ?", (self.setting(setting),)
        )
        return list(self.done([key for (key,) in keys], tuple(again)))

    def cost(self) -> float:
        """The money that all replies took, as far as prices were known."""
        return float(self.db.execute("SELECT total(cost) FROM replies").fetchone()[0])

    def transaction(self) -> _Transaction:
        """Everything inside it happens, or nothing."""
        return _Transaction(self)

    def forget(self) -> None:
        """Numbers of settings that were undone are no numbers."""
        self._settings.clear()

    def close(self) -> None:
        """Close the file; what was added stays."""
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
    """BEGIN IMMEDIATE waits for its turn, where a read that turns into a write would fail."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __enter__(self) -> None:
        self._store.db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        self._store.db.execute("COMMIT" if kind is None else "ROLLBACK")
        if kind is not None:
            self._store.forget()


def _check(path: str) -> None:
    """Refuse what is no store, or one of a later version, before anything is written to it."""
    try:
        if Path(path).stat().st_size == 0:
            return
        # A process that was killed while it made the file left a journal, which a reader cannot undo.
        mode = "rw" if Path(f"{path}-journal").exists() else "ro"
        uri = f"{Path(path).absolute().as_uri()}?mode={mode}"
        db = sqlite3.connect(uri, uri=True, timeout=_WAIT, isolation_level=None)
        try:
            db.execute("BEGIN")  # one moment for all: another process may be making the file
            application = db.execute("PRAGMA application_id").fetchone()[0]
            version = db.execute("PRAGMA user_version").fetchone()[0]
            empty = not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        finally:
            db.close()
    except (sqlite3.Error, OSError) as error:
        raise InputError(f"the file is not a store of labels: {error}", where=path) from None
    if application != APPLICATION and not (empty and application == 0):
        raise InputError("the file is a database, but not a store of labels", where=path)
    if version > FORMAT:
        raise InputError(
            f"the store has format {version}, this version reads up to {FORMAT}",
            where=path,
            hint="pip install --upgrade goodgain",
        )


def _statements(script: str) -> Iterator[str]:
    held = ""
    for line in script.splitlines():
        held += line + "\n"
        if sqlite3.complete_statement(held):
            yield held
            held = ""
