"""Upgrade a store of format 1, whose labels may have been paid for, in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.labels.checksums import MODULUS, stored_row, summand
from goodgain.labels.database import columns, schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.labels.database import Sqlite

_OLD = ("settings", "questions", "asked", "replies")


def upgrade(db: Sqlite) -> None:
    """Copy the four tables of format 1 into those of format 2, within an open transaction."""
    for kind, name in _objects(db):
        db.execute(f"DROP {kind} {name}")
    for table in _OLD:
        db.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
    for statement in schema():
        db.create(statement)
    for table in _OLD:
        names = ["id", *columns(table)]
        _copy(db, table, f"SELECT {', '.join(_SOURCES.get((table, n), n) for n in names)} "
              f"FROM old_{table} o ORDER BY id")  # fmt: skip
    _copy(db, "spending", _SPENDING)
    for table in reversed(_OLD):
        db.execute(f"DROP TABLE old_{table}")


# What format 1 did not have: the text of a document is unknown, the time is that of its first reply.
_SOURCES = {
    ("asked", "document"): "NULL",
    (
        "asked",
        "created",
    ): "coalesce((SELECT min(created) FROM old_replies r WHERE r.key = o.key), '')",
}
_SPENDING = (
    "SELECT min(id), setting, count(*), sum(tokens_in), sum(tokens_out), sum(cost), 0, max(created) "
    "FROM old_replies GROUP BY setting"
)


def _objects(db: Sqlite) -> list[tuple[str, str]]:
    return db.execute(
        "SELECT type, name FROM sqlite_master WHERE type IN ('index', 'trigger', 'view') "
        "AND sql IS NOT NULL"
    ).fetchall()


def _copy(db: Sqlite, table: str, query: str) -> None:
    names = columns(table)
    marks = ", ".join("?" * (len(names) + 2))
    counts = [0, 0]

    def rows() -> Iterator[list[Any]]:
        for number, *values in db.stream(query):
            row = stored_row(table, dict(zip(names, values, strict=True)))
            counts[0] += 1
            counts[1] = (counts[1] + summand(row[-1])) % MODULUS
            yield [number, *row]

    db.executemany(
        f"INSERT INTO {table} (id, {', '.join(names)}, checksum) VALUES ({marks})", rows()
    )
    if counts[0]:
        db.execute("INSERT INTO totals VALUES (?, ?, ?)", (table, *counts))
