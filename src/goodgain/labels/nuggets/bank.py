"""The nuggets of a store: who made them, and which are vital."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError
from goodgain.io.naming import display_name
from goodgain.labels.pairs import read_objects
from goodgain.labels.store import digest, now

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.labels.store import Store

IMPORTANCE = {"vital": True, "okay": False}
SUPPORT = {"none": 0, "partial": 1, "support": 2}
# As other tools write them.
_SUPPORT_NAMES = {**SUPPORT, "not_support": 0, "partial_support": 1, "no": 0, "yes": 2}
_FAILED = ("failed", "fail", "", None)


@dataclass(frozen=True)
class Nugget:
    """A fact that an answer to the query should contain: vital, or merely okay."""

    query: str
    text: str
    vital: bool

    @cached_property
    def id(self) -> str:
        """A name made of its query and text."""
        return digest("nugget", self.query, self.text)[:16]


def add_nuggets(store: Store, nuggets: Iterable[Nugget], source: str) -> int:
    """Add nuggets under the name of their source; the last row of a query and text counts."""
    known = {
        (n.query, n.text): n.vital for own in read_nuggets(store, source).values() for n in own
    }
    rows = [
        {
            "query": n.query,
            "text": n.text,
            "vital": int(n.vital),
            "source": source,
            "created": now(),
        }
        for n in nuggets
        if known.get((n.query, n.text)) is not n.vital
    ]
    return store.insert("nuggets", rows)


def nugget_sources(store: Store) -> dict[str, int]:
    """The sources of nuggets and how many rows each has."""
    rows = store.db.execute("SELECT source, count(*) FROM nuggets GROUP BY source ORDER BY source")
    return {str(source): int(rows) for source, rows in rows.fetchall()}


def read_nuggets(store: Store, source: str | None = None) -> dict[str, list[Nugget]]:
    """{query: its nuggets} of one source; with several sources one must be chosen.

    Two sources would say one fact in two ways, so they are never mixed.
    """
    sources = nugget_sources(store)
    if source is None and len(sources) > 1:
        raise UsageError(
            f"the store has nuggets of {len(sources)} sources: {', '.join(sources)}",
            where=store.path,
            hint="choose one with source= (--source)",
        )
    chosen = source if source is not None else next(iter(sources), "")
    rows = store.db.execute(
        "SELECT query, text, vital FROM nuggets WHERE source = ? ORDER BY query, id", (chosen,)
    )
    bank: dict[str, dict[str, bool]] = {}
    for query, text, vital in rows.fetchall():
        bank.setdefault(query, {})[text] = bool(vital)
    return {
        query: [Nugget(query, text, vital) for text, vital in own.items()]
        for query, own in bank.items()
    }


def import_nuggets(store: Store, rows: Any, source: str) -> tuple[int, int]:
    """Import nuggets of people or of another tool; returns how many nuggets and assignments are new.

    Rows, or lines of a JSONL file, are {"query", "text", "vital"}, or {"qid", "nuggets": [{"text",
    "importance"}]} as nuggetizer writes them. Where a nugget has an "assignment" (support, partial or
    none) for the answer of a "system", that is imported too, under the name of the source; one that
    failed there is left out, since a failure is not "none".
    """
    if not source:
        raise UsageError(
            "imported nuggets need the name of their source", hint="source= (--source)"
        )
    name = display_name(os.fspath(rows)) if isinstance(rows, str | os.PathLike) else ""
    nuggets: list[Nugget] = []
    assigned: list[dict[str, Any]] = []
    for where, row in _rows(rows):
        query = _text(row, where, "query_id", "qid", "query")
        listed = row.get("nuggets", [row])
        if not isinstance(listed, list):
            raise InputError("'nuggets' is not a list", where=where)
        for item in listed:
            if not isinstance(item, Mapping):
                raise InputError(f"not a nugget: {item!r:.60}", where=where)
            nugget = Nugget(query, _text(item, where, "text", "nugget"), _vital(item, where))
            nuggets.append(nugget)
            support = _support(item, where)
            if support is not None:
                system = _text({**row, **item}, where, "system", "run_id", "run")
                assigned.append({
                    "annotator": source, "query": query, "system": system, "nugget": nugget.id,
                    "support": support, "created": now(),
                })  # fmt: skip
    twice = [
        n for n, count in Counter((n.query, n.text, n.vital) for n in nuggets).items() if count > 1
    ]
    conflicting = {(q, t) for q, t, v in {(n.query, n.text, n.vital) for n in nuggets} if v} & {
        (q, t) for q, t, v in {(n.query, n.text, n.vital) for n in nuggets} if not v
    }
    if conflicting:
        query, text = sorted(conflicting)[0]
        raise InputError(
            f"nugget '{text:.60}' of query '{query}' is both vital and okay",
            where=name,
            hint="decide for one",
        )
    if twice and not assigned:
        raise InputError(
            f"duplicate nugget '{twice[0][1]:.60}' of query '{twice[0][0]}'",
            where=name,
            hint="remove one of them",
        )
    if not nuggets:
        raise InputError(
            "there are no nuggets", where=name, hint='expected {"query", "text", "vital"} per line'
        )
    unique = list(dict.fromkeys(nuggets))
    with store.transaction():
        known = last_assignments(store, source)
        new = [
            a for a in assigned if known.get((a["query"], a["system"], a["nugget"])) != a["support"]
        ]
        return add_nuggets(store, unique, source), store.insert("assignments", new)


def last_assignments(store: Store, annotator: str) -> dict[tuple[str, str, str], int]:
    """What a person says last about the answer to a query, by query, system and nugget."""
    rows = store.db.execute(
        "SELECT query, system, nugget, support FROM assignments WHERE annotator = ? "
        "ORDER BY created, id",
        (annotator,),
    ).fetchall()
    return {(query, system, nugget): int(support) for query, system, nugget, support in rows}


def _rows(source: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(source, str | os.PathLike):
        yield from read_objects(os.fspath(source))
        return
    for number, row in enumerate([source] if isinstance(source, Mapping) else source, 1):
        if not isinstance(row, Mapping):
            raise InputError(f"not a nugget: {row!r:.60}", where=f"row {number}")
        yield f"row {number}", row


def _text(row: Mapping[str, Any], where: str, *names: str) -> str:
    for name in names:
        value = row.get(name)
        if value is not None and str(value).strip():
            return str(value).strip()
    raise InputError(f"the nugget has no '{names[0]}'", where=where)


def _vital(row: Mapping[str, Any], where: str) -> bool:
    value = row.get("vital", row.get("importance"))
    if isinstance(value, bool) or (type(value) is int and value in (0, 1)):
        return bool(value)
    if isinstance(value, str) and value.lower() in IMPORTANCE:
        return IMPORTANCE[value.lower()]
    raise InputError(
        f"the importance of a nugget must be vital or okay, got {value!r:.40}", where=where
    )


def _support(row: Mapping[str, Any], where: str) -> int | None:
    if "assignment" not in row:
        return None
    value = row["assignment"]
    name = value.lower() if isinstance(value, str) else value
    if name in _FAILED:
        return None
    if name not in _SUPPORT_NAMES:
        raise InputError(
            f"unknown assignment {value!r:.40} of a nugget",
            where=where,
            hint="support, partial or none",
        )
    return _SUPPORT_NAMES[name]
