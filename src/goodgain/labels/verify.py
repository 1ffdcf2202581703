"""Verify a label store: every row against its checksum, every table against its total, the file itself."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.io.files import read_errors
from goodgain.labels.checksums import MODULUS, checksum, summand
from goodgain.labels.claims import LOCK_ROW
from goodgain.labels.database import FORMAT, checked_tables, columns, references, schema
from goodgain.labels.log_file import damage_in_log
from goodgain.labels.opening import is_url, open_database, read_only_sqlite, store_format
from goodgain.labels.store import document_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.labels.database import Database, Sqlite


@dataclass(frozen=True, slots=True)
class Damage:
    """Something in a store that is not as it was written."""

    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What was verified, and all damage in it."""

    rows: int
    damages: tuple[Damage, ...]
    checksums: bool = True  # stores of format 1 have none


def verify(path: str | os.PathLike[str]) -> Verification:
    """Compare every row of a store with its checksum, and the file with the rules of its format."""
    name = os.fspath(path)
    if is_url(name):
        _, server = open_database(name, create=False, read_only=True)
        try:
            return _verified(server, [])
        finally:
            server.close()
    if not Path(name).exists():
        raise InputError(f"label store not found: '{name}'", hint="`goodgain label` creates one")
    with read_errors(name), Path(name).open("rb") as file:
        file.read(1)
    damages = [Damage("write-ahead log", what) for what in damage_in_log(name)]
    try:
        version = store_format(name)
        db = read_only_sqlite(name)
    except InputError as error:
        return Verification(0, (*damages, Damage("file", error.message)))
    try:
        db.decode_with(
            "surrogateescape"
        )  # bytes that are not text are damage to report, not to end with
        try:
            damages += _pages(db)
        except (InputError, sqlite3.Error) as error:
            damages.append(Damage("file", str(error)))
        if version != FORMAT:
            return Verification(0, tuple(damages), checksums=False)
        try:
            damages += _objects(db)
            return _verified(db, damages)
        except (InputError, sqlite3.Error, OverflowError) as error:
            return Verification(0, (*damages, Damage("file", str(error))))
    finally:
        db.close()


def _pages(db: Sqlite) -> Iterator[Damage]:
    for (line,) in db.execute("PRAGMA integrity_check"):
        if line != "ok":
            yield Damage("file", str(line))


def _objects(db: Sqlite) -> Iterator[Damage]:
    """Tables, indexes, triggers and views that differ from the schema."""
    actual = {sql for (sql,) in db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
    for statement in schema():
        if statement not in actual:
            yield Damage("schema", f"missing or changed: {' '.join(statement.split())[:60]}")
    for statement in sorted(map(str, actual - set(schema()))):
        yield Damage("schema", f"not part of a label store: {' '.join(statement.split())[:60]}")


def _verified(db: Database, damages: list[Damage]) -> Verification:
    total = 0
    totals = {
        name: (count, sums)
        for name, count, sums in db.execute("SELECT name, total, sum FROM totals")
    }
    for table in checked_tables():
        count = sums = 0
        for number, *values, stored in _rows(db, table):
            count += 1
            try:
                actual = checksum(table, values)
                sums = (sums + summand(str(stored))) % MODULUS
            except (TypeError, ValueError):  # a type or a checksum that was never written
                actual = ""
            where = f"{table}, row {number}" if table != "documents" else f"documents, {number}"
            if actual != stored:
                damages.append(Damage(where, "the row does not match its checksum"))
            elif (
                table == "documents"
                and values[1] is not None
                and document_hash(values[1]) != number
            ):
                damages.append(Damage(where, "the text does not have this hash"))
        expected, expected_sum = totals.pop(table, (0, 0))
        if count != expected:
            damages.append(Damage(table, f"{count:,} rows, but {expected} were written"))
        elif sums != expected_sum:
            damages.append(Damage(table, "rows are not those that were written"))
        total += count
    damages += [Damage("totals", f"unknown table '{name}'") for name in totals]
    for table in checked_tables():
        for column, target in references(table).items():
            missing = db.execute(
                f"SELECT id FROM {table} WHERE {column} NOT IN (SELECT id FROM {target})"
            )
            damages += [
                Damage(f"{table}, row {number}", f"refers to a row of {target} that is missing")
                for (number,) in missing
            ]
    damages += _claims(db)
    return Verification(total, tuple(damages))


def _claims(db: Database) -> Iterator[Damage]:
    """Claims have no checksum, because they change all the time; a store that rests has only the lock."""
    for row in db.execute("SELECT key, holder, until, reserved FROM claims").fetchall():
        key, holder, until, reserved = row
        is_claim = isinstance(key, str) and isinstance(holder, str)
        is_claim = is_claim and isinstance(until, float) and isinstance(reserved, float)
        is_held = bool(holder)
        if not is_claim or (not is_held and tuple(row) != LOCK_ROW):
            yield Damage(f"claims, {key!r:.40}", "not a claim")


def _rows(db: Database, table: str) -> Any:
    first = "hash" if table == "documents" else "id"
    return db.stream(f"SELECT {first}, {', '.join(columns(table))}, checksum FROM {table}")
