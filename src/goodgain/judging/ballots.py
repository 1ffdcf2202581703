"""The votes and preferences of a store as the page needs them, read again when they change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.judging.items import item_key
from goodgain.labels.people import ADJUDICATION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodgain.labels.store import Store

_TABLES = {
    "votes": "query, doc, status, gain, low, high, reason",
    "preferences": "query, first, second, choice, sides, reason",
}


class Ballot(NamedTuple):
    """What one person said about one item; `choice` is a gain, or first, same, second."""

    order: tuple[str, int]  # the last one counts
    annotator: str
    query: str
    key: str
    status: str  # label, skipped, withdrawn
    choice: Any
    reason: str
    note: str
    seconds: float | None
    source: str
    sides: str = ""

    @property
    def is_adjudicated(self) -> bool:
        """Whether it settles a disagreement."""
        return self.source.startswith(ADJUDICATION)


class Ballots:
    """Every vote, or every preference, of a store; other processes may add to it at any time."""

    def __init__(self, store: Store, table: str, scale: tuple[float, float] | None = None) -> None:
        self._store = store
        self._table = table
        self._scale = scale
        self._rows = 0
        self._last = 0
        self.by_item: dict[str, dict[str, Ballot]] = {}  # the last ones, withdrawn or not
        self.by_annotator: dict[str, dict[str, Ballot]] = {}  # the same, the other way round
        self.ids: set[str] = set()  # of requests
        self.labelled: set[tuple[str, str]] = set()  # annotator and item, also if withdrawn since
        self.other_scales = 0

    def refresh(self) -> None:
        """Read what is new."""
        sql = f"SELECT count(*), coalesce(max(id), 0) FROM {self._table}"
        rows, last = self._store.db.execute(sql).fetchone()
        if (rows, last) == (self._rows, self._last):
            return
        self._read(self._last)
        if self._rows != rows:  # of two writers, the one with the lower id committed later
            self._rows = self._last = 0
            self.by_item.clear()
            self.by_annotator.clear()
            self.labelled.clear()
            self.other_scales = 0
            self._read(0)

    def _read(self, after: int) -> None:
        rows = self._store.db.execute(
            f"SELECT id, created, annotator, source, note, seconds, {_TABLES[self._table]} "
            f"FROM {self._table} WHERE id > ? ORDER BY id",
            (after,),
        )
        for row in rows.fetchall():
            self._rows += 1
            self._last = row[0]
            self.ids.add(str(row[3]).rpartition(" ")[2])
            ballot = self._ballot(row)
            if ballot is not None:
                self._add(ballot)

    def _ballot(self, row: Sequence[Any]) -> Ballot | None:
        number, created, annotator, source, note, seconds, query, *own = row
        reason = sides = ""
        if self._table == "votes":
            doc, status, choice, low, high, reason = own
            place: tuple[str, ...] = (query, doc)
            if None not in (low, high) and self._scale and (low, high) != self._scale:
                self.other_scales += 1
                return None
        else:
            first, second, choice, sides, reason = own
            place = (query, first, second)
            status = choice if choice in ("skipped", "withdrawn") else "label"
            choice = choice if status == "label" else None
        return Ballot(
            order=(created, number),
            annotator=annotator,
            query=query,
            key=item_key(place),
            status=status,
            choice=choice,
            reason=reason,
            note=note,
            seconds=seconds,
            source=source,
            sides=sides,
        )

    def _add(self, ballot: Ballot) -> None:
        own = self.by_item.setdefault(ballot.key, {})
        earlier = own.get(ballot.annotator)
        if earlier is None or earlier.order < ballot.order:
            own[ballot.annotator] = ballot
            self.by_annotator.setdefault(ballot.annotator, {})[ballot.key] = ballot
        if ballot.status == "label":
            self.labelled.add((ballot.annotator, ballot.key))

    def of(self, key: str) -> dict[str, Ballot]:
        """The ballots on an item that count, by annotator."""
        own = self.by_item.get(key)
        if own is None:
            return {}
        return {name: ballot for name, ballot in own.items() if ballot.status != "withdrawn"}

    def by(self, annotator: str) -> list[Ballot]:
        """The ballots of a person that count."""
        own = self.by_annotator.get(annotator, {}).values()
        return [ballot for ballot in own if ballot.status != "withdrawn"]
