"""Open a label store: create it, upgrade it, or read it where nothing can be written."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from goodgain.errors import GoodgainError, InputError
from goodgain.labels.database import APPLICATION, FORMAT, Sqlite, schema, store_error
from goodgain.labels.upgrade import upgrade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.labels.database import Database
    from goodgain.labels.store import Store

_STORE = "name a store of `goodgain label`, or a new file"


@contextmanager
def new_store(path: str, *, create: bool = True) -> Iterator[Store]:
    """An open store, which may be new: if its input is refused, a new one is not left behind."""
    from goodgain.labels.store import Store

    file = Path(os.path.realpath(path))  # a link may lead to where the store will be
    is_new = not is_url(path) and not os.path.exists(path)  # noqa: PTH110 - never raises
    before = file.stat() if file.is_file() else None
    is_empty = before is not None and before.st_size == 0
    try:
        with Store(path, create=create) as store:
            yield store
    except GoodgainError:
        if is_new or is_empty:
            for suffix in ("", "-wal", "-shm"):
                created = Path(f"{file}{suffix}")
                if not created.is_symlink():  # one that leads to itself stays
                    created.unlink(missing_ok=True)
        if is_empty and before is not None:
            file.touch(before.st_mode)
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        raise


def is_url(path: str) -> bool:
    """Whether a store is on a PostgreSQL server."""
    return path.startswith(("postgresql://", "postgres://"))


def open_database(path: str, *, create: bool, read_only: bool) -> tuple[str, Database]:
    """The name of a store, without any password, and its connection."""
    if is_url(path):
        from goodgain.labels.postgres import Postgres

        server = Postgres(path, create=create, read_only=read_only)
        return server.name, server
    if path == ":memory:":
        memory = Sqlite(path)
        _create(memory)
        return path, memory
    if not Path(path).exists():
        if not create or read_only:
            raise InputError(
                f"label store not found: '{path}'", hint="`goodgain label` creates one"
            )
        version = 0
    else:
        version = store_format(path)
    try:
        return path, _reading(path, version) if read_only else _writing(path)
    except (sqlite3.Error, OSError) as error:
        raise store_error(str(error), path) from None


def _writing(path: str) -> Sqlite:
    db = Sqlite(path)
    db.use_log()
    db.begin()
    try:  # in the transaction: another process may be creating or upgrading the store
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version < FORMAT:
            if version:
                upgrade(db)
            else:
                _create(db)
            db.execute(f"PRAGMA application_id = {APPLICATION}")
            db.execute(f"PRAGMA user_version = {FORMAT}")
        db.commit()
    except BaseException:
        db.rollback()
        raise
    return db


def _create(db: Database) -> None:
    for statement in schema():
        db.create(statement)


def _reading(path: str, version: int) -> Sqlite:
    """A connection that changes nothing; a store of format 1 is upgraded in a temporary copy."""
    db = read_only_sqlite(path)
    if version == FORMAT:
        return db
    copy = Sqlite("", name=path)  # SQLite deletes an unnamed file when it is closed
    if version:
        copy.copy_from(db)
        copy.begin()
        upgrade(copy)
        copy.commit()
    else:
        _create(copy)
    db.close()
    return copy


def read_only_sqlite(path: str) -> Sqlite:
    """A connection that reads; where SQLite cannot create its files beside the store, a way without them.

    Nobody can write to a read-only file system, so that locks are not needed there. Elsewhere another
    user may be writing, so that only a copy is safe to read without them.
    """
    uri = Path(path).absolute().as_uri()
    try:
        db = Sqlite(f"{uri}?mode=ro", uri=True, name=path)
        db.execute("SELECT count(*) FROM sqlite_master")
        return db
    except (InputError, sqlite3.Error):
        log = Path(f"{path}-wal")
        pending = log.exists() and log.stat().st_size > 0
        if _is_read_only(path) and not pending:
            return Sqlite(f"{uri}?mode=ro&immutable=1", uri=True, name=path)
        with tempfile.TemporaryDirectory(prefix="goodgain-") as folder:
            copy = Path(folder) / "store.db"
            shutil.copyfile(path, copy)
            if pending:
                shutil.copyfile(log, f"{copy}-wal")
            copied, db = Sqlite(str(copy), name=path), Sqlite("", name=path)
            db.copy_from(copied)
            copied.close()
        return db


def _is_read_only(path: str) -> bool:
    """Whether a file lies in a file system that nobody can write to; Windows does not say."""
    return hasattr(os, "statvfs") and bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def store_format(path: str) -> int:
    """The format of a store; a file that is none, or one of a later version, is refused."""
    try:
        if Path(path).stat().st_size == 0:
            return 0
        # A process killed while creating the file leaves a journal, which needs write access to roll back.
        if Path(f"{path}-journal").exists():
            uri = f"{Path(path).absolute().as_uri()}?mode=rw"
            db = Sqlite(uri, uri=True, name=path)
        else:
            db = read_only_sqlite(path)
        try:
            db.execute("BEGIN")  # one snapshot: another process may be creating the file
            application = db.execute("PRAGMA application_id").fetchone()[0]
            version = int(db.execute("PRAGMA user_version").fetchone()[0])
            empty = not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        finally:
            db.close()
    except (sqlite3.Error, OSError, InputError) as error:
        reason = error.message if isinstance(error, InputError) else str(error)
        raise InputError(f"not a label store: {reason}", where=path, hint=_STORE) from None
    if application != APPLICATION and not (empty and application == 0):
        raise InputError("not a label store, but another SQLite database", where=path, hint=_STORE)
    if version < (0 if empty else 1):
        raise InputError("not a label store: its header is damaged", where=path, hint=_STORE)
    if version > FORMAT:
        raise InputError(
            f"the label store has format {version}; this version supports up to {FORMAT}",
            where=path,
            hint="pip install --upgrade goodgain",
        )
    return version
