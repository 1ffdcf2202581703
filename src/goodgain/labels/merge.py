"""Merge label stores: every row once, whichever stores it is in, with the ids of the target."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.labels.checksums import checksum, stored_row
from goodgain.labels.database import checked_tables, columns, references

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.labels.store import Store


_NAMES = {"settings": "digest", "questions": "text", "samples": "name"}  # unique in these tables


def merge(target: Store, source: Store) -> dict[str, int]:
    """Add what `source` has and `target` lacks, in one transaction; returns the new rows by table.

    Rows are the same if all their columns are, so that merging twice adds nothing. Of two gains for one
    key, the target's stays: the key says that the same judge was asked in the same words.
    """
    if source.path == target.path and target.path != ":memory:":
        raise InputError("a label store cannot be merged with itself", where=target.path)
    new: Counter[str] = Counter()
    ids: dict[str, dict[int, int]] = {}  # of referred tables: the target's by the source's
    referred = {name for table in checked_tables() for name in references(table).values()}
    with target.transaction():
        _check_samples(target, source)
        for table in checked_tables():
            places: dict[int, str] = {}
            rows = _missing_rows(target, source, table, ids, places if table in referred else None)
            if table == "documents":
                new[table] = _merge_documents(target, rows)
            else:
                new[table] = target.insert(table, rows)
            if table in referred:
                ids[table] = _new_ids(target, table, places)
    return dict(new)


def _missing_rows(
    target: Store,
    source: Store,
    table: str,
    ids: dict[str, dict[int, int]],
    places: dict[int, str] | None,
) -> Iterator[dict[str, Any]]:
    """Rows of the source that the target lacks, with the target's ids; their identities go to `places`."""
    names = list(columns(table))
    first = "hash" if table == "documents" else "id"
    left = f"merge_{table}"
    target.db.create(f"CREATE TEMPORARY TABLE {left} (checksum TEXT PRIMARY KEY, number INTEGER)")
    target.db.execute(
        f"INSERT INTO {left} SELECT checksum, count(*) FROM {table} GROUP BY checksum"
    )
    try:
        query = f"SELECT {first}, {', '.join(names)}, checksum FROM {table} ORDER BY {first}"
        for number, *values, stored in source.db.stream(query):
            if checksum(table, values) != stored:
                raise InputError(
                    f"row {number} of {table} does not match its checksum",
                    where=source.path,
                    hint="goodgain labels verify STORE shows all damage",
                )
            row = dict(zip(names, values, strict=True))
            for column, referred in references(table).items():
                row[column] = ids[referred][row[column]]
            own = stored_row(table, row)[-1]
            if places is not None:
                places[number] = row[_NAMES[table]] if table in _NAMES else own
            known = target.db.execute(
                f"UPDATE {left} SET number = number - 1 WHERE checksum = ? AND number > 0", (own,)
            ).rowcount
            if not known:
                yield row
    finally:
        target.db.execute(f"DROP TABLE {left}")


def _merge_documents(target: Store, rows: Iterator[dict[str, Any]]) -> int:
    """Texts join hashes that the target has without them."""
    before = _count(target, "documents")
    for row in rows:
        if row["text"] is None:
            target.insert("documents", [row])
        else:
            target.add_documents([row["text"]])
    return _count(target, "documents") - before


def _count(store: Store, table: str) -> int:
    return int(store.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def _new_ids(target: Store, table: str, places: dict[int, str]) -> dict[int, int]:
    name = _NAMES.get(table, "checksum")
    ids = dict(target.db.stream(f"SELECT {name}, id FROM {table} ORDER BY id DESC"))
    return {number: ids[own] for number, own in places.items()}


def _check_samples(target: Store, source: Store) -> None:
    """A name stands for one sample: two different ones must not be mixed."""
    query = "SELECT name, checksum FROM samples"
    stored = dict(target.db.execute(query))
    for name, own in source.db.execute(query):
        if stored.get(name, own) != own:
            raise InputError(
                f"both stores have a sample named '{name}', and they differ",
                where=source.path,
            )
