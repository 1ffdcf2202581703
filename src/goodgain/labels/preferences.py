"""Side-by-side preferences of people between two systems, and the GSB that they make.

>>> import goodgain as gg
>>> from goodgain.labels.preferences import Preference, add_preferences, gsb_rows
>>> with gg.Store("labels.db") as store:
...     rows = [Preference(annotator="ann", query=f"q{i}", first="old", second="new", choice=choice,
...                        sides="second first") for i, choice in enumerate(["second", "second", "same"])]
...     add_preferences(store, rows)
...     round(gg.gsb_labels(gsb_rows(store)).value, 3)
3
0.667
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError
from goodgain.labels.people import just_after
from goodgain.labels.store import now

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goodgain.labels.store import Store

IDENTICAL = "identical"  # the source of a preference that nobody had to state
_LABELS = {"second": "good", "same": "same", "first": "bad"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """Which of two systems one person prefers for one query: first, same, second, skipped or withdrawn."""

    annotator: str  # empty if nobody had to be asked
    query: str
    first: str  # the old system
    second: str  # the new one
    choice: str
    sides: str  # which system was on which side: "first second" or "second first"
    reason: str = ""
    note: str = ""
    seconds: float | None = None
    source: str = ""
    created: str = ""


def add_preferences(store: Store, preferences: Iterable[Preference]) -> int:
    """Add preferences in one transaction; returns the number added."""
    with store.transaction():
        rows = []
        for preference in preferences:
            row = {name: getattr(preference, name) for name in preference.__slots__}
            last = store.db.execute(
                "SELECT max(created) FROM preferences WHERE query = ? AND annotator = ?",
                (preference.query, preference.annotator),
            ).fetchone()[0]
            created = preference.created or now()
            if not preference.created and last and last >= created:
                created = just_after(last)  # the last one counts, whatever the clock says
            rows.append({**row, "created": created})
        return store.insert("preferences", rows)


def read_preferences(store: Store) -> list[Preference]:
    """The preferences that count, without those that were withdrawn."""
    names = Preference.__slots__
    rows = store.db.execute(f"SELECT {', '.join(names)} FROM preferences ORDER BY created, id")
    last: dict[tuple[str, ...], Preference] = {}
    for row in rows.fetchall():
        one = Preference(**dict(zip(names, row, strict=True)))
        last[one.annotator, one.query, one.first, one.second] = one
    return [one for one in last.values() if one.choice != "withdrawn"]


def gsb_rows(store: Store, baseline: str | None = None) -> list[dict[str, Any]]:
    """The preferences between two systems as rows for `gsb_labels`: query, label, annotator.

    `baseline` is the old system. It may be left out if the store compares only two systems; then the old
    one is the one that was named first. Skipped queries have no row.
    """
    preferences = [one for one in read_preferences(store) if one.choice != "skipped"]
    if baseline is not None:
        preferences = [one for one in preferences if baseline in (one.first, one.second)]
    if not preferences:
        raise InputError(
            "the label store has no preferences",
            where=store.path,
            hint="people state them with: goodgain judge STORE --side-by-side OLD NEW",
        )
    pairs = {frozenset((one.first, one.second)) for one in preferences}
    if len(pairs) > 1:
        names = "; ".join(" and ".join(sorted(pair)) for pair in sorted(pairs, key=sorted))
        raise UsageError(
            f"the label store compares several pairs of systems: {names}",
            where=store.path,
            hint="choose the old system with --baseline",
        )
    old = baseline or preferences[0].first
    people = sorted({one.annotator for one in preferences if one.source != IDENTICAL})
    rows = []
    for one in preferences:
        label = _LABELS[one.choice]
        if one.first != old:
            label = {"good": "bad", "bad": "good"}.get(label, label)
        who = one.annotator if one.source != IDENTICAL else people[0] if people else ""
        rows.append({"query": one.query, "label": label, "annotator": who})
    return rows
