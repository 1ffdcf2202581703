"""Who judges what next, and what is stored: the rules behind the page, without HTTP."""

from __future__ import annotations

import random
import time
import unicodedata
from statistics import median
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol

from goodgain.errors import UsageError
from goodgain.judging.ballots import Ballots
from goodgain.judging.items import item_key
from goodgain.labels.people import ADJUDICATED_BY
from goodgain.labels.store import digest, now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from goodgain.judging.ballots import Ballot
    from goodgain.labels.store import Store

IDLE = 60  # seconds that count between two interactions; the page measures
LONGEST = 3600.0  # seconds that a label can take
LEASE = 900.0  # seconds for which an item belongs to whoever looks at it
ROLES = ("annotator", "adjudicator")
REASONS = (
    "I do not understand the question",
    "I cannot read the document",
    "The document does not have enough information",
    "I should not judge this",
    "Another reason (see the note)",
)


class RefusalError(Exception):
    """A request that cannot be granted, with the status of the response."""

    def __init__(self, message: str, status: int = 409) -> None:
        super().__init__(message)
        self.status = status


class Judged(Protocol):
    """An item: what it is about, and what the page gets of it."""

    @property
    def query(self) -> str:
        """Its query."""

    @property
    def place(self) -> tuple[str, ...]:
        """What a vote on it is about."""

    def to_dict(self) -> dict[str, Any]:
        """What the page gets."""


class Desk:
    """The items, their order for each annotator, and their votes.

    An item is judged by one person, or, for a share `overlap` of the items, by everyone. In `ordered` queues
    all follow the order of the items; otherwise each annotator has an order of their own, in which the
    items of a query stay together.
    """

    mode = ""
    table = ""

    def __init__(
        self,
        store: Store,
        items: Sequence[Judged],
        *,
        title: str = "labels",
        guidelines: str = "",
        overlap: float = 0.0,
        seed: int = 0,
        ordered: bool = False,
        scale: tuple[float, float] | None = None,
        banner: str = "",
        more: Callable[[int], tuple[Sequence[Judged], str]] | None = None,
    ) -> None:
        if not 0 <= overlap <= 1:
            raise UsageError(f"overlap must be a share from 0 to 1, got {overlap}")
        self.store = store
        self.title = title
        self.guidelines = guidelines
        self.overlap = overlap
        self.seed = seed
        self.ordered = ordered
        self.banner = banner
        self.lock = RLock()
        self.ballots = Ballots(store, self.table, scale)
        self.items: dict[str, Judged] = {}
        self._more = more
        self._orders: dict[str, list[str]] = {}
        self._leases: dict[str, tuple[str, float]] = {}
        self._shared: set[str] = set()
        self._add_items(items)
        store.db.sync_commits()  # what the page shows as saved is on disk
        self.ballots.refresh()

    def _add_items(self, items: Sequence[Judged]) -> bool:
        before = len(self.items)
        for item in items:
            self.items.setdefault(item_key(item.place), item)
        if len(self.items) > before:
            self._orders.clear()
            self._shared = {key for key in self.items if self._is_drawn(key)}
        return len(self.items) > before

    def reconnect(self) -> bool:
        """Connect to the store again if its server has restarted; True if there is a new connection."""
        with self.lock:
            return self.store.db.reconnect()

    # --- people ---

    def names(self) -> list[str]:
        """Everyone who has a role or a vote."""
        rows = self.store.db.execute("SELECT name FROM annotators").fetchall()
        names = {row[0] for row in rows}
        names |= self.ballots.by_annotator.keys()
        return sorted(name for name in names if name and not name.startswith(ADJUDICATED_BY))

    def role(self, annotator: str) -> str | None:
        """The role of a name, which never changes; None for a new name."""
        row = self.store.db.execute(
            "SELECT role FROM annotators WHERE name = ?", (annotator,)
        ).fetchone()
        if row is not None:
            return str(row[0])
        return "annotator" if annotator in self.ballots.by_annotator else None

    def start(self, name: Any, role: Any) -> dict[str, str]:
        """Register a name; `role` None takes the one that it has."""
        annotator = _name(name)
        with self.lock:
            self.ballots.refresh()
            present = self.role(annotator)
            wanted = role or present or "annotator"
            if wanted not in ROLES:
                raise RefusalError(f"unknown role '{wanted}'", 400)
            if present is not None and wanted != present:
                does = {"annotator": "labels", "adjudicator": "adjudicates"}
                raise RefusalError(
                    f"'{annotator}' {does[present]}; choose another name to "
                    f"{does[wanted].rstrip('s')}"
                )
            self.store.insert("annotators", [{"name": annotator, "role": wanted, "created": now()}])
            return {"annotator": annotator, "role": wanted}

    def _require(self, name: Any, *roles: str) -> str:
        annotator = _name(name)
        role = self.role(annotator)
        if role not in roles:
            raise RefusalError(
                f"'{annotator}' has not started here" if role is None
                else f"'{annotator}' adjudicates, so it cannot label"
            )  # fmt: skip
        return annotator

    # --- the queue ---

    def _order(self, annotator: str) -> list[str]:
        order = self._orders.get(annotator)
        if order is None:
            order = list(self.items)
            if not self.ordered:
                by_query: dict[str, list[str]] = {}
                for key, item in self.items.items():
                    by_query.setdefault(item.query, []).append(key)
                generator = random.Random(digest(self.seed, annotator))
                groups = list(by_query.values())
                generator.shuffle(groups)
                for group in groups:
                    generator.shuffle(group)
                order = [key for group in groups for key in group]
            self._orders[annotator] = order
        return order

    def is_shared(self, key: str) -> bool:
        """Whether everyone judges this item."""
        return key in self._shared

    def _is_drawn(self, key: str) -> bool:
        share = self.overlap
        return share > 0 and int(digest(self.seed, "overlap", key)[:8], 16) < share * 0x1_0000_0000

    def _open(self, annotator: str) -> Iterator[str]:
        """What this annotator may judge now, in order."""
        deadline = time.monotonic() - LEASE
        for key in self._order(annotator):
            shared = key in self._shared
            if key in self.ballots.by_item and not self._is_open(annotator, key, shared):
                continue
            if not shared and key in self._leases:
                holder, since = self._leases[key]
                if holder != annotator and since > deadline:
                    continue
            yield key

    def _is_open(self, annotator: str, key: str, shared: bool) -> bool:
        """Whether the votes on an item leave it to this annotator."""
        own = self.ballots.of(key)
        if annotator in own or any(ballot.is_adjudicated for ballot in own.values()):
            return False
        return shared or not any(ballot.status == "label" for ballot in own.values())

    def work(self, name: Any, wish: str = "") -> dict[str, Any]:
        """The item to judge, preferably the one that the page had; progress; and the last label."""
        with self.lock:
            self.ballots.refresh()
            annotator = self._require(name, *ROLES)
            return self._work(annotator, wish)

    def _work(self, annotator: str, wish: str = "", message: str = "") -> dict[str, Any]:
        keys = [] if self.role(annotator) == "adjudicator" else list(self._open(annotator))
        if not keys and self._more is not None and self.role(annotator) == "annotator":
            waiting = sum(not self.ballots.of(k) for k in self.items)  # with other people
            items, self.banner = self._more(waiting)
            self._add_items(items)
            keys = list(self._open(annotator))
        key = wish if wish in keys else keys[0] if keys else None
        item = None
        if key is not None:
            self._leases[key] = (annotator, time.monotonic())
            item = {**self._present(key, annotator), **self._earlier(annotator, key)}
        own = self.ballots.by(annotator)
        statuses = [ballot.status for ballot in own if ballot.key in self.items]
        done = statuses.count("label")
        return {
            "item": item,
            "progress": {"done": done, "skipped": len(statuses) - done, "left": len(keys)},
            "last": self._last(annotator),
            "next": self.banner,
            "message": message,
        }

    def _earlier(self, annotator: str, key: str) -> dict[str, Any]:
        """The note of a label that the annotator has withdrawn."""
        ballot = self.ballots.by_item.get(key, {}).get(annotator)
        withdrawn = ballot is not None and ballot.status == "withdrawn"
        return {"note": ballot.note if ballot is not None and withdrawn else ""}

    def _last_ballot(self, annotator: str) -> Ballot | None:
        own = (ballot for ballot in self.ballots.by(annotator) if ballot.key in self.items)
        return max(own, key=lambda ballot: ballot.order, default=None)

    def _last(self, annotator: str) -> dict[str, Any] | None:
        ballot = self._last_ballot(annotator)
        if ballot is None:
            return None
        return {
            "item": ballot.key,
            "name": self._item_name(ballot.key),
            "status": ballot.status,
            "choice": self._choice_of(ballot),
            "reason": ballot.reason,
            "seconds": ballot.seconds,
            **self._revealed(ballot),
        }

    # --- votes ---

    def vote(self, posted: dict[str, Any]) -> dict[str, Any]:
        """Store a label or a skip, each request once, and hand out the next item."""
        with self.lock:
            self.ballots.refresh()
            annotator = self._require(posted.get("annotator"), "annotator")
            request = request_id(posted)
            key = self._key(posted)
            if request not in self.ballots.ids:
                if annotator in self.ballots.of(key):
                    raise RefusalError("you have judged this item already; undo that first")
                if posted.get("seen") != self._present(key, annotator)["seen"]:
                    raise RefusalError("this item has changed since the page showed it")
                self._store(annotator, key, request, posted)
                self._leases.pop(key, None)
                self.ballots.refresh()
            ballot = self.ballots.of(key).get(annotator)
            what = "nothing" if ballot is None else self._text_of(ballot)
            return self._work(annotator, message=f"Saved: {what}.")

    def undo(self, posted: dict[str, Any]) -> dict[str, Any]:
        """Withdraw a label, and hand out its item again."""
        with self.lock:
            self.ballots.refresh()
            annotator = self._require(posted.get("annotator"), "annotator")
            request = request_id(posted)
            key = self._key(posted)
            if request not in self.ballots.ids:
                ballot = self.ballots.of(key).get(annotator)
                if ballot is None:
                    raise RefusalError("there is no label of yours to undo")
                self._withdraw(ballot, request)
                self.ballots.refresh()
            return self._work(annotator, wish=key, message="Undone.")

    def _key(self, posted: dict[str, Any]) -> str:
        key = posted.get("item")
        if not isinstance(key, str) or key not in self.items:
            raise RefusalError("this item is not in the queue any more", 400)
        return key

    def people(self) -> list[dict[str, Any]]:
        """How much everyone has judged, and how long it took."""
        by_name: dict[str, list[Ballot]] = {}
        for key in self.items:
            for name, ballot in self.ballots.of(key).items():
                by_name.setdefault(name, []).append(ballot)
        rows = []
        for name, own in sorted(by_name.items()):
            times = [b.seconds for b in own if b.seconds is not None and b.status == "label"]
            labels = sum(b.status == "label" for b in own)
            rows.append({
                "name": name,
                "labels": labels,
                "skipped": len(own) - labels,
                "seconds": median(times) if times else None,
            })  # fmt: skip
        return rows

    def summary(self) -> str:
        """What was judged, in one line."""
        self.ballots.refresh()
        judged = sum(
            any(ballot.status == "label" for ballot in self.ballots.of(key).values())
            for key in self.items
        )
        return f"{judged:,} of {len(self.items):,} items are judged"

    # --- what labels and preferences do in their own way ---

    def setup(self) -> dict[str, Any]:
        """What the page needs before anyone has a name."""
        with self.lock:
            self.ballots.refresh()
            return {
                "mode": self.mode,
                "title": self.title,
                "guidelines": self.guidelines,
                "annotators": self.names(),
                "reasons": list(REASONS),
                "idle": IDLE,
                "grades": [],
            }

    def agreement(self, name: Any) -> dict[str, Any]:
        """How far people agree."""
        raise NotImplementedError

    def _present(self, key: str, annotator: str) -> dict[str, Any]:
        """What the page gets of an item; `seen` comes back with the vote."""
        return self.items[key].to_dict()

    def _item_name(self, key: str) -> str:
        return self.items[key].query

    def _choice_of(self, ballot: Ballot) -> Any:
        return ballot.choice

    def _text_of(self, ballot: Ballot) -> str:
        return "skipped" if ballot.status == "skipped" else f"{self._choice_of(ballot):g}"

    def _revealed(self, ballot: Ballot) -> dict[str, Any]:
        return {}

    def _store(self, annotator: str, key: str, request: str, posted: dict[str, Any]) -> None:
        raise NotImplementedError

    def _withdraw(self, ballot: Ballot, request: str) -> None:
        raise NotImplementedError


def _name(value: Any) -> str:
    """A name, the same however it is typed."""
    name = " ".join(unicodedata.normalize("NFC", value).split()) if isinstance(value, str) else ""
    if not name or len(name) > 100 or any(unicodedata.category(c) in ("Cc", "Cs") for c in name):
        raise RefusalError("a name has 1 to 100 characters", 400)
    if name.startswith(ADJUDICATED_BY):
        raise RefusalError(f"names that start with '{ADJUDICATED_BY}' are reserved", 400)
    return name


def request_id(posted: dict[str, Any]) -> str:
    """The id that the page gave to a request, so that it is granted only once."""
    value = posted.get("id")
    if not isinstance(value, str) or not (8 <= len(value) <= 64 and value.isalnum()):
        raise RefusalError("the request has no id", 400)
    return value


def text_field(posted: dict[str, Any], name: str, longest: int = 10_000) -> str:
    """A text of a request, with what is not valid Unicode escaped."""
    value = posted.get(name, "")
    if not isinstance(value, str) or len(value) > longest:
        raise RefusalError(f"'{name}' must be a text of at most {longest:,} characters", 400)
    return value


def seconds_of(posted: dict[str, Any]) -> float | None:
    """The time that a label took, within reason."""
    value = posted.get("seconds")
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        return None
    return min(float(value), LONGEST)
